//! The same random calls in this process and through a client and a server: the same bytes come back.
//!
//! Two engines begin alike: the same store, the same time, the same luck. One is called here, the other over a socket. Calls are
//! made from the schemas of the table of operations, with what earlier answers told, so that every operation is tried, and
//! one that is new to the table by itself.

mod arguments;
mod known;

use std::collections::BTreeMap;

use ff_core::caller::{Caller, Role};
use ff_core::command::lease::Holder;
use ff_core::error::Rejection;
use ff_core::fabric::{OPERATIONS, Operation, Reply, Result, Transport, op};
use ff_core::name::{Identity, Namespace};
use ff_core::record::Actor;
use ff_core::schema::{Interface, Shape, interface};
use ff_core::time::Duration;
use ff_core::wire::Fields;
use ff_fabric_suite::Harness;
use ff_sdk::Client;
use serde_json::Value;

use self::arguments::Arguments;
use self::known::{FENCE, Known};
use crate::suite_http::served;
use crate::support::{EngineHarness, Luck};

/// The variable that asks for more seeds than a run of every test has.
const SEEDS: &str = "FF_TEST_NEAR_AND_FAR_SEEDS";
const SEEDS_USUAL: u64 = 25;
const CALLS: usize = 400;

/// Operations that are called more often, because others need what they make.
const OFTEN: [(&str, usize); 13] = [
    ("create_execution", 14),
    ("claim", 14),
    ("claim_for_worker", 4),
    ("claim_from_grant", 4),
    ("create_flow", 3),
    ("create_flow_graph", 3),
    ("stage_dependency_edge", 3),
    ("suspend", 8),
    ("resume_execution", 2),
    ("create_pending_waitpoint", 3),
    ("deliver_signal", 4),
    ("append_frame", 3),
    ("create_budget", 2),
];

/// Operations that end a lease.
const FINISHING: [&str; 6] = ["complete", "fail", "release", "delay", "wait_children", "suspend"];

/// What an answer is: the same from near and from afar.
#[derive(Debug, PartialEq)]
enum Told {
    Refused(Rejection),
    Nothing,
    Bytes(String, String),
}

impl Told {
    fn says_the_lease_is_over(&self) -> bool {
        use ff_core::error::Code::{ExecutionNotActive, LeaseExpired, LeaseRevoked, StaleLease};
        let over = [ExecutionNotActive, LeaseExpired, LeaseRevoked, StaleLease];
        matches!(self, Told::Refused(refused) if over.contains(&refused.code))
    }

    fn of(answer: Result<Reply>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match answer {
            Err(refused) => Told::Refused(refused),
            Ok(Reply::Nothing) => Told::Nothing,
            Ok(Reply::Json(json)) => Told::Bytes("application/json".to_owned(), text(&json)),
            Ok(Reply::Bytes(payload)) => Told::Bytes(payload.content_type.as_str().to_owned(), text(&payload.bytes)),
        }
    }
}

/// Two engines that began alike, and everybody who asks them.
struct Pair {
    near: EngineHarness,
    far: EngineHarness,
    callers: Vec<(Caller, Client)>,
}

impl Pair {
    fn new() -> Self {
        let (near, far) = (EngineHarness::memory(|_| ()), EngineHarness::memory(|_| ()));
        let bound = |role, namespace| Caller {
            actor: Actor::Client(Identity::parse("caller").unwrap()),
            role,
            namespace: Some(Namespace::parse(namespace).unwrap()),
            ..Caller::local()
        };
        let callers = [
            Caller::local(),
            bound(Role::Reader, "default"),
            bound(Role::Submitter, "other"),
            bound(Role::Worker, "default"),
            bound(Role::Operator, "other"),
        ];
        let served = |caller: Caller| (caller.clone(), served(&far.engine, caller));
        let callers = callers.map(served).into();
        Self { near, far, callers }
    }

    async fn call(&self, who: usize, held: Option<Holder>, operation: &'static Operation, json: &[u8]) -> (Told, Told) {
        let (caller, client) = &self.callers[who];
        let mut caller = caller.clone();
        caller.held = held;
        let near = self.near.engine.acting_as(caller.clone());
        let near = async {
            // A caller of this process cannot say what a command does not know: it is refused for its role first. And it says
            // whose everything is.
            near.check_access(operation.access, operation.name)?;
            let mut fields = Fields::of_json(json)?;
            if let Some(namespace) = &caller.namespace {
                fields.offer_to_all("namespace", namespace.as_str());
            }
            (operation.call)(&near, fields).await
        };
        let client = held.map_or(client.clone(), |held| client.holding(held));
        let far = client.send(operation, json.to_vec());
        (Told::of(near.await), Told::of(far.await))
    }

