// SPDX-License-Identifier: GPL-3.0-or-later
//! The configuration: one small file in TOML, and options in its place.

use crate::connection::Fault;
use crate::session::Credentials;
use crate::transport::Place;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use dbacl_cli::{folders, settings};
use dbacl_files::access::open_to_all;
use dbacl_files::reading::read_small_text;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// All settings, as the file and the options name them.
#[derive(Debug, Clone, Default, Deserialize, Serialize, clap::Args)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Name of the IMAP server
    #[arg(long, value_name = "HOST", default_value = "", hide_default_value = true)]
    pub server: String,
    /// Port of the server; 993, or 143 with --plain
    #[arg(long, value_name = "NUMBER")]
    pub port: Option<u16>,
    /// Name of the user at the server
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub user: String,
    /// Command of the shell that prints the password
    #[arg(long, value_name = "COMMAND")]
    pub password_command: Option<String>,
    /// Command of the shell that prints an access token, in place of a password
    #[arg(long, value_name = "COMMAND")]
    pub token_command: Option<String>,
    /// File whose first line is the password, in place of a command
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Folder of the filter, as dbacl --mail-learn has made it
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true)]
    // A parser of paths takes no empty one.
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub filter: PathBuf,
    /// Watch this folder of good mail, too; * matches any letters; may be repeated
    #[arg(long = "folder", value_name = "NAME")]
    pub folders: Vec<String>,
    /// Move new mail in the inbox that is confidently of this folder there; * matches any
    /// letters; may be repeated
    #[arg(long, value_name = "NAME")]
    pub sort: Vec<String>,
    /// Move new mail in the inbox that the filter is unsure of to this folder
    #[arg(long, value_name = "NAME")]
    pub unsure: Option<String>,
    /// Name of the folder for spam, if the server does not say which it is
    #[arg(long, value_name = "NAME")]
    pub junk: Option<String>,
    /// Name of the folder for deleted messages
    #[arg(long, value_name = "NAME")]
    pub trash: Option<String>,
    /// Move new mail in the inbox that is confidently spam to the folder for spam
    #[arg(long)]
    pub move_spam: bool,
    /// Add a message to the inbox each week that says what was done, and what the filter doubts
    #[arg(long)]
    pub letter: bool,
    /// Whether the first filter also learns good mail that nobody has put into a folder for it.
    #[arg(skip)]
    pub guesses: Option<bool>,
    /// Whether the flags `$Junk` and `$NotJunk` that a client sets teach the filter.
    #[arg(skip)]
    pub flags: Option<bool>,
    /// Seconds between looks at the folders when the server announces no news.
    #[arg(skip)]
    pub poll_seconds: Option<u64>,
    /// Connect without TLS; only to a server on this machine
    #[arg(long)]
    pub plain: bool,
    /// Trust the certificates in this file in place of the system's
    #[arg(long, value_name = "FILE")]
    pub certificates: Option<PathBuf>,
    /// Keep what is known of the account in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// The file of these settings, if they were read from one.
    #[arg(skip)]
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

