// SPDX-License-Identifier: GPL-3.0-or-later
//! The program: reads options and configuration, opens the listeners, and serves until a signal
//! comes.

use crate::client;
use crate::config::{Config, Learn};
use crate::engine::Engine;
use crate::http::{self, HttpRole};
use crate::listen::{Address, Bound, SteadyListener, Stream};
use crate::log::{Level, Log};
use crate::memory::{Memory, of_judging};
use crate::milter;
use crate::opensmtpd;
use crate::options::{Options, Teaching};
use crate::privileges::{Identity, is_root, raise_file_limit};
use crate::spamc;
use crate::teacher::Lesson;
use dbacl::{MailFilter, MailFilterError};
use dbacl_cli::status::{IO, LATER, UNAVAILABLE, USAGE};
use dbacl_cli::terminal::Shown;
use dbacl_cli::{arguments, output};
use dbacl_files::reading::read_beginning;
use std::ffi::OsStr;
use std::fmt::Display;
use std::future::Future;
use std::io::{BufRead as _, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// Threads that make verdicts and wait for files, at most.
const BLOCKING: usize = 16;

const NAME: &str = "dbacl-server";

/// Runs the program.
pub fn main() -> ExitCode {
    arguments::run(NAME, begin)
}

fn begin(options: Options) -> Result<(), (u8, String)> {
    let usage = |error: &dyn Display| (USAGE, error.to_string());
    let mut config = Config::read(options.config.as_deref()).map_err(|error| usage(&error))?;
    config.default = options.default.or(config.default);
    config.models = options.models.or(config.models);
    config.reasons |= options.reasons;
    let lists = [options.spamc, options.rspamd, options.milter, options.metrics];
    if lists.iter().any(|list| !list.is_empty()) {
        let [spamc, rspamd, milter, metrics] = lists;
        let mode = config.listen.mode;
        config.listen = crate::config::Listen { spamc, rspamd, milter, metrics, mode };
    }
    let config = config.checked().map_err(|error| usage(&error))?;
    let identity = match &config.user {
        Some(user) => {
            Some(Identity::find(user, config.group.as_deref()).map_err(|text| (USAGE, text))?)
        }
        None => None,
    };
    if options.check {
        return check(&config);
    }
    if let Some(teaching) = options.teach {
        return teach(&config, &options.user, teaching);
    }
    if options.judge {
        return judge(&config, &options.user);
    }
    if options.opensmtpd {
        let engine = Engine::new(config);
        let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
        return opensmtpd::converse(&engine, &mut input, &mut output)
            .map_err(|error| (UNAVAILABLE, error.to_string()));
    }
    raise_file_limit();
    let listeners = bind(&config).map_err(|text| (UNAVAILABLE, text))?;
    let log = Log { level: config.log };
    if let Some(identity) = &identity {
        let give =
            |(bound, _): &(Bound, _)| bound.give_to(identity.uid.into(), identity.gid.into());
        listeners.iter().try_for_each(give).map_err(|error| (UNAVAILABLE, error.to_string()))?;
        identity.assume().map_err(|text| (UNAVAILABLE, text))?;
    } else if is_root() {
        let advice = "name a user in the configuration who owns the filters";
        log.event(Level::Warn, "runs-as-root", &[("advice", &advice)]);
    }
    for (bound, protocol) in &listeners {
        let place = bound.place().unwrap_or_else(|_| bound.address.clone());
        log.event(Level::Info, "listens", &[("wire", &protocol.name()), ("address", &place)]);
        if !place.is_local() {
            let advice = "other machines can reach this address: a firewall should tell which may";
            log.event(Level::Warn, "listens", &[("address", &place), ("advice", &advice)]);
        }
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(processors.min(4))
        .max_blocking_threads(BLOCKING.max(processors))
        .thread_keep_alive(Duration::from_secs(60))
        .enable_all()
        .build()
        .map_err(|error| (UNAVAILABLE, error.to_string()))?;
    let grace = Duration::from_secs(config.limits.stop_seconds);
    let served = runtime.block_on(serve(Engine::new(config), listeners));
    // Learning that has begun is completed, unless requests were cut off. A verdict that takes too
    // long does not delay the end.
    runtime.shutdown_timeout(grace);
    served.map_err(|error| (UNAVAILABLE, error.to_string()))
}

/// Says what is wrong with the default filter. It may be learned later, so that it is missing is no
/// error.
fn check(config: &Config) -> Result<(), (u8, String)> {
    let say = |text: &str| arguments::say(NAME, text);
    let Some(folder) = &config.default else { return Ok(()) };
    match MailFilter::open(folder, &mut |warning| say(&warning.to_string())) {
        Ok(_) => Ok(()),
        Err(MailFilterError::NoFilter { source, .. }) if source.kind() == ErrorKind::NotFound => {
            say(&format!(
                "warning: there is no default filter in {}: mail of users without a filter gets \
                 \"X-DBACL: error\" until dbacl --mail-learn has made one",
                folder.display()
            ));
            Ok(())
        }
        Err(error) => Err((UNAVAILABLE, error.to_string())),
    }
}

/// Tells the server that runs with this configuration what the mail on standard input is.
fn teach(config: &Config, user: &str, teaching: Teaching) -> Result<(), (u8, String)> {
    let mut addresses = config.listen.spamc.iter();
    let local = addresses.clone().find(|address| address.is_socket());
    let address = local.or_else(|| addresses.next());
    let address =
        address.ok_or((USAGE, "the configuration has no address for spamc".to_owned()))?;
    let lesson = match teaching {
        Teaching::Ham => Lesson::Ham,
        Teaching::Spam => Lesson::Spam,
        Teaching::Forget => Lesson::Forget,
    };
    let mut mail = Vec::new();
    let most = config.limits.mail as u64 + 1;
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut mail)
        .map_err(|error| (LATER, error.to_string()))?;
    client::tell(address, user, lesson, &mail).map_err(|error| (LATER, error.to_string()))
}

/// Judges the mails in files: a line `VERDICT<tab>FILE` for each line of standard input. A mail
/// that cannot be judged is reported on standard error, and the others are judged.
fn judge(config: &Config, user: &str) -> Result<(), (u8, String)> {
    let complain = |text: &str| arguments::say(NAME, text);
    let folder = config.users().choose(&[user.to_owned()]);
    let folder = folder
        .ok_or((USAGE, "there is neither a default filter nor one of the user"))
        .map_err(|(status, text)| (status, text.to_owned()))?;
    let filter = MailFilter::open(&folder, &mut |warning| complain(&warning.to_string()))
        .map_err(|error| (UNAVAILABLE, error.to_string()))?;
    let mut output = Shown::new(std::io::stdout().lock());
    let memory = Arc::new(Memory::default());
    let mut unjudged = 0_usize;
    for name in std::io::stdin().lock().split(b'\n') {
        let name = name.map_err(|error| (LATER, error.to_string()))?;
        if name.is_empty() {
            continue;
        }
        let path = Path::new(OsStr::from_bytes(&name));
        // Of a large mail only the beginning is judged.
        let mail = read_beginning(path, config.limits.mail as u64);
        let mail = mail.map_err(|error| error.to_string());
        let verdict = mail.and_then(|mail| {
            let promise = memory.promise(of_judging(mail.len()), Duration::ZERO);
            let _promise = promise.ok_or("no memory to judge the mail")?;
            filter.classify(&mail).map_err(|error| error.to_string())
        });
        let text = match verdict {
            Ok(verdict) => verdict.to_string(),
            Err(error) => {
                unjudged += 1;
                complain(&format!("{}: {error}", path.display()));
                "error".into()
            }
        };
        // Each line is written at once, so that no verdict is lost whatever happens next.
        let line = [text.as_bytes(), b"\t", &name, b"\n"].concat();
        if let Err(error) = output.write_all(&line).and_then(|()| output.flush()) {
            return output::complaint(&error).map_or(Ok(()), |text| Err((IO, text)));
        }
    }
    if unjudged > 0 {
        return Err((LATER, format!("mails that could not be judged: {unjudged}")));
    }
    Ok(())
}

/// The protocol that is spoken at a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Spamc,
    Rspamd,
    Milter,
    Metrics,
}

