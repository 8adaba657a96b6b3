//! Text from outside, made harmless for a terminal.

use std::borrow::Cow;

/// The text with everything escaped that could move a terminal's cursor, change its colours, or turn the direction of
/// what stands beside it.
///
/// A line break is escaped too: what comes from outside stays on one line.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_hostile(letter) {
            escaped.extend(letter.escape_default());
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

/// The first `letters_max` letters of a text, with `…` where something was left out.
pub fn cut(text: &str, letters_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(letters_max) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Control characters, and the invisible ones that change direction, join, or hide: zero-width, bidirectional marks and
/// overrides, line and paragraph separators, the byte order mark, tags.
pub fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// JSON text with the same letters written as `\u` escapes; its line breaks are left alone, for they stand between values.
///
/// `serde_json` escapes what JSON forbids, which is less than what a terminal obeys.
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    let is_hostile = |letter: char| is_hostile(letter) && letter != '\n';
    if !json.chars().any(is_hostile) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if is_hostile(letter) {
            let units =
                letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            escaped.push_str(&units);
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

/// An error with its causes, as one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_meaning() {
        let text = "a\u{202e}b\u{9b}c\n\u{e0041}";
        let json = serde_json::to_string(text).expect("json");
        let harmless = harmless_json(&json);
        assert!(!harmless.chars().any(is_hostile), "{harmless:?}");
        assert_eq!(serde_json::from_str::<String>(&harmless).expect("json"), text);
    }

    #[test]
    fn plain_text_is_left_alone() {
        assert!(matches!(harmless("größe 10G"), Cow::Borrowed("größe 10G")));
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(harmless("a\x1b[31m\nb\u{202e}c"), "a\\u{1b}[31m\\nb\\u{202e}c");
    }

    #[test]
    fn long_text_is_cut_between_letters() {
        assert_eq!(cut("größe", 3), "grö…");
        assert_eq!(cut("größe", 5), "größe");
    }
}
