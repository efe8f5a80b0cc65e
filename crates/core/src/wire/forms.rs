//! Forms that several commands and outcomes share.

use serde::{Deserialize, Deserializer, Serialize};

use crate::id::{AttemptId, LeaseId};
use crate::record::Fence;

/// Reads a fence that stands between the fields of a command. One of which a value is missing is no fence at all: the rule
/// that needs one says `fence_required`.
pub fn fence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Fence>, D::Error> {
    #[derive(Deserialize)]
    struct Values {
        lease_id: Option<LeaseId>,
        lease_epoch: Option<u64>,
        attempt_id: Option<AttemptId>,
    }
    let values = Values::deserialize(deserializer)?;
    let all = || {
        Some(Fence {
            lease_id: values.lease_id?,
            lease_epoch: values.lease_epoch?,
            attempt_id: values.attempt_id?,
        })
    };
    Ok(all())
}

/// An outcome that is one word, and whether it had come about before.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[doc(hidden)]
pub struct Repeatable<S> {
    /// What it came to.
    status: S,
    /// This is the answer the first call was given; the repeated one did nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    repeated: bool,
}

impl<S> Repeatable<S> {
    #[doc(hidden)]
    pub const fn new(status: S, repeated: bool) -> Self {
        Self { status, repeated }
    }

    #[doc(hidden)]
    pub fn parts(self) -> (S, bool) {
        (self.status, self.repeated)
    }
}

/// The JSON of an outcome that names what was done now or before: `{"status": "completed"}`, and `"repeated": true` when a
/// repeated call is given its first answer again.
macro_rules! repeatable {
    ($outcome:ident, $word:literal $(, $other:ident => $other_word:literal)?) => {
        const _: () = {
            #[derive(serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
            enum Status {
                #[serde(rename = $word)]
                Word,
                $(#[serde(rename = $other_word)]
                $other,)?
            }

            #[cfg(feature = "schema")]
            impl schemars::JsonSchema for $outcome {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    stringify!($outcome).into()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    $crate::wire::Repeatable::<Status>::json_schema(generator)
                }
            }

            impl serde::Serialize for $outcome {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let form = match self {
                        $outcome::Now => $crate::wire::Repeatable::new(Status::Word, false),
                        $outcome::Already => $crate::wire::Repeatable::new(Status::Word, true),
                        $($outcome::$other => $crate::wire::Repeatable::new(Status::$other, false),)?
                    };
                    form.serialize(serializer)
                }
            }

            impl<'de> serde::Deserialize<'de> for $outcome {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    Ok(match $crate::wire::Repeatable::<Status>::deserialize(deserializer)?.parts() {
                        (Status::Word, false) => $outcome::Now,
                        (Status::Word, true) => $outcome::Already,
                        $((Status::$other, _) => $outcome::$other,)?
                    })
                }
            }
        };
    };
}
pub(crate) use repeatable;

/// Answers of several calls in one: each is an outcome, or `{"error": …}`.
pub mod answers {
    use serde::de::DeserializeOwned;
    use serde::ser::SerializeSeq;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::error::Rejection;

    /// One of them.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
    #[serde(untagged)]
    pub(crate) enum Answer<T> {
        /// This one was refused; the others were not looked at because of it.
        Refused {
            /// Why.
            error: Rejection,
        },
        /// What it came to.
        Done(T),
    }

    /// Writes them in order.
    pub fn serialize<S: Serializer, T: Serialize>(
        answers: &[Result<T, Rejection>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(answers.len()))?;
        for answer in answers {
            match answer {
                Ok(outcome) => list.serialize_element(&Answer::Done(outcome))?,
                Err(error) => list.serialize_element(&Answer::<T>::Refused { error: error.clone() })?,
            }
        }
        list.end()
    }

    /// Reads them in order.
    pub fn deserialize<'de, D: Deserializer<'de>, T: DeserializeOwned>(
        deserializer: D,
    ) -> Result<Vec<Result<T, Rejection>>, D::Error> {
        let answers = Vec::<Answer<T>>::deserialize(deserializer)?;
        let answer = |answer| match answer {
            Answer::Refused { error } => Err(error),
            Answer::Done(outcome) => Ok(outcome),
        };
        Ok(answers.into_iter().map(answer).collect())
    }
}
