//! A text as programs write it inside of another one: escaped as in JSON, in a URL, or in XML.

use std::{collections::BTreeSet, fmt::Write};

/// How a program escapes a text in JSON. Backslashes and control characters are escaped by all.
struct Json {
    /// Which letters of ASCII are written by their number.
    numbered: &'static str,
    /// Which letters of ASCII have a backslash before them.
    escaped: &'static str,
    /// Whether what is not ASCII is written by its number, too.
    others: bool,
    upper_case: bool,
}

/// What most do.
const PLAIN: Json = Json { numbered: "", escaped: "\"", others: false, upper_case: false };

/// Python's json.
const PYTHON: Json = Json { others: true, ..PLAIN };

/// Go's encoding/json.
const GO: Json = Json { numbered: "<>&", ..PLAIN };

const JSONS: [Json; 7] = [
    PLAIN,
    PYTHON,
    // Languages that quote in another way; Python's repr.
    Json { escaped: "", ..PLAIN },
    GO,
    // Gson.
    Json { numbered: "<>&='", ..PLAIN },
    // PHP.
    Json { escaped: "\"/", others: true, ..PLAIN },
    // System.Text.Json.
    Json { numbered: "\"<>&'+`", escaped: "", others: true, upper_case: true },
];

/// How a program escapes a text in a URL.
struct Url {
    /// What is left as it is, beside letters and digits.
    kept: &'static str,
    /// Whether a space becomes a `+`, as in forms.
    plus: bool,
}

const URLS: [Url; 4] = [
    // As RFC 3986 has it.
    Url { kept: "-._~", plus: false },
    // Python's quote.
    Url { kept: "-._~/", plus: false },
    // encodeURIComponent.
    Url { kept: "-._~!*'()", plus: false },
    // Go's QueryEscape, Python's quote_plus.
    Url { kept: "-._~", plus: true },
];

/// How programs write quotation marks in XML and HTML: `"` and `'`.
const MARKUPS: [[&str; 2]; 4] = [["&quot;", "&#x27;"], ["&#34;", "&#39;"], ["&quot;", "&apos;"], ["\"", "'"]];

/// The text itself, and as it stands in JSON. What is escaped may be escaped once more: a log in JSON shows a request in JSON.
/// Only in the ways that most programs have: most texts have one form of these, and each one more is looked for in all forms.
pub(super) fn quoted(text: &str) -> BTreeSet<String> {
    const USUAL: [&Json; 3] = [&PLAIN, &PYTHON, &GO];
    USUAL.into_iter().map(|json| for_json(text, json)).chain([text.to_owned()]).collect()
}

/// All of them; many are the same for most texts.
pub(super) fn all(text: &str) -> impl Iterator<Item = String> {
    let urls = URLS.iter().flat_map(move |url| [true, false].map(|upper_case| for_url(text, url, upper_case)));
    let markups = MARKUPS.iter().map(move |quotes| for_markup(text, quotes));
    JSONS.iter().map(move |json| for_json(text, json)).chain(urls).chain(markups)
}

fn for_markup(text: &str, [double, single]: &[&str; 2]) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('\'', single).replace('"', double)
}

fn for_json(text: &str, json: &Json) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        let short = "\\\n\r\t\u{8}\u{c}".find(letter).and_then(|at| "\\nrtbf".chars().nth(at));
        let is_numbered = letter.is_ascii_control() || json.numbered.contains(letter);
        match short.or(json.escaped.contains(letter).then_some(letter)) {
            Some(short) => out.extend(['\\', short]),
            None if is_numbered || (json.others && !letter.is_ascii()) => number(&mut out, letter, json.upper_case),
            None => out.push(letter),
        }
    }
    out
}

fn number(out: &mut String, letter: char, upper_case: bool) {
    for unit in letter.encode_utf16(&mut [0; 2]) {
        let written = if upper_case { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
        written.expect("a String takes everything");
    }
}

fn for_url(text: &str, url: &Url, upper_case: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let letter = char::from(byte);
        if letter.is_ascii_alphanumeric() || (byte.is_ascii() && url.kept.contains(letter)) {
            out.push(letter);
        } else if letter == ' ' && url.plus {
            out.push('+');
        } else {
            let written = if upper_case { write!(out, "%{byte:02X}") } else { write!(out, "%{byte:02x}") };
            written.expect("a String takes everything");
        }
    }
    out
}
