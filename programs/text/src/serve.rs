// SPDX-License-Identifier: GPL-3.0-or-later
//! `serve`: models and requests over HTTP → labels.
//!
//! | request | answer |
//! |---|---|
//! | `POST /predict`, `/predict/MODEL` | the labels of one text, of a list, or of each line |
//! | `GET /models`, `/models/MODEL` | names and versions; what a model was made of |
//! | `GET /metrics`, `/ping` | counts, as Prometheus reads them; a sign of life |

use super::options::ServeArguments;
use super::predict::{predictors, put_answer};
use super::{Failure, MESSAGES, NAME, open, status};
use dbacl::text::data::LONGEST;
use dbacl::text::{NONE, Predictor, TextModel};
use dbacl_cli::arguments::say;
use dbacl_cli::json::Json;
use dbacl_cli::listen::http::{self, Answer, JSON, answer, error};
use dbacl_cli::listen::measures::{self, Times, one};
use dbacl_cli::listen::{Bound, Connection, Door, Limits, Signals};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, ORIGIN};
use hyper::{Method, Request, StatusCode};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinSet, block_in_place};

/// The time for a request to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time that requests have to end once the server is to stop.
const GRACE: Duration = Duration::from_secs(10);

/// KiB that the bodies of all requests may have at a time; others wait.
const MEMORY: u32 = 256 << 10;

/// Bytes of a request from which on others are served meanwhile.
const LONG: usize = 64 << 10;

/// The mode of sockets: whoever may look into the folder may connect.
const MODE: u32 = 0o666;

/// A model that is served.
struct Served {
    name: String,
    version: String,
    model: TextModel,
    /// Those that no request uses.
    idle: Mutex<Vec<Predictor>>,
    keep: Option<f64>,
}

impl Served {
    fn open(path: &Path, keep: Option<f64>) -> Result<Self, Failure> {
        let model = open(path)?;
        let idle = predictors(&model, 1, keep).map_err(|failure| failure.of(path))?;
        Ok(Self {
            name: path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            version: format!("{:08x}", crc32fast::hash(&model.to_bytes())),
            model,
            idle: Mutex::new(idle),
            keep,
        })
    }

    /// Does something with a predictor of its own.
    fn with<T>(&self, act: impl FnOnce(&mut Predictor) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = idle().pop();
        let mut own = ready.unwrap_or_else(|| {
            let new = self.model.predictor();
            match self.keep {
                Some(keep) => new.keeping(keep).expect("a model that could when it was opened"),
                None => new,
            }
        });
        let done = act(&mut own);
        idle().push(own);
        done
    }

    fn put_name(&self, json: &mut Json) {
        json.key("model").string(&self.name);
        json.key("version").string(&self.version);
    }

    /// What the model was made of.
    fn card(&self) -> String {
        Json::line(|json| {
            self.put_name(json);
            json.key("about").object(|json| {
                for (name, value) in self.model.about() {
                    json.key(name).string(value);
                }
            });
            let labels = self.model.labels().iter().zip(self.model.documents());
            json.key("labels").objects(labels, |json, (label, &documents)| {
                json.key("label").string(label);
                json.key("documents").integer(documents);
            });
        })
    }
}

/// What is counted.
#[derive(Default)]
struct Counts {
    times: Times,
    texts: AtomicU64,
    none: AtomicU64,
    failed: AtomicU64,
    reloads: AtomicU64,
    refused: Arc<AtomicU64>,
}

struct Server {
    models: watch::Receiver<Arc<Vec<Served>>>,
    counts: Counts,
    memory: Semaphore,
    request_size: usize,
}

/// Opens all models.
fn opened(arguments: &ServeArguments) -> Result<Vec<Served>, Failure> {
    let models: Vec<Served> = (arguments.models.iter())
        .map(|path| Served::open(path, arguments.keep))
        .collect::<Result<_, _>>()?;
    for (at, own) in models.iter().enumerate() {
        if models[..at].iter().any(|other| other.name == own.name) {
            let text = format!("two models are called {}", own.name);
            return Err(Failure::new(status::USAGE, &text));
        }
    }
    Ok(models)
}

pub(crate) fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    let (reload, models) = watch::channel(Arc::new(opened(arguments)?));
    let unavailable = |why: &dyn std::fmt::Display| Failure::new(status::UNAVAILABLE, why);
    let bind = |address| {
        Bound::new(address, MODE)
            .map_err(|error| unavailable(&format!("cannot listen at {address}: {error}")))
    };
    let bound = arguments.listen.iter().map(bind).collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unavailable(&error))?;
    let request_size = usize::try_from(arguments.request_size).unwrap_or(usize::MAX);
    let server = Arc::new(Server {
        models,
        counts: Counts::default(),
        memory: Semaphore::new(MEMORY as usize),
        request_size: request_size.min((MEMORY as usize) << 10),
    });
    let limits = Limits {
        connections: arguments.connections,
        peer_percent: 100,
        first: PATIENCE,
        request: PATIENCE,
    };
    let reopen = || match opened(arguments) {
        Ok(models) => {
            reload.send_replace(Arc::new(models));
            server.counts.reloads.fetch_add(1, Relaxed);
            say(NAME, "the models were read again");
        }
        Err(Failure { text, .. }) => {
            MESSAGES.warning(&format!("{text}; the models before are still served"));
        }
    };
    let served = runtime.block_on(serve(&server, bound, limits, reopen));
    runtime.shutdown_timeout(Duration::from_secs(1));
    served.map_err(|error| unavailable(&error))
}

