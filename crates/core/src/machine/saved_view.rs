//! Views: a person keeps questions of their own, an operator those that everybody sees.

use super::context::Context;
use super::lease::{check_label, check_text};
use crate::caller::{Caller, Role};
use crate::command::view::PutView;
use crate::error::{Code, Rejection};
use crate::limits::VIEWS_MAX;
use crate::record::SavedView;

/// A view as it is from now on, beside `others` of its namespace.
pub fn put(
    existing: Option<&SavedView>,
    command: &PutView,
    others: usize,
    (caller, context): (&Caller, &Context),
) -> Result<SavedView, Rejection> {
    check_label("title", &command.title)?;
    check_text("query", &command.query)?;
    if let Some(existing) = existing {
        check_own(existing, caller)?;
    } else if others >= VIEWS_MAX {
        let namespace = &command.namespace;
        return Err(Code::InvalidInput.because(format!("namespace {namespace} has {others} views and takes no more")));
    }
    if command.shared {
        check_may_share(caller)?;
    }
    let owner = existing
        .filter(|existing| !existing.shared)
        .map(|own| own.owner.clone());
    Ok(SavedView {
        namespace: command.namespace.clone(),
        name: command.name.clone(),
        title: command.title.clone(),
        query: command.query.clone(),
        shared: command.shared,
        owner: owner.unwrap_or_else(|| caller.actor.identity()),
        updated_at: context.now,
        carried: Default::default(),
    })
}

/// Refuses whoever may not change or forget a view.
pub fn check_own(view: &SavedView, caller: &Caller) -> Result<(), Rejection> {
    if view.shared {
        return check_may_share(caller);
    }
    match is_visible(view, caller) {
        true => Ok(()),
        false => Err(Code::AlreadyExists.because(format!("the name {} is taken by somebody's own view", view.name))),
    }
}

/// Whether a caller sees a view: a shared one, or its own. An administrator sees all: nobody else can put away what belonged to a key
/// that is revoked.
pub fn is_visible(view: &SavedView, caller: &Caller) -> bool {
    view.shared || view.owner == caller.actor.identity() || caller.role.contains(Role::Admin)
}

fn check_may_share(caller: &Caller) -> Result<(), Rejection> {
    let (needed, own) = (Role::Operator, caller.role.as_str());
    match caller.role.contains(needed) {
        true => Ok(()),
        false => Err(Code::Forbidden.because(format!(
            "shared views need the role operator; this key has the role {own}"
        ))),
    }
}
