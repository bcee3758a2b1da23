// SPDX-License-Identifier: GPL-3.0-or-later
//! Models that are served over HTTP, and the glue of `integrations/router`.

use crate::verbs::{program, trained};
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::{
    PATIENCE, Scratch, change, finish, holds_soon, is_installed, kill, number, root,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A server of a model of 240 texts.
struct Server {
    scratch: Scratch,
    child: Child,
    address: String,
    /// Reads what is said while it serves.
    said: Option<JoinHandle<String>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn begin(options: &str) -> Server {
    let scratch = Scratch::new();
    let documents = (0..80).map(|number| {
        format!(
            "sea\tthe whale and the ship {number} on the water\nwar\tthe soldiers of nation \
             {number} at the front\na/b c\tbread and butter {number} with cheese\n"
        )
    });
    scratch.write("train.tsv", documents.collect::<String>());
    scratch.write("none.txt", "how many moons has a planet\nhow far is that star\n".repeat(20));
    let none: &[&str] = if options.contains("--keep") { &["--none", "none.txt"] } else { &[] };
    let mut train = scratch.command(program());
    train.args(["train", "train.tsv", "-q", "-o", "model"]).args(none);
    dbacl_testing::done(&mut train).quiet(0);
    let mut command = scratch.command(program());
    command.args(["serve", "model", "--listen", "127.0.0.1:0"]).args(options.split_whitespace());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line");
    let address = line.trim_end().rsplit_once(' ').expect("an address").1.to_owned();
    // What is said later is read, so that the program never waits.
    let said = std::thread::spawn(move || {
        let mut said = String::new();
        lines.read_to_string(&mut said).expect("UTF-8");
        said
    });
    Server { scratch, child, address, said: Some(said) }
}

/// Sends a request over a connection that stays open; returns the status and the body.
fn ask(stream: &mut TcpStream, line: &str, head: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let request =
        format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n{head}\r\n{body}");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = BufReader::new(stream);
    let mut read = || {
        let mut line = String::new();
        answer.read_line(&mut line).expect("the server answers");
        line.to_ascii_lowercase()
    };
    let status = read().split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let mut length = 0;
    loop {
        let line = read();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body).expect("a body");
    (status, String::from_utf8(body).expect("UTF-8"))
}

impl Server {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).expect("the server listens")
    }

    fn ask(&self, line: &str, head: &str, body: &str) -> (u16, String) {
        ask(&mut self.connect(), line, head, body)
    }

    fn json(&self, line: &str, body: &str) -> Value {
        let (status, text) = self.ask(line, "", body);
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).expect("JSON")
    }
}

#[test]
fn one_text_a_list_and_lines_are_answered() {
    let server = begin("");
    let whale = "the whale and the ship";
    let one = server.json("POST /predict", &format!("{{\"text\":\"{whale}\"}}"));
    assert_eq!((&one["label"], &one["model"]), (&"sea".into(), &"model".into()));
    assert!(one["probability"].as_f64().is_some_and(|p| p > 0.5), "{one}");
    assert_eq!(server.json("POST /predict/model", &format!("\"{whale}\"")), one);
    let (_, plain) = server.ask("POST /predict", "Content-Type: text/plain\r\n", whale);
    assert_eq!(serde_json::from_str::<Value>(&plain).expect("JSON"), one);
    let bread = "bread and butter";
    let list = server.json("POST /predict?k=2", &format!("[\"{whale}\",{{\"text\":\"{bread}\"}}]"));
    assert_eq!(list["results"][1]["label"], "a/b c");
    assert_eq!(list["results"][0]["labels"].as_array().map(Vec::len), Some(2));
    assert_eq!(list["version"], one["version"]);
    let both = format!("{{\"input\":[\"{whale}\",\"{bread}\"]}}");
    assert_eq!(server.json("POST /predict", &both)["results"][0]["label"], "sea");
    let lines = format!("{{\"text\":\"{whale}\"}}\n\n{{\n\"{bread}\"\n");
    let (_, lines) = server.ask("POST /predict", "Content-Type: application/x-ndjson\r\n", &lines);
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[0]), (3, &one));
    assert!(lines[1]["error"].is_string() && lines[2]["label"] == "a/b c", "{lines:?}");
    let all = server.json("GET /models", "");
    assert_eq!(all["models"][0]["version"], one["version"]);
    let card = server.json("GET /models/model", "");
    assert_eq!(card["labels"][0]["documents"], 80);
    assert!(card["about"].as_object().is_some_and(|about| about.len() > 3), "{card}");
    let (_, counts) = server.ask("GET /metrics", "", "");
    assert!(counts.contains("\ndbacl_texts_total 9\n"), "{counts}");
    assert!(counts.contains("dbacl_text_model_info{model=\"model\",version="), "{counts}");
}