impl Protocol {
    const fn name(self) -> &'static str {
        match self {
            Self::Spamc => "spamc",
            Self::Rspamd => "rspamd",
            Self::Milter => "milter",
            Self::Metrics => "metrics",
        }
    }
}

fn bind(config: &Config) -> Result<Vec<(Bound, Protocol)>, String> {
    let lists = [
        (&config.listen.spamc, Protocol::Spamc),
        (&config.listen.rspamd, Protocol::Rspamd),
        (&config.listen.milter, Protocol::Milter),
        (&config.listen.metrics, Protocol::Metrics),
    ];
    let mut listeners = Vec::new();
    for (addresses, protocol) in lists {
        for address in addresses {
            let bound = Bound::new(address, config.listen.mode)
                .map_err(|error| format!("cannot listen at {address}: {error}"))?;
            listeners.push((bound, protocol));
        }
    }
    Ok(listeners)
}

/// Serves until TERM or INT.
async fn serve(engine: Engine, listeners: Vec<(Bound, Protocol)>) -> std::io::Result<()> {
    let engine = Arc::new(engine);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let (stop, stopped) = watch::channel(false);
    let mut serving = JoinSet::new();
    for (bound, protocol) in listeners {
        let may_learn = may_learn(engine.config.learn, &bound.address);
        let listener = bound.open(Arc::clone(&engine.measures))?;
        let engine = Arc::clone(&engine);
        let stopped = stopped.clone();
        let shared = Arc::clone(&engine);
        match protocol {
            Protocol::Spamc => {
                let serve = move |stream| spamc::serve(Arc::clone(&shared), stream, may_learn);
                serving.spawn(accept(listener, stopped, engine, serve))
            }
            Protocol::Milter => serving.spawn(milter::serve(engine, listener, stopped)),
            Protocol::Rspamd | Protocol::Metrics => {
                let role =
                    if protocol == Protocol::Rspamd { HttpRole::Rspamd } else { HttpRole::Metrics };
                let serve = move |stream| http::serve(Arc::clone(&shared), stream, role, may_learn);
                serving.spawn(accept(listener, stopped, engine, serve))
            }
        };
    }
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            // Changed filters are found without a signal; HUP is accepted because administrators
            // expect it.
            _ = hang_up.recv() => engine.models.close(),
        }
    }
    engine.log.event(Level::Info, "stops", &[]);
    // This fails only if all listeners have ended already.
    let _ = stop.send(true);
    let grace = Duration::from_secs(engine.config.limits.stop_seconds);
    let all = async { while serving.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, all).await.is_err() {
        engine.ends_lessons.store(true, Ordering::Relaxed);
        engine.log.event(Level::Warn, "stops", &[("advice", &"requests were cut off")]);
    }
    Ok(())
}

fn may_learn(learn: Learn, address: &Address) -> bool {
    match learn {
        Learn::Nowhere => false,
        Learn::Sockets => address.is_socket(),
        Learn::Everywhere => true,
    }
}

/// Serves the connections at a listener, a limited number at a time, until the server stops; then
/// waits for the open ones.
async fn accept<F, W>(
    mut listener: SteadyListener,
    mut stopped: watch::Receiver<bool>,
    engine: Arc<Engine>,
    serve: F,
) where
    F: Fn(Box<dyn Stream>) -> W,
    W: Future<Output = ()> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(engine.config.limits.connections));
    let mut connections = JoinSet::new();
    loop {
        // When all slots are taken, further connections wait in the operating system's queue.
        let next = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (slot, listener.accept().await)
        };
        tokio::select! {
            (slot, stream) = next => {
                let connection = serve(stream);
                connections.spawn(async move {
                    let _slot = slot;
                    connection.await;
                });
            }
            _ = stopped.changed() => break,
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}
