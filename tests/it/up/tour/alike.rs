//! Whether something printed what it was to print, whatever differs by run.
//!
//! A line `…` stands for any number of lines, and `…` within a line for any text. What follows is alike whatever it is: ids
//! and hashes (eight or more hexadecimal digits), times, periods (`138ms`, `2m12s`), the numbers of entries, blocks and
//! processes, and of users (`uid:0`); so is how far the columns of a table are apart. Anything else has to be the same.

/// Whether a text is as it was to be.
pub fn alike(expected: &str, printed: &str) -> bool {
    let lines = |text: &str| -> Vec<String> { text.trim_end().lines().map(reduced).collect() };
    matches(&lines(expected), &lines(printed), |line| line == "…", |expected, line| is_line(expected, line))
}

fn is_line(expected: &str, line: &str) -> bool {
    let characters = |text: &str| text.chars().collect::<Vec<_>>();
    matches(&characters(expected), &characters(line), |mark| *mark == '…', |expected, found| expected == found)
}

/// Whether a row of things matches a pattern in which some stand for any number of things.
fn matches<T>(pattern: &[T], found: &[T], is_any: fn(&T) -> bool, is_same: fn(&T, &T) -> bool) -> bool {
    // One row of the usual table: which beginnings of `found` the pattern so far can end with.
    let mut ends = vec![false; found.len() + 1];
    ends[0] = true;
    for expected in pattern {
        let mut next = vec![false; found.len() + 1];
        if is_any(expected) {
            let first = ends.iter().position(|end| *end).unwrap_or(ends.len());
            next[first..].fill(true);
        } else {
            for (at, thing) in found.iter().enumerate() {
                next[at + 1] = ends[at] && is_same(expected, thing);
            }
        }
        ends = next;
    }
    ends[found.len()]
}

/// A line without what differs by run.
fn reduced(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut reduced = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let before = at.checked_sub(1).map(|at| words[at]);
        let after = words.get(at + 1).copied();
        // What is due today is told by its time of day, and after midnight with its date.
        if let Some(time) = time_of_day(word, after) {
            reduced.push(time);
            at += 2;
            continue;
        }
        let is_number = is_counted(before, word, after);
        reduced.push(if is_number { "<number>".to_owned() } else { without_ids(word) });
        at += 1;
    }
    reduced.join(" ")
}

/// A time of day, which is two words, without what differs by run: `11:01:01 UTC`, `(11:01:01 UTC)`.
fn time_of_day(word: &str, after: Option<&str>) -> Option<String> {
    let (opening, time) = word.split_at(usize::from(word.starts_with('(')));
    let closing = after?.strip_prefix("UTC").filter(|closing| !closing.starts_with(char::is_alphanumeric))?;
    let parts: Vec<&str> = time.split(':').collect();
    let is_time =
        parts.len() == 3 && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()));
    is_time.then(|| format!("{opening}<time>{closing}"))
}

/// Whether a word is the number of an entry, a block or a process; one at the beginning of a line is an entry's.
fn is_counted(before: Option<&str>, word: &str, after: Option<&str>) -> bool {
    let digits = word.trim_end_matches([',', ';', ':', ')']);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let names = |word: Option<&str>| {
        let word = word.unwrap_or_default().trim_matches(['(', ',', ';']);
        matches!(word, "entry" | "entries" | "block" | "blocks" | "process" | "facts.pid" | "version" | "position")
    };
    is_number && (before.is_none() || names(before) || names(after))
}