impl Config {
    /// Reads a file. Without `path`, that in the user's folder if there is one, else nothing is
    /// set.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self, String> {
        let chosen = path.map(Path::to_path_buf).or_else(usual_path);
        // Whoever can write the file could have any command run.
        if let Some(text) = chosen.as_deref().and_then(open_to_all) {
            return Err(format!("{text}, and its commands are run: chmod o-w helps"));
        }
        let read: Self = settings::read(path, usual_path())?;
        Ok(Self { file: chosen, ..read })
    }

    /// These settings with those of the command line in their place.
    pub(crate) fn with_options(mut self, options: Self) -> Self {
        let has_secret = options.secrets().next().is_some();
        let text = |own: String, other: String| if other.is_empty() { own } else { other };
        self.server = text(self.server, options.server);
        self.port = options.port.or(self.port);
        self.user = text(self.user, options.user);
        if has_secret {
            self.password_command = options.password_command;
            self.token_command = options.token_command;
            self.password_file = options.password_file;
        }
        if !options.filter.as_os_str().is_empty() {
            self.filter = options.filter;
        }
        self.folders.extend(options.folders);
        self.sort.extend(options.sort);
        self.unsure = options.unsure.or(self.unsure);
        self.junk = options.junk.or(self.junk);
        self.trash = options.trash.or(self.trash);
        self.move_spam |= options.move_spam;
        self.letter |= options.letter;
        self.guesses = options.guesses.or(self.guesses);
        self.plain |= options.plain;
        self.certificates = options.certificates.or(self.certificates);
        self.state = options.state.or(self.state);
        self
    }

    /// Checks that no setting is missing or invalid, and fills in paths that were not given.
    pub(crate) fn checked(mut self) -> Result<Self, String> {
        let senseless = |text: &str| Err(text.to_owned());
        let file = self.file.clone().unwrap_or_else(|| "imap.toml".into());
        let missing = |name: &str, setting: &str| {
            let option = setting.split(' ').next().unwrap_or_default();
            let (file, hint) = (file.display(), "or let dbacl-imap setup ask");
            Err(format!("no {name}: set {setting} in {file}, use --{option}, {hint}"))
        };
        if self.server.is_empty() {
            return missing("server", "server = \"imap.example.org\"");
        }
        if self.user.is_empty() {
            return missing("user", "user = \"alice\"");
        }
        if self.user.contains(char::is_control) {
            return senseless("the user's name holds a control character");
        }
        match self.secrets().count() {
            0 => return missing("password", "password-command = \"COMMAND\""),
            1 => {}
            _ => {
                return senseless(
                    "password-command, password-file and token-command exclude each other",
                );
            }
        }
        if self.filter.as_os_str().is_empty() {
            return missing("filter", "filter = \"~/.dbacl-mail\"");
        }
        if self.poll_seconds == Some(0) {
            return senseless("poll-seconds must be larger than 0");
        }
        self.filter = at_home(&self.filter);
        self.password_file = self.password_file.as_deref().map(at_home);
        self.certificates = self.certificates.as_deref().map(at_home);
        self.state = match self.state {
            Some(path) => Some(at_home(&path)),
            None => state_folder().map(|folder| folder.join(self.account().replace('/', "_"))),
        };
        if self.state.is_none() {
            return senseless("there is no HOME to keep the state in: state = \"FILE\"");
        }
        Ok(self)
    }

    /// The settings that say where the password or the token comes from. Settings that have been
    /// checked have exactly one.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &OsStr> {
        let commands = [&self.password_command, &self.token_command].into_iter().flatten();
        let file = self.password_file.iter().map(|path| path.as_os_str());
        commands.map(OsStr::new).chain(file)
    }

    /// The account as `USER@SERVER:PORT`.
    pub(crate) fn account(&self) -> String {
        format!("{}@{}:{}", self.user, self.server, self.port())
    }

    /// The server's port.
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(if self.plain { 143 } else { 993 })
    }

    /// The address of the server and how to connect to it.
    pub(crate) fn place(&self) -> Result<Place, String> {
        if self.plain {
            return Ok(Place::plain(self.server.clone(), self.port()));
        }
        Place::tls(self.server.clone(), self.port(), self.certificates.as_deref())
    }

    /// The time between looks at the folders. `is_told_news`: whether the server announces new
    /// messages (IDLE).
    pub(crate) fn poll(&self, is_told_news: bool) -> Duration {
        let usual = if is_told_news { 300 } else { 60 };
        Duration::from_secs(self.poll_seconds.unwrap_or(usual))
    }

    /// The password or the token, from its file or from the command that prints it.
    pub(crate) fn credentials(&self) -> Result<Credentials, Fault> {
        if let Some(path) = &self.password_file {
            let text = read_small_text(path)
                .map_err(|error| Fault::Local(format!("{}: {error}", path.display())))?;
            return first_line(&text, "password-file has").map(Credentials::Password);
        }
        if let Some(command) = &self.token_command {
            let text = printed(command, "token-command")?;
            return first_line(&text, "token-command prints").map(Credentials::Token);
        }
        let command = self.password_command.as_deref().unwrap_or_default();
        let text = printed(command, "password-command")?;
        first_line(&text, "password-command prints").map(Credentials::Password)
    }
}

