//! Results in the form that continuous integration reads.

use std::{fmt::Write as _, fs, path::Path};

use super::exit::{CliError, Exit};

/// One check: its name, and what is wrong with it.
pub(super) struct Case<'c> {
    pub name: String,
    pub trouble: Option<(&'static str, &'c [String])>,
}

/// Writes a suite of checks.
pub(super) fn junit<'c>(file: &Path, suite: &str, cases: impl Iterator<Item = Case<'c>>) -> Result<(), CliError> {
    fs::write(file, text(suite, cases)).map_err(|error| {
        CliError::new(Exit::Disk, "unwritable", format!("cannot write {}", file.display())).because(&error)
    })
}

fn text<'c>(suite: &str, cases: impl Iterator<Item = Case<'c>>) -> String {
    let (mut body, mut count, mut failures) = (String::new(), 0, 0);
    for Case { name, trouble } in cases {
        count += 1;
        let head = format!("<testcase classname=\"{}\" name=\"{}\"", escaped(suite), escaped(&name));
        let line = match trouble {
            None => format!("  {head}/>\n"),
            Some((what, lines)) => {
                failures += 1;
                let lines = escaped(&lines.join("\n"));
                format!("  {head}><failure message=\"{what}\">{lines}</failure></testcase>\n")
            }
        };
        body.push_str(&line);
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let suite = escaped(suite);
    let all = format!("<testsuite name=\"{suite}\" tests=\"{count}\" failures=\"{failures}\">\n{body}</testsuite>");
    writeln!(text, "{all}").expect("a string takes everything");
    text
}

fn escaped(text: &str) -> String {
    let one = |letter: char| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        // XML has no place for the others.
        letter if letter.is_control() && letter != '\n' => " ".to_owned(),
        letter => letter.to_string(),
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_told_with_its_lines() {
        let lines = ["a < b & \"c\"".to_owned(), "second\u{1b}".to_owned()];
        let cases = [
            Case { name: "seed 1".to_owned(), trouble: None },
            Case { name: "seed 2".to_owned(), trouble: Some(("stuck", &lines)) },
        ];
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuite name=\"run\" tests=\"2\" failures=\"1\">
  <testcase classname=\"run\" name=\"seed 1\"/>
  <testcase classname=\"run\" name=\"seed 2\"><failure message=\"stuck\">a &lt; b &amp; &quot;c&quot;
second </failure></testcase>
</testsuite>
";
        assert_eq!(text("run", cases.into_iter()), expected);
    }
}
