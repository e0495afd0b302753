//! Metrics of a run while it goes on: an address that Prometheus scrapes, and
//! pushes to a collector of OpenTelemetry.
//!
//! Both read what the recorder keeps at the end of each second. The load's threads
//! know nothing of them.

mod arguments;
mod push;
mod serve;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_compat::gosbench::GosbenchMetrics;
use fathom_fleet::Event;
use fathom_model::ScheduledTrial;
use fathom_model::run::RunMeta;
use fathom_report::metrics::Metrics;

pub use self::arguments::MetricsArgs;
use self::push::Pushing;
use self::serve::Serving;
use fathom_observe::unix_now_ns;

/// Where metrics of a run go, for commands that take no options of fathom's.
const ADDRESS_VARIABLE: &str = "FATHOM_METRICS";
const PUSH_VARIABLE: &str = "FATHOM_METRICS_PUSH";

/// What a run has done so far, for whoever asks.
type SharedMetrics = Arc<Mutex<Names>>;

/// The metrics of a run under fathom's names and, where a configuration of
/// GOSBench is run, under its as well.
struct Names {
    own: Metrics,
    gosbench: Option<GosbenchMetrics>,
}

impl Names {
    /// All of them as Prometheus reads them.
    fn to_prometheus(&self) -> String {
        let mut page = self.own.to_prometheus();
        if let Some(gosbench) = &self.gosbench {
            gosbench.write(&mut page);
        }
        page
    }

    /// Something happened in the run. `host` names the host of a trial.
    fn event<'h>(&mut self, event: &Event, host: impl Fn(&ScheduledTrial) -> &'h str) {
        if let Some(gosbench) = &mut self.gosbench {
            gosbench.now_unix_ms = unix_now_ns() / 1_000_000;
        }
        match event {
            Event::TrialsStarted(starts) => {
                for start in starts {
                    self.own.begin(&start.spec, host(&start.spec));
                    if let Some(gosbench) = &mut self.gosbench {
                        gosbench.begin(start.spec.index, &start.spec.workload.name);
                    }
                }
            }
            Event::Interval(intervals) => {
                for interval in intervals {
                    let (samples, observations) = (&interval.samples, &interval.observations);
                    self.own.interval(interval.trial, samples, observations);
                    if let Some(gosbench) = &mut self.gosbench {
                        let trial = interval.trial;
                        samples.iter().for_each(|one| gosbench.sample(trial, one));
                    }
                }
            }
            Event::TrialsEnded(endings) => {
                for ending in endings {
                    self.own.end(ending.trial, ending.state);
                    if let Some(gosbench) = &mut self.gosbench {
                        gosbench.end(ending.trial);
                    }
                }
            }
            _ => {}
        }
    }
}

fn lock(shared: &SharedMetrics) -> MutexGuard<'_, Names> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Metrics of one run. Ends when it is dropped, after a last push.
pub(crate) struct Exporter {
    shared: SharedMetrics,
    hosts: Vec<String>,
    own: String,
    _serving: Option<Serving>,
    _pushing: Option<Pushing>,
}

impl Exporter {
    /// Begins to serve and push, where that was asked for.
    ///
    /// # Errors
    /// An address or URL that cannot be used.
    pub(crate) fn start(args: &MetricsArgs, meta: &RunMeta) -> anyhow::Result<Option<Exporter>> {
        let chosen = |given: &Option<String>, variable: &str| {
            let found = given.clone().or_else(|| std::env::var(variable).ok());
            found.filter(|text| !text.is_empty())
        };
        let address = chosen(&args.address, ADDRESS_VARIABLE);
        let url = chosen(&args.push, PUSH_VARIABLE);
        if address.is_none() && url.is_none() {
            return Ok(None);
        }
        let own = Metrics::of_run(
            &meta.id,
            &meta.schedule.name,
            &meta.tool_version,
            meta.schedule.trials.len(),
        );
        let gosbench = args.gosbench.then(GosbenchMetrics::default);
        let shared: SharedMetrics = Arc::new(Mutex::new(Names { own, gosbench }));
        let serving = address.map(|address| Serving::start(&address, &shared));
        let pushing = url.map(|url| Pushing::start(&url, &shared, meta.started_unix_ns));
        Ok(Some(Exporter {
            hosts: meta.hosts.iter().map(|host| host.name.clone()).collect(),
            own: meta.host.hostname.clone(),
            _serving: serving.transpose()?,
            _pushing: pushing.transpose()?,
            shared,
        }))
    }

    /// Something happened in the run.
    pub(crate) fn event(&self, event: &Event) {
        lock(&self.shared).event(event, |spec| {
            let host = spec.host.and_then(|at| self.hosts.get(at as usize));
            host.unwrap_or(&self.own)
        });
    }
}
