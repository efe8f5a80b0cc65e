//! Which of its waitpoints an execution is meant to hear something at.

use ff_core::command::waitpoint::{OpenWaitpoint, RequiredNames};
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::name::SignalName;

use crate::failure::{Class, Failure};
use crate::verbs::id;
use crate::verbs::session::Session;

/// The waitpoint of this key or id; unless one is named, the only one that asks for a signal of this name, or the only one at
/// all.
pub(super) async fn find(
    session: &Session,
    execution: ExecutionId,
    named: Option<&str>,
    signal: &SignalName,
) -> anyhow::Result<WaitpointId> {
    let open = session.fabric.list_pending_waitpoints(execution).await?;
    let chosen = choose(&open, named, signal);
    chosen.map_err(|candidates| refused(execution, named, signal, &candidates).into())
}

/// The one that is meant, or those that may be.
fn choose<'o>(
    open: &'o [OpenWaitpoint],
    named: Option<&str>,
    signal: &SignalName,
) -> Result<WaitpointId, Vec<&'o OpenWaitpoint>> {
    let is_named = |waitpoint: &&OpenWaitpoint| {
        named.is_none_or(|named| {
            waitpoint.waitpoint_key.as_str() == named || waitpoint.waitpoint_id.to_string() == named
        })
    };
    let candidates: Vec<_> = open.iter().filter(is_named).collect();
    let asking = candidates
        .iter()
        .copied()
        .filter(|waitpoint| asks_for(waitpoint, signal));
    let asking: Vec<_> = asking.collect();
    match (&asking[..], &candidates[..]) {
        ([one], _) | (_, [one]) => Ok(one.waitpoint_id),
        _ => Err(candidates),
    }
}

fn asks_for(waitpoint: &OpenWaitpoint, signal: &SignalName) -> bool {
    match &waitpoint.required_names {
        RequiredNames::Nothing => false,
        RequiredNames::Names(names) => names.contains(signal),
        RequiredNames::Any => true,
    }
}

fn is_decision(signal: &SignalName) -> bool {
    [SignalName::approved(), SignalName::rejected()].contains(signal)
}

fn refused(execution: ExecutionId, named: Option<&str>, signal: &SignalName, candidates: &[&OpenWaitpoint]) -> Failure {
    let short = id::short(execution.uuid());
    if candidates.is_empty() {
        let what = match named {
            Some(named) => format!("{execution} waits at no {named:?}"),
            None if is_decision(signal) => format!("{execution} does not wait for a person"),
            None => format!("{execution} does not wait for a signal"),
        };
        return Failure::new(Class::Refused, what).advise(format!("`ff explain {short}` says what it does."));
    }
    let keys = candidates
        .iter()
        .map(|waitpoint| format!("--at {}", waitpoint.waitpoint_key));
    let lines: Vec<String> = ["Say which one:".to_owned()].into_iter().chain(keys).collect();
    let what = format!("{execution} waits at more than one place");
    Failure::new(Class::Refused, what).advise(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use ff_core::command::waitpoint::WaitpointState;
    use ff_core::name::{Kid, WaitpointKey};
    use ff_core::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn waitpoint(number: u128, key: &str, required_names: RequiredNames) -> OpenWaitpoint {
        OpenWaitpoint {
            waitpoint_id: WaitpointId::from_uuid(Uuid::from_u128(number)),
            waitpoint_key: WaitpointKey::parse(key).unwrap(),
            state: WaitpointState::Active,
            required_names,
            created_at: Timestamp::default(),
            closes_at: None,
            kid: Kid::parse("k1").unwrap(),
            fingerprint: String::new(),
        }
    }

    #[test]
    fn the_waitpoint_that_asks_for_the_signal_is_meant() {
        let paid = SignalName::parse("paid").unwrap();
        let names = RequiredNames::Names([paid.clone()].into());
        let open = [
            waitpoint(1, "review", RequiredNames::Nothing),
            waitpoint(2, "payment", names),
            waitpoint(3, "other", RequiredNames::Nothing),
        ];
        let id = |number| Some(WaitpointId::from_uuid(Uuid::from_u128(number)));
        assert_eq!(choose(&open, None, &paid).ok(), id(2));
        assert_eq!(choose(&open, Some("other"), &paid).ok(), id(3));
        assert_eq!(choose(&open[..1], None, &paid).ok(), id(1));
        let shipped = SignalName::parse("shipped").unwrap();
        assert_eq!(choose(&open, None, &shipped).unwrap_err().len(), 3);
        assert!(choose(&open, Some("nowhere"), &paid).unwrap_err().is_empty());
    }
}
