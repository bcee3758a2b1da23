// SPDX-License-Identifier: GPL-3.0-or-later
//! The configuration: one file in TOML, every field with a default that works.

use crate::headers::Dialect;
use crate::listen::Protocol;
use crate::log::Level;
use crate::users::{Naming, Users, aliases_in, tells_users_apart};
use dbacl_cli::listen::{self, Address};
use nix::unistd::User;
use serde::{Deserialize, Deserializer};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where the configuration is looked for.
pub(crate) const PATH: &str = "/etc/dbacl/server.toml";

/// All settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Folders of the users' filters, with `{user}`, `{local}` or `{domain}`.
    pub models: Option<PathBuf>,
    /// The filter's folder for users who have none.
    pub default: Option<PathBuf>,
    /// The character that begins the part of a local name that is left out, as `+` in `user+tag`.
    pub delimiter: String,
    /// What makes two names one person.
    pub users: Naming,
    /// A file that says which users have other names.
    pub aliases: Option<PathBuf>,
    /// What stands in this file.
    #[serde(skip)]
    pub known_aliases: Arc<HashMap<String, String>>,
    /// The user to become once the sockets are open.
    pub user: Option<String>,
    /// The group to become; that of the user otherwise.
    pub group: Option<String>,
    /// How verdicts are written into headers.
    pub headers: Vec<Dialect>,
    /// Whether a header line says which words decided.
    pub reasons: bool,
    /// Where learning is allowed.
    pub learn: Learn,
    /// Whether a lesson for a user without a filter changes the default filter, rather than begin
    /// one for the user.
    pub learn_default: bool,
    /// Users of the system, by name or number, who may teach everybody's filters.
    pub teachers: Vec<String>,
    /// The numbers of these users.
    #[serde(skip)]
    pub teacher_numbers: Vec<u32>,
    /// The password of the status page, which it needs at a port.
    pub status_token: Option<String>,
    /// What becomes of a message without a verdict.
    pub on_error: OnError,
    /// How much is logged.
    pub log: Level,
    /// Where to listen.
    pub listen: Listen,
    /// What mail is refused or put aside.
    pub milter: MilterActions,
    /// Limits of size, time and number.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            models: Some("/var/lib/dbacl/{user}".into()),
            default: Some("/var/lib/dbacl/default".into()),
            delimiter: "+".into(),
            users: Naming::Address,
            aliases: None,
            known_aliases: Arc::default(),
            user: None,
            group: None,
            headers: vec![Dialect::Dbacl],
            reasons: false,
            learn: Learn::Sockets,
            learn_default: false,
            teachers: Vec::new(),
            teacher_numbers: Vec::new(),
            status_token: None,
            on_error: OnError::Accept,
            log: Level::Info,
            listen: Listen::default(),
            milter: MilterActions::default(),
            limits: Limits::default(),
        }
    }
}

/// Over which connections mail may be learned and forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learn {
    /// Over UNIX sockets, whose mode says who may connect.
    Sockets,
    /// Over ports, too.
    Everywhere,
    /// Over no connection.
    Nowhere,
}

/// What becomes of a message for which no verdict can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// It goes on, with `X-DBACL: error`.
    Accept,
    /// The sender is asked to try again later.
    Tempfail,
}

/// Addresses by protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Listen {
    /// Serve spamc at this port or socket, in place of the addresses of the configuration
    #[arg(long, value_name = "ADDRESS")]
    #[serde(deserialize_with = "one_or_more")]
    pub spamc: Vec<Address>,
    /// Serve clients of rspamd there
    #[arg(long, value_name = "ADDRESS")]
    #[serde(deserialize_with = "one_or_more")]
    pub rspamd: Vec<Address>,
    /// Serve Postfix and sendmail there
    #[arg(long, value_name = "ADDRESS")]
    #[serde(deserialize_with = "one_or_more")]
    pub milter: Vec<Address>,
    /// Report counts to Prometheus there
    #[arg(long, value_name = "ADDRESS")]
    #[serde(deserialize_with = "one_or_more")]
    pub metrics: Vec<Address>,
    /// Show the status page there
    #[arg(long, value_name = "ADDRESS")]
    #[serde(deserialize_with = "one_or_more")]
    pub status: Vec<Address>,
    /// Names besides `localhost` by which browsers and Prometheus may ask for pages.
    #[arg(skip)]
    pub names: Vec<String>,
    /// The mode of the other UNIX sockets, as an octal number. The kernel says which user connects.
    #[arg(skip)]
    #[serde(deserialize_with = "octal")]
    pub mode: Option<u32>,
    /// The mode of the status page's sockets.
    #[arg(skip)]
    #[serde(deserialize_with = "octal")]
    pub status_mode: Option<u32>,
}

