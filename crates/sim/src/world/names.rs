//! Names everything in a world is called by: few enough for things to meet.

use std::collections::BTreeMap;

use ff_core::capability::CapabilitySet;
use ff_core::name::{
    Category, DataRef, Dimension, ExecutionKind, FlowKind, FrameType, IdempotencyKey, Identity, LaneId, Namespace,
    RequestId, SignalName, StepKey, ViewName, WaitpointKey, WorkerId, WorkerInstanceId,
};
use ff_core::payload::Payload;
use ff_core::record::Tags;

use crate::invariants::RECEIPTS;
use crate::luck::Luck;

/// Tenants.
pub const NAMESPACES: [&str; 2] = ["default", "other"];
/// Lanes of each tenant.
pub(crate) const LANES: [&str; 3] = ["default", "slow", "gpu"];
/// What executions may require and workers may offer.
const CAPABILITIES: [&str; 2] = ["eu", "gpu"];

macro_rules! names {
    ($($function:ident -> $type:ident),+ $(,)?) => {
        $(pub(crate) fn $function(name: &str) -> $type {
            $type::parse(name).expect("names of the simulation are good ones")
        })+
    };
}

names! {
    lane -> LaneId,
    view -> ViewName,
    namespace -> Namespace,
    kind -> ExecutionKind,
    flow_kind -> FlowKind,
    worker -> WorkerId,
    instance -> WorkerInstanceId,
    identity -> Identity,
    dimension -> Dimension,
    category -> Category,
    signal_name -> SignalName,
    waitpoint_key -> WaitpointKey,
    frame_type -> FrameType,
    data_ref -> DataRef,
    idempotency_key -> IdempotencyKey,
    request -> RequestId,
    step_key -> StepKey,
}

/// A tenant, mostly the first.
pub(crate) fn some_namespace(luck: &Luck) -> Namespace {
    namespace(NAMESPACES[usize::from(luck.one_in(5))])
}

/// A lane, mostly the first.
pub(crate) fn some_lane(luck: &Luck) -> LaneId {
    lane(if luck.flip() { LANES[0] } else { luck.choose(LANES) })
}

/// What an execution requires: mostly nothing.
pub(crate) fn required(luck: &Luck) -> CapabilitySet {
    let tokens = CAPABILITIES.into_iter().filter(|_| luck.one_in(6));
    CapabilitySet::parse(tokens).expect("good capabilities")
}

/// Everything anybody requires.
pub(crate) fn all_capabilities() -> CapabilitySet {
    CapabilitySet::parse(CAPABILITIES).expect("good capabilities")
}

/// What a worker offers: the first one everything, others what luck says.
pub(crate) fn offered(number: usize, luck: &Luck) -> CapabilitySet {
    if number == 0 {
        return all_capabilities();
    }
    let tokens = CAPABILITIES.into_iter().filter(|_| luck.flip());
    CapabilitySet::parse(tokens).expect("good capabilities")
}

/// A request id nobody used before.
pub(crate) fn fresh_request(luck: &Luck) -> RequestId {
    request(&format!("r-{:x}", luck.next()))
}

/// A request id, or none.
pub(crate) fn maybe_request(luck: &Luck) -> Option<RequestId> {
    (!luck.one_in(4)).then(|| fresh_request(luck))
}

/// A key nobody used before.
pub(crate) fn fresh_key(luck: &Luck) -> IdempotencyKey {
    idempotency_key(&format!("k-{:x}", luck.next()))
}

/// A few bytes that differ from all others, not always text.
pub(crate) fn payload(luck: &Luck) -> Payload {
    Payload::binary(luck.next().to_be_bytes().to_vec())
}

/// What a usage report says: some tokens, and a number that tells it from all others.
pub(crate) fn usage(luck: &Luck, tokens_max: u64) -> BTreeMap<Dimension, u64> {
    let receipt = 1 + (luck.next() >> 24);
    [
        (dimension("tokens"), luck.below(tokens_max)),
        (dimension(RECEIPTS), receipt),
    ]
    .into()
}

/// The number a usage report carries.
pub(crate) fn receipt(deltas: &BTreeMap<Dimension, u64>) -> u64 {
    deltas.get(&dimension(RECEIPTS)).copied().unwrap_or(0)
}

/// No, one or two tags.
pub(crate) fn tags(luck: &Luck) -> Tags {
    let keys = ["team", "run"].into_iter().filter(|_| luck.one_in(3));
    keys.map(|key| (key.to_owned(), luck.below(3).to_string())).collect()
}

/// Why an attempt failed.
pub(crate) fn some_category(luck: &Luck) -> Category {
    category(luck.choose([
        "transient",
        "transient",
        "permanent",
        "infra_crash",
        "timeout",
        "model_error",
    ]))
}