/// Serves until TERM or INT; at HUP models are opened again.
async fn serve(
    server: &Arc<Server>,
    bound: Vec<Bound>,
    limits: Limits,
    reopen: impl Fn(),
) -> std::io::Result<()> {
    let mut signals = Signals::new()?;
    let (stop, stopped) = watch::channel(false);
    let mut serving = JoinSet::new();
    for bound in bound {
        say(NAME, &format!("listens at {}", bound.address));
        if !bound.address.is_local() {
            MESSAGES.warning("other machines can reach this address, and nobody asks who they are");
        }
        let door = Door::open(bound, limits, &server.counts.refused)?;
        let (server, ends) = (Arc::clone(server), stopped.clone());
        let speak = move |connection: Connection| {
            let (server, mut ends) = (Arc::clone(&server), ends.clone());
            async move {
                let end = async move { drop(ends.changed().await) };
                let respond = |request| respond(&server, request);
                if http::serve(connection, PATIENCE, Some(end), respond).await.is_some() {
                    server.counts.failed.fetch_add(1, Relaxed);
                }
            }
        };
        serving.spawn(door.serve(stopped.clone(), speak));
    }
    while signals.next().await {
        block_in_place(&reopen);
    }
    // This fails only if all addresses have ended already.
    let _ = stop.send(true);
    let all = async { while serving.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, all).await;
    Ok(())
}

async fn respond(server: &Server, request: Request<Incoming>) -> Answer {
    let start = Instant::now();
    // Those who ask now keep these models, also if others come meanwhile.
    let models = Arc::clone(&server.models.borrow());
    let path = request.uri().path().trim_matches('/').to_owned();
    let (verb, name) = match path.split_once('/') {
        Some((verb, name)) => (verb, Some(name)),
        None => (path.as_str(), None),
    };
    let answer = if request.headers().contains_key(ORIGIN) {
        error(StatusCode::FORBIDDEN, "pages of browsers are not answered")
    } else {
        let named = match name {
            None => models.first(),
            Some(name) => models.iter().find(|own| own.name == name),
        };
        match (request.method(), verb, named) {
            (&Method::GET, "ping", _) => answer(StatusCode::OK, "text/plain", "pong\n"),
            (&Method::GET, "metrics", _) => http::measures(server.counts.text(&models)),
            (&Method::GET, "models", _) if name.is_none() => {
                let all = Json::line(|json| {
                    json.key("models").objects(models.iter(), |json, own| own.put_name(json));
                });
                answer(StatusCode::OK, JSON, all)
            }
            (_, "models" | "predict", None) => {
                error(StatusCode::NOT_FOUND, "there is no such model")
            }
            (&Method::GET, "models", Some(own)) => answer(StatusCode::OK, JSON, own.card()),
            (&Method::POST, "predict", Some(own)) => {
                let answer = predict(server, own, request).await;
                server.counts.times.add(start.elapsed());
                answer.unwrap_or_else(|(status, text)| error(status, &text))
            }
            (_, "predict", _) => error(StatusCode::METHOD_NOT_ALLOWED, "texts must be posted"),
            _ => error(StatusCode::NOT_FOUND, "there is nothing at this path"),
        }
    };
    if !answer.status().is_success() {
        server.counts.failed.fetch_add(1, Relaxed);
    }
    answer
}

/// The status of an answer, and what is wrong.
type Fault = (StatusCode, String);

fn fault(text: impl Into<String>) -> Fault {
    (StatusCode::BAD_REQUEST, text.into())
}

/// Answers the texts of a request.
async fn predict(
    server: &Server,
    own: &Served,
    request: Request<Incoming>,
) -> Result<Answer, Fault> {
    let (head, body) = request.into_parts();
    if head.headers.contains_key(CONTENT_ENCODING) {
        let text = "the body is compressed: send it as it is";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, text.into()));
    }
    let k = match head.uri.query().and_then(|query| query.strip_prefix("k=")) {
        None => None,
        Some(number) => Some(number.parse().map_err(|_| fault("k is not a number of labels"))?),
    };
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or(JSON);
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let most = body.size_hint().upper().and_then(|most| usize::try_from(most).ok());
    let most = most.unwrap_or(usize::MAX).min(server.request_size);
    let memory = u32::try_from(most.div_ceil(1024)).unwrap_or(MEMORY).min(MEMORY);
    let whole = async {
        let memory = server.memory.acquire_many(memory).await;
        (memory, Limited::new(body, server.request_size).collect().await)
    };
    let late = |_| (StatusCode::REQUEST_TIMEOUT, "the request did not come in time".to_owned());
    let (_memory, body) = tokio::time::timeout(PATIENCE, whole).await.map_err(late)?;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => (StatusCode::PAYLOAD_TOO_LARGE, "the request is longer than the limit".to_owned()),
        false => fault("the request ended early"),
    })?;
    let body = body.to_bytes();
    let act = || answers(server, own, &kind, k, &body);
    if body.len() > LONG { block_in_place(act) } else { act() }
}

