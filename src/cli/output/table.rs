//! Plain aligned columns, without boxes.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::style;
use crate::text::harmless;

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Shown in capitals.
    pub title: &'static str,
    /// Shown with `-o wide` alone.
    pub wide_only: bool,
    /// Whether every row has something to say here.
    pub required: bool,
}

impl Column {
    /// A column that is always shown.
    pub const fn always(title: &'static str) -> Self {
        Self { title, wide_only: false, required: false }
    }

    /// A column for `-o wide`.
    pub const fn wide(title: &'static str) -> Self {
        Self { title, wide_only: true, required: false }
    }

    /// A column that is always shown, and empty in no row.
    pub const fn required(title: &'static str) -> Self {
        Self { title, wide_only: false, required: true }
    }
}

/// One cell: a text that is harmless to a terminal, and its colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell in a colour.
    pub fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self { text: harmless(text.as_ref()).into_owned(), style }
    }

    /// As it should be.
    pub fn good(text: impl AsRef<str>) -> Self {
        Self::styled(text, style::GOOD)
    }

    /// On its way.
    pub fn busy(text: impl AsRef<str>) -> Self {
        Self::styled(text, style::BUSY)
    }

    /// Failed.
    pub fn bad(text: impl AsRef<str>) -> Self {
        Self::styled(text, style::BAD)
    }

    /// Nothing to show.
    pub fn none() -> Self {
        Self::styled("-", style::FAINT)
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, style::PLAIN)
    }
}

/// Rows under titles: `N` columns, so that each row has `N` cells, the wide ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<const N: usize = 2> {
    columns: [Column; N],
    rows: Vec<[Cell; N]>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub fn of(columns: [Column; N]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn add(&mut self, cells: [Cell; N]) {
        self.rows.push(cells);
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::of([Column::always(""), Column::always("")])
    }
}

/// A column, and the cell that a row has in it.
pub type Field<R> = (Column, fn(&R) -> Cell);

/// A table as it is written, however many columns it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    columns: Vec<Column>,
    /// Each has one cell per column: both ways to make a sheet see to that.
    rows: Vec<Vec<Cell>>,
}

impl<const N: usize> From<Table<N>> for Sheet {
    fn from(table: Table<N>) -> Self {
        let rows = table.rows.into_iter().map(Vec::from).collect();
        Self { columns: table.columns.into(), rows }
    }
}

impl Sheet {
    /// One line per row, where which columns there are is known only at run time.
    pub fn list<'r, R: 'r>(fields: &[Field<R>], rows: impl IntoIterator<Item = &'r R>) -> Self {
        let cells = |row: &R| fields.iter().map(|(_, cell)| cell(row)).collect();
        Self {
            columns: fields.iter().map(|(column, _)| *column).collect(),
            rows: rows.into_iter().map(cells).collect(),
        }
    }

    /// Rows of columns that are known only at run time; each has one cell for each.
    pub fn of(columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Self {
        Self { columns, rows }
    }

    /// The required columns that some row says nothing in.
    #[cfg(test)]
    pub(crate) fn gaps(&self) -> Vec<&'static str> {
        let is_gap = |index: usize| self.rows.iter().any(|row| matches!(row[index].text.as_str(), "" | "-"));
        let required = self.columns.iter().enumerate().filter(|(_, column)| column.required);
        required.filter(|(index, _)| is_gap(*index)).map(|(_, column)| column.title).collect()
    }

    /// Writes titles and rows; two spaces stand between columns, and nothing stands at the end of a line.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_to(&self, out: &mut impl Write, wide: bool) -> io::Result<()> {
        let shown: Vec<usize> =
            (0..self.columns.len()).filter(|index| wide || !self.columns[*index].wide_only).collect();
        let titles: Vec<Cell> =
            self.columns.iter().map(|column| Cell::styled(column.title.to_uppercase(), style::HEADING)).collect();
        // Where no column has a title there is no line of them.
        let titles = Some(&titles).filter(|titles| titles.iter().any(|title| !title.text.is_empty()));
        let lines: Vec<&Vec<Cell>> = titles.into_iter().chain(&self.rows).collect();
        let widths: Vec<usize> =
            shown.iter().map(|index| lines.iter().map(|cells| cells[*index].text.width()).max().unwrap_or(0)).collect();
        for cells in lines {
            let filled: Vec<usize> = shown
                .iter()
                .enumerate()
                .filter(|(_, index)| !cells[**index].text.is_empty())
                .map(|(at, _)| at)
                .collect();
            let last = filled.last().map_or(0, |at| at + 1);
            for (at, index) in shown.iter().enumerate().take(last) {
                let Cell { text, style } = &cells[*index];
                let padding = if at + 1 == last { 0 } else { widths[at] - text.width() + 2 };
                write!(out, "{style}{text}{style:#}{:padding$}", "")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn printed(rows: &[[&str; 3]], wide: bool) -> String {
        let mut table = Table::of([Column::always("NAME"), Column::wide("ZONE"), Column::always("STATE")]);
        for row in rows {
            table.add(row.map(Cell::from));
        }
        let mut out = anstream::StripStream::new(Vec::new());
        Sheet::from(table).write_to(&mut out, wide).expect("written");
        String::from_utf8(out.into_inner()).expect("text")
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let rows = [["größe", "z", "up"], ["機械", "zone-1", "down"], ["x", "", ""]];
        assert_eq!(printed(&rows, false), "NAME   STATE\ngröße  up\n機械   down\nx\n");
        assert_eq!(printed(&rows, true), "NAME   ZONE    STATE\ngröße  z       up\n機械   zone-1  down\nx\n");
    }

    #[test]
    fn a_table_without_rows_has_its_titles() {
        assert_eq!(printed(&[], false), "NAME  STATE\n");
    }

    #[test]
    fn a_required_column_that_is_empty_is_a_gap() {
        let mut table = Table::of([Column::required("A"), Column::required("B"), Column::always("C")]);
        table.add([Cell::from("x"), Cell::none(), Cell::none()]);
        assert_eq!(Sheet::from(table).gaps(), ["B"]);
    }

    #[test]
    fn columns_without_titles_have_no_line_of_titles() {
        let mut table = Table::of([Column::always(""), Column::always("")]);
        table.add(["needed", "a disk"].map(Cell::from));
        let mut out = Vec::new();
        Sheet::from(table).write_to(&mut out, false).expect("written");
        assert_eq!(String::from_utf8(out).expect("text"), "needed  a disk\n");
    }

    #[test]
    fn colour_goes_round_the_text_and_not_round_the_gap() {
        let mut table = Table::of([Column::always("A"), Column::always("B")]);
        table.add([Cell::good("x"), Cell::none()]);
        let mut out = Vec::new();
        Sheet::from(table).write_to(&mut out, false).expect("written");
        let text = String::from_utf8(out).expect("text");
        assert!(text.ends_with("\u{1b}[32mx\u{1b}[0m  \u{1b}[2m-\u{1b}[0m\n"), "{text:?}");
    }

    proptest! {
        #[test]
        fn every_row_is_one_harmless_line(rows in vec(["\\PC{0,8}", ".{0,8}", ".{0,8}"], 0..8)) {
            let rows: Vec<[&str; 3]> = rows.iter().map(|row| [&*row[0], &*row[1], &*row[2]]).collect();
            let text = printed(&rows, true);
            prop_assert_eq!(text.lines().count(), rows.len() + 1);
            prop_assert!(text.chars().all(|letter| letter == '\n' || !crate::text::is_hostile(letter)));
        }
    }
}