#[test]
fn what_cannot_be_answered_is_said() {
    let server = begin("--request-size 1k");
    let long = format!("\"{}\"", "x".repeat(2000));
    for (line, head, body, status) in [
        ("POST /predict", "", "{", 400),
        ("POST /predict", "", "7", 400),
        ("POST /predict", "", "{\"txt\":\"a\"}", 400),
        ("POST /predict", "", "[\"a\",7]", 400),
        ("POST /predict?k=x", "", "\"a\"", 400),
        ("POST /predict/other", "", "\"a\"", 404),
        ("GET /predict", "", "", 405),
        ("GET /", "", "", 404),
        ("POST /predict", "Content-Encoding: gzip\r\n", "x", 415),
        ("POST /predict", "Origin: http://example.org\r\n", "\"a\"", 403),
        ("POST /predict", "", long.as_str(), 413),
    ] {
        let (found, text) = server.ask(line, head, body);
        assert_eq!(found, status, "{line} {text}");
        let said: Value = serde_json::from_str(&text).expect("JSON");
        assert!(said["error"].is_string(), "{text}");
    }
    assert_eq!(server.ask("GET /ping", "", ""), (200, "pong\n".into()));
    let (_, counts) = server.ask("GET /metrics", "", "");
    assert!(counts.contains("\ndbacl_text_requests_failed_total 11\n"), "{counts}");
}

/// Requests that are answered, one for each kind of body.
const REQUESTS: [&str; 8] = [
    "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /models/model HTTP/1.0\r\n\r\n",
    "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\n\"whale\"",
    "POST /predict?k=2 HTTP/1.1\r\nHost: x\r\nContent-Length: 31\r\n\r\n\
     {\"text\":\"\\ud83d\\u0000 a\",\"n\":[]}",
    "POST /predict/model HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
     5\r\n[\"a\",\r\n4\r\n\"b\"]\r\n0\r\n\r\n",
    "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 23\r\n\r\n{\"input\":[{\"text\":\"a\"}]}",
    "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n\
     Content-Length: 22\r\n\r\n{\"text\":\"a\"}\n7\n\n\"b\"\n{",
    "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain; charset=utf-8\r\n\
     Content-Length: 9\r\n\r\nthe whale",
];

#[test]
fn whatever_is_asked_is_answered_or_the_connection_ends() {
    let mut server = begin("--request-size 1k --keep 0.95");
    let mut random = SplitMix64::new(1);
    let mut answered = BTreeSet::new();
    for round in 0..number("DBACL_TEXT_ROUNDS", 600) {
        let mut bytes = REQUESTS[round % REQUESTS.len()].as_bytes().to_vec();
        for _ in 0..random.below(5) {
            let other = REQUESTS[random.below(REQUESTS.len())].as_bytes();
            change(&mut bytes, other, &mut random);
        }
        let mut stream = server.connect();
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let (first, rest) = bytes.split_at(random.below(bytes.len() + 1));
        // The server may have closed the connection already.
        let sent = stream.write_all(first).and_then(|()| stream.write_all(rest));
        let _ = sent.and_then(|()| stream.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            let ended = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
            assert!(ended.contains(&error.kind()), "{error}: {}", bytes.escape_ascii());
        }
        let answer = String::from_utf8(answer).expect("UTF-8");
        if let Some(status) = answer.split(' ').nth(1) {
            answered.insert(status.to_owned());
        }
        let last = format!("{} was answered {answer}", bytes.escape_ascii());
        assert_eq!(server.ask("GET /ping", "", ""), (200, "pong\n".into()), "{last}");
    }
    let all = ["200", "400", "404", "405", "413", "414", "415", "431", "505"].map(str::to_owned);
    assert!(answered.is_subset(&all.into()), "{answered:?}");
    assert!(["200", "400", "404"].iter().all(|&own| answered.contains(own)), "{answered:?}");
    kill(server.child.id(), "TERM");
    let said = server.said.take().expect("a thread").join().expect("no panic");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn texts_of_none_of_the_labels_are_answered_so() {
    let server = begin("--keep 0.95");
    let none = server.json("POST /predict", "\"how many stars\"");
    assert_eq!(none["label"], "none");
    assert_eq!(server.json("POST /predict", "\"the whale and the ship\"")["label"], "sea");
}

#[test]
fn models_are_read_again_without_a_lost_request() {
    let server = begin("--connections 4");
    let ends = AtomicBool::new(false);
    let version =
        |text: &str| serde_json::from_str::<Value>(text).expect("JSON")["version"].clone();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| {
            let (mut stream, mut versions) = (server.connect(), Vec::new());
            while !ends.load(Ordering::Relaxed) {
                let (status, text) = ask(&mut stream, "POST /predict", "", "\"the whale\"");
                assert_eq!(status, 200, "{text}");
                versions.push(version(&text));
            }
            versions.dedup();
            versions
        });
        let reloads = |number: u32| {
            let line = format!("\ndbacl_text_reloads_total {number}\n");
            assert!(holds_soon(|| server.ask("GET /metrics", "", "").1.contains(&line)));
        };
        for (number, options) in (1..).zip(["--words", "--pairs"]) {
            let mut train = server.scratch.command(program());
            train.args(["train", "train.tsv", "-q", "-o", "model", options]);
            dbacl_testing::done(&mut train).quiet(0);
            kill(server.child.id(), "HUP");
            reloads(number);
        }
        // What is not a model is not taken.
        server.scratch.write("model", "letters");
        kill(server.child.id(), "HUP");
        assert_eq!(server.ask("POST /predict", "", "\"the whale\"").0, 200);
        ends.store(true, Ordering::Relaxed);
        assert!(asks.join().expect("no panic").len() >= 2);
    });
    kill(server.child.id(), "TERM");
}

