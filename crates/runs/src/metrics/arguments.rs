//! Flags that say where metrics go.

use clap::Args;

/// Where metrics go while a run goes on.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Metrics")]
pub struct MetricsArgs {
    /// Serve metrics for Prometheus at http://ADDR/metrics during the run: a
    /// port of this host alone (9464), or an address and a port (0.0.0.0:9464).
    /// Default: $FATHOM_METRICS, else none.
    #[arg(long = "metrics", value_name = "ADDR")]
    pub(super) address: Option<String>,
    /// Push metrics to this collector every 5 s and at the end (OTLP over HTTP
    /// with JSON), for example http://collector:4318. Default:
    /// $FATHOM_METRICS_PUSH, else none.
    #[arg(long = "metrics-push", value_name = "URL")]
    pub(super) push: Option<String>,
    /// With the names of GOSBench as well.
    #[arg(skip)]
    pub gosbench: bool,
}
