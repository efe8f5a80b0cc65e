//! Lists that show more than belongs in them.

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::query::{HeadsOf, Listing, Page, Query, Rows};
use ff_backend::{Backend, Result};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Index;
use ff_core::record::Record;

use crate::liar::lies;

lies! {
    ();
    /// Executions of all tenants are listed.
    NamespaceIgnored,
    /// Executions are listed whatever their state is.
    StateIgnored,
    /// Executions and flows are listed whatever their tags are.
    TagIgnored,
    /// Leases that were never renewed are listed as running.
    UnrenewedListed,
    /// Members are listed whatever became of them.
    EndedMembersListed,
    /// Edges are listed whatever became of them.
    ResolvedEdgesListed,
    /// Signals are listed wherever they arrived.
    SignalsOfAllWaitpointsListed,
    /// What waits in any queue is listed as waiting in each.
    AnyQueueListed,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn list(&self, mut query: Query) -> Result<Page> {
        let Listing::Range(range) = &mut query.of else {
            return self.inner().list(query).await;
        };
        let lists_running = matches!(range.of[..], [Index::Running(_)]);
        let wider: Vec<Index> = range.of.iter().map(|index| self.wider(index)).collect();
        range.of = wider;
        if self.lie == Lie::AnyQueueListed && matches!(range.of[..], [Index::Queue(_)]) {
            range.of = self.queues().await?;
        }
        let mut page = self.inner().list(query).await?;
        if let (true, Lie::UnrenewedListed, Rows::Records(rows)) = (lists_running, self.lie, &mut page.rows) {
            rows.retain(|(record, _)| matches!(record, Record::Execution(execution) if execution.lease().is_some()));
        }
        Ok(page)
    }
}

impl Liar {
    /// The list that is shown instead.
    fn wider(&self, index: &Index) -> Index {
        match (self.lie, index) {
            (Lie::NamespaceIgnored, Index::Age(_)) => Index::Age(None),
            (Lie::NamespaceIgnored, Index::Person(_)) => Index::Person(None),
            (Lie::StateIgnored, Index::State(namespace, _))
            | (Lie::TagIgnored, Index::Tag(namespace, ..))
            | (Lie::UnrenewedListed, Index::Running(namespace)) => Index::Age(Some(namespace.clone())),
            (Lie::TagIgnored, Index::FlowTag(..)) => Index::Flows,
            (Lie::EndedMembersListed, Index::OpenMembers(flow_id)) => Index::Members(*flow_id),
            (Lie::ResolvedEdgesListed, Index::UnresolvedFrom(id)) => Index::EdgesFrom(*id),
            (Lie::SignalsOfAllWaitpointsListed, Index::Buffered(id, _)) => Index::Signals(*id),
            _ => index.clone(),
        }
    }

    /// Every queue there is.
    async fn queues(&self) -> Result<Vec<Index>> {
        let query = Query {
            of: Listing::Heads {
                of: HeadsOf::Queues,
                partitions: crate::liar::partitions(),
                count: 0,
            },
            after: None,
            limit: PAGE_MAX,
        };
        let heads = self.inner().list(query).await?.heads();
        Ok(heads.into_iter().map(|head| head.index).collect())
    }
}
