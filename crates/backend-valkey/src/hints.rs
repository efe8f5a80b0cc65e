//! Wake-ups from other processes, and from this one: one message per call that changed something, a line per hint.

use std::sync::{Arc, Weak};
use std::time::Duration;

use ff_backend::Result;
use ff_backend::codec::key::execution_id;
use ff_backend::hint::Hint;
use ff_backend::queues::Moment;
use ff_core::time::Timestamp;
use futures::StreamExt;
use redis::aio::PubSub;
use tokio::time::{sleep, timeout};

use crate::client::CONNECTION_TIMEOUT;
use crate::error::corrupt;
use crate::keys::{QueueName, lane, partition};
use crate::open::Addresses;
use crate::shared::Shared;

/// Pause before another try to subscribe.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens for as long as the store is open; tells when hints may have been missed.
pub(crate) async fn listen(shared: Weak<Shared>, addresses: Addresses, mut pubsub: PubSub) {
    loop {
        {
            let mut messages = pubsub.on_message();
            while let Some(message) = messages.next().await {
                let Some(shared) = shared.upgrade() else { return };
                match message.get_payload::<String>() {
                    Ok(text) => shared.hear_all(&text),
                    Err(error) => tracing::warn!(%error, "a hint cannot be read; sweeps find what it was about"),
                }
            }
        }
        pubsub = loop {
            let Some(channel) = shared.upgrade().map(|shared| shared.channel.clone()) else {
                return;
            };
            match subscribe(&addresses, &channel).await {
                Ok(pubsub) => break pubsub,
                Err(error) => tracing::debug!(%error, "no hints from the store yet"),
            }
            sleep(PAUSE).await;
        };
        let Some(shared) = shared.upgrade() else { return };
        shared.doubt_everything();
        // Nobody may be listening; that is fine.
        let _ = shared.hints.send(Hint::Missed);
    }
}

/// Subscribes at the first node that answers. Any node of a cluster tells all hints.
pub(crate) async fn subscribe(addresses: &Addresses, channel: &str) -> redis::RedisResult<PubSub> {
    let mut failure = None;
    for address in addresses.iter() {
        let subscribed = async {
            let mut pubsub = redis::Client::open(address.clone())?.get_async_pubsub().await?;
            pubsub.subscribe(channel).await?;
            Ok(pubsub)
        };
        match timeout(CONNECTION_TIMEOUT, subscribed).await {
            Ok(Ok(pubsub)) => return Ok(pubsub),
            Ok(Err(error)) => failure = Some(error),
            Err(_) => failure = Some((redis::ErrorKind::Io, "no answer in time").into()),
        }
    }
    Err(failure.unwrap_or_else(|| (redis::ErrorKind::InvalidClientConfig, "no address was given").into()))
}

impl Shared {
    fn hear_all(self: &Arc<Self>, text: &str) {
        for line in text.lines() {
            match self.hear(line) {
                Ok(hint) => {
                    let _ = self.hints.send(hint);
                }
                Err(error) => tracing::warn!(%error, "a hint cannot be read; sweeps find what it was about"),
            }
        }
    }

    fn hear(&self, line: &str) -> Result<Hint> {
        let unknown = || corrupt(format!("hint {line:?}"));
        let (kind, rest) = line.split_once(' ').ok_or_else(unknown)?;
        let (place, about) = rest.split_once(' ').unwrap_or((rest, ""));
        Ok(match kind {
            "k" => Hint::Setting(rest.to_owned()),
            "c" => Hint::Cause(rest.parse().map_err(corrupt)?),
            "f" => Hint::Feed {
                partition: partition(place)?,
            },
            "e" => {
                let mut parts = about.splitn(4, ' ');
                let mut next = || parts.next().ok_or_else(unknown);
                let generation = next()?.parse().map_err(corrupt)?;
                let changes = next()?.parse().map_err(corrupt)?;
                let score = next()?.parse().map_err(corrupt)?;
                let (set, queue) = QueueName::registered(next()?)?;
                let (partition, name) = (partition(place)?, lane(&queue.namespace, &queue.lane));
                let seen = Moment { generation, changes };
                self.filled_queues()
                    .saw(&name, (partition, set), &queue.signature, score, seen);
                Hint::Eligible {
                    partition,
                    namespace: queue.namespace,
                    lane: queue.lane,
                }
            }
            "d" => Hint::Due {
                partition: partition(place)?,
                at: Timestamp::from_millis(about.parse().map_err(corrupt)?),
            },
            "s" => {
                let (uuid, index) = about.split_once(':').ok_or_else(unknown)?;
                Hint::Stream {
                    execution_id: execution_id(partition(place)?, uuid)?,
                    attempt_index: index.parse().map_err(corrupt)?,
                }
            }
            _ => return Err(unknown()),
        })
    }
}
