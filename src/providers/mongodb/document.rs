//! MongoDB's documents as canonical extended JSON, in which every value keeps its type: what is not understood is carried
//! along exactly as it was read.

use serde_json::{Map, Value, json};

/// A document. The order of its fields counts: a command begins with its name.
pub type Document = Map<String, Value>;

/// A whole number of any of MongoDB's types.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
    match value {
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
        Value::Object(typed) => {
            let text = |name: &str| typed.get(name).and_then(Value::as_str);
            match text("$numberInt").or_else(|| text("$numberLong")) {
                Some(number) => number.parse().ok(),
                None => whole(text("$numberDouble")?.parse().ok()?),
            }
        }
        _ => None,
    }
}

/// A number of any of MongoDB's types.
pub(crate) fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Object(typed) => {
            let number = ["$numberDouble", "$numberInt", "$numberLong"].into_iter().find_map(|name| typed.get(name))?;
            number.as_str()?.parse().ok()
        }
        _ => None,
    }
}

/// Whether something is said to be so: true, or a number that is not 0.
pub(crate) fn truth(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| real(value).is_some_and(|number| number != 0.0))
}

/// A moment, in milliseconds since 1970.
pub(crate) fn moment_ms(value: &Value) -> Option<i64> {
    integer(value.get("$date")?)
}

/// A whole number as MongoDB writes it: with 32 bits where they do.
pub(crate) fn int(number: i64) -> Value {
    match i32::try_from(number) {
        Ok(number) => json!({ "$numberInt": number.to_string() }),
        Err(_) => json!({ "$numberLong": number.to_string() }),
    }
}

/// A number with a fraction as MongoDB writes it.
pub(crate) fn double(number: f64) -> Value {
    json!({ "$numberDouble": format!("{number:?}") })
}

/// A document of these fields.
pub(crate) fn document<const N: usize>(fields: [(&str, Value); N]) -> Document {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_types_are_read() {
        for value in [json!(7), json!({ "$numberInt": "7" }), json!({ "$numberLong": "7" }), double(7.0), json!(7.0)] {
            assert_eq!((integer(&value), real(&value)), (Some(7), Some(7.0)), "{value}");
        }
        for value in [json!("7"), json!(null), json!({ "$numberInt": 7 }), json!({ "$numberInt": "x" }), json!([7])] {
            assert_eq!((integer(&value), real(&value)), (None, None), "{value}");
        }
        assert_eq!((integer(&double(0.5)), real(&double(0.5))), (None, Some(0.5)));
        assert_eq!(integer(&double(f64::INFINITY)), None);
        assert_eq!(int(1), json!({ "$numberInt": "1" }));
        assert_eq!(int(1 << 40), json!({ "$numberLong": "1099511627776" }));
        assert_eq!(double(1.0), json!({ "$numberDouble": "1.0" }));
        assert_eq!(moment_ms(&json!({ "$date": { "$numberLong": "-5" } })), Some(-5));
        assert!(truth(&json!(true)) && truth(&int(1)) && !truth(&int(0)) && !truth(&json!("yes")));
    }
}
