//! What may be done to an execution, drawn at random.

use proptest::prelude::*;

/// One thing done to the execution.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    Wait(u64),
    Reserve(bool),
    Admit,
    Lease,
    Redeem(bool),
    Block,
    Unblock,
    Fenced(Which, Work),
    Cancel,
    Hold,
    Unhold,
    Priority(u16),
    Revoke,
    ReclaimGrant,
    Signal(bool),
    Resume,
    RequestStop,
    ClearOutbox,
    Advance,
    CancelFlow,
}

/// Whose fence is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Latest,
    Older(usize),
    None,
}

/// A fenced operation.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Renew,
    Release,
    Progress,
    Complete,
    Fail(&'static str),
    Delay(u64),
    Usage,
    Suspend { times_out: bool, delayed: bool },
    Cancel,
}

pub(crate) fn moves() -> impl Strategy<Value = Vec<Move>> {
    let which = prop_oneof![6 => Just(Which::Latest), 2 => (0usize..4).prop_map(Which::Older), 1 => Just(Which::None)];
    let work = prop_oneof![
        4 => Just(Work::Renew),
        2 => Just(Work::Release),
        1 => Just(Work::Progress),
        1 => Just(Work::Complete),
        3 => prop_oneof![Just("transient"), Just("permanent"), Just("timeout")].prop_map(Work::Fail),
        2 => (0u64..20_000).prop_map(Work::Delay),
        1 => Just(Work::Usage),
        3 => (any::<bool>(), any::<bool>()).prop_map(|(times_out, delayed)| Work::Suspend { times_out, delayed }),
        1 => Just(Work::Cancel),
    ];
    let one = prop_oneof![
        4 => prop_oneof![0u64..50, 500u64..12_000, 20_000u64..100_000].prop_map(Move::Wait),
        8 => any::<bool>().prop_map(Move::Reserve),
        3 => Just(Move::Admit),
        4 => Just(Move::Lease),
        3 => any::<bool>().prop_map(Move::Redeem),
        2 => Just(Move::Block),
        3 => Just(Move::Unblock),
        12 => (which, work).prop_map(|(which, work)| Move::Fenced(which, work)),
        1 => Just(Move::Cancel),
        1 => Just(Move::Hold),
        2 => Just(Move::Unhold),
        1 => (0u16..9_001).prop_map(Move::Priority),
        1 => Just(Move::Revoke),
        2 => Just(Move::ReclaimGrant),
        4 => any::<bool>().prop_map(Move::Signal),
        1 => Just(Move::Resume),
        1 => Just(Move::RequestStop),
        3 => Just(Move::ClearOutbox),
        4 => Just(Move::Advance),
        1 => Just(Move::CancelFlow),
    ];
    prop::collection::vec(one, 1..120)
}

/// What kind of execution the world holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) member: bool,
    pub(crate) limited: bool,
    pub(crate) timed: bool,
    pub(crate) retried: bool,
}

pub(crate) fn shapes() -> impl Strategy<Value = Shape> {
    any::<(bool, bool, bool, bool)>().prop_map(|(member, limited, timed, retried)| Shape {
        member,
        limited,
        timed,
        retried,
    })
}
