//! Secrets, found in the texts of others.
//!
//! A value is looked for as it is, and in the forms that programs print it in: escaped as in JSON, in a URL or in XML (in
//! several ways each), in base64 (also in the middle of a longer text), in hexadecimal digits; and so again as it stands in
//! JSON. Of a value of several lines it looks for each line, too, and of JSON for each text and number in it.

mod escapes;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

/// What is shown in place of a secret.
pub const MARK: &str = "***";

/// The shortest value that can be told from other text, in bytes. A shorter one would blot out half of every text.
pub const TELLING_BYTES_MIN: usize = 6;

/// The first bytes of a form.
type Start = [u8; TELLING_BYTES_MIN];

/// Blots out values that are not to be seen. Shows nothing of them itself.
#[derive(Clone, Default)]
pub struct Blot {
    /// By how they begin; the longest first.
    forms: BTreeMap<Start, Vec<Form>>,
    /// Which beginnings there may be, so that most places of a text cost one look.
    filter: Filter,
    /// How many were taken out since the filter was made.
    removed: usize,
}

#[derive(Clone)]
struct Form {
    bytes: Box<[u8]>,
    /// Whose it is, for people: "variable CLOUD_TOKEN".
    of: Arc<str>,
    /// The letters beside it may hold bits of it.
    is_base64: bool,
}

impl fmt::Debug for Blot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blot").finish_non_exhaustive()
    }
}

impl Blot {
    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Looks for a value from now on, in all forms that are long enough.
    pub fn add(&mut self, of: &str, value: &str) {
        let of: Arc<str> = of.into();
        for (form, is_base64) in forms(value) {
            self.insert(&of, form, is_base64);
        }
    }

    /// Looks for these bytes in base64 from now on.
    pub fn add_base64(&mut self, of: &str, bytes: &[u8]) {
        let of: Arc<str> = of.into();
        base64_within(bytes).for_each(|form| self.insert(&of, form.into_bytes().into(), true));
    }

    /// Looks for these bytes from now on, as they are.
    pub fn add_bytes(&mut self, of: &str, bytes: &[u8]) {
        self.insert(&of.into(), bytes.into(), false);
    }

    /// Whether it looks for these bytes already.
    pub fn knows(&self, bytes: &[u8]) -> bool {
        let of_start = start(bytes).and_then(|start| self.forms.get(&start));
        of_start.is_some_and(|forms| forms.iter().any(|form| *form.bytes == *bytes))
    }

    /// Does not look for these bytes any more.
    pub fn remove_bytes(&mut self, bytes: &[u8]) {
        let Some(start) = start(bytes) else { return };
        let Some(forms) = self.forms.get_mut(&start) else { return };
        forms.retain(|form| *form.bytes != *bytes);
        if forms.is_empty() {
            self.forms.remove(&start);
        }
        self.removed += 1;
        if self.forms.len().max(FILTER_BITS / 16) < self.removed {
            self.filter = Filter::default();
            self.forms.keys().for_each(|start| self.filter.insert(start));
            self.removed = 0;
        }
    }

    fn insert(&mut self, of: &Arc<str>, bytes: Box<[u8]>, is_base64: bool) {
        let Some(start) = start(&bytes) else { return };
        let forms = self.forms.entry(start).or_default();
        let Err(at) = forms.binary_search_by(|form| bytes.len().cmp(&form.bytes.len()).then(form.bytes.cmp(&bytes)))
        else {
            return;
        };
        forms.insert(at, Form { bytes, of: of.clone(), is_base64 });
        self.filter.insert(&start);
    }

