// SPDX-License-Identifier: GPL-3.0-or-later
//! HTTP as clients of rspamd speak it, and the measures for Prometheus.
//!
//! | request | answer |
//! |---|---|
//! | `POST /checkv2` | the verdict on the mail in the body, as JSON |
//! | `POST /learnspam`, `/learnham` | whether it was learned |
//! | `GET /ping`, `/stat` | a sign of life; counts, as JSON |
//! | `GET /metrics` | counts, as Prometheus reads them |
//! | `GET /`, `/status.json` | at the address `status`: the state of the server |

use crate::budget::{Mail, Refusal};
use crate::config::OnError;
use crate::engine::{Engine, Envelope};
use crate::headers::{Dialect, lines};
use crate::listen::Protocol;
use crate::measures::Taught;
use crate::packed::{Coding, Extent, Fault, unpack};
use crate::verdict::{Judged, REQUIRED};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use dbacl::MailRole;
use dbacl_cli::listen::http::{self, Answer, JSON, answer, error};
use dbacl_cli::listen::{Peer, Stream};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use hyper::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderValue, ORIGIN,
    WWW_AUTHENTICATE,
};
use hyper::{Method, Request, StatusCode};
use nix::unistd::gethostname;
use serde_json::{Map, Value, json};
use std::future::Ready;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use subtle::ConstantTimeEq as _;

/// Serves one connection of this peer; `role` is [`Protocol::Rspamd`] or another one over HTTP.
pub async fn serve<S: Stream>(engine: Arc<Engine>, stream: S, role: Protocol, peer: Peer) {
    let limit = engine.config.limits.request();
    let shared = Arc::clone(&engine);
    let respond = move |request| {
        let engine = Arc::clone(&shared);
        async move { respond(&engine, request, role, peer).await }
    };
    let whole = limit * 2 + std::time::Duration::from_secs(engine.config.limits.verdict_seconds);
    let connection = http::serve(stream, limit, None::<Ready<()>>, respond);
    if let Ok(Some(error)) = tokio::time::timeout(whole, connection).await {
        engine.complain(Protocol::Rspamd, &error);
    }
}

fn json_answer(status: StatusCode, value: &Value) -> Answer {
    answer(status, JSON, value.to_string())
}

async fn respond<B>(engine: &Arc<Engine>, request: Request<B>, role: Protocol, peer: Peer) -> Answer
where
    B: Body<Data = Bytes> + Unpin,
{
    let start = Instant::now();
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_end_matches('/').to_owned();
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_ours = matches!(peer, Peer::User(_))
        || host.is_none_or(|host| is_own_name(host, &engine.config.listen.names));
    // A page of another site that a browser shows can send requests here, and by a name of its own
    // for this address it can also read the answers.
    if head.headers.contains_key(ORIGIN) || head.method == Method::GET && !is_ours {
        return error(StatusCode::FORBIDDEN, "this name is not in listen.names");
    }
    if path == "/metrics" && role != Protocol::Status {
        let text = engine.measures.text(engine.models.count());
        return http::measures(text);
    }
    if role == Protocol::Metrics {
        return error(StatusCode::NOT_FOUND, "only /metrics is here");
    }
    if role == Protocol::Status {
        return status(engine, &path, &head.headers, peer).await;
    }
    match path.as_str() {
        "/ping" => answer(StatusCode::OK, "text/plain", "pong\r\n"),
        "/stat" => json_answer(StatusCode::OK, &stat(engine)),
        "/checkv2" | "/check" | "/symbols" | "/learnspam" | "/learnham"
            if head.method != Method::POST =>
        {
            error(StatusCode::METHOD_NOT_ALLOWED, "the message must be posted")
        }
        "/checkv2" | "/check" | "/symbols" => {
            let mail = match gather(engine, &head.headers, body, peer, true).await {
                Ok(mail) => mail,
                Err(answer) => return *answer,
            };
            let judged = engine.judge(Protocol::Rspamd, envelope(&head.headers), &mail).await;
            match judged {
                Some(judged) => {
                    let seconds = start.elapsed().as_secs_f64();
                    let told = verdict(&judged, &engine.config.headers, seconds);
                    json_answer(StatusCode::OK, &told)
                }
                None if engine.config.on_error == OnError::Tempfail => {
                    json_answer(StatusCode::OK, &put_off())
                }
                None => error(StatusCode::SERVICE_UNAVAILABLE, "no verdict"),
            }
        }
        "/learnspam" | "/learnham" => {
            let mail = match gather(engine, &head.headers, body, peer, false).await {
                Ok(mail) => mail,
                Err(answer) => return *answer,
            };
            let role = if path == "/learnspam" { MailRole::Spam } else { MailRole::Ham };
            let names = envelope(&head.headers).names;
            let name = names.first().map_or("", String::as_str);
            let who = (Protocol::Rspamd, peer);
            let (taught, text) = engine.teacher.teach(engine, who, name, Some(role), &mail).await;
            match taught {
                _ if taught.is_change() => json_answer(StatusCode::OK, &json!({ "success": true })),
                Taught::Known => error(StatusCode::ALREADY_REPORTED, "already learned as that"),
                Taught::Refused => error(StatusCode::FORBIDDEN, &text),
                Taught::Unusable => error(StatusCode::UNPROCESSABLE_ENTITY, &text),
                _ => error(StatusCode::SERVICE_UNAVAILABLE, &text),
            }
        }
        _ => error(StatusCode::NOT_FOUND, "there is nothing at this path"),
    }
}

