//! Frames: the append-only output of an attempt.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Rejection};
use crate::name::FrameType;
use crate::payload::Payload;
use crate::time::Duration;

/// The total order of the frames of an attempt: `<ms>-<seq>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::text::frame_id)
)]
#[serde(try_from = "String", into = "String")]
pub struct FrameId {
    /// Store time, never before the frame before it.
    pub millis: u64,
    /// Tells frames of one millisecond apart.
    pub sequence: u64,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame {
    /// Its place.
    pub id: FrameId,
    /// What kind of frame.
    pub frame_type: FrameType,
    /// Its bytes.
    #[serde(rename = "payload:bytes")]
    pub payload: Payload,
    /// The worker's id for tying things together.
    pub correlation_id: Option<String>,
}

/// How a worker wants a frame to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FrameMode {
    /// Until trimmed.
    #[default]
    Durable,
    /// Its payload is a merge patch on the attempt's summary document.
    Summary,
    /// Gone after this long.
    BestEffort {
        /// How long.
        #[serde(rename = "ttl_ms")]
        ttl: Duration,
    },
}

/// One end of a range of frames: `start`, `end`, `<ms>` or `<ms>-<seq>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::text::frame_bound)
)]
#[serde(try_from = "String", into = "String")]
pub enum FrameBound {
    /// Before the first.
    Start,
    /// After the last.
    End,
    /// Any frame of this millisecond.
    Millis(u64),
    /// Exactly this place.
    Id(FrameId),
}

impl FrameId {
    /// Before every frame.
    pub const START: FrameId = FrameId { millis: 0, sequence: 0 };
    /// After every frame.
    pub const END: FrameId = FrameId {
        millis: u64::MAX,
        sequence: u64::MAX,
    };

    /// The first place after this one.
    pub const fn after(self) -> FrameId {
        match self.sequence.checked_add(1) {
            Some(sequence) => FrameId {
                millis: self.millis,
                sequence,
            },
            None => FrameId {
                millis: self.millis.saturating_add(1),
                sequence: 0,
            },
        }
    }
}

/// A form of text is the form in JSON.
macro_rules! as_text {
    ($($name:ident),+) => {
        $(
            impl TryFrom<String> for $name {
                type Error = Rejection;

                fn try_from(text: String) -> Result<Self, Rejection> {
                    text.parse()
                }
            }

            impl From<$name> for String {
                fn from(place: $name) -> String {
                    place.to_string()
                }
            }
        )+
    };
}

as_text!(FrameId, FrameBound);

impl fmt::Display for FrameBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameBound::Start => f.write_str("start"),
            FrameBound::End => f.write_str("end"),
            FrameBound::Millis(millis) => millis.fmt(f),
            FrameBound::Id(id) => id.fmt(f),
        }
    }
}

impl FrameBound {
    /// Where reading begins when nothing is said.
    pub(crate) const fn start() -> Self {
        FrameBound::Start
    }

    /// Where it ends when nothing is said.
    pub(crate) const fn end() -> Self {
        FrameBound::End
    }

    /// The first place this bound includes as the beginning of a range.
    pub const fn as_from(self) -> FrameId {
        match self {
            FrameBound::Start => FrameId::START,
            FrameBound::End => FrameId::END,
            FrameBound::Millis(millis) => FrameId { millis, sequence: 0 },
            FrameBound::Id(id) => id,
        }
    }

    /// The last place this bound includes as the end of a range.
    pub const fn as_to(self) -> FrameId {
        match self {
            FrameBound::Start => FrameId::START,
            FrameBound::End => FrameId::END,
            FrameBound::Millis(millis) => FrameId {
                millis,
                sequence: u64::MAX,
            },
            FrameBound::Id(id) => id,
        }
    }
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.millis, self.sequence)
    }
}

impl FromStr for FrameId {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        match text.parse()? {
            FrameBound::Id(id) => Ok(id),
            _ => Err(invalid(text)),
        }
    }
}

impl FromStr for FrameBound {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        let number = |digits: &str| digits.parse::<u64>().ok().filter(|n| n.to_string() == digits);
        let bound = match (text, text.split_once('-')) {
            ("start", _) => Some(FrameBound::Start),
            ("end", _) => Some(FrameBound::End),
            (_, None) => number(text).map(FrameBound::Millis),
            (_, Some((millis, sequence))) => number(millis)
                .zip(number(sequence))
                .map(|(millis, sequence)| FrameBound::Id(FrameId { millis, sequence })),
        };
        bound.ok_or_else(|| invalid(text))
    }
}

fn invalid(text: &str) -> Rejection {
    Code::InvalidInput.because(format!(
        "a place in a stream is start, end, <ms> or <ms>-<seq>, got {text:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_include_the_whole_millisecond_they_name() {
        let bound: FrameBound = "17".parse().unwrap();
        assert_eq!(
            bound.as_from(),
            FrameId {
                millis: 17,
                sequence: 0
            }
        );
        assert_eq!(
            bound.as_to(),
            FrameId {
                millis: 17,
                sequence: u64::MAX
            }
        );
        assert_eq!("start".parse::<FrameBound>().unwrap().as_from(), FrameId::START);
        assert_eq!("end".parse::<FrameBound>().unwrap().as_to(), FrameId::END);
    }

    #[test]
    fn frame_ids_have_one_spelling() {
        assert_eq!("17-3".parse::<FrameId>().unwrap().to_string(), "17-3");
        for bad in ["", "-", "1-", "-1", "01-1", "+1-1", "1-1-1", "start", "17"] {
            assert_eq!(bad.parse::<FrameId>().unwrap_err().code, Code::InvalidInput, "{bad}");
        }
    }

    #[test]
    fn the_place_after_a_frame_is_the_very_next_one() {
        assert_eq!(
            FrameId { millis: 1, sequence: 2 }.after(),
            FrameId { millis: 1, sequence: 3 }
        );
        assert_eq!(
            FrameId {
                millis: 1,
                sequence: u64::MAX
            }
            .after(),
            FrameId { millis: 2, sequence: 0 }
        );
    }
}
