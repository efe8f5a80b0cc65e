//! Where a callback is sent: the address of a waitpoint and its token in one path, for senders that can do no more than POST.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use super::{WaitpointToken, opaque_text};
use crate::fabric::BASE_PATH;
use crate::id::{ExecutionId, WaitpointId};

opaque_text!(
    /// The path of a callback. Whoever has it may signal its waitpoint: the one secret that stands in a URL.
    CallbackPath
);

/// What a callback's path holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The execution that waits.
    pub execution_id: ExecutionId,
    /// Where it waits.
    pub waitpoint_id: WaitpointId,
    /// What opens that waitpoint.
    pub token: WaitpointToken,
}

/// Bytes before the token: a partition and two UUIDs.
const IDS_BYTES: usize = 2 + 16 + 16;

impl Callback {
    /// The path it is sent to.
    pub fn path(&self) -> CallbackPath {
        let mut sealed = Vec::with_capacity(IDS_BYTES + self.token.expose().len());
        sealed.extend(self.execution_id.partition().index.to_be_bytes());
        sealed.extend(self.execution_id.uuid().into_bytes());
        sealed.extend(self.waitpoint_id.uuid().into_bytes());
        sealed.extend(self.token.expose().as_bytes());
        CallbackPath(format!("{BASE_PATH}/callbacks/{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// Opens the last part of such a path. What it says is believed only once its token was verified.
    pub fn open(sealed: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (partition, rest) = bytes.split_first_chunk()?;
        let (execution, rest) = rest.split_first_chunk()?;
        let (waitpoint, token) = rest.split_first_chunk()?;
        Some(Self {
            execution_id: ExecutionId::new(u16::from_be_bytes(*partition), Uuid::from_bytes(*execution)),
            waitpoint_id: WaitpointId::from_uuid(Uuid::from_bytes(*waitpoint)),
            token: WaitpointToken::from_text(std::str::from_utf8(token).ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callback() -> Callback {
        Callback {
            execution_id: ExecutionId::new(17, Uuid::from_u128(1)),
            waitpoint_id: WaitpointId::from_uuid(Uuid::from_u128(2)),
            token: WaitpointToken::from_text("k1:abcd"),
        }
    }

    #[test]
    fn a_callback_is_opened_as_it_was_closed() {
        let path = callback().path();
        let sealed = path.expose().strip_prefix("/v1/callbacks/").unwrap();
        assert!(
            sealed
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
            "{sealed}"
        );
        assert_eq!(Callback::open(sealed), Some(callback()));
        assert_eq!(format!("{path:?}"), "CallbackPath(redacted)");
    }

    #[test]
    fn what_is_no_callback_opens_nothing() {
        let path = callback().path();
        let sealed = path.expose().rsplit('/').next().unwrap();
        for bad in ["", "?", &sealed[..40], &format!("{sealed}="), &format!("{sealed}%")] {
            assert_eq!(Callback::open(bad), None, "{bad}");
        }
    }
}
