// SPDX-License-Identifier: GPL-3.0-or-later
//! HTTP as clients of rspamd speak it, and the measures for Prometheus.
//!
//! | request | answer |
//! |---|---|
//! | `POST /checkv2` | the verdict on the mail in the body, as JSON |
//! | `POST /learnspam`, `/learnham` | whether it was learned |
//! | `GET /ping`, `/stat` | a sign of life; counts, as JSON |
//! | `GET /metrics` | counts, as Prometheus reads them |

use crate::engine::{Engine, Mail, Refusal};
use crate::headers::{Dialect, lines};
use crate::listen::Stream;
use crate::log::Level;
use crate::measures::{Taught, Wire};
use crate::teacher::Lesson;
use crate::verdict::{Judged, REQUIRED};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Longest head of a request, in bytes.
const HEAD: usize = 16 << 10;

/// Header fields of one request.
const FIELDS: usize = 1200;

/// What a listener for HTTP serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpRole {
    /// Clients of rspamd, and the measures.
    Rspamd,
    /// The measures only.
    Metrics,
}

/// Serves one connection; `may_learn` says whether it may change filters.
pub async fn serve(engine: Arc<Engine>, stream: Box<dyn Stream>, role: HttpRole, may_learn: bool) {
    let limit = engine.config.limits.request();
    let shared = Arc::clone(&engine);
    let service = service_fn(move |request| {
        let engine = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(&engine, request, role, may_learn).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limit)
        .keep_alive(false)
        // A client may close its side of the connection after the request.
        .half_close(true)
        .max_headers(FIELDS)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let whole = limit * 2 + std::time::Duration::from_secs(engine.config.limits.verdict_seconds);
    match tokio::time::timeout(whole, connection).await {
        Ok(Err(error)) if error.is_parse() => {
            engine.measures.malformed.fetch_add(1, Relaxed);
            engine.log.event(
                Level::Warn,
                "malformed",
                &[("wire", &Wire::Rspamd.name()), ("error", &error)],
            );
        }
        // A client that is gone or too slow is not answered.
        _ => {}
    }
}

type Answer = Response<Full<Bytes>>;

fn answer(status: StatusCode, kind: &'static str, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn json_answer(status: StatusCode, value: &Value) -> Answer {
    answer(status, "application/json", value.to_string())
}

fn error(status: StatusCode, text: &str) -> Answer {
    json_answer(status, &json!({ "error": text }))
}

async fn respond<B>(
    engine: &Arc<Engine>,
    request: Request<B>,
    role: HttpRole,
    may_learn: bool,
) -> Answer
where
    B: Body<Data = Bytes> + Unpin,
{
    let start = Instant::now();
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_end_matches('/').to_owned();
    if path == "/metrics" {
        let text = engine.measures.text(engine.models.count());
        return answer(StatusCode::OK, "text/plain; version=0.0.4", text);
    }
    if role == HttpRole::Metrics {
        return error(StatusCode::NOT_FOUND, "only /metrics is here");
    }
    match path.as_str() {
        "/ping" => answer(StatusCode::OK, "text/plain", "pong\r\n".into()),
        "/stat" => json_answer(StatusCode::OK, &stat(engine)),
        "/checkv2" | "/check" | "/symbols" | "/learnspam" | "/learnham"
            if head.method != Method::POST =>
        {
            error(StatusCode::METHOD_NOT_ALLOWED, "the mail is to be posted")
        }
        "/checkv2" | "/check" | "/symbols" => {
            let mail = match gather(engine, body, true).await {
                Ok(mail) => Arc::new(mail),
                Err(answer) => return *answer,
            };
            let judged = engine.judge(Wire::Rspamd, names(&head.headers), &mail).await;
            match judged {
                Some(judged) => {
                    let seconds = start.elapsed().as_secs_f64();
                    let told = verdict(&judged, &engine.config.headers, seconds);
                    json_answer(StatusCode::OK, &told)
                }
                None => error(StatusCode::SERVICE_UNAVAILABLE, "no verdict"),
            }
        }
        "/learnspam" | "/learnham" if !may_learn => {
            error(StatusCode::FORBIDDEN, "learning is not allowed here")
        }
        "/learnspam" | "/learnham" => {
            let mail = match gather(engine, body, false).await {
                Ok(mail) => Arc::new(mail),
                Err(answer) => return *answer,
            };
            let lesson = if path == "/learnspam" { Lesson::Spam } else { Lesson::Ham };
            let names = names(&head.headers);
            let name = names.first().map_or("", String::as_str);
            match engine.teacher.teach(engine, Wire::Rspamd, name, lesson, &mail).await {
                Taught::Changed => json_answer(StatusCode::OK, &json!({ "success": true })),
                Taught::Known => error(StatusCode::ALREADY_REPORTED, "already learned as that"),
                Taught::Failed => error(StatusCode::SERVICE_UNAVAILABLE, "nothing was learned"),
            }
        }
        _ => error(StatusCode::NOT_FOUND, "there is nothing at this path"),
    }
}

/// The users for whom a mail is judged: the one to whom it is delivered, else its recipients, else
/// the user.
pub fn names(headers: &HeaderMap) -> Vec<String> {
    let of = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).into_iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    };
    ["deliver-to", "rcpt", "user"]
        .iter()
        .map(|name| of(name))
        .find(|list| !list.is_empty())
        .unwrap_or_default()
}

