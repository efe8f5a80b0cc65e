//! How deep JSON nests. Readers recurse, so what a caller sends must not nest as deep as it likes.

use super::fault::Fault;
use crate::limits::JSON_DEPTH_MAX;

/// Refuses JSON that nests too deep.
pub(super) fn check(json: &str) -> Result<(), Fault> {
    if fits(json.as_bytes()) {
        return Ok(());
    }
    Err(Fault::new(format!("JSON nests at most {JSON_DEPTH_MAX} deep")))
}

/// Whether JSON nests no deeper than it may.
pub(super) fn fits(json: &[u8]) -> bool {
    let (mut depth, mut rest) = (0_usize, json);
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = after_string(rest),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > JSON_DEPTH_MAX {
            return false;
        }
    }
    true
}

/// What follows the string that `json` begins inside of. Payloads are long strings.
fn after_string(mut json: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', json) {
        let escape = usize::from(json[at] == b'\\');
        json = json.get(at + 1 + escape..).unwrap_or_default();
        if escape == 0 {
            return json;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_brackets_outside_of_strings_nest() {
        let nested = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(check(&nested(JSON_DEPTH_MAX)).is_ok());
        assert_eq!(
            check(&nested(JSON_DEPTH_MAX + 1)).unwrap_err().to_string(),
            "JSON nests at most 128 deep"
        );
        let brackets = "[".repeat(JSON_DEPTH_MAX + 1);
        assert!(check(&format!(r#"{{"a":"\"{brackets}"}}"#)).is_ok());
        assert!(check(&format!(r#"["a\\","{brackets}"]"#)).is_ok());
        assert!(check(&format!(r#"["a\\",{brackets}]"#)).is_err());
        assert!(check(r#"{"a":"\"#).is_ok(), "not ours to refuse");
        assert!(check(&"[]".repeat(JSON_DEPTH_MAX + 1)).is_ok());
    }
}