impl Listen {
    /// The mode of the sockets where this is spoken.
    pub fn mode_of(&self, protocol: Protocol) -> u32 {
        match protocol {
            Protocol::Status => self.status_mode.unwrap_or(0o600),
            _ => self.mode.unwrap_or(0o666),
        }
    }

    /// Where to listen, and what is spoken there.
    pub fn all(&self) -> impl Iterator<Item = (&Address, Protocol)> {
        let lists = [
            (&self.spamc, Protocol::Spamc),
            (&self.rspamd, Protocol::Rspamd),
            (&self.milter, Protocol::Milter),
            (&self.metrics, Protocol::Metrics),
            (&self.status, Protocol::Status),
        ];
        lists.into_iter().flat_map(|(list, protocol)| list.iter().map(move |it| (it, protocol)))
    }
}

/// What a milter does besides adding headers: nothing by default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MilterActions {
    /// Spam of at least this probability, in percent, is refused.
    pub reject_above: Option<f64>,
    /// Spam of at least this probability, in percent, is put on hold.
    pub quarantine_above: Option<f64>,
}

/// Limits of size, time and number.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Bytes of one message. A larger one is passed on without a verdict where the protocol returns
    /// it whole, and classified by its beginning elsewhere.
    pub mail: usize,
    /// Bytes of all messages at a time.
    pub memory: usize,
    /// Connections at a time, for each address.
    pub connections: usize,
    /// The part of the memory and of the connections that one peer may take, in percent.
    pub peer_percent: usize,
    /// Seconds for a client to begin its first command.
    pub first_seconds: u64,
    /// Seconds for a request to arrive, and for its answer to be taken.
    pub request_seconds: u64,
    /// Seconds for a verdict.
    pub verdict_seconds: u64,
    /// Seconds that a milter's connection may be silent.
    pub idle_seconds: u64,
    /// Seconds that requests have to end once the server is told to stop.
    pub stop_seconds: u64,
    /// Filters that are kept open.
    pub open_models: usize,
    /// Filters of users, beyond which lessons begin no more.
    pub user_filters: usize,
    /// Bytes of a filter, beyond which it learns no more.
    pub filter_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            mail: 32 << 20,
            memory: 256 << 20,
            connections: 500,
            peer_percent: 50,
            first_seconds: 5,
            request_seconds: 60,
            verdict_seconds: 10,
            idle_seconds: 600,
            stop_seconds: 15,
            open_models: 200,
            user_filters: 10_000,
            filter_bytes: 1 << 30,
        }
    }
}

impl Limits {
    /// The time for a request to arrive, and for its answer to be taken.
    pub const fn request(&self) -> Duration {
        Duration::from_secs(self.request_seconds)
    }

    /// The limits of each address.
    pub(crate) const fn of_address(&self) -> listen::Limits {
        listen::Limits {
            connections: self.connections,
            peer_percent: self.peer_percent,
            first: Duration::from_secs(self.first_seconds),
            request: self.request(),
        }
    }
}

impl Config {
    /// Fills in the default addresses, and checks each setting and those that depend on each other.
    pub(crate) fn checked(mut self) -> Result<Self, String> {
        if self.listen.all().next().is_none() {
            self.listen.spamc = vec![Address::loopback(783)];
            self.listen.milter = vec![Address::loopback(8893)];
        }
        let number = |name: &String| {
            let known = || User::from_name(name).ok().flatten().map(|user| user.uid.as_raw());
            let number = name.parse().ok().or_else(known);
            number.ok_or_else(|| format!("teachers: there is no user {name}"))
        };
        self.teacher_numbers = self.teachers.iter().map(number).collect::<Result<_, _>>()?;
        let (limits, milter) = (&self.limits, &self.milter);
        let is_part = (1..=100).contains(&limits.peer_percent);
        let has_token = self.status_token.as_ref().is_some_and(|token| !token.is_empty());
        let has_port = self.listen.status.iter().any(|address| !address.is_socket());
        let has_filters = self.models.is_some() || self.default.is_some();
        let is_odd = |above: Option<f64>| above.is_some_and(|it| !(50.0..=100.0).contains(&it));
        let (refusal, quarantine) = (is_odd(milter.reject_above), is_odd(milter.quarantine_above));
        let faults = [
            (limits.mail == 0, "limits.mail must be larger than 0"),
            (limits.memory == 0, "limits.memory must be larger than 0"),
            (limits.connections == 0, "limits.connections must be larger than 0"),
            (limits.open_models == 0, "limits.open-models must be larger than 0"),
            (limits.mail > limits.memory, "limits.mail must not be larger than limits.memory"),
            (!is_part, "limits.peer-percent is a number from 1 to 100"),
            (has_port && !has_token, "a status page at a port needs status-token"),
            (!has_filters, "neither models nor default is given"),
            (refusal, "milter.reject-above is a probability in percent, from 50 to 100"),
            (quarantine, "milter.quarantine-above is a probability in percent, from 50 to 100"),
        ];
        if let Some((_, fault)) = faults.into_iter().find(|(is_fault, _)| *is_fault) {
            return Err(fault.into());
        }
        if self.delimiter.chars().count() > 1 {
            return Err(format!("delimiter must be one character or none: {}", self.delimiter));
        }
        if let Some(path) = &self.aliases {
            let text = dbacl_files::reading::read_small_text(path);
            let text = text.map_err(|error| format!("aliases: {}: {error}", path.display()))?;
            self.known_aliases = Arc::new(aliases_in(&text));
        }
        for path in self.models.iter().chain(&self.default) {
            if !path.is_absolute() {
                return Err(format!("{} does not begin with /", path.display()));
            }
        }
        if let Some(models) = self.models.as_deref().filter(|models| !tells_users_apart(models)) {
            return Err(format!("models: {} lacks {{user}} or {{local}}", models.display()));
        }
        Ok(self)
    }

