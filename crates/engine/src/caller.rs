//! Who asks, and what they may see.

use ff_core::name::Namespace;
use ff_core::record::Actor;

/// Who asks. A caller bound to a namespace sees nothing of any other: there, every id is an unknown one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What histories say about who did it. A signal of anybody but [`Actor::Anonymous`] has a verified source.
    pub actor: Actor,
    /// The one namespace it may see; absent: all of them.
    pub namespace: Option<Namespace>,
}

impl Caller {
    /// Somebody without a credential who may see everything: whoever runs the engine in its own process.
    pub const fn local() -> Self {
        Self {
            actor: Actor::Anonymous,
            namespace: None,
        }
    }

    /// Whether it may see things of `namespace`.
    pub fn sees(&self, namespace: &Namespace) -> bool {
        self.namespace.as_ref().is_none_or(|own| own == namespace)
    }
}
