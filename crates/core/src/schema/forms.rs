//! Schemas of types whose serde form is written by hand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::command::claim::Finish;
use crate::command::flow::WaitChildren;
use crate::command::lease::{Complete, DelayUntil, Fail, Release};
use crate::command::suspend::Suspend;
use crate::error::{Code, Rejection};
use crate::fabric::{On, Target};
use crate::payload::Payload;
use crate::time::Timestamp;
use crate::view::EventsFrom;

/// Only fields marked as bytes hold a payload, and those are spelled out where they stand.
impl JsonSchema for Payload {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Payload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        super::anything()
    }
}

impl<I: Target, C: JsonSchema> JsonSchema for On<I, C>
where
    I::Fields: JsonSchema,
{
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}On{}", C::schema_name(), I::Fields::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (id, command) = (generator.subschema_for::<I::Fields>(), generator.subschema_for::<C>());
        json_schema!({ "type": "object", "properties": { "..id": id, "..command": command } })
    }
}

impl JsonSchema for Finish {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Finish".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let commands = [
            ("complete", generator.subschema_for::<Complete>()),
            ("fail", generator.subschema_for::<Fail>()),
            ("release", generator.subschema_for::<Release>()),
            ("delay", generator.subschema_for::<DelayUntil>()),
            ("wait_children", generator.subschema_for::<WaitChildren>()),
            ("suspend", generator.subschema_for::<Suspend>()),
        ];
        let variants = commands.map(|(op, command)| {
            json_schema!({
                "type": "object",
                "properties": { "op": { "const": op }, "..command": command },
                "required": ["op"],
            })
        });
        json_schema!({ "oneOf": variants })
    }
}

impl JsonSchema for EventsFrom {
    fn schema_name() -> Cow<'static, str> {
        "EventsFrom".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let moment = generator.subschema_for::<Timestamp>();
        json_schema!({
            "description": "Where a reader of events begins: with the oldest kept, with what happens now, or at a moment.",
            "oneOf": [{ "enum": ["oldest", "now"] }, moment],
        })
    }
}

impl JsonSchema for Rejection {
    fn schema_name() -> Cow<'static, str> {
        "ProblemDocument".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({
            "description": "Why a request was refused (RFC 9457). Nothing was changed. Some codes carry further members.",
            "type": "object",
            "properties": {
                "type": { "type": "string", "description": "Names the code as a URI." },
                "title": { "type": "string", "description": "The code in words." },
                "status": { "type": "integer", "description": "The HTTP status, which follows from the code." },
                "detail": { "type": "string", "description": "What happened, to which thing, and what to do now." },
                "code": { "enum": codes, "description": "What a program goes by. It never changes its meaning." },
                "retryable": { "type": "boolean", "description": "The same request may succeed later." },
                "request_id": { "type": "string", "description": "Finds this request in the server's log." },
                "help": { "type": "string", "description": "Where the code is explained." },
                "errors": {
                    "type": "array",
                    "description": "What is wrong with the request, and where.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "pointer": { "type": "string", "description": "A JSON pointer into the request." },
                            "detail": { "type": "string", "description": "What is wrong there." },
                            "unknown_field": { "type": "boolean", "description": "Set for a field that this server does not know." },
                        },
                        "required": ["pointer", "detail"],
                    },
                },
            },
            "required": ["type", "title", "status", "detail", "code", "retryable"],
        })
    }
}
