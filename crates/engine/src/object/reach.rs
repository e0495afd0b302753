//! Whether a store answers at all, and lets these keys in: asked before anything
//! is prepared, with a deadline of its own.
//!
//! A request of the load may take as long as the user allows; a store that says
//! nothing from the very first request on is a finding within seconds.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_model::workload::ObjectStore;
use fathom_model::{Job, Target};
use fathom_s3::{
    Access, Body, Broken, ConnectionPool, Ended, Fault, FaultKind, Method, Request, Sink,
    list_query,
};

use super::access;
use super::advice::{advised, told};
use super::prepare::{parts_of, unlisted};
use crate::Error;

/// How long the first answer of a store may take.
const FIRST_ANSWER_NS: u64 = 4_000_000_000;
/// How much of it setting up TLS may take.
const HANDSHAKE_NS: u64 = 3_000_000_000;

/// What stores said when they were asked first, each by bucket and keys.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    said: BTreeMap<String, Result<(), String>>,
}

impl Reached {
    /// Asks the store of a job, unless it was asked before.
    ///
    /// # Errors
    /// That it does not answer, or what it says of the bucket or the keys.
    pub(crate) fn check(&mut self, job: &Job) -> Result<(), Error> {
        let (Target::Bucket(target), Some(store)) = (&job.target, job.workload.store()) else {
            return Ok(());
        };
        // Blocks name their places themselves; what may be listed says nothing of them.
        let bucket = job.workload.requests().is_some().then(|| parts_of(target));
        let key = format!("{bucket:?} {store:?}");
        let said = self.said.entry(key).or_insert_with(|| {
            let asked = match &bucket {
                Some((bucket, prefix)) => lets_in(store, bucket, prefix, &|| false),
                None => access::find(store, "", 0)
                    .and_then(|access| answers(&Arc::new(access), &|| false))
                    .map(drop),
            };
            asked.map_err(|error| error.to_string())
        });
        said.clone().map_err(Error::Workload)
    }
}

/// Asks a store for its bucket: it answers, the bucket is there, and these keys
/// may list it.
///
/// # Errors
/// That it does not answer, or what it says.
pub(crate) fn lets_in(
    store: &ObjectStore,
    bucket: &str,
    prefix: &str,
    stops: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let access = Arc::new(access::find(store, bucket, 0)?);
    if answers(&access, stops)? {
        return Ok(());
    }
    // Without a body an answer gives no reason; that to a listing has one.
    let mut pool = ConnectionPool::single(&access)?;
    let mut query = Vec::new();
    list_query(&mut query, prefix, "", false, 1, true);
    let listed = ask(&mut pool, &access, Method::Get, &query, stops);
    match listed {
        Err(_) if stops() => Err(Error::Stopped),
        listed => listed
            .map(drop)
            .map_err(|fault| unlisted(&access, Broken::Fault(fault))),
    }
}

/// Asks each endpoint of a store for the bucket. Whether all of them show it.
///
/// # Errors
/// The first that does not answer in time, or cannot be reached.
pub(crate) fn answers(access: &Arc<Access>, stops: &dyn Fn() -> bool) -> Result<bool, Error> {
    let mut shown = true;
    for (place, endpoint) in access.endpoints.iter().enumerate() {
        let mut pool = ConnectionPool::new(access, 1, place)?;
        pool.limit(FIRST_ANSWER_NS, HANDSHAKE_NS);
        match ask(&mut pool, access, Method::Head, b"", stops) {
            Ok(_) => {}
            Err(_) if stops() => return Err(Error::Stopped),
            Err(fault) if fault.status > 0 => shown = false,
            Err(fault) => return Err(unanswered(&endpoint.name, &fault)),
        }
    }
    Ok(shown)
}

fn unanswered(endpoint: &str, fault: &Fault) -> Error {
    let text = advised(&told(fault));
    Error::Workload(match fault.kind {
        FaultKind::Timeout => format!(
            "the store at {endpoint} is not responding (waited {} s): {text}; look at --endpoint, \
             and whether the store is well",
            FIRST_ANSWER_NS / 1_000_000_000
        ),
        _ => format!("no connection to {endpoint}: {text}"),
    })
}

fn ask(
    pool: &mut ConnectionPool,
    access: &Access,
    method: Method,
    query: &[u8],
    stops: &dyn Fn() -> bool,
) -> Result<Ended, Fault> {
    let path = access.bucket_path();
    let request = Request {
        method,
        path: &path,
        query,
        extra: &[],
        body: Body::None,
        sink: Sink::Discard,
    };
    pool.ask_unless(request, stops)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use super::super::tests::{job, server};
    use super::*;
    use fathom_model::OpKind;

    fn check(job: &Job) -> Result<(), String> {
        let checked = Reached::default().check(job);
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn a_store_that_says_nothing_is_named_long_before_the_time_of_a_request() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let server = server("");
        let mut job = job(&server, 4, &[(OpKind::Get, 1)]);
        check(&job).unwrap();
        let store = job.workload.store_mut().unwrap();
        // One of two is enough.
        store.endpoints.push(endpoint.clone());
        store.timeout_ns = 600_000_000_000;
        let begun = Instant::now();
        let mut reached = Reached::default();
        let told = reached.check(&job).unwrap_err().to_string();
        assert!(
            told.contains(&format!("{endpoint} is not responding")),
            "{told}"
        );
        // It is known from then on.
        assert_eq!(reached.check(&job).unwrap_err().to_string(), told);
        assert!(begun.elapsed() < Duration::from_secs(300));
        drop(listener);
    }

    #[test]
    fn what_the_store_says_of_bucket_and_keys_is_named() {
        let elsewhere = server("HEAD:400@1,LIST:wrong-region@1");
        let told = check(&job(&elsewhere, 4, &[(OpKind::Get, 1)])).unwrap_err();
        assert!(
            told.contains("AuthorizationHeaderMalformed") && told.contains("--s3-region"),
            "{told}"
        );
        // Some stores do not show buckets, and list them.
        let odd = server("HEAD:405@1");
        check(&job(&odd, 4, &[(OpKind::Get, 1)])).unwrap();
    }
}
