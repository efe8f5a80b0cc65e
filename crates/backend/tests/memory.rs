//! The reference backend keeps every promise.

mod support;

use support::{MemoryHarness, make};

async fn memory() -> MemoryHarness {
    make(None)
}

ff_backend::conformance_suite!(memory);