/// The status page, for those who have the token; at a socket, for those who may connect.
async fn status(engine: &Arc<Engine>, path: &str, headers: &HeaderMap, peer: Peer) -> Answer {
    let token = engine.config.status_token.as_deref();
    let is_known = match (token, peer) {
        (None, Peer::User(_)) => true,
        (None, Peer::Host(_)) => false,
        (Some(token), _) => headers.get(AUTHORIZATION).is_some_and(|own| has_token(own, token)),
    };
    if !is_known {
        let mut refused = error(StatusCode::UNAUTHORIZED, "the token is missing");
        let asks = HeaderValue::from_static("Basic realm=\"dbacl-server\"");
        refused.headers_mut().insert(WWW_AUTHENTICATE, asks);
        return refused;
    }
    let is_page = match path {
        "" => true,
        "/status.json" => false,
        _ => return error(StatusCode::NOT_FOUND, "there are / and /status.json"),
    };
    let Some(pages) = engine.pages.get(engine).await else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "the state cannot be shown");
    };
    let (kind, text) = match is_page {
        true => ("text/html; charset=utf-8", pages.page),
        false => ("application/json", pages.json),
    };
    let mut page = answer(StatusCode::OK, kind, text);
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    page.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    page.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    page
}

/// Whether a request has the token: `Bearer TOKEN`, or as the password of any user, for which
/// browsers ask.
fn has_token(given: &HeaderValue, token: &str) -> bool {
    let Some((kind, given)) = given.to_str().ok().and_then(|given| given.split_once(' ')) else {
        return false;
    };
    let given = match kind.to_ascii_lowercase().as_str() {
        "bearer" => given.as_bytes().to_vec(),
        "basic" => {
            let both = BASE64_STANDARD.decode(given.trim()).unwrap_or_default();
            let colon = both.iter().position(|&byte| byte == b':');
            colon.map_or_else(Vec::new, |colon| both[colon + 1..].to_vec())
        }
        _ => return false,
    };
    given.ct_eq(token.as_bytes()).into()
}

/// Whether a browser that names this host means this server: by its address, or by a name that
/// only its administrator gives it.
fn is_own_name(host: &str, names: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let own = ["localhost".to_owned(), gethostname().unwrap_or_default().display().to_string()];
    address.parse::<IpAddr>().is_ok()
        || own.iter().chain(names).any(|own| name.eq_ignore_ascii_case(own))
}

