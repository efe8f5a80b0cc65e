//! Looking at executions, lanes, workers and events.

use ff_core::command::lane::{GetLane, ListNamespaces};
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::view::{DeleteView, ListViews, PutView};
use ff_core::fabric::On;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::{
    EventFilter, Find, GetResult, ListExecutions, ListNames, ListProblems, NamesOf, ReadEvents, ReadOverview,
    ReadSeries, WaitForEnd, WantedTag,
};

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
                let lane_id = names::some_lane(&self.luck);
                let lane = GetLane {
                    namespace: namespace.clone(),
                    lane_id,
                };
                call!(self, get_lane, lane).await;
                call!(self, list_lanes, ListOf { namespace, page }).await;
                call!(self, list_problems, ListProblems::default()).await;
            }
            1 => {
                self.glance().await;
                call!(self, list_workers, ListOf { namespace, page }).await;
                self.look_for().await;
                self.keep_views().await;
            }
            2 => self.read_events().await,
            _ => self.list_executions().await,
        }
        if self.luck.flip() {
            self.read_limits().await;
        }
    }

    /// How a namespace fares, which ones there are, and what happened in one.
    async fn glance(&self) {
        let overview = ReadOverview {
            namespace: names::some_namespace(&self.luck),
            after: None,
            wait: Duration::ZERO,
        };
        call!(self, overview, overview).await;
        call!(self, list_namespaces, ListNamespaces::default()).await;
        let series = ReadSeries {
            namespace: names::some_namespace(&self.luck),
            of: Vec::new(),
            from: None,
            step: Duration::from_secs(60),
        };
        call!(self, series, series).await;
    }

    async fn look_for(&self) {
        let namespace = names::some_namespace(&self.luck);
        let known = self.board.execution(&self.luck);
        let q = match (known, self.luck.below(4)) {
            (Some(id), 0) => id.to_string(),
            (Some(id), 1) => id.uuid().to_string()[..13].to_owned(),
            (Some(id), 2) => id.uuid().simple().to_string()[24..].to_owned(),
            _ => "l".to_owned(),
        };
        let find = Find {
            namespace: namespace.clone(),
            q,
        };
        call!(self, find, find).await;
        let names = ListNames {
            namespace,
            of: self.luck.choose([NamesOf::Kind, NamesOf::Lane, NamesOf::Category]),
            prefix: String::new(),
        };
        call!(self, names, names).await;
    }

    async fn keep_views(&self) {
        let namespace = names::some_namespace(&self.luck);
        let name = names::view(self.luck.choose(["mine", "broken", "slow"]));
        let put = PutView {
            namespace: namespace.clone(),
            name: name.clone(),
            title: "What there is".to_owned(),
            query: "state=failed".to_owned(),
            shared: self.luck.flip(),
        };
        call!(self, put_view, put).await;
        let list = ListViews {
            namespace: namespace.clone(),
        };
        call!(self, list_views, list).await;
        if self.luck.flip() {
            call!(self, delete_view, DeleteView { namespace, name }).await;
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
