//! A schema as `schemars` reads it from a type, made the schema of what travels.

use serde_json::{Map, Value, json};

use super::NAMED;
use crate::wire::{Mark, mark};

type Object = Map<String, Value>;

/// Makes schemas of one direction, and collects those that have a name.
pub(super) struct Travel {
    raw: Object,
    /// Requests refuse what they do not know and may say `null`; replies may grow, and leave out what is absent.
    in_requests: bool,
    /// What was referred to so far, by name.
    pub(super) named: Object,
}

impl Travel {
    pub(super) fn requests(raw: Object) -> Self {
        Self {
            raw,
            in_requests: true,
            named: Object::new(),
        }
    }

    pub(super) fn replies(raw: Object) -> Self {
        Self {
            raw,
            in_requests: false,
            named: Object::new(),
        }
    }

    /// The schema of the fields of a request: an object, never a name.
    pub(super) fn fields(&mut self, raw: &Value) -> Value {
        let raw = self.resolved(raw);
        self.schema(&raw)
    }

    /// A schema as it travels.
    pub(super) fn schema(&mut self, raw: &Value) -> Value {
        match raw {
            Value::Object(raw) if raw.contains_key("properties") => self.object(raw),
            Value::Object(raw) => match words(raw) {
                Some(words) => words,
                None => raw
                    .iter()
                    .map(|(key, value)| (key.clone(), self.part(key, value)))
                    .collect(),
            },
            Value::Array(items) => items.iter().map(|item| self.schema(item)).collect(),
            other => other.clone(),
        }
    }

    fn part(&mut self, key: &str, value: &Value) -> Value {
        match key {
            "$ref" => {
                if let Some(name) = value.as_str().and_then(|text| text.strip_prefix(NAMED)) {
                    self.name(name);
                }
                value.clone()
            }
            // Values, not schemas.
            "default" | "const" | "enum" | "examples" => value.clone(),
            "patternProperties" => match value {
                Value::Object(members) => members
                    .iter()
                    .map(|(key, value)| (key.clone(), self.schema(value)))
                    .collect(),
                other => other.clone(),
            },
            _ => self.schema(value),
        }
    }

    /// Makes the schema of this name, unless it is there or being made.
    fn name(&mut self, name: &str) {
        let Some(raw) = self.raw.get(name).filter(|_| !self.named.contains_key(name)).cloned() else {
            return;
        };
        self.named.insert(name.to_owned(), Value::Null);
        let schema = self.schema(&raw);
        self.named.insert(name.to_owned(), schema);
    }

    /// What a schema refers to, with what it says itself beside that.
    fn resolved(&self, raw: &Value) -> Value {
        let name = raw
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|text| text.strip_prefix(NAMED));
        name.and_then(|name| self.raw.get(name)).unwrap_or(raw).clone()
    }

    /// A struct: its marked fields become others. Where one of those is an alternative, the whole is one.
    fn object(&mut self, raw: &Object) -> Value {
        let required: Vec<&str> = raw
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut plain = raw.clone();
        plain.retain(|key, _| !matches!(key.as_str(), "properties" | "required" | "$ref" | "description"));
        let mut forms = vec![Form::new(match self.schema(&Value::Object(plain)) {
            Value::Object(plain) => plain,
            _ => Object::new(),
        })];
        // A variant that is tagged inside refers to the fields that stand beside its tag.
        if raw.contains_key("$ref") {
            let beside = self.resolved(&json!({ "$ref": raw["$ref"] }));
            forms = self.joined(&forms, &beside, true);
        }
        let properties = raw.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in properties {
            let is_required = required.contains(&name.as_str());
            match mark(name) {
                Mark::Plain => {
                    let (schema, is_required) = self.property(property, is_required);
                    forms
                        .iter_mut()
                        .for_each(|form| form.add(name, schema.clone(), is_required));
                }
                Mark::Bytes(name) => forms
                    .iter_mut()
                    .for_each(|form| form.add_bytes(name, property, is_required)),
                Mark::Inline => {
                    let optional = present(property);
                    let inner = self.resolved(optional.as_ref().unwrap_or(property));
                    // A command without its fence is refused; what may come without says so.
                    let needed = optional.is_none() || (self.in_requests && property.get(MAY_BE_ABSENT).is_none());
                    forms = self.joined(&forms, &inner, needed);
                }
            }
        }
        let description = raw.get("description").cloned();
        let mut schemas = forms.into_iter().map(|form| form.schema(self.in_requests));
        let mut schema = match (schemas.next(), schemas.next()) {
            (Some(only), None) => only,
            (first, second) => json!({ "oneOf": first.into_iter().chain(second).chain(schemas).collect::<Vec<_>>() }),
        };
        if let (Some(description), Some(schema)) = (description, schema.as_object_mut()) {
            schema.insert("description".to_owned(), description);
        }
        schema
    }

    /// The fields of `inner` between those of each form.
    fn joined(&mut self, forms: &[Form], inner: &Value, needed: bool) -> Vec<Form> {
        let inner = match self.schema(inner) {
            Value::Object(inner) => inner,
            _ => Object::new(),
        };
        let alternatives = match inner.get("oneOf").and_then(Value::as_array) {
            Some(alternatives) if !inner.contains_key("properties") => {
                alternatives.iter().filter_map(Value::as_object).cloned().collect()
            }
            _ => vec![inner],
        };
        let joined = |form: &Form| -> Vec<Form> { alternatives.iter().map(|other| form.with(other, needed)).collect() };
        forms.iter().flat_map(joined).collect()
    }

    /// A field like any other. Replies leave out what is absent instead of saying `null`.
    fn property(&mut self, raw: &Value, is_required: bool) -> (Value, bool) {
        match present(raw).filter(|_| !self.in_requests) {
            Some(present) => (self.schema(&present), false),
            None => (self.schema(raw), is_required),
        }
    }
}

