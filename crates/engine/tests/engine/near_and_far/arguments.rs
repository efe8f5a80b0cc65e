//! Arguments for any operation, made from its schema: mostly right, sometimes at the border, sometimes wrong.

use std::collections::BTreeSet;

use ff_core::fabric::{Method, Operation};
use ff_core::schema::NAMED;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::known::{Known, is_name};
use crate::support::{Luck, START};

/// Calls that name what they make: a client would otherwise name it itself.
const MADE: [(&str, &[&str]); 5] = [
    ("create_executions", &["executions"]),
    ("create_flow", &["flow_id"]),
    ("create_flow_graph", &["flow_id"]),
    ("create_budget", &["budget_id"]),
    ("create_quota_policy", &["quota_policy_id"]),
];

/// What need not be there, but then little happens.
const NEEDED: [&str; 2] = ["members", "payload"];

/// What makes a call one, and would otherwise be said by the client.
const IDENTITIES: [&str; 2] = ["request_id", "idempotency_key"];

/// What only a member of a flow has.
const OF_MEMBERS: [&str; 3] = ["depends_on", "edge_group_policy", "parent_fence"];

/// Makes arguments.
pub(super) struct Arguments<'a> {
    pub(super) named: &'a Map<String, Value>,
    pub(super) known: &'a Known,
    pub(super) luck: &'a mut Luck,
}

