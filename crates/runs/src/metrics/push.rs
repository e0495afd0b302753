//! Pushes metrics to a collector: one POST of JSON every few seconds.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use fathom_model::secret;
use fathom_observe::unix_now_ns;

use super::{SharedMetrics, lock};
use crate::present;

const EVERY: Duration = Duration::from_secs(5);
/// A collector that does not answer must not hold up the end of a run.
const PATIENCE: Duration = Duration::from_secs(3);
const PATH: &str = "/v1/metrics";
const ANSWER_BYTES_MAX: u64 = 4 << 10;

/// Pushes go on until this is dropped; then comes the last one.
pub(super) struct Pushing {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Where to push.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Collector {
    host: String,
    port: u16,
    path: String,
}

/// A URL at which no collector can be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot push metrics to {url}: {why}; write for example http://collector:4318")]
struct CollectorError {
    url: String,
    why: &'static str,
}

impl Pushing {
    pub(super) fn start(
        url: &str,
        shared: &SharedMetrics,
        started_ns: u64,
    ) -> anyhow::Result<Pushing> {
        let collector = Collector::parse(url)?;
        let shared = Arc::clone(shared);
        let (end, ended) = channel::<()>();
        let thread = std::thread::Builder::new()
            .name("fathom-push".to_owned())
            .spawn(move || {
                let mut told = false;
                loop {
                    let over = ended.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                    let body = lock(&shared).own.to_otlp(started_ns, unix_now_ns());
                    if let Err(error) = collector.post(&body)
                        && !told
                    {
                        told = true;
                        let host = &collector.host;
                        present::complain(&format!(
                            "metrics could not be pushed to {host}: {error:#}"
                        ));
                    }
                    if over {
                        return;
                    }
                }
            })
            .context("cannot push metrics")?;
        Ok(Pushing {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Pushing {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Collector {
    fn parse(url: &str) -> Result<Collector, CollectorError> {
        let shown = secret::without_user(url).unwrap_or_else(|| url.to_owned());
        let has_user = shown != url;
        let wrong = |why| CollectorError {
            url: shown.clone(),
            why,
        };
        if has_user {
            return Err(wrong("it holds a user or password, which are not sent"));
        }
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => {
                return Err(wrong(
                    "only plain http is spoken; use a collector on this host",
                ));
            }
            _ => return Err(wrong("this is not a URL")),
        };
        let (place, path) = match rest.split_once('/') {
            Some((place, path)) => (place, format!("/{path}")),
            None => (rest, String::new()),
        };
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                let port = port
                    .parse()
                    .map_err(|_| wrong("the port is not a number"))?;
                (host, port)
            }
            _ => (place, 4318),
        };
        let strange = |c: char| c.is_whitespace() || c.is_control();
        if host.is_empty() || host.contains('@') || url.contains(strange) {
            return Err(wrong("this is not a host"));
        }
        Ok(Collector {
            host: host.to_owned(),
            port,
            path: match path.as_str() {
                "" | "/" => PATH.to_owned(),
                path => path.to_owned(),
            },
        })
    }

    fn post(&self, body: &str) -> anyhow::Result<()> {
        let name = self.host.trim_start_matches('[').trim_end_matches(']');
        let places = fathom_deadline::host_addresses(name, self.port)?;
        let place = places.first().context("this name has no address")?;
        let mut connection = TcpStream::connect_timeout(place, PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.path,
            self.host,
            self.port,
            body.len()
        );
        connection.write_all(head.as_bytes())?;
        connection.write_all(body.as_bytes())?;
        let mut answer = Vec::new();
        // The first line is enough; what follows may be cut off.
        let _ = connection.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).unwrap_or_default();
        anyhow::ensure!(
            status.starts_with('2'),
            "the collector answered {}",
            match status {
                "" => "nothing",
                status => status,
            }
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_host_port_and_path() {
        let of = |url: &str| Collector::parse(url);
        let collector = |host: &str, port, path: &str| {
            Ok(Collector {
                host: host.to_owned(),
                port,
                path: path.to_owned(),
            })
        };
        assert_eq!(of("http://c:4318"), collector("c", 4318, PATH));
        assert_eq!(of("http://c"), collector("c", 4318, PATH));
        assert_eq!(of("http://[::1]:99/a/b"), collector("[::1]", 99, "/a/b"));
        assert_eq!(of("http://[::1]/"), collector("[::1]", 4318, PATH));
        for wrong in [
            "https://c:4318",
            "c:4318",
            "http://",
            "http://c:port",
            "http://u@c",
            "http://c\r\nX: y",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