/// An enum of words that say nothing about themselves: a list of them will do.
fn words(raw: &Object) -> Option<Value> {
    let variants = raw.get("oneOf")?.as_array()?;
    let bare = |variant: &Value| {
        let word = variant.get("const")?.as_str()?;
        (variant.get("description")? == format!("`{word}`").as_str()).then(|| word.to_owned())
    };
    let words: Vec<String> = variants.iter().map(bare).collect::<Option<_>>()?;
    let mut schema = raw.clone();
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), words.into());
    Some(Value::Object(schema))
}

/// On a group of fields of a command: all of them may be missing.
const MAY_BE_ABSENT: &str = "x-may-be-absent";

/// The schema without `null`, if it allows that.
pub fn present(schema: &Value) -> Option<Value> {
    let mut schema = schema.as_object()?.clone();
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        let all = types.len();
        types.retain(|kind| kind != "null");
        if types.len() == all {
            return None;
        }
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
        return Some(Value::Object(schema));
    }
    let Some(Value::Array(any)) = schema.remove("anyOf") else {
        return None;
    };
    let mut others = any.iter().filter(|one| one.get("type") != Some(&Value::from("null")));
    let (Some(Value::Object(only)), None) = (others.next(), others.next()) else {
        return None;
    };
    // What the field says about itself comes before what its type says.
    let mut one = only.clone();
    one.append(&mut schema);
    (any.len() == 2).then_some(Value::Object(one))
}

/// The fields of an object while they are put together.
#[derive(Clone)]
struct Form {
    rest: Object,
    properties: Object,
    required: Vec<String>,
}

impl Form {
    fn new(rest: Object) -> Self {
        Self {
            rest,
            properties: Object::new(),
            required: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, schema: Value, is_required: bool) {
        self.properties.insert(name.to_owned(), schema);
        if is_required {
            self.required.push(name.to_owned());
        }
    }

    /// The three fields a payload travels in, of which one of two holds the bytes.
    fn add_bytes(&mut self, name: &str, property: &Value, is_required: bool) {
        let said = property.get("description").and_then(Value::as_str).unwrap_or("Bytes.");
        let (base64, kind) = (format!("{name}_base64"), format!("{name}_type"));
        self.add(
            name,
            json!({ "description": format!("{said} Any JSON value, or `{base64}` instead.") }),
            false,
        );
        let bytes = json!({ "type": "string", "contentEncoding": "base64", "description": format!("`{name}` as bytes, in base64.") });
        self.add(&base64, bytes, false);
        let description =
            format!("The content type of `{name}`; absent: JSON, or with `{base64}` bytes nobody described.");
        self.add(
            &kind,
            json!({ "type": "string", "maxLength": crate::name::NAME_BYTES_MAX, "description": description }),
            false,
        );
        if is_required {
            self.rest.insert(
                "oneOf".to_owned(),
                json!([{ "required": [name] }, { "required": [base64] }]),
            );
        }
    }

    /// The same with the fields of another object between.
    fn with(&self, other: &Object, needed: bool) -> Self {
        let mut form = self.clone();
        let properties = other.get("properties").and_then(Value::as_object);
        form.properties.extend(
            properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), schema.clone())),
        );
        if needed {
            let required = other.get("required").and_then(Value::as_array).into_iter().flatten();
            form.required
                .extend(required.filter_map(Value::as_str).map(str::to_owned));
            form.rest
                .extend(other.get("oneOf").map(|one| ("oneOf".to_owned(), one.clone())));
        }
        form
    }

    fn schema(mut self, in_requests: bool) -> Value {
        self.rest
            .insert("properties".to_owned(), Value::Object(self.properties));
        if !self.required.is_empty() {
            self.rest.insert("required".to_owned(), self.required.into());
        }
        if in_requests {
            self.rest.insert("additionalProperties".to_owned(), false.into());
        }
        Value::Object(self.rest)
    }
}
