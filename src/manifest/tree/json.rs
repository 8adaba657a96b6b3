//! JSON, one document or several. What is wrong with a value is answered with its field; its line is known only where the text
//! is no JSON.

use std::{fmt, rc::Rc};

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{de::StrRead, error::Category};

use super::{Building, Code, Flaw, Growing, Spot, Tree, flaw, text_node};

/// Where a value is said to be: somewhere in the file.
const SOMEWHERE: Spot = Spot { line: 0, column: 0 };

/// Takes the documents of a text one after the other.
pub(in crate::manifest) struct Documents<'a> {
    parser: serde_json::Deserializer<StrRead<'a>>,
    over: bool,
}

impl<'a> Documents<'a> {
    pub(in crate::manifest) fn of(text: &'a str) -> Self {
        Self { parser: serde_json::Deserializer::from_str(text), over: false }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Tree, Flaw>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over || self.parser.end().is_ok() {
            return None;
        }
        let (mut building, mut flaw) = (Building::default(), None);
        let read = Value { into: &mut building, flaw: &mut flaw }.deserialize(&mut self.parser);
        // Where the next document begins is not known.
        self.over = read.is_err();
        Some(match (read, flaw, building.root) {
            (_, Some(flaw), _) => Err(flaw),
            (Err(error), None, _) => Err(no_json(&error)),
            (Ok(()), None, root) => {
                let root = root.unwrap_or_else(|| Rc::new(text_node(SOMEWHERE, "".into(), true)));
                Ok(Tree { root, flaws: building.flaws })
            }
        })
    }
}

fn no_json(error: &serde_json::Error) -> Flaw {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).max(1);
    let at = Spot { line: number(error.line()), column: number(error.column()) };
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let hint = if error.classify() == Category::Syntax { " (this program was built without YAML)" } else { "" };
    flaw(at, Code::BadYaml, format!("this is no JSON: {text}{hint}"))
}

/// One value, on its way into a document.
struct Value<'a> {
    into: &'a mut Building,
    flaw: &'a mut Option<Flaw>,
}

impl Value<'_> {
    fn put<E: de::Error>(&mut self, step: impl FnOnce(&mut Building) -> Result<(), Flaw>) -> Result<(), E> {
        step(self.into).map_err(|flaw| {
            *self.flaw = Some(flaw);
            E::custom("a flaw")
        })
    }

    fn text<E: de::Error>(&mut self, text: &str, plain: bool) -> Result<(), E> {
        self.put(|into| into.finished(0, Rc::new(text_node(SOMEWHERE, text.into(), plain))))
    }

    fn inner(&mut self) -> Value<'_> {
        Value { into: self.into, flaw: self.flaw }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(mut self) -> Result<(), E> {
        self.text("null", true)
    }

    fn visit_bool<E: de::Error>(mut self, value: bool) -> Result<(), E> {
        self.text(&value.to_string(), true)
    }

    fn visit_u64<E: de::Error>(mut self, value: u64) -> Result<(), E> {
        self.text(&value.to_string(), true)
    }

    fn visit_i64<E: de::Error>(mut self, value: i64) -> Result<(), E> {
        self.text(&value.to_string(), true)
    }

    fn visit_f64<E: de::Error>(mut self, value: f64) -> Result<(), E> {
        self.text(&value.to_string(), true)
    }

    fn visit_str<E: de::Error>(mut self, value: &str) -> Result<(), E> {
        self.text(value, false)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.put(|into| into.open(SOMEWHERE, 0, Growing::List(Vec::new())))?;
        while items.next_element_seed(self.inner())?.is_some() {}
        self.put(Building::close)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        self.put(|into| into.open(SOMEWHERE, 0, Growing::Mapping { entries: Vec::new(), key: None }))?;
        while fields.next_key_seed(self.inner())?.is_some() {
            fields.next_value_seed(self.inner())?;
        }
        self.put(Building::close)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Tree>, Flaw> {
        Documents::of(text).collect()
    }

    /// What a tree says, without its places.
    fn said(tree: &Tree) -> String {
        let text = format!("{:?}", tree.root);
        let said = text.split("at: Spot { ").map(|part| part.split_once("}, ").map_or(part, |(_, rest)| rest));
        said.collect()
    }

    #[test]
    fn json_says_what_the_same_text_says_as_yaml() {
        let text = r#"{"a": [1, -2, 1.5, true, null, "true"], "b": {"c": "x\ny", "<<": {"d": []}}} "#;
        let as_json = read(text).expect("JSON");
        let as_yaml: Vec<Tree> =
            super::super::yaml::Documents::of(text).collect::<Result<_, _>>().expect("JSON is YAML");
        assert_eq!(as_json.iter().map(said).collect::<String>(), as_yaml.iter().map(said).collect::<String>());
    }

    #[test]
    fn several_documents_are_read_and_a_double_is_told() {
        let trees = read("{\"a\": 1} {\"a\": 1, \"a\": 2}\n").expect("two");
        assert_eq!(trees.iter().map(|tree| tree.flaws.len()).collect::<Vec<_>>(), [0, 1]);
        assert!(read(" \n").expect("none").is_empty());
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_told_once() {
        let flaw = read("{\n  a: 1}").expect_err("YAML");
        assert_eq!((flaw.at.line, flaw.message.contains("built without YAML")), (2, true), "{flaw:?}");
        assert_eq!(read(&"[".repeat(100)).expect_err("too deep").code, Code::TooDeep);
        assert_eq!(read("{").expect_err("cut off").code, Code::BadYaml);
    }
}
