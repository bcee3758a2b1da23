// SPDX-License-Identifier: GPL-3.0-or-later
//! The task `setup`: asks for what no option says, tries to log in, shows what is in the account,
//! and writes the settings.

use crate::config::Config;
use crate::connection::Fault;
use crate::discover;
use crate::folder_names::from_imap;
use crate::look::{choose, unsure_to_make};
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
pub(crate) struct Dialogue<'a> {
    /// Where answers come from; `None` if nobody is there to answer.
    pub input: Option<&'a mut dyn BufRead>,
    /// Where questions go.
    pub output: &'a mut dyn Write,
}

type Answer<T> = Result<T, Fault>;

impl Dialogue<'_> {
    /// The answer to a question; an empty one stands for `usual`. `option` says the same.
    fn ask(&mut self, option: &str, question: &str, usual: Option<&str>) -> Answer<String> {
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
            ("", None) => self.ask(option, question, usual),
            (answer, _) => Ok(answer.to_owned()),
        }
    }

    /// Whether the answer to a question is yes. Without anybody to ask, what `option` says counts.
    fn agrees(&mut self, option: &str, question: &str, is_usual: bool, own: bool) -> Answer<bool> {
        if self.input.is_none() {
            return Ok(own);
        }
        loop {
            let usual = if own || is_usual { "yes" } else { "no" };
            let answer = self.ask(option, &format!("{question} (yes or no)"), Some(usual))?;
            match answer.to_ascii_lowercase().as_str() {
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                other => self.tell(&format!("{other} is not yes or no"))?,
            }
        }
    }

    fn tell(&mut self, text: &str) -> Answer<()> {
        Ok(writeln!(self.output, "{text}")?)
    }
}

/// Fills in how to reach the account. After an attempt that failed, `complaint` says why, and all
/// is asked again; what was answered stands in brackets and stays after an empty answer.
pub(crate) fn account(
    config: &mut Config,
    talk: &mut Dialogue<'_>,
    complaint: Option<&str>,
) -> Result<(), Fault> {
    let is_again = complaint.is_some();
    if let Some(complaint) = complaint {
        talk.tell(&format!(
            "\n{complaint}\nOnce more; an empty answer keeps what is in brackets."
        ))?;
    }
    let is_asked = |text: &str| text.is_empty() || is_again;
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    if is_asked(&config.user) {
        let question = "Mail address, or name of the user";
        config.user = talk.ask("--user", question, known(&config.user).as_deref())?;
    }
    if is_asked(&config.server) {
        let found = discover::find(&config.user);
        // Whoever forges answers of name servers does not choose where the password goes.
        let usual = found.as_ref().filter(|it| it.is_vouched_for || talk.input.is_some());
        let host = known(&config.server).or(usual.map(|found| found.host.clone()));
        config.server = talk.ask("--server", "IMAP server", host.as_deref())?;
        let found = found.filter(|found| found.host == config.server && found.port != 993);
        config.port = config.port.or(found.map(|found| found.port));
    }
    if complaint.is_some_and(|complaint| complaint.contains("certificate")) {
        let own = config.certificates.as_ref().map(|path| path.display().to_string());
        let question = "File with the server's certificate (PEM), if it vouches for itself";
        let answer = talk.ask("--certificates", question, Some(own.as_deref().unwrap_or("")))?;
        config.certificates = (!answer.is_empty()).then(|| answer.into());
    }
    secret(config, talk, is_again)?;
    if is_asked(&config.filter.to_string_lossy()) {
        let usual = known(&config.filter.to_string_lossy());
        let usual = usual.as_deref().unwrap_or("~/.dbacl-mail");
        config.filter = talk.ask("--filter", "Folder of the filter", Some(usual))?.into();
    }
    Ok(())
}

