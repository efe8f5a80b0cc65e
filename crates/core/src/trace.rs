//! W3C Trace Context: which trace a request is part of, so that whoever runs the work can go on with it.

use std::fmt;
use std::sync::Arc;

/// The tag that carries the trace of a submission to its worker.
pub const TRACE_TAG: &str = "traceparent";

/// The place of somebody's work in a trace: `00-<trace id>-<parent id>-<flags>`, all in lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct TraceParent(Arc<str>);

/// Bytes of the form.
const LENGTH: usize = 55;

impl TraceParent {
    /// Reads the header `traceparent`. One that is not as the standard says is as good as none.
    pub fn parse(text: &str) -> Option<Self> {
        // A later version may say more after what is known.
        let (known, more) = text.split_at_checked(LENGTH)?;
        let is_later = known.get(..2) != Some("00");
        let ends_well = more.is_empty() || is_later && more.starts_with('-');
        if !ends_well {
            return None;
        }
        let parts: Vec<&str> = known.split('-').collect();
        let [version, trace_id, parent_id, flags] = parts.as_slice() else {
            return None;
        };
        let is_id = |id: &str, length| is_hex(id, length) && id.bytes().any(|digit| digit != b'0');
        let holds =
            is_hex(version, 2) && *version != "ff" && is_id(trace_id, 32) && is_id(parent_id, 16) && is_hex(flags, 2);
        holds.then(|| Self(format!("00-{trace_id}-{parent_id}-{flags}").into()))
    }

    /// As the header and the tag have it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The trace.
    pub fn trace_id(&self) -> &str {
        &self.0[3..35]
    }

    /// What in it caused the request.
    pub fn parent_id(&self) -> &str {
        &self.0[36..52]
    }

    /// Whether whoever caused it records the trace.
    pub fn is_sampled(&self) -> bool {
        let flags = u8::from_str_radix(&self.0[53..], 16);
        flags.is_ok_and(|flags| flags & 1 == 1)
    }
}

impl fmt::Debug for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_is_read_as_the_standard_writes_it() {
        let trace = TraceParent::parse(GOOD).expect("the example of the standard");
        assert_eq!(trace.as_str(), GOOD);
        assert_eq!(trace.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(trace.parent_id(), "00f067aa0ba902b7");
        assert!(trace.is_sampled());
        let later = format!("cc{}-what-comes", &GOOD[2..]);
        assert_eq!(TraceParent::parse(&later), Some(trace));
    }

    #[test]
    fn anything_else_is_no_trace() {
        let wrong = [
            String::new(),
            GOOD.to_uppercase(),
            format!("{GOOD}-more"),
            format!("{GOOD} "),
            GOOD[1..].to_owned(),
            format!("ff{}", &GOOD[2..]),
            GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            GOOD.replace("-01", "-0g"),
            GOOD.replace('4', "é"),
        ];
        for wrong in wrong {
            assert_eq!(TraceParent::parse(&wrong), None, "{wrong}");
        }
    }
}