    /// The rule that gives the folder of a user's filter.
    pub(crate) fn users(&self) -> Users {
        Users {
            pattern: self.models.as_ref().map(|path| path.to_string_lossy().into_owned()),
            default: self.default.clone(),
            delimiter: self.delimiter.chars().next(),
            naming: self.users,
            aliases: Arc::clone(&self.known_aliases),
        }
    }
}

/// One address or a list of them.
fn one_or_more<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<Address>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected an address or a list of addresses")]
    enum Texts {
        One(String),
        More(Vec<String>),
    }
    let texts = match Texts::deserialize(value)? {
        Texts::One(text) => vec![text],
        Texts::More(texts) => texts,
    };
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

fn octal<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u32>, D::Error> {
    let text = String::deserialize(value)?;
    let mode = u32::from_str_radix(&text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.map(Some)
        .ok_or_else(|| serde::de::Error::custom(format!("{text} is not a mode such as 660")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_cli::settings;

    fn read(text: &str) -> Result<Config, String> {
        settings::parse::<Config>(text, "server.toml".as_ref()).and_then(Config::checked)
    }

    #[test]
    fn nothing_is_needed() {
        let config = read("").expect("the defaults");
        assert_eq!(config.listen.spamc, [Address::loopback(783)]);
        assert_eq!(config.learn, Learn::Sockets);
        assert!(config.listen.rspamd.is_empty());
    }

    #[test]
    fn fields_have_the_names_of_the_manual() {
        let config = read(
            "models = '/m/{user}'\nheaders = ['spamassassin', 'rspamd']\nreasons = true\n\
             learn = 'everywhere'\n\
             [listen]\nspamc = ['/run/a', '127.0.0.1:1783']\nmode = '660'\n\
             [limits]\nmail = 1000\nopen-models = 3\n[milter]\nreject-above = 99.9\n",
        );
        let config = config.expect("a configuration");
        assert_eq!(config.headers, [Dialect::Spamassassin, Dialect::Rspamd]);
        assert!(config.reasons && !Config::default().reasons);
        assert_eq!(config.listen.mode, Some(0o660));
        assert_eq!(config.listen.spamc.len(), 2);
        assert!(config.listen.milter.is_empty());
        assert_eq!((config.limits.mail, config.limits.open_models), (1000, 3));
    }

    #[test]
    fn mistakes_are_told_in_one_line() {
        for (text, expected) in [
            ("modles = '/m'", "server.toml: line 1: unknown field `modles`"),
            ("\nlearn = 'never'", "server.toml: line 2: unknown variant `never`"),
            ("[listen]\nspamc = 'host:port'", "host:port is neither"),
            ("[listen]\nspamc = 783", "line 2: spamc: expected an address or a list of addresses"),
            ("[limits]\nmail = '1 MB'", "string \"1 MB\", expected a whole number"),
            ("[listen]\nmode = '888'", "888 is not a mode"),
            ("models = 'm/{user}'", "m/{user} does not begin with /"),
            ("models = '/m'", "models: /m lacks {user}"),
            ("[limits]\nconnections = 0", "limits.connections must be larger than 0"),
            ("[limits]\nmemory = 1", "limits.mail must not be larger"),
            ("[milter]\nreject-above = 5", "milter.reject-above is a probability"),
            ("teachers = ['no-such-user']", "teachers: there is no user no-such-user"),
            ("[limits]\npeer-percent = 0", "limits.peer-percent is a number"),
            ("[listen]\nstatus = '127.0.0.1:8080'", "a status page at a port needs status-token"),
            ("on-error = 'reject'", "server.toml: line 1: unknown variant `reject`"),
            ("delimiter = '+-'", "delimiter must be one character"),
            ("users = 'name'", "unknown variant `name`"),
            ("aliases = '/no/such/file'", "aliases: /no/such/file: No such file"),
            ("models", "server.toml: line 1: "),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.contains(expected) && said.lines().count() == 1, "{text}: {said}");
        }
    }
}
