//! A bucket that a command needs: made where it is missing, and removed again
//! when it was made and is empty.

use std::sync::Arc;

use fathom_model::workload::ObjectStore;
use fathom_s3::{Access, Body, ConnectionPool, Method, Request, Sink};

use super::access;
use super::advice::{advised, told};
use super::reach::answers;
use crate::Error;

/// Makes a bucket unless it is there. Whether it was made. The store is asked first
/// whether it answers, in the time that a first answer gets.
///
/// # Errors
/// When the store cannot be reached, or refuses.
pub fn make_bucket(store: &ObjectStore, bucket: &str) -> Result<bool, Error> {
    let access = Arc::new(access::find(store, bucket, 0)?);
    answers(&access, &|| false)?;
    let mut pool = ConnectionPool::single(&access)?;
    match ask(&mut pool, &access, Method::Head) {
        Ok(()) => return Ok(false),
        Err((404, _)) => {}
        // It is there, or will say itself what is wrong.
        Err((400.., _)) => return Ok(false),
        Err((_, text)) => return Err(refused(&access, "looking for", &text)),
    }
    match ask(&mut pool, &access, Method::Put) {
        Ok(()) => Ok(true),
        // Somebody else was faster.
        Err((409, _)) => Ok(false),
        Err((_, text)) => Err(refused(&access, "making", &text)),
    }
}

/// Removes a bucket if nothing is in it. Whether it is gone.
///
/// # Errors
/// When the store cannot be reached.
pub fn remove_empty_bucket(store: &ObjectStore, bucket: &str) -> Result<bool, Error> {
    let access = Arc::new(access::find(store, bucket, 0)?);
    let mut pool = ConnectionPool::single(&access)?;
    match ask(&mut pool, &access, Method::Delete) {
        Ok(()) => Ok(true),
        Err((400.., _)) => Ok(false),
        Err((_, text)) => Err(refused(&access, "removing", &text)),
    }
}

fn refused(access: &Access, doing: &str, text: &str) -> Error {
    let endpoint = access.endpoints.first().map_or("", |e| e.name.as_str());
    let bucket = &access.bucket;
    Error::Workload(format!(
        "{doing} the bucket '{bucket}' at {endpoint} failed: {}",
        advised(text)
    ))
}

/// A request to the bucket itself; the status, or 0 without one, and the words
/// of a failure.
fn ask(pool: &mut ConnectionPool, access: &Access, method: Method) -> Result<(), (u16, String)> {
    let path = access.bucket_path();
    pool.ask(Request {
        method,
        path: &path,
        query: b"",
        extra: &[],
        body: Body::None,
        sink: Sink::Discard,
    })
    .map(|_| ())
    .map_err(|fault| (fault.status, told(&fault)))
}