    /// The text without them.
    pub fn out<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.out_telling(text, &mut BTreeSet::new())
    }

    /// The text without what any of them looks for. Not one after the other: what the first leaves of a text has not the forms
    /// any more that the second looks for.
    pub fn out_of_all<'a>(blots: &[&Self], text: &'a str) -> Cow<'a, str> {
        told(text, blotted(blots, text.as_bytes(), false, &mut BTreeSet::new()))
    }

    /// The text without them; whose they were is added to `found`.
    pub fn out_telling<'a>(&self, text: &'a str, found: &mut BTreeSet<Arc<str>>) -> Cow<'a, str> {
        told(text, blotted(&[self], text.as_bytes(), false, found))
    }

    /// What was read of something longer, without them, and without what may be the beginning of one.
    pub fn out_of_cut(&self, bytes: &[u8]) -> Vec<u8> {
        let end = if self.is_empty() { bytes.len() } else { end_of_cut(bytes, 0) };
        blotted(&[self], bytes, true, &mut BTreeSet::new()).unwrap_or_else(|| bytes[..end].to_vec())
    }

    /// The bytes without them.
    pub fn out_of_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        blotted(&[self], bytes, false, &mut BTreeSet::new()).unwrap_or_else(|| bytes.to_vec())
    }

    /// The longest form that this begins with.
    fn longest_at(&self, text: &[u8], is_cut: bool) -> Option<&Form> {
        let start = start(text).filter(|start| self.filter.may_have(start))?;
        let forms = self.forms.get(&start)?.iter();
        let begun = |form: &&Form| text.starts_with(&form.bytes) || (is_cut && form.bytes.starts_with(text));
        forms.clone().find(begun)
    }
}

/// None if nothing is in it that one of these looks for. Where two overlap, both are covered.
fn blotted(blots: &[&Blot], text: &[u8], is_cut: bool, found: &mut BTreeSet<Arc<str>>) -> Option<Vec<u8>> {
    if blots.iter().all(|blot| blot.is_empty()) {
        return None;
    }
    let mut out = Vec::new();
    let mut covered = 0;
    for at in 0..(text.len() + 1).saturating_sub(TELLING_BYTES_MIN) {
        let longest = blots.iter().filter_map(|blot| blot.longest_at(&text[at..], is_cut));
        let Some(form) = longest.max_by_key(|form| form.bytes.len()) else { continue };
        let mut end = text.len().min(at + form.bytes.len());
        let mut begin = at;
        if form.is_base64 {
            begin -= letters_of_base64(text[..at].iter().rev());
            end += letters_of_base64(text[end..].iter());
        }
        if covered <= at {
            out.extend_from_slice(&text[covered..begin.max(covered)]);
            out.extend_from_slice(MARK.as_bytes());
        }
        covered = covered.max(end);
        if !found.contains(&form.of) {
            found.insert(form.of.clone());
        }
    }
    let end = if is_cut { end_of_cut(text, covered) } else { text.len() };
    (covered != 0).then(|| {
        out.extend_from_slice(&text[covered..end]);
        out
    })
}

fn told(text: &str, blotted: Option<Vec<u8>>) -> Cow<'_, str> {
    match blotted {
        None => Cow::Borrowed(text),
        Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// How many letters beside some base64 may hold bits of what those around them hold: four of them are three bytes.
fn letters_of_base64<'t>(beside: impl Iterator<Item = &'t u8>) -> usize {
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte);
    beside.take(4).take_while(is_letter).count()
}

/// What is behind this is too little to be told from the beginning of a form.
fn end_of_cut(text: &[u8], covered: usize) -> usize {
    covered.max(text.len().saturating_sub(TELLING_BYTES_MIN - 1))
}

fn start(bytes: &[u8]) -> Option<Start> {
    bytes.first_chunk().copied()
}

const FILTER_BITS: usize = 1 << 16;

/// One bit for each of many beginnings.
#[derive(Clone, Default)]
struct Filter(Vec<u64>);

impl Filter {
    fn place(start: &Start) -> (usize, u64) {
        let number = u32::from_le_bytes([start[0], start[1], start[2], start[3]]);
        // Fibonacci hashing: the upper 16 bits depend on all four bytes.
        let bit = (number.wrapping_mul(0x9e37_79b1) >> 16) as usize;
        (bit / 64, 1 << (bit % 64))
    }

