//! The whole interface through a client and a server, over sockets of this machine: from afar nobody can tell the difference.

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::caller::Caller;
use ff_core::command::claim::{Claim, Finish, Task};
use ff_core::command::lease::{Complete, Fail};
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On, Result};
use ff_core::name::{Category, ExecutionKind};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_engine::Engine;
use ff_fabric_suite::Harness;
use ff_sdk::Remote;
use ff_sdk::remote::Waited;
use ff_server::{Server, Settings, serve};

use crate::support::{EngineHarness, claim};

/// An engine behind servers, which end with it.
struct HttpHarness {
    inner: EngineHarness,
    fabric: Remote,
}

impl HttpHarness {
    async fn over(inner: EngineHarness) -> Self {
        let fabric = served(&inner.engine, Caller::local());
        Self { inner, fabric }
    }
}

/// A client of a server for which everybody who asks is `caller`.
pub(crate) fn served(engine: &Engine, caller: Caller) -> Remote {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let settings = Settings {
        everybody: Some(caller),
        ..Settings::default()
    };
    let server = Server::new(engine.clone(), settings);
    tokio::spawn(async move { serve(&server, listener, None, std::future::pending()).await });
    Remote::connect(format!("http://{address}")).open().unwrap()
}

#[async_trait]
impl Harness for HttpHarness {
    fn fabric(&self) -> Arc<dyn Fabric> {
        Arc::new(self.fabric.clone())
    }

    /// A lease that the caller shows is shown by its client.
    async fn fabric_for(&self, mut caller: Caller) -> Arc<dyn Fabric> {
        let held = caller.held.take();
        let client = served(&self.inner.engine, caller);
        Arc::new(held.map_or(client.clone(), |held| client.holding(held)))
    }

    async fn advance(&self, by: Duration) {
        self.inner.advance(by).await;
    }

    async fn settle(&self) {
        self.inner.settle().await;
    }
}

mod memory {
    use super::*;

    async fn make() -> HttpHarness {
        HttpHarness::over(EngineHarness::memory(|_| ())).await
    }

    ff_fabric_suite::fabric_suite!(make);
}

mod sqlite {
    use super::*;

    async fn make() -> HttpHarness {
        HttpHarness::over(EngineHarness::sqlite(|_| ())).await
    }

    ff_fabric_suite::fabric_suite!(make);
}

mod valkey {
    use super::*;

    async fn make() -> HttpHarness {
        HttpHarness::over(EngineHarness::valkey(|_| ()).await).await
    }

    ff_fabric_suite::fabric_suite!(make);
}

mod postgres {
    use super::*;

    async fn make() -> HttpHarness {
        HttpHarness::over(EngineHarness::postgres(|_| ()).await).await
    }

    ff_fabric_suite::fabric_suite!(make);
}

/// What the interface has no word for: a submission that waits for its end, in one call.
mod submit_and_wait {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn submission() -> CreateExecution {
        CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::binary("in"))
    }

    async fn ended(how: impl FnOnce(Task) -> Finish) -> Result<Waited> {
        let harness = EngineHarness::memory(|_| ());
        let engine = &harness.engine;
        let client = served(engine, Caller::local());
        let waiting = tokio::spawn(async move { client.submit_and_wait(&submission(), LONG).await });
        let claimed = engine
            .claim(Claim {
                wait: LONG,
                ..claim(1, 1)
            })
            .await
            .unwrap();
        let task = claimed.into_iter().next().unwrap();
        let id = task.execution_id;
        match how(task) {
            Finish::Complete(command) => drop(engine.complete(On::new(id, command)).await.unwrap()),
            Finish::Fail(command) => drop(engine.fail(On::new(id, command)).await.unwrap()),
            _ => unreachable!("nothing else ends here"),
        }
        waiting.await.unwrap()
    }

    fn complete(task: &Task, result: Option<Payload>) -> Finish {
        Finish::Complete(Complete {
            fence: Some(task.fence),
            result,
            ..Complete::default()
        })
    }

    #[tokio::test]
    async fn is_answered_the_result() {
        let result = Payload::binary("out");
        let waited = ended(|task| complete(&task, Some(result.clone()))).await.unwrap();
        assert_eq!(waited, Waited::Completed(Some(result)));
        assert_eq!(
            ended(|task| complete(&task, None)).await.unwrap(),
            Waited::Completed(None)
        );
    }

    #[tokio::test]
    async fn is_told_why_there_is_none() {
        let fail = |task: Task| {
            Finish::Fail(Fail {
                fence: Some(task.fence),
                reason: "no paper".to_owned(),
                category: Category::parse("permanent").unwrap(),
                retry_after: None,
                steps: Vec::new(),
            })
        };
        let refused = ended(fail).await.unwrap_err();
        assert_eq!(refused.code, Code::ResultNotAvailable);
        assert!(refused.detail.contains("no paper"), "{}", refused.detail);
        assert_eq!(refused.fields["public_state"], "failed");
    }

    #[tokio::test]
    async fn has_its_id_when_the_time_is_over() {
        let harness = EngineHarness::memory(|_| ());
        let client = served(&harness.engine, Caller::local());
        let waited = client.submit_and_wait(&submission(), Duration::ZERO).await.unwrap();
        let Waited::Open(created) = waited else {
            panic!("{waited:?}");
        };
        let state = harness.engine.get_state(created.execution_id()).await.unwrap();
        assert_eq!(state.public_state, PublicState::Waiting);
        let again = CreateExecution {
            execution_id: Some(created.execution_id()),
            ..submission()
        };
        let waited = client.submit_and_wait(&again, Duration::from_millis(1)).await.unwrap();
        assert!(matches!(waited, Waited::Open(Created::Duplicate { .. })), "{waited:?}");
    }
}
