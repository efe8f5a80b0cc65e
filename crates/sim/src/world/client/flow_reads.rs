//! Looking at flows.

use ff_core::command::page::PageRequest;
use ff_core::fabric::On;
use ff_core::machine::flow::FlowState;
use ff_core::view::{ListFlows, ListGraphMembers};

use crate::world::actor::{Actor, call};
use crate::world::names;

impl Actor {
    pub(super) async fn read_flow(&self) {
        let Some(flow) = self.board.flow(&self.luck) else {
            return;
        };
        let page = self.page();
        match self.luck.below(6) {
            0 => drop(call!(self, get_flow, flow.id).await),
            4 => {
                call!(self, get_flow_graph, flow.id).await;
                let members = ListGraphMembers {
                    class: 0,
                    from: 0,
                    limit: page.limit,
                };
                call!(self, list_graph_members, On::new(flow.id, members)).await;
            }
            1 => drop(call!(self, list_members, On::new(flow.id, page)).await),
            2 => drop(call!(self, list_edges, On::new(flow.id, page)).await),
            3 => drop(call!(self, list_groups, On::new(flow.id, page)).await),
            _ => {
                let request = ListFlows {
                    namespace: self.luck.flip().then(|| names::some_namespace(&self.luck)),
                    tag: self.luck.one_in(4).then(|| ("team".to_owned(), "1".to_owned())),
                    state: match self.luck.one_in(3) {
                        true => vec![
                            self.luck
                                .choose([FlowState::Running, FlowState::Completed, FlowState::Failed]),
                        ],
                        false => Vec::new(),
                    },
                    page,
                    ..ListFlows::default()
                };
                if let Some(next) = call!(self, list_flows, request.clone())
                    .await
                    .told()
                    .and_then(|page| page.next)
                {
                    let page = PageRequest {
                        cursor: Some(next),
                        limit: Some(3),
                    };
                    call!(self, list_flows, ListFlows { page, ..request }).await;
                }
            }
        }
    }

    /// The first page of something, long or short.
    pub(super) fn page(&self) -> PageRequest {
        PageRequest {
            cursor: None,
            limit: self.luck.flip().then_some(3),
        }
    }
}
