//! overview: how a namespace fares, waiting until it fares otherwise.

use std::pin::pin;

use ff_core::fabric::Result;
use ff_core::view::{Overview, ReadOverview};
use futures::future::select;

use crate::engine::Engine;
use crate::overview::glance;

pub(crate) async fn overview(engine: &Engine, request: ReadOverview) -> Result<Overview> {
    engine.check_namespace(&request.namespace)?;
    let mut watch = engine.watch(request.wait)?;
    let sight = engine.shared.overviews.sight(&request.namespace);
    loop {
        let ring = engine.shared.overviews.next_ring();
        let glance = glance(engine, &request.namespace, &sight).await?;
        let is_new = request.after != Some(glance.overview.as_of);
        let wake = async {
            match glance.again_in {
                None => ring.await,
                // It has rung already: what else rings meanwhile is looked at together with that.
                Some(pause) if glance.has_rung => engine.host().sleep(pause).await,
                Some(pause) => drop(select(pin!(ring), engine.host().sleep(pause)).await),
            }
        };
        if is_new || !watch.wait(Box::pin(wake)).await? {
            return Ok(Overview::clone(&glance.overview));
        }
    }
}
