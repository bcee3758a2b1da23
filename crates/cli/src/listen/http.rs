// SPDX-License-Identifier: GPL-3.0-or-later
//! HTTP/1.1 on a connection.

use super::Stream;
use crate::json::Json;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

/// Longest head of a request, in bytes.
const HEAD: usize = 16 << 10;

/// Header fields of one request.
const FIELDS: usize = 1200;

/// The kind of an answer in JSON.
pub const JSON: &str = "application/json";

/// An answer with a whole body.
pub type Answer = Response<Full<Bytes>>;

/// An answer of this kind (`text/plain`, ...).
pub fn answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// The answer that says what is wrong: an object with a member `error`.
pub fn error(status: StatusCode, text: &str) -> Answer {
    let line = Json::line(|json| json.key("error").string(text));
    answer(status, JSON, line.trim_end().to_owned())
}

/// The answer with measures for Prometheus.
pub fn measures(text: String) -> Answer {
    answer(StatusCode::OK, "text/plain; version=0.0.4", text)
}

/// Serves the requests of a connection, whose heads may take so long. With `stop`, there may be
/// several, until that ends. Returns why a request cannot be read, if so.
pub async fn serve<S: Stream, F: Future<Output = Answer>>(
    stream: S,
    head: Duration,
    stop: Option<impl Future<Output = ()>>,
    respond: impl Fn(Request<Incoming>) -> F,
) -> Option<hyper::Error> {
    let service = service_fn(|request| {
        let answer = respond(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .keep_alive(stop.is_some())
        // A client may close its side of the connection after the request.
        .half_close(true)
        .max_headers(FIELDS)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = match stop {
        None => connection.await,
        Some(stop) => tokio::select! {
            ended = connection.as_mut() => ended,
            () = stop => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        },
    };
    // A client that is gone or too slow is not answered.
    ended.err().filter(hyper::Error::is_parse)
}
