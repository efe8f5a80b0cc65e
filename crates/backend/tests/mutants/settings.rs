//! Settings that are written, kept or listed whatever was asked.

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::settings::{Expected, SettingsOp, SettingsReply};
use ff_backend::{Backend, Result};

use crate::liar::lies;

lies! {
    ();
    /// Settings are written whatever they are.
    ExpectedIgnored,
    /// Settings outlive their time.
    TtlIgnored,
    /// Settings are never deleted.
    NeverDeleted,
    /// Settings are listed whatever their name.
    PrefixIgnored,
    /// Lists of settings always start at the beginning.
    AfterIgnored,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn settings(&self, mut ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        ops.iter_mut().for_each(|op| self.distort(op));
        self.inner().settings(ops).await
    }
}

impl Liar {
    fn distort(&self, op: &mut SettingsOp) {
        match (self.lie, &mut *op) {
            (Lie::ExpectedIgnored, SettingsOp::Put { expected, .. }) => {
                *expected = Expected::Anything;
            }
            (Lie::TtlIgnored, SettingsOp::Put { ttl, .. }) => *ttl = None,
            (Lie::NeverDeleted, SettingsOp::Put { key, value: None, .. }) => *op = SettingsOp::Get { key: key.clone() },
            (Lie::PrefixIgnored, SettingsOp::List { prefix, .. }) => prefix.clear(),
            (Lie::AfterIgnored, SettingsOp::List { after, .. }) => *after = None,
            _ => {}
        }
    }
}
