//! Plain aligned columns, without boxes.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
    /// Whether its texts may be shortened where there is not the room.
    shortens: bool,
}

impl Column {
    /// A column that is always shown.
    pub const fn always(title: &'static str) -> Self {
        Self { title, wide_only: false, required: false, shortens: true }
    }

    /// A column for `-o wide`.
    pub const fn wide(title: &'static str) -> Self {
        Self { title, wide_only: true, required: false, shortens: true }
    }

    /// A column that is always shown, as it is, and empty in no row.
    pub const fn required(title: &'static str) -> Self {
        Self { title, wide_only: false, required: true, shortens: false }
    }

    /// A column of sentences: always shown, empty in no row, and shortened where there is not the room.
    pub const fn sentence(title: &'static str) -> Self {
        Self { title, wide_only: false, required: true, shortens: true }
    }
}

/// One cell: a text that is harmless to a terminal, and its colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    /// What stands instead where there is not the room.
    brief: Option<String>,
    style: Style,
}

impl Cell {
    /// A cell in a colour.
    pub fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self { text: harmless(text.as_ref()).into_owned(), brief: None, style }
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

    /// The same, with something shorter that stands instead where there is not the room.
    #[must_use]
    pub fn or_brief(self, brief: impl AsRef<str>) -> Self {
        Self { brief: Some(harmless(brief.as_ref()).into_owned()), ..self }
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

impl Table {
    /// What is told of one thing, a field in each row.
    pub fn fields() -> Self {
        Self::of([Column::always("FIELD"), Column::always("VALUE")])
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

    /// Without the columns that are for `-o wide` alone.
    #[must_use]
    pub fn narrow(self) -> Self {
        self.only(|column, _| !column.wide_only)
    }

    /// Without the columns in which no row says anything, unless they are what everybody looks for.
    #[must_use]
    pub fn without_empty(self) -> Self {
        let is_said = |cells: Vec<&Cell>| cells.iter().any(|cell| !matches!(cell.text.as_str(), "" | "-"));
        if self.rows.is_empty() {
            return self;
        }
        self.only(|column, cells| column.required || matches!(column.title, "NAME" | "STATUS") || is_said(cells))
    }

    fn only(self, is_kept: impl Fn(&Column, Vec<&Cell>) -> bool) -> Self {
        let kept = |(index, column): (usize, &Column)| {
            is_kept(column, self.rows.iter().map(|cells| &cells[index]).collect()).then_some(index)
        };
        let kept: Vec<usize> = self.columns.iter().enumerate().filter_map(kept).collect();
        let row = |cells: &Vec<Cell>| kept.iter().map(|index| cells[*index].clone()).collect();
        Self {
            columns: kept.iter().map(|index| self.columns[*index]).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// With its long texts shortened, so that no line is broken in so much room. Required columns stay as they are.
    #[must_use]
    pub fn fitted(mut self, room: usize) -> Self {
        let gaps = GAP * self.columns.len().saturating_sub(1);
        let excess = |widths: &[usize]| (widths.iter().sum::<usize>() + gaps).saturating_sub(room);
        if excess(&self.widths()) > 0 {
            for cell in self.rows.iter_mut().flatten() {
                cell.text = cell.brief.take().unwrap_or_else(|| std::mem::take(&mut cell.text));
            }
        }
        let mut widths = self.widths();
        loop {
            let excess = excess(&widths);
            let can_shrink = |index: &usize| {
                let column = &self.columns[*index];
                column.shortens && widths[*index] > SHORTENED_MIN.max(column.title.width())
            };
            let Some(widest) = (0..widths.len()).filter(can_shrink).max_by_key(|index| widths[*index]) else { break };
            if excess == 0 {
                break;
            }
            let least = SHORTENED_MIN.max(self.columns[widest].title.width());
            // As wide as the next one at least, so that all long ones give up some of their room.
            let next =
                (0..widths.len()).filter(can_shrink).filter(|index| *index != widest).map(|index| widths[index]).max();
            let next = next.unwrap_or(least).max(least).min(widths[widest] - 1);
            widths[widest] = widths[widest].saturating_sub(excess).max(next);
        }
        for cells in &mut self.rows {
            for (cell, width) in cells.iter_mut().zip(&widths) {
                shorten(&mut cell.text, *width);
            }
        }
        self
    }

    fn widths(&self) -> Vec<usize> {
        let width = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().map(|cells| cells[index].text.width());
            cells.max().unwrap_or(0).max(column.title.width())
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    /// Writes titles and rows; two spaces stand between columns, and nothing stands at the end of a line.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_titles(out)?;
        let widths = self.widths();
        self.rows.iter().try_for_each(|cells| write_line(out, cells, &widths))
    }

    /// Writes the titles, where a column has one.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_titles(&self, out: &mut impl Write) -> io::Result<()> {
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            let title = |column: &Column| Cell::styled(column.title.to_uppercase(), style::HEADING);
            let titles: Vec<Cell> = self.columns.iter().map(title).collect();
            write_line(out, &titles, &self.widths())?;
        }
        Ok(())
    }

    /// Writes the last row alone, as it stands below the others.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_last(&self, out: &mut impl Write) -> io::Result<()> {
        self.rows.last().map_or(Ok(()), |cells| write_line(out, cells, &self.widths()))
    }

    /// All of it as a text without colours.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        // Writing into memory does not fail.
        self.write_to(&mut anstream::StripStream::new(&mut out)).ok();
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn write_line(out: &mut impl Write, cells: &[Cell], widths: &[usize]) -> io::Result<()> {
    let last = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |at| at + 1);
    for (at, Cell { text, style, .. }) in cells.iter().enumerate().take(last) {
        let padding = if at + 1 == last { 0 } else { widths[at].saturating_sub(text.width()) + GAP };
        write!(out, "{style}{text}{style:#}{:padding$}", "")?;
    }
    writeln!(out)
}

/// How many spaces stand between two columns.
const GAP: usize = 2;
/// Shorter than this, a text says nothing any more.
const SHORTENED_MIN: usize = 12;

/// Cuts a text to a width, with `…` for what is left out.
fn shorten(text: &mut String, width: usize) {
    if text.width() <= width {
        return;
    }
    let mut used = 0;
    let end = text.char_indices().find(|(_, letter)| {
        used += letter.width().unwrap_or(0);
        used >= width
    });
    text.truncate(end.map_or(text.len(), |(at, _)| at));
    text.push('…');
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
        let sheet = Sheet::from(table);
        let sheet = if wide { sheet } else { sheet.narrow() };
        sheet.write_to(&mut out).expect("written");
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
    fn long_texts_give_up_room_and_required_columns_do_not() {
        let given = |room: usize| {
            let mut table = Table::of([Column::required("NAME"), Column::always("A"), Column::always("B")]);
            table
                .add(["a-name-that-is-long", "twenty letters of it", "thirty letters of it, or so 30"].map(Cell::from));
            Sheet::from(table).fitted(room).text().lines().last().expect("a row").to_owned()
        };
        assert_eq!(given(80), "a-name-that-is-long  twenty letters of it  thirty letters of it, or so 30");
        assert_eq!(given(60), "a-name-that-is-long  twenty letters of …  thirty letters of…");
        assert_eq!(given(20), "a-name-that-is-long  twenty lett…  thirty lett…");
    }

    #[test]
    fn what_can_be_said_briefly_is_before_sentences_are_shortened() {
        let given = |room: usize| {
            let mut table = Table::of([Column::required("TIME"), Column::sentence("WHY")]);
            table.add([Cell::from("2026-11-28 14:30").or_brief("14:30"), "twenty letters of it".into()]);
            Sheet::from(table).fitted(room).text().lines().last().expect("a row").to_owned()
        };
        assert_eq!(given(80), "2026-11-28 14:30  twenty letters of it");
        assert_eq!(given(30), "14:30  twenty letters of it");
        assert_eq!(given(24), "14:30  twenty letters o…");
    }

    #[test]
    fn columns_in_which_nothing_stands_are_left_out() {
        let mut table = Table::of([Column::always("NAME"), Column::always("ZONE"), Column::required("AGE")]);
        let empty = Sheet::from(table.clone()).without_empty().text();
        table.add([Cell::none(), Cell::none(), Cell::from("1s")]);
        assert_eq!(empty, "NAME  ZONE  AGE\n", "who asks in vain sees what there is");
        assert_eq!(Sheet::from(table).without_empty().text(), "NAME  AGE\n-     1s\n");
    }

    #[test]
    fn columns_without_titles_have_no_line_of_titles() {
        let mut table = Table::of([Column::always(""), Column::always("")]);
        table.add(["needed", "a disk"].map(Cell::from));
        let mut out = Vec::new();
        Sheet::from(table).write_to(&mut out).expect("written");
        assert_eq!(String::from_utf8(out).expect("text"), "needed  a disk\n");
    }

    #[test]
    fn colour_goes_round_the_text_and_not_round_the_gap() {
        let mut table = Table::of([Column::always("A"), Column::always("B")]);
        table.add([Cell::good("x"), Cell::none()]);
        let mut out = Vec::new();
        Sheet::from(table).write_to(&mut out).expect("written");
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
