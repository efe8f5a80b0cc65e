//! Views: list_views, put_view, delete_view.

use ff_core::command::operator::Changed;
use ff_core::command::view::{DeleteView, ListViews, PutView};
use ff_core::fabric::Result;
use ff_core::machine::saved_view;
use ff_core::record::SavedView;

use crate::directory::views;
use crate::engine::Engine;
use crate::fault::internal;

pub(crate) async fn list_views(engine: &Engine, request: ListViews) -> Result<Vec<SavedView>> {
    engine.check_namespace(&request.namespace)?;
    let mut views = views::all(engine, &request.namespace).await?;
    views.retain(|view| saved_view::is_visible(view, &engine.caller));
    Ok(views)
}

pub(crate) async fn put_view(engine: &Engine, command: PutView) -> Result<SavedView> {
    engine.check_namespace(&command.namespace)?;
    let context = engine.context(engine.store_time().await?);
    let rule = |existing: Option<&SavedView>, others: usize| {
        saved_view::put(existing, &command, others, (&engine.caller, &context)).map(Some)
    };
    let put = views::change(engine, &command.namespace, &command.name, rule).await?;
    put.ok_or_else(|| internal("a view that was kept is gone"))
}

/// Somebody else's own view is not there for the caller.
pub(crate) async fn delete_view(engine: &Engine, command: DeleteView) -> Result<Changed> {
    engine.check_namespace(&command.namespace)?;
    let all = views::all(engine, &command.namespace).await?;
    let is_there = |view: &SavedView| view.name == command.name && saved_view::is_visible(view, &engine.caller);
    if !all.iter().any(is_there) {
        return Ok(Changed::Already);
    }
    let rule = |existing: Option<&SavedView>, _: usize| {
        existing.map_or(Ok(()), |view| saved_view::check_own(view, &engine.caller))?;
        Ok(None)
    };
    views::change(engine, &command.namespace, &command.name, rule).await?;
    Ok(Changed::Now)
}