fn answers(
    server: &Server,
    own: &Served,
    kind: &str,
    k: Option<usize>,
    body: &Bytes,
) -> Result<Answer, Fault> {
    let put = |json: &mut Json, text: &[u8]| {
        let prediction = own.with(|predictor| predictor.predict(text));
        let has_several = own.model.has_several();
        let ranked = match k {
            Some(k) => prediction.ranked(k.max(1)),
            None => prediction.labels(),
        };
        server.counts.texts.fetch_add(1, Relaxed);
        server.counts.none.fetch_add(u64::from(prediction.is_none()), Relaxed);
        put_answer(json, &ranked, k.is_some() || !has_several, |at| {
            let is_none = prediction.is_none() && at == ranked[0];
            let label = if is_none { NONE } else { own.model.labels()[at].as_str() };
            (label, prediction.probabilities()[at])
        });
    };
    let one = |text: &[u8]| {
        let line = Json::line(|json| {
            put(json, text);
            own.put_name(json);
        });
        answer(StatusCode::OK, JSON, line)
    };
    match kind {
        "text/plain" => Ok(one(checked(body)?)),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
            let mut out = String::new();
            for line in body.split(|&byte| byte == b'\n').filter(|it| !it.trim_ascii().is_empty()) {
                let value: Result<Value, _> = serde_json::from_slice(line);
                let value = value.map_err(|error| fault(format!("it is no JSON: {error}")));
                let text = value.as_ref().map_err(Clone::clone).and_then(text_of);
                out += &Json::line(|json| match text {
                    Ok(text) => {
                        put(json, text.as_bytes());
                        own.put_name(json);
                    }
                    Err((_, why)) => json.key("error").string(&why),
                });
            }
            Ok(answer(StatusCode::OK, "application/x-ndjson", out))
        }
        _ => {
            let value: Value = serde_json::from_slice(body)
                .map_err(|error| fault(format!("the body is no JSON: {error}")))?;
            let list = match &value {
                Value::Array(list) => Some(list),
                Value::Object(members) => {
                    ["texts", "input"].iter().find_map(|name| members.get(*name)?.as_array())
                }
                _ => None,
            };
            let Some(list) = list else { return Ok(one(text_of(&value)?.as_bytes())) };
            let texts = list.iter().map(text_of).collect::<Result<Vec<_>, _>>()?;
            let all = Json::line(|json| {
                own.put_name(json);
                json.key("results").objects(&texts, |json, text| put(json, text.as_bytes()));
            });
            Ok(answer(StatusCode::OK, JSON, all))
        }
    }
}

fn checked(text: &[u8]) -> Result<&[u8], Fault> {
    if text.len() > LONGEST { Err(fault("a text is longer than 8 MiB")) } else { Ok(text) }
}

/// The text that a value is or has.
fn text_of(value: &Value) -> Result<&str, Fault> {
    let text = match value {
        Value::Object(members) => {
            ["text", "input"].iter().find_map(|name| members.get(*name)).and_then(Value::as_str)
        }
        other => other.as_str(),
    };
    let text = text.ok_or_else(|| fault("there is no text: a string, or a member \"text\""))?;
    checked(text.as_bytes())?;
    Ok(text)
}

impl Counts {
    /// The text for Prometheus.
    fn text(&self, models: &[Served]) -> String {
        let of = |count: &AtomicU64| one(count.load(Relaxed));
        let versions = models.iter().map(|Served { name, version, .. }| {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            (format!("{{model=\"{name}\",version=\"{version}\"}}"), "1".to_owned())
        });
        let failed = "Requests that were answered with an error.";
        let refused = "Connections closed because there were too many.";
        measures::text(vec![
            ("text_request_seconds", "histogram", "Time for a request.", self.times.samples()),
            ("texts_total", "counter", "Texts that were answered.", of(&self.texts)),
            ("texts_none_total", "counter", "Texts that were answered with none.", of(&self.none)),
            ("text_requests_failed_total", "counter", failed, of(&self.failed)),
            (
                "text_reloads_total",
                "counter",
                "Times that models were read again.",
                of(&self.reloads),
            ),
            ("refused_connections_total", "counter", refused, of(&self.refused)),
            ("text_model_info", "gauge", "The models.", versions.collect()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_a_string_or_a_member() {
        for (value, expected) in [
            (json!("a b"), Some("a b")),
            (json!({"text": "a", "id": 7}), Some("a")),
            (json!({"input": "a"}), Some("a")),
            (json!({"text": 7}), None),
            (json!({"txt": "a"}), None),
            (json!(null), None),
            (json!(["a"]), None),
            (json!("x".repeat(LONGEST + 1)), None),
        ] {
            assert_eq!(text_of(&value).ok(), expected);
        }
    }
}
