//! What was found, against what it should be.

use serde_json::json;

/// Which side of the target is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    AtLeast,
    AtMost,
}

/// One ratio.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: &'static str,
    pub value: f64,
    pub target: f64,
    pub stretch: f64,
    pub good: Good,
    /// Both sides, for people.
    pub sides: String,
}

/// All rows of a run; each is shown as soon as it is known.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    left_out: Vec<String>,
    json: bool,
}

impl Row {
    fn met(&self) -> bool {
        match self.good {
            Good::AtLeast => self.value >= self.target,
            Good::AtMost => self.value <= self.target,
        }
    }

    fn stretched(&self) -> bool {
        match self.good {
            Good::AtLeast => self.value >= self.stretch,
            Good::AtMost => self.value <= self.stretch,
        }
    }
}

impl Table {
    pub fn new(json: bool) -> Self {
        if !json {
            println!("{:<58} {:>8} {:>9} {:>9}  {:<8} sides", "ratio", "value", "target", "stretch", "");
        }
        Self { json, ..Self::default() }
    }

    pub fn add(&mut self, row: Row) {
        if self.json {
            let Row { name, value, target, stretch, .. } = &row;
            let value = (value * 1_000.0).round() / 1_000.0;
            println!(
                "{}",
                json!({"name": name, "value": value, "target": target, "stretch": stretch, "met": row.met()})
            );
        } else {
            let sign = match row.good {
                Good::AtLeast => ">=",
                Good::AtMost => "<=",
            };
            let verdict = match (row.met(), row.stretched()) {
                (_, true) => "stretch",
                (true, false) => "met",
                (false, false) => "MISSED",
            };
            println!(
                "{:<58} {:>8.2} {:>9} {:>9}  {verdict:<8} {}",
                row.name,
                row.value,
                format!("{sign} {}", row.target),
                row.stretch,
                row.sides
            );
        }
        self.rows.push(row);
    }

    /// Says what is not measured, and why.
    pub fn leave_out(&mut self, name: &str, why: &str) {
        if self.json {
            eprintln!("left out: {name}: {why}");
        } else {
            println!("{name:<58} {:>8}  {why}", "-");
        }
        self.left_out.push(name.to_owned());
    }

    /// Says something beside the rows.
    pub fn note(&self, text: &str) {
        if self.json {
            eprintln!("{text}");
        } else {
            println!("{text}");
        }
    }

    pub fn end(&self) {
        let missed: Vec<&str> = self.rows.iter().filter(|row| !row.met()).map(|row| row.name).collect();
        let (rows, left_out) = (self.rows.len(), self.left_out.len());
        let verdict = if missed.is_empty() { "none".to_owned() } else { missed.join("; ") };
        self.note(&format!("{rows} ratios, {left_out} left out; missed: {verdict}"));
    }
}
