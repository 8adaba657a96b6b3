//! Requests and replies: one JSON object each, in one text message.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::fault::Fault;

/// A request. The names of its members are read without regard to case, and unknown ones are passed over.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// What its reply is told apart by; never 0.
    pub(super) number: u64,
    pub(super) facade: String,
    pub(super) version: u64,
    /// The watcher that is meant; empty for none.
    pub(super) id: String,
    pub(super) method: String,
    params: Option<Box<RawValue>>,
}

impl Request {
    /// Reads a message; none if it is no request that could be answered.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|request| request.number != 0)
    }

    /// Its parameters; what is missing or null has its zero value.
    ///
    /// # Errors
    /// If they are of another form.
    pub(super) fn params<T: DeserializeOwned + Default>(&self) -> Result<T, Fault> {
        let Some(params) = self.params.as_ref().filter(|params| params.get() != "null") else {
            return Ok(T::default());
        };
        serde_json::from_str(params.get())
            .map_err(|error| Fault::plain(format!("the parameters cannot be read: {error}")))
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Request;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a request")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Request, A::Error> {
                let mut request = Request::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.to_ascii_lowercase().as_str() {
                        "request-id" => request.number = map.next_value::<Option<u64>>()?.unwrap_or_default(),
                        "type" => request.facade = map.next_value::<Option<String>>()?.unwrap_or_default(),
                        "version" => request.version = map.next_value::<Option<u64>>()?.unwrap_or_default(),
                        "id" => request.id = map.next_value::<Option<String>>()?.unwrap_or_default(),
                        "request" => request.method = map.next_value::<Option<String>>()?.unwrap_or_default(),
                        "params" => request.params = map.next_value::<Option<Box<RawValue>>>()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(request)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// What a call came to: the body of its reply, as JSON.
pub(super) type Called = Result<String, Fault>;

/// A body as JSON.
///
/// # Errors
/// None in practice: what is told is made of texts, numbers and lists.
pub(super) fn body(value: &impl Serialize) -> Called {
    serde_json::to_string(value).map_err(|error| Fault::node(&error))
}

/// The body of a reply that says nothing.
pub(super) fn nothing() -> Called {
    Ok("{}".to_owned())
}

/// The text of a reply. One with an error has an empty body, and one without has no member that would say so.
pub(super) fn reply(number: u64, called: &Called) -> String {
    match called {
        Ok(body) => format!(r#"{{"request-id":{number},"response":{body}}}"#),
        Err(Fault { message, code }) => {
            let message = serde_json::Value::from(message.as_str());
            let code = if code.is_empty() { String::new() } else { format!(r#","error-code":"{code}""#) };
            format!(r#"{{"request-id":{number},"error":{message}{code},"response":{{}}}}"#)
        }
    }
}

/// A value that may be missing or null, both meaning its zero value.
pub(super) fn or_zero<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_request_is_read_without_regard_to_case_and_null_is_nothing() {
        let text =
            r#"{"Request-Id":7,"type":"Pinger","version":1,"Id":"3","request":"Ping","params":null,"trace-id":"x"}"#;
        let request = Request::read(text).expect("a request");
        assert_eq!((request.number, request.id.as_str(), request.method.as_str()), (7, "3", "Ping"));
        assert_eq!(request.params::<Vec<u8>>(), Ok(vec![]));
    }

    #[test]
    fn what_has_no_number_cannot_be_answered() {
        for text in ["", "{", "[]", "7", "{}", r#"{"request-id":0,"type":"Pinger"}"#, r#"{"request-id":"1"}"#] {
            assert!(Request::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_reply_has_a_body_in_any_case_and_an_error_only_if_there_is_one() {
        let read = |called: &Called| serde_json::from_str::<Value>(&reply(3, called)).expect("JSON");
        assert_eq!(read(&nothing()), json!({"request-id": 3, "response": {}}));
        let refused = read(&Err(Fault::denied()));
        let expected = json!({
            "request-id": 3,
            "error": "permission denied",
            "error-code": "unauthorized access",
            "response": {},
        });
        assert_eq!(refused, expected);
        assert_eq!(read(&Err(Fault::plain("\"x\""))), json!({"request-id": 3, "error": "\"x\"", "response": {}}));
    }
}
