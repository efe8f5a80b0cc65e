//! Where logs go, how much of them, and in which form. With the feature `otel`, spans can be exported too.

use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// The variable that says how much is logged.
const FILTER: &str = "FF_LOG";

/// How lines of the log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For a person.
    #[default]
    Text,
    /// An object per line.
    Json,
}

/// What must be kept until the process ends.
#[must_use]
pub(crate) struct Logs {
    #[cfg(feature = "otel")]
    exporter: Option<export::Exporter>,
}

impl Logs {
    /// Sends what has not been sent yet.
    pub(crate) fn end(self) {
        #[cfg(feature = "otel")]
        if let Some(exporter) = self.exporter {
            exporter.end();
        }
    }
}

/// Begins to log to standard error: what `FF_LOG` asks for, or else `usual`.
pub(crate) fn begin(format: Format, usual: &str) -> anyhow::Result<Logs> {
    let asked = std::env::var(FILTER).ok().filter(|asked| !asked.is_empty());
    let asked = asked.as_deref().unwrap_or(usual);
    let filter = EnvFilter::try_new(asked)
        .with_context(|| format!("{FILTER}={asked} is not a filter such as `info` or `warn,ff_engine=debug`"))?;
    let text = || tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match format {
        Format::Text => text()
            .with_ansi(std::io::stderr().is_terminal())
            .with_filter(filter)
            .boxed(),
        Format::Json => text().json().flatten_event(true).with_filter(filter).boxed(),
    };
    let registry = tracing_subscriber::registry().with(lines);
    #[cfg(feature = "otel")]
    {
        let exporter = export::Exporter::from_environment()?;
        registry
            .with(exporter.as_ref().map(export::Exporter::layer))
            .try_init()?;
        Ok(Logs { exporter })
    }
    #[cfg(not(feature = "otel"))]
    {
        registry.try_init()?;
        Ok(Logs {})
    }
}

/// Spans sent to a collector, when `OTEL_EXPORTER_OTLP_ENDPOINT` says where one is.
#[cfg(feature = "otel")]
mod export {
    use anyhow::Context;
    use opentelemetry::trace::TracerProvider;
    use opentelemetry_otlp::SpanExporter;
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing::Subscriber;
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::LevelFilter;
    use tracing_subscriber::registry::LookupSpan;

    pub(super) struct Exporter(SdkTracerProvider);

    impl Exporter {
        /// The exporter that the standard's variables describe; `None` when they name no collector.
        pub(super) fn from_environment() -> anyhow::Result<Option<Self>> {
            let collector = std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").unwrap_or_default();
            if collector.is_empty() {
                return Ok(None);
            }
            let exporter = SpanExporter::builder().with_http().build();
            let exporter = exporter.context("spans cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT")?;
            let named = Resource::builder().with_service_name("flowfabric");
            let provider = SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(named.build());
            Ok(Some(Self(provider.build())))
        }

        pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
            let tracer = self.0.tracer("flowfabric");
            tracing_opentelemetry::layer()
                .with_tracer(tracer)
                .with_filter(LevelFilter::INFO)
        }

        pub(super) fn end(self) {
            if let Err(error) = self.0.shutdown() {
                tracing::warn!(%error, "the last spans could not be sent");
            }
        }
    }
}