#[test]
fn a_socket_is_served_and_removed() {
    let scratch = trained();
    let mut command = scratch.command(program());
    command.args(["serve", "model", "--listen"]).arg(scratch.path("socket"));
    let child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    // The socket is there before the server listens at it.
    let mut stream = None;
    assert!(holds_soon(|| {
        stream = UnixStream::connect(scratch.path("socket")).ok();
        stream.is_some()
    }));
    let mut stream = stream.expect("it is connected");
    stream.write_all(b"GET /ping HTTP/1.0\r\n\r\n").expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    assert!(answer.ends_with("pong\n"), "{answer}");
    kill(child.id(), "TERM");
    assert_eq!(finish(child).status, 0);
    assert!(!scratch.path("socket").exists());
}

#[test]
fn a_server_that_cannot_begin_says_why() {
    let scratch = trained();
    scratch.write("other/model", scratch.read("model"));
    for (line, status, why) in [
        ("serve model --listen nowhere", 64, "nowhere is neither a path"),
        ("serve model other/model", 64, "two models are called model"),
        ("serve nothing", 66, "nothing"),
        ("serve model --listen 192.0.2.1:1", 69, "cannot listen at 192.0.2.1:1"),
    ] {
        let mut command = scratch.command(program());
        let done = dbacl_testing::done(command.args(line.split(' ')));
        assert!(done.complaint(status).contains(why), "{line}");
    }
}

/// Stubs of what routers bring: the class of `LiteLLM`, and a provider that answers with the name
/// of the model.
const STUBS: &str = r#"
import asyncio, http.server, json, os, sys, threading, types, urllib.request

module = types.ModuleType("litellm.integrations.custom_logger")
module.CustomLogger = object
for name in ("litellm", "litellm.integrations"):
    sys.modules[name] = types.ModuleType(name)
sys.modules[module.__name__] = module
sys.path.insert(0, sys.argv[1])

import litellm_hook

def routed(text):
    data = {"model": "any", "messages": [{"role": "user", "content": text}]}
    data = asyncio.run(litellm_hook.router.async_pre_call_hook(None, None, data, "completion"))
    return data["model"]

print(routed("the whale and the ship"), routed("how many stars"))

class Provider(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"model": asked["model"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass

provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=provider.serve_forever, daemon=True).start()
os.environ["PROVIDER"] = "http://127.0.0.1:%d" % provider.server_port
import proxy
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), proxy.Proxy)
threading.Thread(target=server.serve_forever, daemon=True).start()
for text in ("the whale and the ship", "how many stars"):
    data = {"model": "any", "messages": [{"role": "user", "content": text}]}
    place = "http://127.0.0.1:%d/v1/chat/completions" % server.server_port
    print(urllib.request.urlopen(place, json.dumps(data).encode()).read().decode())
"#;

#[test]
fn routers_ask_the_model_first() {
    if !is_installed("python3", "routers") {
        return;
    }
    let server = begin("--keep 0.95");
    server.scratch.write("stubs.py", STUBS);
    let mut command = server.scratch.command("python3");
    command.env("DBACL_TEXT", format!("http://{}", server.address));
    command.arg("stubs.py").arg(root().join("integrations/router"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let said = dbacl_testing::done(&mut command).output();
    assert_eq!(said, "small large\n{\"model\": \"small\"}\n{\"model\": \"large\"}\n");
}
