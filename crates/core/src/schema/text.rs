//! What the checks of names and ids let through, as far as a schema can say it. Lengths are in bytes there and in characters
//! here, so a schema may let pass what is refused later, never the other way around.

use schemars::Schema;

use crate::capability::CAPABILITIES_MAX;
use crate::limits::{PAGE_MAX, PRIORITY_MAX, TAG_VALUE_BYTES_MAX, TAGS_MAX};
use crate::name::{CATEGORY_BYTES_MAX, LANE_BYTES_MAX, NAME_BYTES_MAX, STEP_KEY_BYTES_MAX};

/// Neither whitespace nor control characters.
const NAME: &str = r"^[^\s\x00-\x1f\x7f-\x9f]+$";

/// An execution id as it is written, and as paths and queries take it as well.
pub(super) const EXECUTION_ID: &str =
    r"^\{fp:(0|[1-9][0-9]{0,4})\}:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

fn text(schema: &mut Schema, pattern: &str, max: usize) {
    schema.insert("minLength".into(), 1.into());
    schema.insert("maxLength".into(), max.into());
    schema.insert("pattern".into(), pattern.into());
}

pub(crate) fn check_name(schema: &mut Schema) {
    text(schema, NAME, NAME_BYTES_MAX);
}

pub(crate) fn check_step_key(schema: &mut Schema) {
    text(schema, NAME, STEP_KEY_BYTES_MAX);
}

pub(crate) fn check_lane(schema: &mut Schema) {
    text(schema, "^[!-~]+$", LANE_BYTES_MAX);
}

pub(crate) fn check_kid(schema: &mut Schema) {
    text(schema, r"^[^\s:\x00-\x1f\x7f-\x9f]+$", NAME_BYTES_MAX);
}

pub(crate) fn check_category(schema: &mut Schema) {
    text(schema, "^[a-z0-9_]+$", CATEGORY_BYTES_MAX);
}

pub(crate) fn check_content_type(schema: &mut Schema) {
    text(schema, "^[ -~]*/[ -~]*$", NAME_BYTES_MAX);
}

pub(crate) fn execution_id(schema: &mut Schema) {
    schema.insert("pattern".into(), EXECUTION_ID.into());
}

pub(crate) fn frame_id(schema: &mut Schema) {
    schema.insert("pattern".into(), "^(0|[1-9][0-9]*)-(0|[1-9][0-9]*)$".into());
}

pub(crate) fn frame_bound(schema: &mut Schema) {
    schema.insert(
        "pattern".into(),
        "^(start|end|(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?)$".into(),
    );
}

pub(crate) fn capabilities(schema: &mut Schema) {
    let token = serde_json::json!({ "type": "string", "minLength": 1, "pattern": r"^[^\s,\x00-\x1f\x7f-\x9f]+$" });
    schema.insert("items".into(), token);
    schema.insert("maxItems".into(), CAPABILITIES_MAX.into());
}

pub(crate) fn tags(schema: &mut Schema) {
    schema.insert("maxProperties".into(), TAGS_MAX.into());
    schema.insert(
        "propertyNames".into(),
        serde_json::json!({ "pattern": "^[a-z][a-z0-9_.-]{0,127}$" }),
    );
    let value = serde_json::json!({ "type": "string", "maxLength": TAG_VALUE_BYTES_MAX });
    schema.insert("additionalProperties".into(), value);
}

pub(crate) fn priority(schema: &mut Schema) {
    schema.insert("maximum".into(), PRIORITY_MAX.into());
}

pub(crate) fn page(schema: &mut Schema) {
    schema.insert("minimum".into(), 1.into());
    schema.insert("maximum".into(), PAGE_MAX.into());
}
