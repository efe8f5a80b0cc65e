//! The derives of `ff-sdk`. Whatever they write can be written by hand.

mod duration;
mod inputs;
mod name;
mod task;
mod value;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a type a task: `#[task(kind = "summarize", output = Summary, lane = "web", retries = 5, attempt_timeout = "90s")]`.
///
/// | | |
/// |---|---|
/// | `kind` | what workers know it by; the only one that must be there |
/// | `output` | the type it gives; `()` unless said |
/// | `inputs` | the type of what it is handed of other members of its flow; `()` unless said |
/// | `lane` | the queue workers claim it from |
/// | `priority` | 0 to 9,000, higher first |
/// | `retries` | how often a failed attempt is tried again |
/// | `backoff` | the pauses before retries, as `"1s..30s"` |
/// | `retry_on` | the categories of failures that are retried, as `["busy"]` |
/// | `attempt_timeout`, `deadline`, `retention` | lengths of time, as `"500ms"`, `"90s"`, `"5m"`, `"2h"`, `"7d"` |
/// | `capabilities` | what a worker must offer, as `["gpu"]` |
#[proc_macro_derive(Task, attributes(task))]
pub fn derive_task(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    task::derive(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Reads a struct from the results of upstreams: each field from the one under its name.
///
/// A `Vec` collects `pages.0`, `pages.1`, …, an `Option` may be missing. `#[input(name = "…")]` reads another name than the
/// field's, and `#[input(single)]` reads a `Vec` or an `Option` from one upstream that gives a whole one.
#[proc_macro_derive(FromInputs, attributes(input))]
pub fn derive_from_inputs(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    inputs::derive(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
