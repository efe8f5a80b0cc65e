//! What is wrong with what was sent, and where.

use std::fmt;

use serde_json::json;

use super::{Mark, mark};
use crate::error::{Code, Rejection};

/// A value that cannot be read, with the way to it.
#[derive(Debug)]
pub struct Fault {
    /// From the value outwards.
    steps: Vec<String>,
    detail: String,
    code: Option<Code>,
    /// The field that must be there and is not.
    absent: Option<&'static str>,
    /// It is in a field beside the one that is being read.
    beside: bool,
    /// It is a field that nobody here knows.
    unknown: bool,
}

impl Fault {
    /// Something wrong with the value at hand.
    pub(super) fn new(detail: impl Into<String>) -> Self {
        Self {
            steps: Vec::new(),
            detail: detail.into(),
            code: None,
            absent: None,
            beside: false,
            unknown: false,
        }
    }

    /// A field that nobody here knows.
    pub(super) fn unknown(name: &str, detail: impl Into<String>) -> Self {
        let unknown = true;
        Self {
            unknown,
            ..Fault::new(detail).under(name)
        }
    }

    /// The same fault, seen from the value that holds the faulty one under this name.
    pub(super) fn under(mut self, step: impl fmt::Display) -> Self {
        if !std::mem::take(&mut self.beside) {
            self.steps.push(step.to_string());
        }
        self
    }

    /// The same fault, seen from a field of another name than the one that is being read.
    pub(super) fn beside(self, name: impl fmt::Display) -> Self {
        let beside = true;
        Self {
            beside,
            ..self.under(name)
        }
    }

    /// The same fault, refused with this code unless a more precise one is known.
    pub(super) fn coded(mut self, code: Code) -> Self {
        self.code.get_or_insert(code);
        self
    }

    /// The field of the value at hand that must be there and is not.
    pub(super) fn absent(&self) -> Option<&'static str> {
        self.absent.filter(|_| self.steps.is_empty())
    }

    /// Where the faulty value stands, as a JSON pointer; empty for the whole.
    fn pointer(&self) -> String {
        let steps = self.steps.iter().rev();
        steps.fold(String::new(), |way, step| {
            way + "/" + &step.replace('~', "~0").replace('/', "~1")
        })
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        // The line and column are those of the value, which nobody but us has cut out.
        let detail = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(detail, _)| detail);
        serde::de::Error::custom(detail)
    }
}

impl serde::de::Error for Fault {
    /// A refusal that a type gave when it was parsed keeps its code: its text begins with it.
    fn custom<T: fmt::Display>(detail: T) -> Self {
        let text = detail.to_string();
        let coded = text
            .split_once(": ")
            .and_then(|(code, detail)| Some((Code::parse(code)?, detail)));
        match coded {
            Some((code, detail)) => Fault::new(detail).coded(code),
            None => Fault::new(text),
        }
    }

    fn missing_field(name: &'static str) -> Self {
        let name = match mark(name) {
            Mark::Bytes(plain) => plain,
            Mark::Plain | Mark::Inline => name,
        };
        Self {
            absent: Some(name),
            ..Fault::new(format!("{name} is missing"))
        }
    }
}

impl serde::ser::Error for Fault {
    fn custom<T: fmt::Display>(detail: T) -> Self {
        Fault::new(detail.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer().as_str() {
            "" => f.write_str(&self.detail),
            pointer => write!(f, "{pointer}: {}", self.detail),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Rejection {
    fn from(fault: Fault) -> Self {
        let code = fault.code.unwrap_or(Code::InvalidInput);
        let mut error = json!({ "pointer": fault.pointer(), "detail": fault.detail });
        if fault.unknown {
            // Whoever sent it may be newer than we are.
            error["unknown_field"] = true.into();
        }
        let errors = json!([error]);
        code.because(fault.to_string()).with("errors", errors)
    }
}
