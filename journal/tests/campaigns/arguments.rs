//! The command line: our own options, and those of the usual test harness, which mean nothing here.

/// What was asked for.
pub enum Asked {
    /// The names.
    List,
    Run(Arguments),
}

/// How many trials there are.
#[derive(Clone, Copy, Debug, Default)]
pub enum Form {
    #[default]
    Few,
    /// As CI runs it: with `--ignored`, like the long tests of the usual harness.
    Short,
    Long,
}

#[derive(Debug, Default)]
pub struct Arguments {
    filters: Vec<String>,
    skipped: Vec<String>,
    exact: bool,
    pub form: Form,
    pub trials: Option<u64>,
    pub seed: u64,
    /// Only this one.
    pub trial: Option<u64>,
    pub planted: bool,
}

/// Options of the usual harness that come with a value of their own.
const WITH_VALUE: &[&str] = &["--test-threads", "--format", "--color", "--logfile", "--report-time", "--shuffle-seed"];

impl Arguments {
    /// Whether campaigns are asked for by name.
    pub fn names_some(&self) -> bool {
        !self.filters.is_empty()
    }

    pub fn wants(&self, name: &str) -> bool {
        let fits = |filter: &String| if self.exact { name == filter } else { name.contains(filter.as_str()) };
        let named = self.filters.is_empty() || self.filters.iter().any(fits);
        // A planted fault is for one campaign that is named.
        let planted_fits = !self.planted || self.filters.iter().any(|filter| filter == name);
        named && planted_fits && !self.skipped.iter().any(fits)
    }
}

pub fn parse(words: &[String]) -> Result<Asked, String> {
    let mut arguments = Arguments { seed: 1, ..Arguments::default() };
    let mut list = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, inline) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || inline.clone().or_else(|| words.next().cloned());
        let mut number = |what: &str| {
            let value = value();
            let parsed = value.as_deref().and_then(|value| value.replace('_', "").parse::<u64>().ok());
            parsed.ok_or_else(|| format!("{what} wants a number, not {value:?}"))
        };
        match option {
            "--trials" => arguments.trials = Some(number("--trials")?),
            "--seed" => arguments.seed = number("--seed")?,
            "--trial" => arguments.trial = Some(number("--trial")?),
            "--long" => arguments.form = Form::Long,
            "--plant" => arguments.planted = true,
            "--list" => list = true,
            "--exact" => arguments.exact = true,
            "--ignored" | "--include-ignored" => arguments.form = Form::Short,
            "--skip" => arguments.skipped.extend(value()),
            option if WITH_VALUE.contains(&option) => drop(value()),
            option if option.starts_with('-') => (),
            filter => arguments.filters.push(filter.to_owned()),
        }
    }
    Ok(if list { Asked::List } else { Asked::Run(arguments) })
}