/// Fills in where the password or the token comes from.
fn secret(config: &mut Config, talk: &mut Dialogue<'_>, is_again: bool) -> Result<(), Fault> {
    let own = config.secrets().next().map(|own| own.to_string_lossy().into_owned());
    if own.is_some() && !is_again {
        return Ok(());
    }
    let ways = "The password comes from\n 1  the keyring of the desktop (secret-tool)\n 2  another \
                command that prints it, such as cat ~/.mail-password\n 3  a command that prints a \
                token (OAuth2)\nWhich";
    loop {
        let way = talk.ask("--password-command or --token-command", ways, own.as_deref())?;
        let (password, token) = match way.as_str() {
            way if Some(way) == own.as_deref() => return Ok(()),
            "1" => match keyring(config) {
                Ok(command) => (Some(command), None),
                Err(fault) => {
                    talk.tell(&fault.to_string())?;
                    continue;
                }
            },
            "2" => (Some(talk.ask("--password-command", "Command", None)?), None),
            "3" => (None, Some(talk.ask("--token-command", "Command", None)?)),
            other => {
                talk.tell(&format!("{other} is not 1, 2 or 3"))?;
                continue;
            }
        };
        (config.password_command, config.token_command) = (password, token);
        config.password_file = None;
        return Ok(());
    }
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

/// Shows what is in the account, and asks which folders have good mail, which are to be sorted, and
/// what else is to be done with new mail.
pub(crate) fn folders(
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
    let question = "Move new spam out of the inbox";
    config.move_spam = talk.agrees("--move-spam", question, true, config.move_spam)?;
    if config.unsure.is_none() {
        let question = "Folder for new mail that may be spam or not, such as Unsure; empty: it \
                        stays in the inbox";
        let answer = talk.ask("--unsure", question, Some(""))?;
        config.unsure = (!answer.is_empty()).then_some(answer);
    }
    if let Some(name) = unsure_to_make(&listed, config) {
        match session.make(&name) {
            Ok(()) => talk.tell(&format!("made the folder {}", from_imap(&name)))?,
            // The program tries it again when it begins to watch.
            Err(fault) => talk.tell(&fault.to_string())?,
        }
    }
    let question = "A letter each week that says what was done";
    config.letter = talk.agrees("--letter", question, false, config.letter)?;
    Ok(())
}

/// Writes the settings to a new file, which is its user's alone.
pub(crate) fn write(config: &Config, path: &Path) -> Result<(), Fault> {
    let told = |error: io::Error| Fault::of(path, error);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        dbacl_files::atomic_file::make_folder(folder).map_err(told)?;
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
        account(&mut config, &mut talk, None).expect("all is answered");
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
    fn answers_stay_after_a_failure_and_can_be_changed() {
        let mut asked = Vec::new();
        let mut input: &[u8] = b"\n\ncert.pem\n7\n3\nprint token\n\n";
        let mut config = Config {
            user: "carol".into(),
            server: "mail.home".into(),
            password_command: Some("pass mail".into()),
            filter: "f".into(),
            ..Config::default()
        };
        let mut talk = Dialogue { input: Some(&mut input), output: &mut asked };
        let complaint = "mail.home:993: invalid peer certificate: UnknownIssuer";
        account(&mut config, &mut talk, Some(complaint)).expect("all is answered");
        assert_eq!((config.user.as_str(), config.server.as_str()), ("carol", "mail.home"));
        assert_eq!(config.certificates, Some("cert.pem".into()));
        assert_eq!((config.password_command, config.filter), (None, "f".into()));
        assert_eq!(config.token_command.as_deref(), Some("print token"));
        let asked = String::from_utf8(asked).expect("text");
        for part in [complaint, "user [carol]: ", "Which [pass mail]: ", "7 is not 1, 2 or 3"] {
            assert!(asked.contains(part), "{part}: {asked}");
        }
    }

    #[test]
    fn without_anybody_to_ask_the_missing_option_is_named() {
        let mut asked = Vec::new();
        let mut config = Config { user: "alice@gmail.com".into(), ..Config::default() };
        let mut talk = Dialogue { input: None, output: &mut asked };
        let fault = account(&mut config, &mut talk, None).expect_err("no password");
        assert_eq!(fault.to_string(), "setup needs --password-command or --token-command");
        assert!(asked.is_empty());
    }
}
