//! Waiting for what an execution gives.

use std::time::Duration;

use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, On};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::time::Duration as Millis;
use ff_core::view::GetResult;
use serde::de::DeserializeOwned;

use super::{Ended, Run};
use crate::error::{Error, Result};
use crate::patience::Patience;

/// How long one call waits: less than what a server allows.
const WAIT: Millis = Millis::from_secs(25);

impl<O: DeserializeOwned> Run<O> {
    /// What it gives, waited for as long as it takes: hours, restarts of the server, a lost connection.
    ///
    /// An end that is no success is [`Error::Ended`] and says which. A server that does not answer for five minutes is an
    /// error, too.
    pub async fn result(&self) -> Result<O> {
        let mut patience = Patience::default();
        loop {
            let request = On::new(self.id, GetResult { wait: WAIT });
            let refusal = match self.client.get_result(request).await {
                Ok(payload) => return self.read(payload).await,
                Err(refusal) => refusal,
            };
            match Awaited::of(&refusal) {
                None => patience.after(refusal).await?,
                Some(Awaited::Open) => patience.restore(),
                Some(Awaited::Nothing) => return self.read(Payload::default()).await,
                Some(Awaited::NoSuccess) => {
                    // It may have been replayed since: then it is open again.
                    if let Some(ended) = Ended::of(self.view().await?) {
                        return Err(Error::Ended(Box::new(ended)));
                    }
                }
            }
        }
    }

    /// The same, but no longer than `time`: then it is [`Error::NotEnded`], and the execution goes on.
    pub async fn result_within(&self, time: Duration) -> Result<O> {
        match tokio::time::timeout(time, self.result()).await {
            Ok(result) => result,
            Err(_) => Err(Error::NotEnded {
                execution_id: self.id,
                waited: time,
            }),
        }
    }

    async fn read(&self, payload: Payload) -> Result<O> {
        self.client
            .decode(|| format!("the result of execution {}", self.id), payload)
            .await
    }
}

/// Why there is no result.
enum Awaited {
    /// It has not ended.
    Open,
    /// It ended well, and gave nothing.
    Nothing,
    /// It ended otherwise.
    NoSuccess,
}

impl Awaited {
    /// What a refusal says of the result; `None` when it is about something else.
    fn of(refusal: &Rejection) -> Option<Self> {
        if refusal.code != Code::ResultNotAvailable {
            return None;
        }
        let state = refusal.fields.get("public_state")?;
        let state: PublicState = serde_json::from_value(state.clone()).ok()?;
        Some(match state {
            PublicState::Completed => Self::Nothing,
            state if state.is_terminal() => Self::NoSuccess,
            _ => Self::Open,
        })
    }
}