    fn insert(&mut self, start: &Start) {
        self.0.resize(FILTER_BITS / 64, 0);
        let (word, bit) = Self::place(start);
        self.0[word] |= bit;
    }

    fn may_have(&self, start: &Start) -> bool {
        let (word, bit) = Self::place(start);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

/// The forms of a value that are long enough to be told from other text, each with whether it is base64.
fn forms(value: &str) -> BTreeMap<Box<[u8]>, bool> {
    let mut parts: BTreeSet<String> = lines_of(value).collect();
    let within: Option<serde_json::Value> = serde_json::from_str(value).ok();
    within.iter().for_each(|json| texts_within(json, &mut parts));
    let mut forms: BTreeMap<Box<[u8]>, bool> = BTreeMap::new();
    let telling = parts.iter().filter(|part| TELLING_BYTES_MIN <= part.len());
    for quoted in telling.flat_map(|part| escapes::quoted(part)) {
        forms.extend(base64_within(quoted.as_bytes()).map(|text| (text.into_bytes().into(), true)));
        let texts = escapes::all(&quoted).chain(hex(quoted.as_bytes())).chain([quoted.clone()]);
        forms.extend(texts.map(|text| (text.into_bytes().into(), false)));
    }
    forms
}

fn hex(bytes: &[u8]) -> [String; 2] {
    let lower = crate::vocab::hex(bytes);
    [lower.to_ascii_uppercase(), lower]
}

/// The texts and numbers in a JSON array or object. A text that is the whole of it stands in quotes, and is found without.
fn texts_within(json: &serde_json::Value, texts: &mut BTreeSet<String>) {
    match json {
        serde_json::Value::String(text) => texts.extend(lines_of(text)),
        serde_json::Value::Number(number) => texts.extend([number.to_string()]),
        serde_json::Value::Array(items) => items.iter().for_each(|item| texts_within(item, texts)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| texts_within(value, texts)),
        serde_json::Value::Null | serde_json::Value::Bool(_) => (),
    }
}

/// A text, and each line of it.
fn lines_of(text: &str) -> impl Iterator<Item = String> {
    text.lines().chain([text]).map(str::trim).chain([text]).map(str::to_owned)
}

/// The letters of base64 in which nothing but these bytes stand, wherever they begin in what is encoded: `user:password`.
fn base64_within(bytes: &[u8]) -> impl Iterator<Item = String> {
    let standard = (0..3).map(|before| {
        let all: Vec<u8> = std::iter::repeat_n(0, before).chain(bytes.iter().copied()).collect();
        let three = |part: &[u8]| std::array::from_fn(|at| part.get(at).copied().unwrap_or(0));
        let letters = all.chunks(3).flat_map(|part| base64(&three(part)));
        // A letter is six bits.
        let (first, end) = ((8 * before).div_ceil(6), 8 * all.len() / 6);
        letters.take(end).skip(first).collect::<String>()
    });
    standard.flat_map(|text| [text.replace('+', "-").replace('/', "_"), text])
}

fn base64(three: &[u8; 3]) -> [char; 4] {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
    [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift) as usize & 63]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Blot {
        let mut blot = Blot::default();
        values.iter().for_each(|value| blot.add("it", value));
        blot
    }

    #[test]
    fn values_are_blotted_out_and_short_ones_are_not_looked_for() {
        let blot = of(&["hunter22", "hunter22-long", "abc"]);
        assert_eq!(blot.out("hunter22-long abc hunter22!"), "*** abc ***!");
        assert!(matches!(blot.out("nothing of it"), Cow::Borrowed(_)));
        assert_eq!((blot.out(""), blot.out("hunte")), ("".into(), "hunte".into()));
        assert!(!format!("{blot:?}").contains("hunter"));
        assert_eq!(Blot::default().out("hunter22"), "hunter22");
    }

    #[test]
    fn of_two_that_overlap_nothing_is_left() {
        let blot = of(&["abcdefgh", "ghijklmn", "efgxyz"]);
        assert_eq!(blot.out("abcdefghijklmn"), "***");
        assert_eq!(blot.out("abcdefghabcdefgh"), "******");
    }

    #[test]
    fn it_is_told_whose_they_were() {
        let mut blot = of(&["hunter22"]);
        blot.add("variable TOKEN", "sesame!");
        let mut found = BTreeSet::new();
        blot.out_telling("open sesame! now", &mut found);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["variable TOKEN".into()]);
    }

