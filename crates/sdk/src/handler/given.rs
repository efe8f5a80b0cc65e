//! The task as the arguments of its handler are made from, and what handlers need of their worker.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use ff_core::payload::Payload;

use super::info::TaskInfo;
use crate::ctx::Ctx;
use crate::inputs::NamedInputs;

/// A task with all that the arguments of its handler are made from.
#[derive(Clone)]
pub struct Given {
    pub(crate) task: TaskInfo,
    /// As the codec gave it back.
    pub(crate) input: Payload,
    pub(crate) inputs: NamedInputs,
    pub(crate) states: Arc<States>,
    pub(crate) ctx: Ctx,
}

impl Given {
    /// What is known of the task.
    pub const fn task(&self) -> &TaskInfo {
        &self.task
    }

    /// The bytes it was submitted with, as the codec gave them back.
    pub const fn input(&self) -> &Payload {
        &self.input
    }

    /// The results of its upstreams by name.
    pub const fn inputs(&self) -> &NamedInputs {
        &self.inputs
    }

    /// What the handler talks to the engine through.
    pub const fn ctx(&self) -> &Ctx {
        &self.ctx
    }

    /// The worker's value of this type.
    pub fn state<S: Clone + Send + Sync + 'static>(&self) -> Option<S> {
        self.states.get()
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given")
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

/// Values that handlers share, one of each type.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl States {
    /// Adds a value, instead of another one of its type.
    pub(crate) fn insert<S: Clone + Send + Sync + 'static>(&mut self, state: S) {
        self.0.insert(TypeId::of::<S>(), Box::new(state));
    }

    pub(crate) fn get<S: Clone + 'static>(&self) -> Option<S> {
        self.0.get(&TypeId::of::<S>())?.downcast_ref::<S>().cloned()
    }

    /// The first of the needs that is not there.
    pub(crate) fn missing(&self, needs: &Needs) -> Option<Missing> {
        let is_missing = |needed: &&Missing| !self.0.contains_key(&needed.id);
        needs.states.iter().find(is_missing).copied()
    }
}

/// A type that a handler needs a value of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    id: TypeId,
    pub(crate) name: &'static str,
}

/// What a handler needs of its worker, known before anything runs.
#[derive(Debug, Default)]
pub struct Needs {
    states: Vec<Missing>,
    pub(crate) inputs: bool,
}

impl Needs {
    /// A value of this type.
    pub fn state<S: 'static>(&mut self) {
        self.states.push(Missing {
            id: TypeId::of::<S>(),
            name: type_name::<S>(),
        });
    }

    /// The results of upstreams, which are read for nobody else when they are large.
    pub const fn inputs(&mut self) {
        self.inputs = true;
    }
}