/// What is known of a message. It is classified for the one to whom it is delivered, else for its
/// recipients, else for the user.
fn envelope(headers: &HeaderMap) -> Envelope {
    let of = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).into_iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    };
    let names = ["deliver-to", "rcpt", "user"].iter().map(|name| of(name));
    Envelope {
        names: names.into_iter().find(|list| !list.is_empty()).unwrap_or_default(),
        sender: of("from").pop(),
        queue: of("queue-id").pop(),
    }
}

/// Fields of rspamd's protocol by which a message is elsewhere, or encrypted, or needs more than
/// its bytes to be unpacked.
const UNSUPPORTED: [&str; 5] = ["file", "path", "shm", "key", "dictionary"];

/// How the body of a request is compressed.
fn coding(headers: &HeaderMap) -> Result<Option<Coding>, Box<Answer>> {
    if let Some(name) = UNSUPPORTED.iter().find(|name| headers.contains_key(**name)) {
        let why = format!("the field {name} is not supported: post the message itself");
        return Err(Box::new(error(StatusCode::BAD_REQUEST, &why)));
    }
    let unsupported = |why: &str| Box::new(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    let mut found = None;
    for name in ["compression", "content-encoding"] {
        for value in headers.get_all(name) {
            let coding = Coding::of_name(&String::from_utf8_lossy(value.as_bytes()));
            let coding = coding.map_err(|why| unsupported(&why))?;
            // rspamd's clients may say the same in both fields.
            if found.is_some() && coding.is_some() && found != coding {
                return Err(unsupported("the message is compressed twice"));
            }
            found = coding.or(found);
        }
    }
    Ok(found)
}

/// The answer where a message is refused.
fn refused(engine: &Engine, why: Refusal) -> Box<Answer> {
    engine.refuse(Protocol::Rspamd, &why);
    let status = match why {
        Refusal::Large => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal::Busy => StatusCode::SERVICE_UNAVAILABLE,
    };
    Box::new(error(status, &why.to_string()))
}

/// Reads a message, and unpacks it. With `beginning`, of a message that is too large its beginning
/// is taken.
async fn gather<B>(
    engine: &Engine,
    headers: &HeaderMap,
    body: B,
    peer: Peer,
    beginning: bool,
) -> Result<Arc<Mail>, Box<Answer>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let coding = coding(headers)?;
    let (mail, is_cut) = read(engine, body, peer, beginning).await?;
    let Some(coding) = coding else { return Ok(Arc::new(mail)) };
    match unpack(engine, peer, &mail, coding, Extent { beginning, is_cut }).await {
        Ok(unpacked) => Ok(Arc::new(unpacked)),
        Err(why @ Fault::Damaged) => {
            engine.complain(Protocol::Rspamd, &why);
            Err(Box::new(error(StatusCode::BAD_REQUEST, &why.to_string())))
        }
        Err(Fault::Refused(why)) => Err(refused(engine, why)),
    }
}

/// Reads a message as it is sent; also says whether only its beginning was kept.
async fn read<B>(
    engine: &Engine,
    mut body: B,
    peer: Peer,
    beginning: bool,
) -> Result<(Mail, bool), Box<Answer>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut mail = engine.mail(Some(peer));
    // The rest of a message that is too large is read and dropped, so that the client reads the
    // answer.
    let (mut rest, mut is_full) = (engine.config.limits.mail, false);
    let take = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return Err(Box::new(error(StatusCode::BAD_REQUEST, "the message ended early")));
            };
            let Ok(piece) = frame.into_data() else { continue };
            if is_full {
                rest = rest.saturating_sub(piece.len());
                if rest == 0 {
                    break;
                }
                continue;
            }
            match mail.push_beginning(&piece) {
                Ok(()) => {}
                Err(why) if beginning && mail.can_be_judged(why) => is_full = true,
                Err(why) => return Err(refused(engine, why)),
            }
        }
        Ok(())
    };
    match tokio::time::timeout(engine.config.limits.request(), take).await {
        Ok(Ok(())) => Ok((mail, is_full)),
        Ok(Err(answer)) => Err(answer),
        Err(_) => Err(Box::new(error(StatusCode::REQUEST_TIMEOUT, "the message came too slowly"))),
    }
}

