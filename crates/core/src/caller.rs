//! Who asks, and what they may do and see.

use serde::{Deserialize, Serialize};

use crate::error::{Code, Rejection};
use crate::fabric::{Access, Operation};
use crate::name::Namespace;
use crate::record::Actor;

/// Who asks. A caller bound to a namespace sees nothing of any other: there, every id is an unknown one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What histories say about who did it; a client with a verified identity is named.
    pub actor: Actor,
    /// What it may do.
    pub role: Role,
    /// The one namespace it may see; absent: all of them.
    pub namespace: Option<Namespace>,
}

/// What a caller may do. Each role contains the one before it; an operator may also do what a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

    /// Refuses an operation that its role does not contain. A worker whose lease would let it do this shows it in the request,
    /// which nobody can do yet: until then its role alone counts.
    pub fn check(&self, operation: &Operation) -> Result<(), Rejection> {
        let needed = match operation.access {
            Access::Anyone => return Ok(()),
            Access::Role(needed) | Access::RoleOrHolder(needed) => needed,
        };
        if self.role.contains(needed) {
            return Ok(());
        }
        let (name, needed, own) = (operation.name, needed.as_str(), self.role.as_str());
        Err(Code::Forbidden.because(format!("{name} needs the role {needed}; this key has the role {own}")))
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
