//! Output: what may be appended, and the RFC 7396 merge of summary documents.

use serde_json::{Map, Value};

use crate::error::{Code, Rejection};
use crate::limits;
use crate::payload::Payload;

/// Refuses a frame that is too large.
pub fn check_frame(payload: &Payload) -> Result<(), Rejection> {
    if payload.len() > limits::FRAME_BYTES_MAX {
        let length = payload.len();
        return Err(Code::FrameTooLarge.because(format!(
            "frame has {length} bytes, more than {}",
            limits::FRAME_BYTES_MAX
        )));
    }
    Ok(())
}

/// The summary document after `patch`: objects are merged, `null` removes, anything else replaces.
pub fn merge_summary(summary: Option<&[u8]>, patch: &Payload) -> Result<Vec<u8>, Rejection> {
    check_frame(patch)?;
    let patch: Value = serde_json::from_slice(&patch.bytes)
        .map_err(|error| Code::InvalidInput.because(format!("a summary frame must be JSON: {error}")))?;
    if depth(&patch) > limits::MERGE_PATCH_DEPTH_MAX {
        let max = limits::MERGE_PATCH_DEPTH_MAX;
        return Err(Code::InvalidInput.because(format!("a merge patch nests at most {max} deep")));
    }
    let current = match summary {
        None => Value::Null,
        Some(bytes) => {
            serde_json::from_slice(bytes).map_err(|_| Code::Internal.because("the stored summary is not JSON"))?
        }
    };
    let merged = merge(current, patch).to_string().into_bytes();
    if merged.len() > limits::PAYLOAD_BYTES_DEFAULT {
        return Err(Code::PayloadTooLarge.because("the summary document would be larger than 1 MiB"));
    }
    Ok(merged)
}

fn merge(target: Value, patch: Value) -> Value {
    let Value::Object(patch) = patch else { return patch };
    let mut merged = match target {
        Value::Object(target) => target,
        _ => Map::new(),
    };
    for (name, value) in patch {
        if value.is_null() {
            merged.remove(&name);
        } else {
            let current = merged.remove(&name).unwrap_or(Value::Null);
            merged.insert(name, merge(current, value));
        }
    }
    Value::Object(merged)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(summary: &Value, patch: &Value) -> Value {
        let summary = summary.to_string();
        let bytes = merge_summary(Some(summary.as_bytes()), &Payload::json(patch)).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn objects_merge_null_removes_and_the_rest_replaces() {
        assert_eq!(merged(&json!({"a": "b"}), &json!({"a": "c"})), json!({"a": "c"}));
        assert_eq!(
            merged(&json!({"a": "b"}), &json!({"b": "c"})),
            json!({"a": "b", "b": "c"})
        );
        assert_eq!(
            merged(&json!({"a": "b", "b": "c"}), &json!({"a": null})),
            json!({"b": "c"})
        );
        assert_eq!(
            merged(&json!({"a": {"b": "c"}}), &json!({"a": {"b": "d", "c": null}})),
            json!({"a": {"b": "d"}})
        );
        assert_eq!(merged(&json!({"a": [1, 2]}), &json!({"a": [3]})), json!({"a": [3]}));
        assert_eq!(merged(&json!(["a"]), &json!({"a": 1})), json!({"a": 1}));
        assert_eq!(merged(&json!({"a": 1}), &json!(["c"])), json!(["c"]));
        assert_eq!(
            merged(&json!({"e": null}), &json!({"a": 1})),
            json!({"e": null, "a": 1})
        );
        assert_eq!(
            merged(&json!({}), &json!({"a": {"bb": {"ccc": null}}})),
            json!({"a": {"bb": {}}})
        );
    }

    #[test]
    fn big_integers_stay_exact() {
        assert_eq!(
            merged(&json!({"n": 9_007_199_254_740_993_u64}), &json!({"m": 1}))["n"],
            json!(9_007_199_254_740_993_u64)
        );
    }

    #[test]
    fn deep_patches_and_text_that_is_no_json_are_refused() {
        let mut deep = json!(1);
        for _ in 0..17 {
            deep = json!({ "a": deep });
        }
        assert_eq!(
            merge_summary(None, &Payload::json(&deep)).unwrap_err().code,
            Code::InvalidInput
        );
        assert_eq!(
            merge_summary(None, &Payload::binary("{")).unwrap_err().code,
            Code::InvalidInput
        );
        let large = Payload::binary(vec![b' '; limits::FRAME_BYTES_MAX + 1]);
        assert_eq!(merge_summary(None, &large).unwrap_err().code, Code::FrameTooLarge);
    }
}
