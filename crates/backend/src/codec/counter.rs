//! Counters: each belongs to a record and has a name there.

use ff_core::record::{CounterKey, FlowCounter, GroupCounter, RecordKey};

use super::key;

/// The name of the record a counter belongs to, and its own. No state is called `members` or `open`.
pub fn name(counter: CounterKey) -> (String, String) {
    match counter {
        CounterKey::Flow(flow_id, counter) => {
            let own = match counter {
                FlowCounter::Members => "members",
                FlowCounter::Open => "open",
                FlowCounter::State(state) => state.as_str(),
            };
            (key::name(&RecordKey::Flow(flow_id)), format!("count:{own}"))
        }
        CounterKey::Group(id, counter) => {
            let own = match counter {
                GroupCounter::Applied => "applied",
                GroupCounter::Unresolved => "unresolved",
                GroupCounter::Satisfied => "satisfied",
                GroupCounter::Failed => "failed",
            };
            (key::execution(id), format!("group:{own}"))
        }
        CounterKey::BufferedSignals(id) => (key::execution(id), "group:buffered_signals".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ff_core::id::{ExecutionId, FlowId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn no_two_counters_of_a_record_have_one_name() {
        let (flow_id, id) = (FlowId::from_uuid(Uuid::nil()), ExecutionId::new(1, Uuid::nil()));
        let of_flow = FlowCounter::all().map(|counter| CounterKey::Flow(flow_id, counter));
        let of_group = GroupCounter::ALL.map(|counter| CounterKey::Group(id, counter));
        let counters: Vec<_> = of_flow
            .chain(of_group)
            .chain([CounterKey::BufferedSignals(id)])
            .collect();
        let names: BTreeSet<_> = counters.iter().map(|counter| name(*counter)).collect();
        assert_eq!(names.len(), counters.len());
    }
}
