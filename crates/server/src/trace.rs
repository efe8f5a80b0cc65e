//! W3C Trace Context: a request that comes with `traceparent` is part of that trace, and so is what it submits.

use axum::http::HeaderMap;
use ff_core::trace::TraceParent;
use tracing::Span;

/// The trace a request is part of. Two of them are as good as none: nobody knows which is meant.
pub(crate) fn of(headers: &HeaderMap) -> Option<TraceParent> {
    let mut given = headers.get_all("traceparent").iter();
    match (given.next(), given.next()) {
        (Some(one), None) => TraceParent::parse(one.to_str().ok()?),
        _ => None,
    }
}

/// Makes the span of a request part of the caller's trace: everything that is logged in it says which one that is.
pub(crate) fn join(span: &Span, trace: &TraceParent) {
    span.record("trace_id", trace.trace_id());
    #[cfg(feature = "otel")]
    export_in(span, trace);
}

/// Exported, the span is a child of the caller's.
#[cfg(feature = "otel")]
fn export_in(span: &Span, trace: &TraceParent) {
    use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    let (Ok(trace_id), Ok(parent_id)) = (TraceId::from_hex(trace.trace_id()), SpanId::from_hex(trace.parent_id()))
    else {
        return;
    };
    let flags = TraceFlags::default().with_sampled(trace.is_sampled());
    let parent = SpanContext::new(trace_id, parent_id, flags, true, TraceState::NONE);
    // Without an exporter there is nothing to be the child of.
    let _ = span.set_parent(opentelemetry::Context::new().with_remote_span_context(parent));
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_request_is_part_of_the_one_trace_it_names() {
        let header = HeaderValue::from_static("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let mut headers = HeaderMap::new();
        assert_eq!(of(&headers), None);
        headers.append("traceparent", header.clone());
        assert_eq!(
            of(&headers).map(|trace| trace.parent_id().to_owned()),
            Some("00f067aa0ba902b7".to_owned())
        );
        headers.append("traceparent", header);
        assert_eq!(of(&headers), None);
    }
}
