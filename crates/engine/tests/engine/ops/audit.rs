//! A privileged act leaves its line; no other act does, and no line holds a secret.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use super::support::{World, work};
use ff_core::caller::{Caller, Role};
use ff_core::command::key::CreateKey;
use ff_core::command::operator::HoldExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::keyring::{RotateWaitpointSecret, Secret};
use ff_core::name::{Identity, Kid};
use ff_core::record::Actor;
use ff_core::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps what the audit is told.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, "{}={value} ", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ff::audit"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn a_privileged_act_leaves_its_line() {
    let lines = Lines::default();
    let _heard = tracing::subscriber::set_default(lines.clone());
    let world = World::new();
    let by = |role| {
        world.engine.acting_as(Caller {
            actor: Actor::Client(Identity::parse("ann").unwrap()),
            role,
            ..Caller::local()
        })
    };
    let id = world.submit(work()).await;
    by(Role::Operator).get_state(id).await.unwrap();
    assert_eq!(lines.take(), Vec::<String>::new(), "neither is privileged");

    let hold = On::new(
        id,
        HoldExecution {
            reason: Some("the patient's name".to_owned()),
        },
    );
    by(Role::Operator).hold(hold.clone()).await.unwrap();
    let [line] = lines.take().try_into().unwrap();
    for part in [
        "operation=hold",
        "caller=ann",
        "role=operator",
        "namespace=*",
        &format!("about=execution_id={id}"),
        "outcome=done",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert!(!line.contains("patient"), "{line}");

    let _ = by(Role::Reader).hold(hold).await;
    let _ = by(Role::Reader).get_input(id).await;
    let refused = lines.take();
    assert!(
        refused.len() == 2 && refused.iter().all(|line| line.contains("outcome=forbidden")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn the_audit_knows_no_secret() {
    let lines = Lines::default();
    let _heard = tracing::subscriber::set_default(lines.clone());
    let world = World::new();
    let create = CreateKey {
        name: Identity::parse("ann").unwrap(),
        role: Role::Reader,
        namespace: None,
        expires_at: None,
    };
    let made = world.engine.create_key(create).await.unwrap();
    let rotate = RotateWaitpointSecret {
        new_kid: Kid::parse("k9").unwrap(),
        new_secret: Secret::from_random([0xab; 32]),
        grace: Duration::ZERO,
        compromised: false,
    };
    world.engine.rotate_waitpoint_secret(rotate).await.unwrap();
    let told = lines.take().join("\n");
    assert!(told.contains("about=name=ann") && told.contains("new_kid=k9"), "{told}");
    assert!(!told.contains("abab") && !told.contains(made.key.expose()), "{told}");
}