impl Arguments<'_> {
    /// The fields of a call.
    pub(super) fn for_call(&mut self, operation: &Operation, takes: &Value) -> Map<String, Value> {
        let mut fields = self.object(takes);
        let none = Map::new();
        let properties = takes["properties"].as_object().unwrap_or(&none);
        for field in operation.path_fields() {
            // Whoever leaves out a part of a path asks for something else.
            if fields.get(field).is_none_or(|value| value.is_null() || value == "") {
                fields.insert(field.to_owned(), self.plain(field, &properties[field]));
            }
        }
        let made = MADE.iter().find(|(name, _)| *name == operation.name);
        let identities = IDENTITIES.iter().filter(|name| properties.contains_key(**name));
        let is_repeatable = operation.noun != "submit" && operation.method == Method::POST;
        let wanted = identities.filter(|_| is_repeatable);
        for field in wanted.chain(made.into_iter().flat_map(|(_, fields)| *fields)) {
            while fields.get(*field).is_none_or(Value::is_null) {
                let value = self.plain(field, &properties[*field]);
                fields.insert((*field).to_owned(), value);
            }
        }
        // Text knows no null.
        if !operation.method.has_body() {
            fields.retain(|_, value| !value.is_null());
            let lists = fields.values_mut().filter_map(Value::as_array_mut);
            lists.for_each(|list| list.retain(|value| !value.is_null()));
        }
        // A client names each submission of a batch, and writes the batch anew.
        let is_batch = operation.name == "create_executions";
        if operation.method.has_body() && !is_batch && self.luck.in_hundred(8) {
            self.spoil(operation, &mut fields);
        }
        fields
    }

    /// One thing wrong with a body.
    fn spoil(&mut self, operation: &Operation, fields: &mut Map<String, Value>) {
        let in_path: Vec<_> = operation.path_fields().collect();
        let names: Vec<String> = fields
            .keys()
            .filter(|name| !in_path.contains(&name.as_str()))
            .cloned()
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let wrong = [
            json!("wrong"),
            json!(-1),
            json!([]),
            json!({}),
            json!(1.5),
            json!(true),
            Value::Null,
        ];
        match (self.luck.below(3), self.luck.of(&names)) {
            (0, Some(name)) if !IDENTITIES.contains(&name) && !is_identity(operation, name) => {
                fields.remove(name);
            }
            (1, Some(name)) if !IDENTITIES.contains(&name) && !is_identity(operation, name) => {
                let wrong: Vec<&Value> = wrong.iter().collect();
                let value = self.luck.of(&wrong).unwrap();
                fields.insert(name.to_owned(), value.clone());
            }
            _ => {
                fields.insert("unheard_of".to_owned(), json!(1));
            }
        }
    }

    fn object(&mut self, schema: &Value) -> Map<String, Value> {
        let none = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        let required: BTreeSet<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let wanted = properties
            .keys()
            .map(String::as_str)
            .filter(|name| is_name(name))
            .collect();
        let fact = self
            .luck
            .in_hundred(85)
            .then(|| self.known.fact(&wanted, self.luck))
            .flatten()
            .cloned();
        let mut fields = Map::new();
        for (name, schema) in properties {
            let is_bytes = |of: &str| {
                name.strip_suffix(of)
                    .is_some_and(|plain| properties.contains_key(plain))
            };
            if is_bytes("_base64") || is_bytes("_type") {
                continue;
            }
            let known = fact.as_ref().and_then(|fact| fact.get(name)).filter(|_| is_name(name));
            if let Some(value) = known
                && (required.contains(name.as_str()) || self.luck.in_hundred(50))
            {
                fields.insert(name.clone(), value.clone());
                continue;
            }
            let is_needed = required.contains(name.as_str()) || NEEDED.contains(&name.as_str());
            let frequency = if is_needed { 99 } else { 10 };
            if self.luck.in_hundred(frequency) {
                let value = self.field(name, schema, &fields);
                fields.insert(name.clone(), value);
            }
        }
        if properties.contains_key("execution_kind") {
            self.name_submission(&mut fields);
            if !fields.contains_key("flow_id") && self.luck.in_hundred(90) {
                fields.retain(|name, _| !OF_MEMBERS.contains(&name.as_str()));
            }
        }
        fields
    }

    /// A submission has an id or a key, in one way.
    fn name_submission(&mut self, fields: &mut Map<String, Value>) {
        let names = ["execution_id", "execution_uuid", "idempotency_key"];
        let given =
            |fields: &Map<String, Value>| names.iter().any(|name| fields.get(*name).is_some_and(Value::is_string));
        if fields.contains_key("key") || given(fields) && self.luck.in_hundred(50) {
            return;
        }
        names.iter().for_each(|name| drop(fields.remove(*name)));
        let uuid = self.uuid();
        fields.insert("execution_uuid".to_owned(), uuid);
    }

    fn field(&mut self, name: &str, schema: &Value, around: &Map<String, Value>) -> Value {
        let flow = around.get("flow_id").map(|flow| ("flow_id", flow));
        match name {
            "upstream" | "downstream" if self.luck.in_hundred(90) => {
                let member = self.known.value("execution_id", flow, self.luck);
                member.unwrap_or_else(|| self.plain(name, schema))
            }
            _ => self.plain(name, schema),
        }
    }

    /// A value of a field, whatever stands around it.
    fn plain(&mut self, name: &str, schema: &Value) -> Value {
        let now = START.as_millis();
        let pick = |luck: &mut Luck, values: &[u64]| json!(mostly_first(luck, values).unwrap_or_default());
        match name {
            // Nobody lets time pass while somebody waits.
            "wait_ms" => pick(self.luck, &[0, 0, 0, 0, 0, 30_001]),
            "limit" => pick(self.luck, &[50, 1, 2, 3, 1_000, 1_001, 0]),
            "max" => pick(self.luck, &[1, 1, 2, 3, 0, 1_001]),
            "priority" => pick(self.luck, &[0, 1, 9_000, 9_001]),
            "lease_epoch" | "expected_lease_epoch" => pick(self.luck, &[1, 1, 2, 0]),
            "attempt_index" => pick(self.luck, &[0, 0, 1, u64::from(u32::MAX)]),
            "grant_ttl_ms" => pick(self.luck, &[5_000, 1, 60_000, 60_001, 0]),
            "lease_ttl_ms" | "ttl_ms" => pick(self.luck, &[30_000, 1_000, 86_400_000, 999, 86_400_001]),
            "pct" => pick(self.luck, &[0, 50, 100, 101]),
            "cursor" => self.known.cursor(self.luck).unwrap_or_else(|| json!("garbage")),
            "execution_uuid" => self.uuid(),
            "new_secret_hex" => self.one_of(&[json!("ab".repeat(32)), json!("xy")]),
            "id" | "flow" | "execution" => self.reference(schema),
            "tags" => self.one_of(&[
                json!({ "team": "a" }),
                json!({}),
                json!({ "Team": "a" }),
                json!({ "a": "b", "c": "é" }),
            ]),
            "dimensions" => self.one_of(&[
                json!({ "tokens": { "hard": 10, "soft": 5 } }),
                json!({ "tokens": {} }),
                json!({ "tokens": { "hard": 0 }, "cents": { "soft": 1 } }),
                json!({}),
            ]),
            "deltas" => self.one_of(&[
                json!({ "tokens": 3 }),
                json!({ "tokens": 0 }),
                json!({ "cents": 1, "tokens": 9 }),
                json!({}),
            ]),
            "input" | "payload" | "result" => self.one_of(&[
                json!({ "n": 1 }),
                json!("text"),
                json!([1, [2]]),
                json!(0.5),
                Value::Null,
            ]),
            "expires_at" | "until" | "delay_until" | "timeout_at" | "execution_deadline_at" => {
                pick(self.luck, &[now + 10_000, now + 1_000_000, now - 1, 0])
            }
            _ if is_name(name) && self.luck.in_hundred(80) => {
                let known = self.known.value(name, None, self.luck);
                known.unwrap_or_else(|| self.value(schema))
            }
            _ => self.value(schema),
        }
    }

    fn reference(&mut self, schema: &Value) -> Value {
        let text = schema.to_string();
        let name = if text.contains("FlowId") {
            "flow_id"
        } else {
            "execution_id"
        };
        let Some(known) = self.known.value(name, None, self.luck) else {
            return self.value(schema);
        };
        if text.contains("\"array\"") {
            json!([known])
        } else {
            known
        }
    }

    /// One of these, mostly the first.
    fn one_of(&mut self, values: &[Value]) -> Value {
        let values: Vec<&Value> = values.iter().collect();
        mostly_first(self.luck, &values).cloned().unwrap_or_default()
    }
}

