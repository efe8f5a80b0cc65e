//! Somebody who follows what happens.

use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{Events, ReadEvents};
use ff_sdk::{Fabric, Remote};

/// How long the next event is waited for.
const NOT_AT_ALL: Duration = Duration::ZERO;
const A_WHILE: Duration = Duration::from_secs(20);

/// A reader who has seen everything that had happened by some moment.
pub(crate) struct Reader {
    client: Remote,
    cursor: SignedCursor,
}

impl Reader {
    pub(crate) async fn of_everything(client: Remote) -> Self {
        let mut seen = read(&client, None, NOT_AT_ALL).await.unwrap();
        while seen.events.len() == PAGE_MAX {
            seen = read(&client, Some(seen.next), NOT_AT_ALL).await.unwrap();
        }
        let cursor = seen.next;
        Self { client, cursor }
    }

    /// What it saw is still there.
    pub(crate) async fn goes_on(self) {
        let more = read(&self.client, Some(self.cursor), A_WHILE).await;
        assert!(!more.unwrap().events.is_empty(), "nothing has happened since");
    }

    /// What it saw is not there any more, and it is told so; what happens now it sees from the beginning.
    pub(crate) async fn begins_anew(self) {
        let refused = read(&self.client, Some(self.cursor), NOT_AT_ALL).await;
        assert_eq!(refused.unwrap_err().code, Code::CursorExpired);
        let anew = read(&self.client, None, A_WHILE).await;
        assert!(!anew.unwrap().events.is_empty(), "nothing happens");
    }
}

async fn read(client: &Remote, cursor: Option<SignedCursor>, wait: Duration) -> Result<Events> {
    let everything = ReadEvents {
        cursor,
        limit: Some(PAGE_MAX),
        wait,
        ..ReadEvents::default()
    };
    client.events(everything).await
}
