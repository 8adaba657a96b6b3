//! Bodies that have to be JSON objects.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de::DeserializeOwned, de::Error};
use serde_json::{Map, Value};

/// A `T` that is written as an object. Where every field may be left out, a list would be read as one, too: field after field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(body: D) -> Result<Self, D::Error> {
        let fields: Map<String, Value> = Map::deserialize(body)?;
        serde_json::from_value(Value::Object(fields)).map(Self).map_err(D::Error::custom)
    }
}

impl<T: JsonSchema> JsonSchema for Object<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::sweep::SweepWish;

    #[test]
    fn an_object_is_read_and_a_list_is_not() {
        let read = |text| serde_json::from_str::<Object<SweepWish>>(text).map(|wish| wish.0);
        assert_eq!(read("{}").expect("an object"), SweepWish::default());
        assert_eq!(read(r#"{"to": 7}"#).expect("an object").to, Some(7));
        for wrong in ["[]", "[null, null]", "null", "7", r#"{"too": 7}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
