//! Who asks, and what they may do and see.

use serde::{Deserialize, Serialize};

use crate::command::lease::Holder;
use crate::error::{Code, Rejection};
use crate::fabric::{Access, Operation};
use crate::name::Namespace;
use crate::record::Actor;
use crate::trace::TraceParent;

/// Who asks. A caller bound to a namespace sees nothing of any other: there, every id is an unknown one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What histories say about who did it; a client with a verified identity is named.
    pub actor: Actor,
    /// What it may do.
    pub role: Role,
    /// The one namespace it may see; absent: all of them.
    pub namespace: Option<Namespace>,
    /// The lease it shows with this request: what it asks for is then asked for as the holder of that lease.
    pub held: Option<Holder>,
    /// The trace that this request is part of: what is submitted carries it on.
    pub trace: Option<TraceParent>,
}

/// What a caller may do. Each role contains the one before it; an operator may also do what a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Claims, and works under its leases. Stands beside the others.
    Worker,
    /// Sees states, lists and histories; no payloads.
    Reader,
    /// Submits, cancels, and sees payloads.
    Submitter,
    /// Decides about other people's work.
    Operator,
    /// Keys and secrets.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 5] = [Role::Worker, Role::Reader, Role::Submitter, Role::Operator, Role::Admin];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Reader => "reader",
            Role::Submitter => "submitter",
            Role::Operator => "operator",
            Role::Admin => "admin",
        }
    }

    /// Whether whoever has this role may do what `needed` may.
    pub fn contains(self, needed: Role) -> bool {
        match (self, needed) {
            (Role::Worker, _) => needed == Role::Worker,
            (_, Role::Worker) => self >= Role::Operator,
            _ => self >= needed,
        }
    }
}

impl Caller {
    /// Somebody without a credential who may do and see everything: whoever runs the engine in its own process.
    pub const fn local() -> Self {
        Self {
            actor: Actor::Anonymous,
            role: Role::Admin,
            namespace: None,
            held: None,
            trace: None,
        }
    }

    /// The engine acting for itself.
    pub fn engine() -> Self {
        Self {
            actor: Actor::Engine,
            ..Self::local()
        }
    }

    /// Whether it may see things of `namespace`.
    pub fn sees(&self, namespace: &Namespace) -> bool {
        self.namespace.as_ref().is_none_or(|own| own == namespace)
    }

    /// Refuses an operation that neither its role contains nor the lease it shows may allow. Whether that lease is live, and
    /// of something the call is about, only the store can say.
    pub fn check(&self, operation: &Operation) -> Result<(), Rejection> {
        self.check_access(operation.access, operation.name)
    }

    /// The same for anything that has a name and says who may.
    pub fn check_access(&self, access: Access, name: &str) -> Result<(), Rejection> {
        let (needed, or) = match access {
            Access::Anyone | Access::AnyRole => return Ok(()),
            Access::Role(needed) => (needed, ""),
            Access::RoleOrHolder(_) if self.role.contains(Role::Worker) && self.held.is_some() => return Ok(()),
            Access::RoleOrHolder(needed) => (needed, ", or a worker's lease on what it is about"),
        };
        if self.role.contains(needed) {
            return Ok(());
        }
        let (needed, own) = (needed.as_str(), self.role.as_str());
        Err(Code::Forbidden.because(format!(
            "{name} needs the role {needed}{or}; this key has the role {own}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_contains_the_one_before_it_and_operators_what_a_worker_may() {
        let contained = |role: Role| Role::ALL.iter().filter(move |needed| role.contains(**needed));
        let names = |role| contained(role).map(|needed| needed.as_str()).collect::<Vec<_>>();
        assert_eq!(names(Role::Worker), ["worker"]);
        assert_eq!(names(Role::Reader), ["reader"]);
        assert_eq!(names(Role::Submitter), ["reader", "submitter"]);
        assert_eq!(names(Role::Operator), ["worker", "reader", "submitter", "operator"]);
        assert_eq!(
            names(Role::Admin),
            ["worker", "reader", "submitter", "operator", "admin"]
        );
    }
}
