// SPDX-License-Identifier: GPL-3.0-or-later
//! The program: reads options and configuration, opens the listeners, and serves until a signal
//! comes.

use crate::arf;
use crate::client;
use crate::config::{Config, Listen, PATH};
use crate::engine::{Engine, Threads};
use crate::http;
use crate::listen::Protocol;
use crate::log::{Level, Log};
use crate::memory::{Memory, of_judging};
use crate::milter;
use crate::opensmtpd;
use crate::options::{Options, Teaching};
use crate::privileges::{become_user, find_user, is_root, raise_file_limit};
use crate::spamc;
use crate::status::NeverAsked;
use crate::users::{size, why_none};
use dbacl::{
    FilterOpenError, FilterPlace, MailFilter, MailFilterError, MailFilterOptions, MailRole,
};
use dbacl_cli::listen::{Address, Bound, Connection, Door, Signals};
use dbacl_cli::status::{DATA, IO, LATER, UNAVAILABLE, USAGE};
use dbacl_cli::terminal::Shown;
use dbacl_cli::{arguments, output, settings};
use dbacl_files::reading::read_beginning;
use std::ffi::OsStr;
use std::fmt::{Display, Write as _};
use std::io::{BufRead as _, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

const NAME: &str = "dbacl-server";

/// Runs the program.
pub fn main() -> ExitCode {
    arguments::run(NAME, begin)
}

/// The settings of the file, with those of the command line.
fn configure(options: &Options) -> Result<Config, String> {
    let mut config: Config = settings::read(options.config.as_deref(), Some(PATH.into()))?;
    config.default = options.default.clone().or(config.default);
    config.models = options.models.clone().or(config.models);
    config.reasons |= options.reasons;
    if options.listen.all().next().is_some() {
        let Listen { names, mode, status_mode, .. } = config.listen;
        config.listen = Listen { names, mode, status_mode, ..options.listen.clone() };
    }
    config.checked()
}

fn begin(options: Options) -> Result<(), (u8, String)> {
    let config = configure(&options).map_err(|text| (USAGE, text))?;
    let find = |user: &String| find_user(user, config.group.as_deref());
    let identity = config.user.as_ref().map(find).transpose().map_err(|text| (USAGE, text))?;
    if options.check || options.list || options.remove.is_some() {
        if let Some(identity) = identity.filter(|_| is_root()) {
            become_user(&identity).map_err(unavailable)?;
        }
        return match options.remove {
            Some(name) => remove(&config, &name),
            None if options.list => list(&config),
            None => check(&config),
        };
    }
    if options.health {
        return health(&config);
    }
    if let Some(teaching) = options.teach {
        return teach(&config, &options.user, teaching);
    }
    if options.judge {
        return classify(&config, &options.user);
    }
    if options.opensmtpd {
        let log = Log::new(config.log).map_err(unavailable)?;
        let engine = Engine::new(config, log.clone());
        let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
        let ended = opensmtpd::converse(&engine, &mut input, &mut output);
        log.finish();
        return ended.map_err(unavailable);
    }
    raise_file_limit();
    // Ports may need the rights of root. Sockets are made without them: their folder is the
    // server's, and whoever has taken over the server could put links there.
    let mut listeners = bind(&config, false).map_err(unavailable)?;
    if let Some(identity) = &identity {
        become_user(identity).map_err(unavailable)?;
    }
    listeners.extend(bind(&config, true).map_err(unavailable)?);
    // The log is the first to start a thread; this must come before it.
    dbacl::alloc_hints::give_back_at_once();
    let log = Log::new(config.log).map_err(unavailable)?;
    if identity.is_none() && is_root() {
        let advice = "name a user in the configuration who owns the filters";
        log.event(Level::Warn, "runs-as-root", &[("advice", &advice)]);
    }
    for (bound, protocol) in &listeners {
        let place = &bound.address;
        log.event(Level::Info, "listens", &[("wire", &protocol.name()), ("address", place)]);
        if !place.is_local() {
            let advice = "other machines can reach this address: a firewall should tell which may";
            log.event(Level::Warn, "listens", &[("address", place), ("advice", &advice)]);
        }
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(processors.min(4))
        .max_blocking_threads(Threads::new().all())
        .thread_keep_alive(Duration::from_secs(60))
        .enable_all()
        .build()
        .map_err(unavailable)?;
    let grace = Duration::from_secs(config.limits.stop_seconds);
    let engine = Engine::new(config, log.clone());
    let served = runtime.block_on(serve(engine, listeners, move || configure(&options)));
    // Learning that has begun is completed, unless requests were cut off. A verdict that takes too
    // long does not delay the end.
    runtime.shutdown_timeout(grace);
    log.finish();
    served.map_err(unavailable)
}

/// A failure for which something that is needed cannot be used.
fn unavailable(why: impl Display) -> (u8, String) {
    (UNAVAILABLE, why.to_string())
}

/// Says where the server would listen and which filters it would use, or what is wrong with them.
fn check(config: &Config) -> Result<(), (u8, String)> {
    let mut lines = Vec::new();
    for (address, protocol) in config.listen.all() {
        lines.push(format!("{} at {address}", protocol.name()));
    }
    if let Some(folder) = &config.default {
        let filter = opened("the default filter", folder).map_err(unavailable)?;
        let filter = filter.ok_or_else(|| {
            unavailable(format!(
                "there is no default filter in {}: mail of users without a filter gets \"X-DBACL: \
                 error\" until dbacl --mail-learn has made one",
                folder.display()
            ))
        })?;
        lines.push(format!(
            "the default filter in {}: {} after {} messages",
            folder.display(),
            filter.labels().join(", "),
            filter.documents()
        ));
    }
    let mut own = 0;
    for (name, folder, place) in config.users().all() {
        match why_none(place) {
            None => {
                opened(&name, &folder).map_err(unavailable)?;
                own += 1;
            }
            Some(why) => lines.push(format!("{name} in {}: {why}", folder.display())),
        }
    }
    lines.push(format!("filters of users: {own}"));
    // The server that runs knows for whom verdicts are asked.
    let status = |address| client::status(address, config.status_token.as_deref());
    let never = config.listen.status.iter().find_map(status);
    let never = never.and_then(|text| NeverAsked::in_json(&text)).unwrap_or_default();
    lines.extend(never.iter().map(ToString::to_string));
    arguments::print(&lines.iter().fold("ok\n".to_owned(), |text, line| text + line + "\n"))
}

/// The filter in a folder; `None` if there is none.
fn opened(name: &str, folder: &Path) -> Result<Option<MailFilter>, String> {
    match MailFilter::open(folder, &MailFilterOptions::default()) {
        Ok(filter) => {
            filter.warnings().iter().for_each(|warning| arguments::say(NAME, &warning.to_string()));
            Ok(Some(filter))
        }
        Err(MailFilterError::Open(FilterOpenError::NoFilter { source, .. }))
            if source.kind() == ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// Lists the filters of users.
fn list(config: &Config) -> Result<(), (u8, String)> {
    let mut text = String::new();
    for (name, folder, place) in config.users().all() {
        let learned = match place {
            FilterPlace::ForeignLink => "foreign link".into(),
            FilterPlace::Unfinished => "unfinished".into(),
            _ => MailFilter::open(&folder, &MailFilterOptions::default())
                .map_or_else(|_| "damaged".into(), |own| own.documents().to_string()),
        };
        let _ = writeln!(text, "{name}\t{learned}\t{}\t{}", size(&folder), folder.display());
    }
    arguments::print(&text)
}

/// Removes the filter of a user, also one that is not finished.
fn remove(config: &Config, name: &str) -> Result<(), (u8, String)> {
    let folder = config.users().folder(name);
    let none = || unavailable(format!("there is no filter of {name}"));
    let folder = folder.ok_or_else(none)?;
    match FilterPlace::of(&folder) {
        FilterPlace::Empty => return Err(none()),
        // What a link leads to may be another user's filter.
        place @ FilterPlace::ForeignLink => {
            let why = why_none(place).unwrap_or_default();
            return Err(unavailable(format!("{}: {why}", folder.display())));
        }
        FilterPlace::Unfinished | FilterPlace::Filter => {}
    }
    std::fs::remove_dir_all(&folder)
        .map_err(|error| unavailable(format!("{}: {error}", folder.display())))
}

/// Asks whether the server that runs with this configuration answers at all its addresses.
fn health(config: &Config) -> Result<(), (u8, String)> {
    config.listen.all().try_for_each(|(address, protocol)| {
        client::is_alive(address, protocol == Protocol::Spamc).map_err(unavailable)
    })
}

/// Tells the server that runs with this configuration what the mail on standard input is.
fn teach(config: &Config, user: &str, teaching: Teaching) -> Result<(), (u8, String)> {
    let mut addresses = config.listen.spamc.iter();
    let local = addresses.clone().find(|address| address.is_socket());
    let address = local.or_else(|| addresses.next());
    let address =
        address.ok_or((USAGE, "the configuration has no address for spamc".to_owned()))?;
    let mut mail = Vec::new();
    let most = config.limits.mail as u64 + 1;
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut mail)
        .map_err(|error| (LATER, error.to_string()))?;
    let (lesson, mail) = match teaching {
        Teaching::Ham => (Some(MailRole::Ham), mail),
        Teaching::Spam => (Some(MailRole::Spam), mail),
        Teaching::Forget => (None, mail),
        Teaching::Report => {
            let (role, mail) = arf::read(&mail).map_err(|text| (DATA, text.to_owned()))?;
            (Some(role), mail)
        }
    };
    client::tell(address, user, lesson, &mail)
}

/// Classifies the messages in files: a line `VERDICT<tab>FILE` for each line of standard input. A
/// message that cannot be classified is reported on standard error, and the others are classified.
fn classify(config: &Config, user: &str) -> Result<(), (u8, String)> {
    let complain = |text: &str| arguments::say(NAME, text);
    let folder = config.users().choose(&[user.to_owned()]);
    let folder = folder
        .ok_or((USAGE, "there is neither a default filter nor one of the user"))
        .map_err(|(status, text)| (status, text.to_owned()))?;
    let filter = MailFilter::open(&folder, &MailFilterOptions::default()).map_err(unavailable)?;
    filter.warnings().iter().for_each(|warning| complain(&warning.to_string()));
    let mut output = Shown::new(std::io::stdout().lock());
    let memory = Arc::new(Memory::default());
    let mut unjudged = 0_usize;
    for name in std::io::stdin().lock().split(b'\n') {
        let name = name.map_err(|error| (LATER, error.to_string()))?;
        if name.is_empty() {
            continue;
        }
        let path = Path::new(OsStr::from_bytes(&name));
        // Of a large mail only the beginning is classified.
        let mail = read_beginning(path, config.limits.mail as u64);
        let mail = mail.map_err(|error| error.to_string());
        let verdict = mail.and_then(|mail| {
            let promise = memory.promise(of_judging(mail.len()), Duration::ZERO);
            let _promise = promise.ok_or("no memory to classify the message")?;
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
        return Err((LATER, format!("messages without a verdict: {unjudged}")));
    }
    Ok(())
}

/// Listens at all sockets, or at all ports.
fn bind(config: &Config, sockets: bool) -> Result<Vec<(Bound, Protocol)>, String> {
    let of_kind = config.listen.all().filter(|(address, _)| address.is_socket() == sockets);
    let listen = |(address, protocol): (&Address, Protocol)| {
        let bound = Bound::new(address, config.listen.mode_of(protocol)).map_err(|error| {
            let user =
                config.user.as_deref().filter(|_| error.kind() == ErrorKind::PermissionDenied);
            let advice = user.map(|user| format!("; its folder must belong to the user {user}"));
            format!("cannot listen at {address}: {error}{}", advice.unwrap_or_default())
        })?;
        Ok((bound, protocol))
    };
    of_kind.map(listen).collect()
}

/// Serves until TERM or INT. At HUP the configuration is read again.
async fn serve(
    engine: Engine,
    listeners: Vec<(Bound, Protocol)>,
    configure: impl Fn() -> Result<Config, String>,
) -> std::io::Result<()> {
    let (reload, engines) = watch::channel(Arc::new(engine));
    let mut engine = Arc::clone(&engines.borrow());
    let mut signals = Signals::new()?;
    let (stop, stopped) = watch::channel(false);
    let mut serving = JoinSet::new();
    let mut tidying = JoinSet::new();
    tidying.spawn(Arc::clone(&engine).tidy());
    for (bound, protocol) in listeners {
        let limits = engine.config.limits.of_address();
        let door = Door::open(bound, limits, &engine.measures.refused)?;
        let (engines, stopped) = (engines.clone(), stopped.clone());
        if protocol == Protocol::Milter {
            serving.spawn(milter::serve(engines, milter::Listener(door), stopped));
            continue;
        }
        let role = move |connection| speak(Arc::clone(&engines.borrow()), connection, protocol);
        serving.spawn(door.serve(stopped, role));
    }
    while signals.next().await {
        if let Some(changed) = reloaded(&engine, configure()) {
            engine = Arc::new(changed);
            tidying.abort_all();
            tidying.spawn(Arc::clone(&engine).tidy());
            reload.send_replace(Arc::clone(&engine));
            engine.log.event(Level::Info, "reloads", &[]);
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

/// The server with the settings that were read again; `None` if they are wrong, and those before
/// stay.
fn reloaded(engine: &Engine, config: Result<Config, String>) -> Option<Engine> {
    let changed = config.and_then(|config| engine.with(config).map_err(|error| error.to_string()));
    match changed {
        Ok(changed) => {
            if changed.config.listen != engine.config.listen {
                let advice = "addresses change when the server starts again";
                changed.log.event(Level::Warn, "reloads", &[("advice", &advice)]);
            }
            Some(changed)
        }
        Err(error) => {
            engine.log.event(Level::Error, "reloads", &[("error", &error)]);
            None
        }
    }
}

/// Serves a connection. Exim speaks rspamd's older protocol, which is spamc's, at the newer one's
/// address.
async fn speak(engine: Arc<Engine>, mut stream: Connection, role: Protocol) {
    let peer = stream.peer;
    let is_older = role == Protocol::Rspamd
        && stream.beginning().await.windows(7).any(|bytes| bytes == b" RSPAMC");
    if role == Protocol::Spamc || is_older {
        spamc::serve(engine, stream, peer).await;
    } else {
        http::serve(engine, stream, role, peer).await;
    }
}