    #[test]
    fn a_value_is_found_in_the_forms_that_programs_print() {
        let value = "päss \"wörd\"\\?";
        let blot = of(&[value]);
        let json = serde_json::to_string(value).unwrap();
        for (text, left) in [
            (json.as_str(), "\"***\""),
            (r#"'p\u00e4ss \"w\u00f6rd\"\\?'"#, "'***'"),
            (r#"'päss "wörd"\\?'"#, "'***'"),
            ("http://me:p%C3%A4ss%20%22w%C3%B6rd%22%5C%3F@there", "http://me:***@there"),
        ] {
            assert_eq!(blot.out(text), left, "{text}");
        }
    }

    #[test]
    fn every_language_escapes_in_its_own_way() {
        let value = "p/ä<w>&='\"+ *ö\\";
        let blot = of(&[value]);
        for text in [
            r#"p/ä\u003cw\u003e\u0026='\"+ *ö\\"#,                         // Go
            r#"p/ä\u003cw\u003e\u0026\u003d\u0027\"+ *ö\\"#,               // Gson
            r#"p\/\u00e4<w>&='\"+ *\u00f6\\"#,                             // PHP
            r#"p/\u00E4\u003Cw\u003E\u0026=\u0027\u0022\u002B *\u00F6\\"#, // .NET
            "p/%C3%A4%3Cw%3E%26%3D%27%22%2B%20%2A%C3%B6%5C",               // Python's quote
            "p%2F%C3%A4%3Cw%3E%26%3D'%22%2B%20*%C3%B6%5C",                 // encodeURIComponent
            "p%2F%C3%A4%3Cw%3E%26%3D%27%22%2B+%2A%C3%B6%5C",               // a form
            "p%2f%c3%a4%3cw%3e%26%3d%27%22%2b%20%2a%c3%b6%5c",             // curl before 7.7
            "p/ä&lt;w&gt;&amp;=&#x27;&quot;+ *ö\\",                        // Python's html
            "p/ä&lt;w&gt;&amp;=&#39;&#34;+ *ö\\",                          // Go's html
            "p/ä&lt;w&gt;&amp;=&apos;&quot;+ *ö\\",                        // XML
            "p/ä&lt;w&gt;&amp;='\"+ *ö\\",                                 // the text of an XML element
            "702fc3a43c773e263d27222b202ac3b65c",
            "702FC3A43C773E263D27222B202AC3B65C",
        ] {
            assert_eq!(blot.out(&format!("say {text}!")), "say ***!", "{text}");
        }
    }

    #[test]
    fn what_is_quoted_is_found_when_it_is_quoted_again() {
        let value = "-----BEGIN \"ö<c>&d\"";
        let blot = of(&[value]);
        for text in [
            r#"-----BEGIN \\\"ö<c>&d\\\""#,                             // JSON in JSON
            r#"-----BEGIN \\\"\\u00f6<c>&d\\\""#,                       // Python's in any
            r#"-----BEGIN \\\"\u00f6<c>&d\\\""#,                        // any in Python's
            r#"-----BEGIN \\\"ö\\u003cc\\u003e\\u0026d\\\""#,           // Go's in Go's
            r#"-----BEGIN \\\u0022\u00F6\u003Cc\u003E\u0026d\\\u0022"#, // any in .NET's
            "-----BEGIN%20%5C%22%C3%B6%3Cc%3E%26d%5C%22",               // in a URL
            r"-----BEGIN \&quot;ö&lt;c&gt;&amp;d\&quot;",               // in XML
            "2d2d2d2d2d424547494e205c22c3b63c633e26645c22",
        ] {
            assert_eq!(blot.out(&format!("say {text}!")), "say ***!", "{text}");
        }
        let key = serde_json::json!({ "key": value }).to_string();
        let told = serde_json::json!({ "request": key }).to_string();
        assert_eq!(blot.out(&told), r#"{"request":"{\"key\":\"***\"}"}"#);
    }

    #[test]
    fn in_base64_no_letter_is_left_that_holds_a_bit_of_it() {
        let encoded = |bytes: &[u8]| {
            let three = |part: &[u8]| std::array::from_fn(|at| part.get(at).copied().unwrap_or(0));
            let letters = |part: &[u8]| base64(&three(part)).into_iter().take(part.len() + 1).collect::<String>();
            bytes.chunks(3).map(letters).collect::<String>()
        };
        for value in ["correct horse", "sesame", "~~~???~~~"] {
            let blot = of(&[value]);
            for (before, behind) in (0..=7).flat_map(|before| (0..=7).map(move |behind| (before, behind))) {
                let text = encoded(&[&b"abcdefg"[..before], value.as_bytes(), &b"hijklmn"[..behind]].concat());
                for text in [text.replace('+', "-").replace('/', "_"), text] {
                    let told = blot.out(&text).into_owned();
                    let (first, last) = told.split_once(MARK).unwrap_or_else(|| panic!("{text}: {told}"));
                    // Only whole threes of what stands before it, and what begins after the last three that it is in.
                    assert!(first.len() <= before / 3 * 4, "{before} before {value}: {told}");
                    let in_last_three = (before + value.len()).div_ceil(3) * 4;
                    assert!(last.len() <= text.len().saturating_sub(in_last_three), "{behind} behind {value}: {told}");
                }
            }
            assert_eq!(blot.out(&format!("{}==", encoded(value.as_bytes()))), MARK, "alone");
        }
        // `Basic` of `ab:` and the password behind it.
        assert_eq!(of(&["correct horse"]).out("Basic YWI6Y29ycmVjdCBob3JzZQ== and more"), "Basic *** and more");
        assert_eq!(of(&["~~~???~~~"]).out("fn5-Pz8_fn5-"), MARK, "as in URLs");
    }

    #[test]
    fn lines_and_texts_of_json_are_values_of_their_own() {
        let json = r#"{"a": {"b": ["in-the-middle"]}, "c": 7, "pin": 1234567}"#;
        let blot = of(&["-----BEGIN-----\n  line-one-of-it\r\nx\n", json]);
        assert_eq!(blot.out("line-one-of-it, in-the-middle x 7 1234567"), "***, *** x 7 ***");
    }

    #[test]
    fn of_what_was_cut_no_beginning_is_left() {
        let blot = of(&["0123456789abcdefghij"]);
        for cut in 0..20 {
            let text = format!("say {}", &"0123456789abcdefghij"[..cut]);
            let left = String::from_utf8(blot.out_of_cut(text.as_bytes())).unwrap();
            assert!(!left.contains('0'), "{left}");
        }
        assert_eq!(blot.out_of_cut(b"nothing of the sort"), b"nothing of the");
        assert_eq!(blot.out_of_cut(b"0123456789abcdefghij and"), MARK.as_bytes());
        assert_eq!(Blot::default().out_of_cut(b"nothing"), b"nothing");
    }

    #[test]
    fn what_is_secret_no_more_is_not_looked_for() {
        let mut blot = Blot::default();
        for number in 0..10_000 {
            let token = format!("{number:08}.token");
            blot.add_bytes("a token", token.as_bytes());
            assert_eq!(blot.out(&token), MARK);
            blot.remove_bytes(token.as_bytes());
            assert_eq!(blot.out(&token), token);
        }
        let filled: u32 = blot.filter.0.iter().map(|word| word.count_ones()).sum();
        assert!(blot.is_empty() && filled < 5_000, "the filter forgets, too: {filled}");
    }
}
