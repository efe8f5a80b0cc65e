//! Whether a step is called with what it was called with before.

use ff_core::digest::Digest;
use serde::Serialize;
use serde_json::Value;

use crate::task_error::TaskError;

/// A digest of a value that does not depend on the order of its fields.
pub(crate) fn digest_of<T: Serialize + ?Sized>(value: &T) -> Result<String, TaskError> {
    let value = serde_json::to_value(value)
        .map_err(|error| TaskError::permanent(format!("the input of a step has no JSON form: {error}")))?;
    let mut text = String::new();
    canonical(&value, &mut text);
    Ok(Digest::of("input of a step", [text]).to_string())
}

/// JSON with sorted fields and no spaces.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(name, _)| name.as_str());
            text.push('{');
            for (name, value) in sorted {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for value in values {
                canonical(value, text);
                text.push(',');
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_fields_does_not_matter_and_everything_else_does() {
        let digest = |json: &str| digest_of(&serde_json::from_str::<Value>(json).unwrap()).unwrap();
        assert_eq!(digest(r#"{"a":[1,2],"b":null}"#), digest(r#"{"b":null, "a":[1,2]}"#));
        assert_ne!(digest(r#"{"a":[1,2]}"#), digest(r#"{"a":[2,1]}"#));
        assert_ne!(
            digest_of(&json!(["a", "b"])).unwrap(),
            digest_of(&json!(["a,b"])).unwrap()
        );
    }
}
