//! The printed list of every sentence in the sources, to be read by people who review a change. `BLESS=1` writes it anew.
//!
//! Names of fields, codes and words are left out: what people are told has two words at least.

use super::{
    hold_list,
    source::{Source, Token},
    sources,
};

/// The text of a literal, with its lines joined; none for other tokens, and for what is no sentence.
fn sentence(token: &Token) -> Option<String> {
    let quoted = token.text.strip_prefix('"')?.strip_suffix('"')?;
    let text: Vec<&str> = quoted.split("\\\n").map(str::trim_start).collect();
    let text = text.concat();
    let is_word = |word: &&str| word.chars().filter(|letter| letter.is_ascii_alphabetic()).count() > 1;
    (text.split_whitespace().filter(is_word).count() > 1).then_some(text)
}

/// The sentences of a source, what is a test or a comment left out.
fn sentences(source: &Source) -> Vec<String> {
    let mut sentences = Vec::new();
    for (at, token) in source.tokens.iter().enumerate().filter(|(_, token)| !token.is_test) {
        let before = |steps: usize| at.checked_sub(steps).map_or("", |at| &source.tokens[at].text);
        let is_doc = before(1) == "=" && matches!(before(2), "doc" | "reason");
        let is_expected = before(1) == "(" && before(2) == "expect";
        let told = sentence(token).filter(|_| !is_doc && !is_expected);
        sentences.extend(told.filter(|told| !sentences.contains(told)));
    }
    sentences
}

#[test]
fn every_sentence_in_the_sources_is_in_the_list_that_was_read() {
    let mut list = String::from("Every sentence in the sources, by file. BLESS=1 writes the list anew.\n");
    let is_told = |source: &&Source| {
        let is = |name: &str| source.path.iter().any(|part| part == name);
        is("src") && !is("testing") && !is("testing.rs")
    };
    for source in sources().iter().filter(is_told) {
        let sentences = sentences(source);
        if !sentences.is_empty() {
            list += &format!("\n# {}\n{}\n", source.name(), sentences.join("\n"));
        }
    }
    hold_list("sentences.txt", &list, "other sentences than were read last (BLESS=1 keeps them)");
}

#[test]
fn sentences_are_found_and_comments_codes_and_tests_are_not() {
    let text = "/// A comment of words.\nfn f() { g(\"one word\\\n   more\", \"code\", h.expect(\"no bug\")); }\n\
                #[cfg(test)]\nmod tests { const T: &str = \"in a test\"; }";
    let source = Source::new(std::path::Path::new("src/a.rs"), text);
    assert_eq!(sentences(&source), ["one wordmore"]);
}
