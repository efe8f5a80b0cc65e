//! Looking at executions, lanes, workers and events.

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::fabric::On;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::{EventFilter, GetResult, ListExecutions, ListProblems, ReadEvents, WaitForEnd, WantedTag};

use crate::world::actor::{Actor, call};
use crate::world::names;

impl Actor {
    pub(super) async fn read(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        let page = self.page();
        match self.luck.below(13) {
            0 => drop(call!(self, get_execution, id).await),
            1 => drop(call!(self, get_state, id).await),
            2 => drop(call!(self, get_result, On::new(id, GetResult::default())).await),
            3 => drop(call!(self, get_input, id).await),
            4 => drop(call!(self, get_history, On::new(id, page)).await),
            5 => drop(call!(self, list_attempts, On::new(id, page)).await),
            6 => drop(call!(self, explain, id).await),
            7 => {
                let completed = self.stage.watch.completed_executions();
                let id = self.luck.pick(&completed).copied().unwrap_or(id);
                call!(self, get_result, On::new(id, GetResult::default())).await;
            }
            8..=10 => self.read_steps(id).await,
            11 => self.read_step_output(id).await,
            _ => {
                let wait = Duration::from_millis(self.luck.below(3_000));
                call!(self, wait_for_end, On::new(id, WaitForEnd { wait })).await;
            }
        }
    }

    pub(super) async fn list(&self) {
        let namespace = names::some_namespace(&self.luck);
        let page = self.page();
        match self.luck.below(4) {
            0 => {
                call!(self, list_lanes, ListOf { namespace, page }).await;
                call!(self, list_problems, ListProblems::default()).await;
            }
            1 => drop(call!(self, list_workers, ListOf { namespace, page }).await),
            2 => self.read_events().await,
            _ => self.list_executions().await,
        }
        if self.luck.flip() {
            self.read_limits().await;
        }
    }

    async fn list_executions(&self) {
        let mut request = ListExecutions {
            namespace: self.luck.flip().then(|| names::some_namespace(&self.luck)),
            lane: (0..self.luck.choose([0, 0, 1, 2]))
                .map(|_| names::some_lane(&self.luck))
                .collect(),
            state: (0..self.luck.choose([0, 0, 1, 2]))
                .filter_map(|_| self.luck.pick(PublicState::ALL).copied())
                .collect(),
            tag: match self.luck.one_in(4) {
                true => vec![WantedTag {
                    key: "run".to_owned(),
                    value: "0".to_owned(),
                }],
                false => Vec::new(),
            },
            page: self.page(),
            ..ListExecutions::default()
        };
        if let Some(next) = call!(self, list_executions, request.clone())
            .await
            .told()
            .and_then(|page| page.next)
        {
            request.page = PageRequest {
                cursor: Some(next),
                limit: Some(3),
            };
            call!(self, list_executions, request).await;
        }
    }

    async fn read_events(&self) {
        let cursor = self.luck.pick(&self.board.known().cursors).cloned();
        let request = ReadEvents {
            cursor: cursor.filter(|_| !self.luck.one_in(4)),
            filter: EventFilter {
                namespace: self.luck.one_in(4).then(|| names::some_namespace(&self.luck)),
                ..EventFilter::default()
            },
            limit: Some(20),
            wait: Duration::from_millis(self.luck.below(1_000)),
            ..ReadEvents::default()
        };
        if let Some(events) = call!(self, events, request).await.told() {
            self.board.known().cursors.push(events.next);
        }
    }
}
