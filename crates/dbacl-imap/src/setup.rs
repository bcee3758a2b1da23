// SPDX-License-Identifier: GPL-3.0-or-later
//! The task `setup`: asks for what no option says, tries to log in, shows what is in the account,
//! and writes the settings.

use crate::config::Config;
use crate::connection::Fault;
use crate::discover;
use crate::folder_names::from_imap;
use crate::look::choose;
use crate::moves::Kind;
use crate::session::Session;
use dbacl_cli::settings;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The most folders whose messages are counted.
const COUNTED: usize = 200;

/// Asks somebody, or nobody.
pub struct Dialogue<'a> {
    /// Where answers come from; `None` if nobody is there to answer.
    pub input: Option<&'a mut dyn BufRead>,
    /// Where questions go.
    pub output: &'a mut dyn Write,
}

impl Dialogue<'_> {
    /// The answer to a question; an empty one stands for `usual`. `option` says the same.
    fn ask(&mut self, option: &str, question: &str, usual: Option<&str>) -> Result<String, Fault> {
        let missing = || Fault::Local(format!("setup needs {option}"));
        let Some(input) = &mut self.input else {
            return usual.map(str::to_owned).ok_or_else(missing);
        };
        let shown = usual.filter(|usual| !usual.is_empty());
        let shown = shown.map_or_else(String::new, |usual| format!(" [{usual}]"));
        write!(self.output, "{question}{shown}: ").and_then(|()| self.output.flush())?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Err(missing());
        }
        match (line.trim(), usual) {
            ("", Some(usual)) => Ok(usual.to_owned()),
            ("", None) => Err(missing()),
            (answer, _) => Ok(answer.to_owned()),
        }
    }

    fn tell(&mut self, text: &str) -> Result<(), Fault> {
        Ok(writeln!(self.output, "{text}")?)
    }
}

/// Fills in how to reach the account.
pub fn account(config: &mut Config, talk: &mut Dialogue<'_>) -> Result<(), Fault> {
    if config.user.is_empty() {
        config.user = talk.ask("--user", "Mail address, or name of the user", None)?;
    }
    if config.server.is_empty() {
        let found = discover::find(&config.user);
        // Whoever forges answers of name servers does not choose where the password goes.
        let usual = found.as_ref().filter(|it| it.is_vouched_for || talk.input.is_some());
        let host = usual.map(|found| found.host.as_str());
        config.server = talk.ask("--server", "IMAP server", host)?;
        let found = found.filter(|found| found.host == config.server && found.port != 993);
        config.port = config.port.or(found.map(|found| found.port));
    }
    if config.password_command.is_none() && config.token_command.is_none() {
        let ways = "The password comes from\n 1  the keyring of the desktop (secret-tool)\n 2  \
                    another command that prints it\n 3  a command that prints a token (OAuth2)\n\
                    Which";
        let way = talk.ask("--password-command or --token-command", ways, None)?;
        match way.as_str() {
            "1" => config.password_command = Some(keyring(config)?),
            "3" => config.token_command = Some(talk.ask("--token-command", "Command", None)?),
            "2" => {
                config.password_command = Some(talk.ask("--password-command", "Command", None)?);
            }
            other => return Err(Fault::Local(format!("{other} is not 1, 2 or 3"))),
        }
    }
    if config.filter.as_os_str().is_empty() {
        config.filter = talk.ask("--filter", "Folder of the filter", Some("~/.dbacl-mail"))?.into();
    }
    Ok(())
}

/// Has the keyring ask for the password and keep it; returns the command that prints it.
fn keyring(config: &Config) -> Result<String, Fault> {
    let mut store = Command::new("secret-tool");
    store.arg("store").arg(format!("--label=IMAP {}", config.server));
    store.args(["server", &config.server, "user", &config.user]).stdout(Stdio::null());
    match store.status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(Fault::Local(format!("secret-tool ends with {status}"))),
        Err(error) => return Err(Fault::Local(format!("secret-tool: {error}"))),
    }
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let (server, user) = (quoted(&config.server), quoted(&config.user));
    Ok(format!("secret-tool lookup server {server} user {user}"))
}

/// Shows what is in the account, and asks which folders have good mail and which are to be sorted.
pub fn folders(
    config: &mut Config,
    session: &mut Session,
    talk: &mut Dialogue<'_>,
) -> Result<(), Fault> {
    let listed = session.list()?;
    let named =
        Config { junk: config.junk.clone(), trash: config.trash.clone(), ..Config::default() };
    let watched = choose(&listed, &named, &[])?.watched;
    for folder in listed.iter().take(COUNTED) {
        // A folder that cannot be opened is of no use here.
        let Ok(selected) = session.select(&folder.name, false, None) else { continue };
        let kind = watched.iter().find(|it| it.name == folder.name).map(|it| it.kind);
        let role = match kind {
            Some(Kind::Junk) => " (spam)",
            Some(Kind::Trash) => " (thrown away)",
            Some(_) => " (good mail)",
            None => "",
        };
        talk.tell(&format!("{:>8}  {}{role}", selected.exists, from_imap(&folder.name)))?;
    }
    let list = |text: String| -> Vec<String> {
        text.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    let archives = listed.iter().filter(|it| it.attributes.iter().any(|has| has == "\\archive"));
    let archives: Vec<String> = archives.map(|it| from_imap(&it.name)).collect();
    if config.folders.is_empty() {
        let question = "More folders of good mail, with commas between them";
        config.folders = list(talk.ask("--folder", question, Some(&archives.join(", ")))?);
    }
    if config.sort.is_empty() {
        let question = "Folders into which new mail is to be sorted, such as Lists/*";
        config.sort = list(talk.ask("--sort", question, Some(""))?);
    }
    Ok(())
}

/// Writes the settings to a new file, which is its user's alone.
pub fn write(config: &Config, path: &Path) -> Result<(), Fault> {
    let told = |error: io::Error| Fault::of(path, error);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    let text = settings::text(config).map_err(|error| told(io::Error::other(error)))?;
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_settings_that_are_read_again() {
        let mut asked = Vec::new();
        let mut input: &[u8] = b"carol@gmail.com\n\n2\npass show \"my\" mail\\x\n\n";
        let mut config = Config::default();
        let mut talk = Dialogue { input: Some(&mut input), output: &mut asked };
        account(&mut config, &mut talk).expect("all is answered");
        config.sort = vec!["Müll & \"mehr\"".into(), "Lists/*".into()];
        let read: Config = settings::text(&config)
            .map_err(|error| error.to_string())
            .and_then(|text| settings::parse(&text, Path::new("x")))
            .expect("settings");
        assert_eq!(
            (read.server.as_str(), read.user.as_str()),
            ("imap.gmail.com", "carol@gmail.com")
        );
        assert_eq!(read.password_command.as_deref(), Some("pass show \"my\" mail\\x"));
        assert_eq!((read.filter, read.sort), ("~/.dbacl-mail".into(), config.sort));
        let asked = String::from_utf8(asked).expect("text");
        assert!(asked.contains("IMAP server [imap.gmail.com]: "), "{asked}");
    }

    #[test]
    fn without_anybody_to_ask_the_missing_option_is_named() {
        let mut asked = Vec::new();
        let mut config = Config { user: "alice@gmail.com".into(), ..Config::default() };
        let mut talk = Dialogue { input: None, output: &mut asked };
        let fault = account(&mut config, &mut talk).expect_err("no password");
        assert_eq!(fault.to_string(), "setup needs --password-command or --token-command");
        assert!(asked.is_empty());
    }
}