/// The verdict as rspamd's clients read it.
fn verdict(judged: &Judged, dialects: &[Dialect], seconds: f64) -> Value {
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

/// Has a mail server ask the sender to try again later.
fn put_off() -> Value {
    json!({
        "is_skipped": true,
        "score": 0.0,
        "required_score": REQUIRED,
        "action": "soft reject",
        "symbols": {},
        "messages": { "smtp_message": "no verdict, try again later" },
        "message-id": "undef",
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
    use crate::log::Log;
    use crate::verdict::Decision;

    #[test]
    fn the_one_delivered_to_comes_before_recipients_and_users() {
        let mut headers = HeaderMap::new();
        let names = |headers: &HeaderMap| envelope(headers).names;
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
    fn only_own_names_are_answered() {
        let names = ["mail.example.org".to_owned()];
        for (host, is_own) in [
            ("127.0.0.1:11333", true),
            ("[::1]:11333", true),
            ("192.0.2.7", true),
            ("localhost:9783", true),
            ("LOCALHOST", true),
            ("mail.example.org", true),
            ("Mail.Example.Org:9783", true),
            ("evil.example.com:9783", false),
            ("127.0.0.1.evil.example.com", false),
            ("localhost.evil.example.com:80", false),
            ("", false),
        ] {
            assert_eq!(is_own_name(host, &names), is_own, "{host}");
        }
    }

    #[test]
    fn the_token_is_a_password_or_stands_alone() {
        for (given, has) in [
            ("Bearer secret", true),
            ("bearer secret", true),
            ("Basic YWRtaW46c2VjcmV0", true),
            ("Basic OnNlY3JldA==", true),
            ("Basic c2VjcmV0", false),
            ("Bearer secre", false),
            ("Bearer secrets", false),
            ("Bearer ", false),
            ("secret", false),
            ("Digest secret", false),
        ] {
            let given = HeaderValue::from_str(given).expect("a value");
            assert_eq!(has_token(&given, "secret"), has, "{given:?}");
        }
    }

    #[test]
    fn verdicts_have_the_fields_that_clients_read() {
        let spam = Judged::made_up(Decision::Spam, 0.9995, "spam 99.95%");
        let told = verdict(&spam, &[Dialect::Dbacl], 0.5);
        assert_eq!(told["action"], "add header");
        assert_eq!(told["symbols"]["DBACL_SPAM"]["options"][0], "spam 99.95%");
        assert_eq!(told["milter"]["add_headers"]["X-DBACL"], "spam 99.95%");
        assert!(told["score"].as_f64() > told["required_score"].as_f64());
    }

    #[tokio::test]
    async fn pages_of_other_sites_learn_nothing() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let engine = Arc::new(Engine::new(crate::config::Config::default(), Log::silent()));
        let host = Peer::Host(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
        for (request, peer, status) in [
            ("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", host, "200"),
            ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", host, "403"),
            ("GET /stat HTTP/1.1\r\nHost: evil.example\r\n\r\n", host, "403"),
            ("GET /metrics HTTP/1.1\r\nHost: socket\r\n\r\n", Peer::User(1), "200"),
            ("GET /ping HTTP/1.1\r\n\r\n", host, "200"),
            (
                "POST /learnspam HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n\
                 Content-Length: 0\r\n\r\n",
                host,
                "403",
            ),
        ] {
            let (mut client, server) = tokio::io::duplex(1 << 16);
            client.write_all(request.as_bytes()).await.expect("room");
            serve(Arc::clone(&engine), server, Protocol::Rspamd, peer).await;
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.expect("an answer");
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
        }
    }
}