fn without_ids(word: &str) -> String {
    let mut reduced = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        let is_part = |c: char| c.is_ascii_alphanumeric();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if length == 0 {
            let mark = rest.chars().next().expect("it is not empty");
            reduced.push(mark);
            rest = &rest[mark.len_utf8()..];
            continue;
        }
        if let Some(length) = time(rest) {
            reduced.push_str("<time>");
            rest = &rest[length..];
            continue;
        }
        if let Some(length) = uuid(rest) {
            reduced.push_str("<id>");
            rest = &rest[length..];
            continue;
        }
        let (part, more) = rest.split_at(length);
        let is_user = reduced.ends_with("uid:") && part.bytes().all(|byte| byte.is_ascii_digit());
        match part {
            _ if is_user => reduced.push_str("<user>"),
            part if is_id(part) => reduced.push_str("<id>"),
            part if is_period(part) => reduced.push_str("<period>"),
            part => reduced.push_str(part),
        }
        rest = more;
    }
    reduced
}

/// How long the time is that a text begins with: `2026-11-24T08:49:01.307Z`.
fn time(text: &str) -> Option<usize> {
    let shape = b"0000-00-00T00:00:00";
    let fits = |(shape, byte): (&u8, u8)| if *shape == b'0' { byte.is_ascii_digit() } else { *shape == byte };
    let is_time = text.len() > shape.len() && shape.iter().zip(text.bytes()).all(fits);
    is_time.then(|| text.find('Z').map(|end| end + 1)).flatten()
}

/// How long the id is that a text begins with: `73837ef6-2a51-5c6b-9d0e-0f1c2d3e4f50`.
fn uuid(text: &str) -> Option<usize> {
    let groups: Vec<&str> = text.get(..36)?.split('-').collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    (lengths == [8, 4, 4, 4, 12] && groups.iter().all(is_hex)).then_some(36)
}

fn is_id(part: &str) -> bool {
    part.len() >= 8 && part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// `138ms`, `2m12s`, `10950d00h`: numbers, each with a unit.
fn is_period(part: &str) -> bool {
    let mut rest = part;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
        if digits == 0 || !matches!(&rest[digits..unit], "ms" | "s" | "m" | "h" | "d") {
            return false;
        }
        rest = &rest[unit..];
        if rest.is_empty() {
            return true;
        }
    }
}

#[test]
fn what_differs_by_run_is_alike() {
    for (expected, printed) in [
        ("NAME  AGE\nclerk  138ms", "NAME   AGE\nclerk   2m12s\n"),
        ("local-21662cbf by uid:0", "local-c4723f5f by uid:1000"),
        ("at 2026-11-24T08:49:01.307Z (entry 31)", "at 2027-01-01T00:00:00.001Z (entry 7)"),
        ("held until 10:51:13 UTC (in 1h59m)", "held until 2026-11-26T00:54:28Z (in 1h58m)"),
        ("in 9m12s (11:01:01 UTC); it is", "in 9m12s (2026-11-26T00:01:01Z); it is"),
        ("  25  x: 31 entries in 7 blocks", "9 x: 3 entries in 12 blocks"),
        ("/d/cbbf1652-ab10-50cb-942b-aeea14da183f/x", "/d/c4723f5f-bf1b-5ffa-b85a-817a33c4d0ba/x"),
        ("first\n…\nlast", "first\na\nb\nlast\n"),
        ("first\n…", "first"),
        ("listening on …/node.sock", "listening on /tmp/x/node.sock"),
        ("", "\n"),
    ] {
        assert!(alike(expected, printed), "{expected:?} is {printed:?}");
    }
}

#[test]
fn anything_else_is_not() {
    for (expected, printed) in [
        ("clerk  ready", "clerk  failed"),
        ("machine  ready  3", "machine  ready  2"),
        ("voters 2/3", "voters 3/3"),
        ("held until 10:51:13 UTC", "held until 10:51"),
        ("64M", "65M"),
        ("", "error"),
        ("error", ""),
        ("one", "one\ntwo"),
        ("first\n…\nlast", "first\nmiddle"),
        ("local-21662cbf", "local-none"),
        ("AGE 2m", "AGE long"),
        ("defaced", "decades"),
        ("listening on …/node.sock", "listening on /tmp/x/node.sick"),
    ] {
        assert!(!alike(expected, printed), "{expected:?} is not {printed:?}");
    }
}