/// What a command of the shell prints.
fn printed(command: &str, setting: &str) -> Result<String, Fault> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = shell.output().map_err(|error| {
        Fault::Local(match error.kind() {
            // As in a container with nothing but the programs.
            ErrorKind::NotFound => {
                format!("{setting}: there is no sh to run it; password-file needs none")
            }
            _ => format!("{setting}: {error}"),
        })
    })?;
    if !output.status.success() {
        return Err(Fault::Local(format!("{setting} ends with {}", output.status)));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Fault::Local(format!("{setting} prints something that is not text")))
}

/// The password or the token in the first line of a text.
fn first_line(text: &str, has: &str) -> Result<String, Fault> {
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() || line.contains(char::is_control) {
        return Err(Fault::Local(format!("{has} no password")));
    }
    Ok(line.to_owned())
}

/// The file that is read where none is named.
pub(crate) fn usual_path() -> Option<PathBuf> {
    Some(folders::of_user("XDG_CONFIG_HOME", ".config")?.join("dbacl/imap.toml"))
}

fn state_folder() -> Option<PathBuf> {
    Some(folders::of_user("XDG_STATE_HOME", ".local/state")?.join("dbacl/imap"))
}

/// A path in which `~/` stands for the user's folder.
fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), folders::home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        settings::parse::<Config>(text, Path::new("imap.toml")).and_then(Config::checked)
    }

    const LEAST: &str = "server = 'imap.example.org'\nuser = 'alice'\npassword-command = 'echo \
                         secret'\nfilter = '/f'\n";

    #[test]
    fn little_is_needed() {
        let config = read(&format!("{LEAST}state = '/s'")).expect("a configuration");
        assert_eq!((config.port(), config.move_spam), (993, false));
        assert_eq!(config.account(), "alice@imap.example.org:993");
        assert!(
            config.credentials().expect("a password") == Credentials::Password("secret".into())
        );
        assert_eq!(config.poll(true), Duration::from_secs(300));
    }

    #[test]
    fn mistakes_are_told_in_one_line() {
        for (text, expected) in [
            ("servr = 'a'", "imap.toml: line 1: unknown field `servr`"),
            ("", "no server: set server = \"imap.example.org\" in imap.toml, use --server, or"),
            ("server = 'a'", "no user: set user"),
            ("server = 'a'\nuser = 'b'", "password-command"),
            ("server = 'a'\nuser = 'b'\npassword-command = 'c'", "no filter: set filter"),
            ("server = 'a'\nuser = \"b\\n\"", "control character"),
            (&format!("{LEAST}token-command = 'd'"), "exclude each other"),
            (&format!("{LEAST}password-file = 'd'"), "exclude each other"),
            (&format!("{LEAST}poll-seconds = 0"), "poll-seconds must be larger than 0"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.contains(expected) && said.lines().count() == 1, "{text}: {said}");
        }
    }

    #[test]
    fn a_password_is_the_first_line_of_its_file() {
        let scratch = dbacl_testing::Scratch::new();
        let path = scratch.path("password");
        let config = Config { password_file: Some(path), ..Config::default() };
        let said = |config: &Config| match config.credentials() {
            Ok(_) => String::new(),
            Err(fault) => fault.to_string(),
        };
        assert!(said(&config).contains("password: No such file"), "{}", said(&config));
        scratch.write("password", "\n");
        assert_eq!(said(&config), "password-file has no password");
        for text in ["se cret", "se cret\n", "se cret\r\nanother\n"] {
            scratch.write("password", text);
            let found = config.credentials().expect("a password");
            assert!(found == Credentials::Password("se cret".into()), "{text:?}");
        }
    }

    #[test]
    fn commands_that_print_no_password_are_told() {
        for (command, expected) in [
            ("exit 3", "password-command ends with exit status: 3"),
            ("true", "prints no password"),
            ("printf 'a\\001b'", "prints no password"),
            ("printf '\\377'", "prints something that is not text"),
        ] {
            let config = Config { password_command: Some(command.into()), ..Config::default() };
            let Err(fault) = config.credentials() else { panic!("{command}") };
            assert!(fault.to_string().contains(expected), "{command}: {fault}");
        }
    }
}