    async fn advance(&self, by: Duration) {
        self.near.advance(by).await;
        self.far.advance(by).await;
    }
}

/// How often each operation was answered, and refused.
type Tally = BTreeMap<&'static str, (usize, usize)>;

/// Makes the calls of one seed, until one is answered in two ways.
async fn compare(seed: u64, interface: &Interface, tally: &mut Tally) -> std::result::Result<(), String> {
    let mut luck = Luck(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut known = Known::default();
    let pair = Pair::new();
    let weighted: Vec<usize> = (0..OPERATIONS.len())
        .flat_map(|index| {
            let often = OFTEN.iter().find(|(name, _)| *name == OPERATIONS[index].name);
            std::iter::repeat_n(index, often.map_or(1, |(_, times)| *times))
        })
        .collect();
    for position in 0..CALLS {
        let (mut operation, mut shape) = picked(interface, luck.of(&weighted).unwrap());
        if shape.takes["properties"]["lease_id"].is_object() && !known.has_lease() && luck.in_hundred(90) {
            let claim = OPERATIONS.iter().position(|known| known.name == op::claim.name);
            (operation, shape) = picked(interface, claim.unwrap());
        }
        let fields = Arguments {
            named: &interface.named,
            known: &known,
            luck: &mut luck,
        }
        .for_call(operation, &shape.takes);
        let who = if luck.in_hundred(90) {
            0
        } else {
            usize::try_from(luck.below(5)).unwrap()
        };
        let held = luck.in_hundred(10).then(|| held(&known, &mut luck)).flatten();
        let json = serde_json::to_vec(&fields).unwrap();
        let (near, far) = pair.call(who, held, operation, &json).await;
        if near != far {
            let (name, json) = (operation.name, String::from_utf8_lossy(&json));
            let call = format!("seed {seed}, call {position}: {name} of caller {who} with {json}");
            return Err(format!("{call}\nnear: {near:?}\nfar:  {far:?}"));
        }
        let counts = tally.entry(operation.name).or_default();
        match near {
            Told::Refused(_) => counts.1 += 1,
            Told::Nothing | Told::Bytes(..) => counts.0 += 1,
        }
        match &near {
            Told::Bytes(_, text) => known.learn(&fields, &serde_json::from_str(text).unwrap_or_default()),
            Told::Nothing => known.learn(&fields, &Value::Null),
            Told::Refused(_) => {}
        }
        if FINISHING.contains(&operation.name) || near.says_the_lease_is_over() {
            known.forget_lease(fields.get("lease_id"));
        }
        if luck.in_hundred(20) {
            let by = luck.of(&[1, 1, 5, 5, 1_000, 1_000, 5_000, 12_000, 40_000]).unwrap();
            pair.advance(Duration::from_millis(by)).await;
        }
    }
    Ok(())
}

fn picked(interface: &Interface, at: usize) -> (&'static Operation, &Shape) {
    let (operation, shape) = &interface.operations[at];
    (operation, shape)
}

/// Some lease that was handed out.
fn held(known: &Known, luck: &mut Luck) -> Option<Holder> {
    let names = [FENCE.as_slice(), &["execution_id"]].concat();
    let fact = known.fact(&names.iter().copied().collect(), luck)?;
    let named = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), fact.get(*name)?.clone())));
    let holder = Value::Object(named.collect());
    ff_core::wire::from_request(holder.to_string().as_bytes()).ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_calls_are_answered_the_same_here_and_from_afar() {
    let seeds = std::env::var(SEEDS).map_or(SEEDS_USUAL, |seeds| seeds.parse().unwrap());
    let interface = interface();
    let (mut tally, mut different) = (Tally::new(), Vec::new());
    for seed in 0..seeds {
        different.extend(compare(seed, &interface, &mut tally).await.err());
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
    println!("{seeds} seeds of {CALLS} calls, (answered, refused): {tally:?}");
    let never: Vec<_> = OPERATIONS
        .iter()
        .filter(|operation| tally.get(operation.name).is_none_or(|(answered, _)| *answered == 0))
        .map(|operation| operation.name)
        .collect();
    assert!(
        never.is_empty(),
        "never answered with anything but a refusal: {never:?}"
    );
}
