//! Lanes with many priorities, and namespaces whose names look like patterns.

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend::query::{LaneDepth, Listing, Page};
use ff_core::name::Namespace;
use ff_core::record::{Definition, Execution};
use ff_core::state::PublicState;

use super::{Scratch, execution, moment, template};

#[tokio::test]
async fn what_waits_longest_is_found_behind_every_priority() {
    let (scratch, template) = (Scratch::new().await, template());
    let waiting = |n: u16| Execution {
        priority: n % 10,
        ..execution(&template, n.into(), n % 5, moment(1_000 - u64::from(n)))
    };
    let executions: Vec<Execution> = (0..100).map(waiting).collect();
    scratch.write_executions(&executions).await;
    let (lanes, _) = scratch
        .follow(&Listing::Lanes(Namespace::default_namespace()), 10, Page::lanes)
        .await;
    let lane = executions[0].definition.lane.clone();
    let wanted = LaneDepth {
        lane,
        depth: BTreeMap::from([(PublicState::Waiting, 100)]),
        oldest_eligible: Some(moment(901)),
    };
    assert_eq!(lanes, [wanted]);
}

#[tokio::test]
async fn lanes_of_other_namespaces_are_not_listed() {
    let (scratch, template) = (Scratch::new().await, template());
    let names = ["a*", "ab", "a/b", "[ab]", "%", "größe"];
    let waiting = |(n, name): (u64, &&str)| {
        let execution = execution(&template, n, 0, moment(n));
        let definition = Definition {
            namespace: Namespace::parse(name).unwrap(),
            ..(*execution.definition).clone()
        };
        Execution {
            definition: Arc::new(definition),
            ..execution
        }
    };
    let executions: Vec<Execution> = (0..).zip(&names).map(waiting).collect();
    scratch.write_executions(&executions).await;
    for (n, name) in (0..).zip(names) {
        let of = Listing::Lanes(Namespace::parse(name).unwrap());
        let (lanes, _) = scratch.follow(&of, 10, Page::lanes).await;
        assert_eq!(lanes.len(), 1, "{name}");
        assert_eq!(lanes[0].depth, BTreeMap::from([(PublicState::Waiting, 1)]), "{name}");
        assert_eq!(lanes[0].oldest_eligible, Some(moment(n)), "{name}");
    }
}