/// One of these: mostly the first, which is what a sensible caller would say.
fn mostly_first<T: Copy>(luck: &mut Luck, choices: &[T]) -> Option<T> {
    let any = luck.of(choices);
    if luck.in_hundred(75) {
        choices.first().copied()
    } else {
        any
    }
}

fn is_identity(operation: &Operation, name: &str) -> bool {
    let makes = MADE
        .iter()
        .any(|(made, fields)| *made == operation.name && fields.contains(&name));
    makes || operation.noun == "submit"
}

impl Arguments<'_> {
    /// A value of this schema.
    fn value(&mut self, schema: &Value) -> Value {
        if let Some(name) = schema["$ref"].as_str().and_then(|at| at.strip_prefix(NAMED)) {
            return self.of_type(name);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            let values: Vec<&Value> = values.iter().collect();
            return self.luck.of(&values).cloned().unwrap_or_default();
        }
        let choices = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        if let Some(choices) = choices.filter(|_| schema.get("properties").is_none()) {
            let something: Vec<&Value> = choices.iter().filter(|choice| choice["type"] != "null").collect();
            return match self.luck.of(&something) {
                Some(choice) if !self.luck.in_hundred(4) => self.value(choice),
                _ => Value::Null,
            };
        }
        let kind = schema["type"].as_str().or(schema["type"][0].as_str());
        match kind {
            Some("object") => Value::Object(self.object(schema)),
            Some("array") => {
                let count = self.luck.of(&[1, 1, 1, 0, 2, 3]).unwrap_or_default();
                (0..count).map(|_| self.value(&schema["items"])).collect()
            }
            Some("integer") => self.one_of(&[
                json!(1),
                json!(2),
                json!(3),
                json!(0),
                json!(60),
                json!(4_000_000_000_u64),
            ]),
            Some("number") => self.one_of(&[json!(1), json!(2.5), json!(60), json!(0)]),
            Some("boolean") => json!(self.luck.in_hundred(50)),
            Some("string") if schema["format"] == "uuid" => self.uuid(),
            Some("string") => self.one_of(&[json!("a"), json!("b"), json!("é ü"), json!(""), json!("x".repeat(300))]),
            _ => self.one_of(&[json!({ "n": 1 }), json!("text"), Value::Null]),
        }
    }

    /// A value of a type that has a name: small sets, so that things meet.
    fn of_type(&mut self, name: &str) -> Value {
        let some = |texts: &[&str]| texts.iter().map(|text| json!(text)).collect::<Vec<_>>();
        let values = match name {
            "ExecutionId" => return self.execution_id(),
            "LaneId" => some(&[
                "default",
                "default",
                "default",
                "side",
                "_ours",
                "two words",
                &"l".repeat(65),
            ]),
            "Namespace" => some(&["default", "default", "default", "default", "other", "no\tway", ""]),
            "ExecutionKind" | "FlowKind" => some(&["job", "job", "a/b?c=d&e#f%2f", "_ours", "no way", "é"]),
            "WorkerId" => some(&["w", "w", "a/b%2f?", &"w".repeat(257)]),
            "WorkerInstanceId" => some(&["w-1", "w-1", "w-2", "a/b%2f?é#c", "a+b&c=d"]),
            "WaitpointKey" => some(&["k", "k", "k", "l", "no way"]),
            "SignalName" => some(&["go", "go", "callback", ""]),
            "Category" => some(&["transient", "permanent", "timeout", "Wrong"]),
            "Dimension" => some(&["tokens", "cents"]),
            "RequestId" | "IdempotencyKey" => {
                let text = format!("r{}", self.luck.below(40));
                some(&[&text, &text, &text, "no way"])
            }
            "Identity" => some(&["someone", "somebody-else", "no way"]),
            "Kid" => some(&["k1", "k2", "a:b"]),
            "Duration" => {
                let durations = [10_000, 0, 1, 1_000, 60_000, 3_600_000, u64::MAX];
                return json!(mostly_first(self.luck, &durations).unwrap_or_default());
            }
            "Timestamp" => {
                let now = START.as_millis();
                return json!(mostly_first(self.luck, &[now + 60_000, 0, now, u64::MAX]).unwrap_or_default());
            }
            "FrameBound" => some(&["start", "end", "0", "1800000000000-0", "x"]),
            "FrameId" => some(&["0-0", "1800000000000-0", "x"]),
            "FrameType" => some(&["token", "token", "no way"]),
            "CapabilitySet" => {
                return self.one_of(&[
                    json!([]),
                    json!([]),
                    json!(["gpu"]),
                    json!(["a,b"]),
                    json!(["é", "gpu"]),
                ]);
            }
            "WantedTag" => some(&["team:a", "team", "Team:a", "a:b"]),
            "WaitpointToken" | "SignedGrant" | "SignedCursor" => some(&["garbage", "k1:00"]),
            "LaneState" => some(&["active", "paused", "draining", "disabled"]),
            "DataRef" => some(&["result", "no way"]),
            other => return self.value(&self.named[other].clone()),
        };
        self.one_of(&values)
    }

    fn execution_id(&mut self) -> Value {
        let Value::String(uuid) = self.uuid() else {
            return Value::Null;
        };
        let partition = self.luck.of(&[0, 7, 255, 256, 60_000]).unwrap_or_default();
        self.one_of(&[
            json!(format!("{{fp:{partition}}}:{uuid}")),
            json!(format!("{{fp:7}}:{uuid}")),
            json!("nonsense"),
        ])
    }

    fn uuid(&mut self) -> Value {
        let bits = (u128::from(self.luck.below(u64::MAX)) << 64) | u128::from(self.luck.below(u64::MAX));
        json!(Uuid::from_u128(bits).to_string())
    }
}