/// Reads a mail. With `beginning`, of a mail that is too large its beginning is taken.
async fn gather<B>(engine: &Engine, mut body: B, beginning: bool) -> Result<Mail, Box<Answer>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut mail = engine.mail();
    // The rest of a mail that is too large is read and dropped, so that the client reads the
    // answer.
    let mut rest = engine.config.limits.mail;
    let take = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return Err(error(StatusCode::BAD_REQUEST, "the mail ended early"));
            };
            let Ok(piece) = frame.into_data() else { continue };
            match mail.push(&piece) {
                Ok(()) => {}
                Err(Refusal::Large) if beginning => {
                    let room = mail.room();
                    let _ = mail.push(&piece[..room]);
                    rest = rest.saturating_sub(piece.len());
                    if rest == 0 {
                        break;
                    }
                }
                Err(Refusal::Large) => {
                    return Err(error(StatusCode::PAYLOAD_TOO_LARGE, &Refusal::Large.to_string()));
                }
                Err(busy) => {
                    return Err(error(StatusCode::SERVICE_UNAVAILABLE, &busy.to_string()));
                }
            }
        }
        Ok(())
    };
    match tokio::time::timeout(engine.config.limits.request(), take).await {
        Ok(Ok(())) => Ok(mail),
        Ok(Err(answer)) => Err(Box::new(answer)),
        Err(_) => Err(Box::new(error(StatusCode::REQUEST_TIMEOUT, "the mail came too slowly"))),
    }
}

/// The verdict as rspamd's clients read it.
pub fn verdict(judged: &Judged, dialects: &[Dialect], seconds: f64) -> Value {
    let (score, symbol) = (judged.score(), judged.symbol());
    let action = if judged.is_spam() { "add header" } else { "no action" };
    let mut symbols = Map::new();
    symbols.insert(
        symbol.into(),
        json!({
            "name": symbol,
            "score": score,
            "metric_score": score,
            "description": "Verdict of the mail filter dbacl",
            "options": [judged.text],
        }),
    );
    let (mut added, mut removed) = (Map::new(), Map::new());
    for (name, value) in lines(Some(judged), dialects) {
        // Values are strings, which all clients know. OpenSMTPD's client ignores values with a
        // position.
        added.insert(name.into(), value.into());
        removed.insert(name.into(), json!(0));
    }
    json!({
        "is_skipped": false,
        "score": score,
        "required_score": REQUIRED,
        "action": action,
        "thresholds": { "add header": REQUIRED },
        "symbols": symbols,
        "messages": {},
        "message-id": "undef",
        "time_real": seconds,
        "milter": { "add_headers": added, "remove_headers": removed },
    })
}

/// The counters in the form that `rspamc stat` reads.
fn stat(engine: &Engine) -> Value {
    let [ham, unsure, spam, errors] = engine.measures.outcomes();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "config_id": "dbacl",
        "uptime": engine.started.elapsed().as_secs(),
        "read_only": false,
        "scanned": ham + unsure + spam + errors,
        "learned": engine.measures.changes(),
        "spam_count": spam,
        "ham_count": ham + unsure,
        "actions": { "reject": 0, "soft reject": 0, "rewrite subject": 0, "add header": spam,
            "greylist": 0, "no action": ham + unsure },
        "connections": 0,
        "control_connections": 0,
        "pools_allocated": 0,
        "pools_freed": 0,
        "bytes_allocated": 0,
        "chunks_allocated": 0,
        "shared_chunks_allocated": 0,
        "chunks_freed": 0,
        "chunks_oversized": 0,
        "fragmented": 0,
        "total_learns": engine.measures.changes(),
        "statfiles": [],
        "fuzzy_hashes": {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Decision;

    #[test]
    fn the_one_delivered_to_comes_before_recipients_and_users() {
        let mut headers = HeaderMap::new();
        assert!(names(&headers).is_empty());
        headers.insert("User", HeaderValue::from_static("submitter"));
        assert_eq!(names(&headers), ["submitter"]);
        headers.append("Rcpt", HeaderValue::from_static("a@b"));
        headers.append("Rcpt", HeaderValue::from_static("c@d"));
        assert_eq!(names(&headers), ["a@b", "c@d"]);
        headers.insert("Deliver-To", HeaderValue::from_static("e@f"));
        assert_eq!(names(&headers), ["e@f"]);
    }

    #[test]
    fn verdicts_have_the_fields_that_clients_read() {
        let spam = Judged {
            text: "spam 99.95%".into(),
            decision: Decision::Spam,
            spam: 0.9995,
            reasons: None,
        };
        let told = verdict(&spam, &[Dialect::Dbacl], 0.5);
        assert_eq!(told["action"], "add header");
        assert_eq!(told["symbols"]["DBACL_SPAM"]["options"][0], "spam 99.95%");
        assert_eq!(told["milter"]["add_headers"]["X-DBACL"], "spam 99.95%");
        assert!(told["score"].as_f64() > told["required_score"].as_f64());
    }
}
