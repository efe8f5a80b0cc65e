//! What a metric is called and what it is for: the exposition and docs/reference/metrics.md say the same.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::histogram::Histogram;

/// One metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name, as it is scraped.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// The labels it is told apart by.
    pub labels: &'static [&'static str],
    /// What is measured.
    pub help: &'static str,
    /// What somebody who runs a server asks it.
    pub question: &'static str,
}

/// What the values of a metric are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Grows from the start of the process on.
    Counter,
    /// As it stands.
    Gauge,
    /// Durations by range.
    Histogram,
}

impl Kind {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// The values of a metric, on their way out.
pub struct Family<'a> {
    metric: &'static Metric,
    encoder: MetricEncoder<'a>,
}

impl Metric {
    /// Begins to write the values of this metric.
    pub fn begin<'a>(&'static self, encoder: &'a mut DescriptorEncoder<'_>) -> Result<Family<'a>, fmt::Error> {
        // The encoder adds the ending of a counter itself.
        let (name, kind) = match self.kind {
            Kind::Counter => (self.name.trim_end_matches("_total"), MetricType::Counter),
            Kind::Gauge => (self.name, MetricType::Gauge),
            Kind::Histogram => (self.name, MetricType::Histogram),
        };
        Ok(Family {
            metric: self,
            encoder: encoder.encode_descriptor(name, self.help.trim_end_matches('.'), None, kind)?,
        })
    }
}

impl Family<'_> {
    /// Writes a counter.
    pub fn counter<const N: usize>(&mut self, labels: [&str; N], value: &impl EncodeCounterValue) -> fmt::Result {
        self.with(labels, |encoder| {
            encoder.encode_counter::<NoLabelSet, _, f64>(value, None)
        })
    }

    /// Writes a gauge.
    pub fn gauge<const N: usize>(&mut self, labels: [&str; N], value: &impl EncodeGaugeValue) -> fmt::Result {
        self.with(labels, |encoder| encoder.encode_gauge(value))
    }

    /// Writes a histogram.
    pub fn histogram<const N: usize>(&mut self, labels: [&str; N], value: &Histogram) -> fmt::Result {
        self.with(labels, |encoder| value.write(encoder))
    }

    fn with<const N: usize>(
        &mut self,
        values: [&str; N],
        write: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let labels: Vec<(&str, &str)> = self.metric.labels.iter().copied().zip(values).collect();
        if labels.is_empty() {
            return write(&mut self.encoder);
        }
        write(&mut self.encoder.encode_family(&labels)?)
    }
}
