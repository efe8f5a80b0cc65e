//! Everything a server lists.

use ff_core::command::page::PageRequest;
use ff_core::limits::PAGE_MAX;
use ff_core::view::{ExecutionView, ListExecutions};
use ff_sdk::Fabric;

/// Every execution there is.
pub(crate) async fn all_executions(client: &impl Fabric) -> Vec<ExecutionView> {
    let mut list = ListExecutions {
        page: whole_page(),
        ..ListExecutions::default()
    };
    let mut views = Vec::new();
    loop {
        let mut page = client.list_executions(list.clone()).await.unwrap();
        views.append(&mut page.items);
        if page.next.is_none() {
            return views;
        }
        list.page.cursor = page.next;
    }
}

/// As much as there is.
pub(crate) fn whole_page() -> PageRequest {
    PageRequest {
        cursor: None,
        limit: Some(PAGE_MAX),
    }
}
