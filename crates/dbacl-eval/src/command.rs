// SPDX-License-Identifier: GPL-3.0-or-later
//! Commands given by the user: learners that read a mailbox, filters that read a message and print
//! a verdict.

use dbacl_cli::progress;
use dbacl_engine::parallel;
use dbacl_files::reading::if_there;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A shell command; paths are appended as further words.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    words: OsString,
    /// What stands before each path that is appended, such as `-c`; may be empty.
    prefix: OsString,
    variables: Vec<(OsString, OsString)>,
}

impl ShellCommand {
    /// The command `words`, as a shell reads them.
    pub fn new(words: impl Into<OsString>, prefix: impl Into<OsString>) -> Self {
        Self { words: words.into(), prefix: prefix.into(), variables: Vec::new() }
    }

    /// A verb of a wrapper, whose path may hold any character.
    pub fn wrapper(path: &Path, verb: &str) -> Self {
        Self::new(Self::wrapper_words(path, verb), "")
    }

    /// The words of [`Self::wrapper`], as a shell reads them.
    pub fn wrapper_words(path: &Path, verb: &str) -> OsString {
        let path = path.as_os_str().to_string_lossy().replace('\'', r"'\''");
        format!("'{path}' {verb}").into()
    }

    /// Adds a variable to the command's environment.
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// The command line, to be shown to the user.
    pub fn show(&self, paths: &[PathBuf]) -> OsString {
        let mut text = self.words.clone();
        for path in paths {
            for part in [&self.prefix, path.as_os_str()] {
                if !part.is_empty() {
                    text.push(" ");
                    text.push(part);
                }
            }
        }
        text
    }

    /// The shell runs `WORDS PREFIX "$1" PREFIX "$2" ...`, so paths may hold any character.
    fn prepare(&self, paths: &[PathBuf], further: &[OsString]) -> Command {
        let mut script = self.words.clone();
        for number in 1..=paths.len() {
            script.push(" ");
            script.push(&self.prefix);
            script.push(format!(" \"${{{number}}}\""));
        }
        for number in paths.len() + 1..=paths.len() + further.len() {
            script.push(format!(" \"${{{number}}}\""));
        }
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg("sh").args(paths).args(further);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// Feeds mailboxes to a learner, one after the other; those that are missing are empty. Returns
    /// whether it ended well.
    pub fn learn(
        &self,
        category: &Path,
        arguments: &[OsString],
        mailboxes: &[PathBuf],
        output: Stdio,
    ) -> io::Result<bool> {
        let mut command = self.prepare(&[category.to_path_buf()], arguments);
        // A terminal has one line for progress, which is this program's.
        if io::stderr().is_terminal() {
            command.stderr(Stdio::piped());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(output).spawn()?;
        let complaints = child.stderr.take();
        std::thread::scope(|scope| {
            scope.spawn(move || complaints.map(pass_on));
            let fed = feed(&mut child, mailboxes);
            let status = child.wait()?;
            fed?;
            Ok(status.success())
        })
    }

    /// Gives a message to a filter and returns what it prints, without blanks and newlines around
    /// it. Its exit status is ignored.
    pub fn ask(&self, paths: &[PathBuf], message: &[u8]) -> io::Result<Vec<u8>> {
        let mut command = self.prepare(paths, &[]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                // a filter may answer without reading to the end
                stdin.map(|mut stdin| stdin.write_all(message))
            });
            child.wait_with_output()
        })?;
        Ok(output.stdout.trim_ascii().to_vec())
    }

    /// Asks a filter about several messages, `jobs` at a time; verdicts in the order of the
    /// messages.
    pub fn ask_all(
        &self,
        paths: &[PathBuf],
        messages: &[Vec<u8>],
        jobs: usize,
    ) -> io::Result<Vec<Vec<u8>>> {
        let ask = |(): &mut (), at: usize| self.ask(paths, &messages[at]);
        parallel::map(messages.len(), jobs.max(1), || Ok(()), ask)
    }
}

/// Calls a wrapper without input. Its standard error is that of this program.
pub fn call(wrapper: &Path, arguments: &[&OsStr]) -> io::Result<Output> {
    let mut command = Command::new(wrapper);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.output().map_err(|error| about(wrapper, &error))
}

/// What a wrapper says of its filter.
pub fn description(wrapper: &Path) -> io::Result<Vec<u8>> {
    Ok(call(wrapper, &[OsStr::new("describe")])?.stdout.trim_ascii().to_vec())
}

/// An error of the operating system with the file that it is about.
pub fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Copies the output of a command to standard error.
fn pass_on(mut from: impl Read) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        progress::give_way();
        let _ = io::stderr().write_all(&buffer[..length]);
    }
}

fn feed(child: &mut Child, mailboxes: &[PathBuf]) -> io::Result<()> {
    let Some(mut stdin) = child.stdin.take() else { return Ok(()) };
    for mailbox in mailboxes {
        let Some(mut file) = if_there(File::open(mailbox))? else { continue };
        match io::copy(&mut file, &mut stdin) {
            // a learner may have seen enough
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            other => other?,
        };
    }
    Ok(())
}

/// A verdict as a log can hold it: one word, or nothing.
pub fn one_word(verdict: &[u8]) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt;
    let is_word = !verdict.is_empty() && !verdict.iter().any(u8::is_ascii_whitespace);
    is_word.then(|| OsStr::from_bytes(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_come_back_in_order() {
        let filter = ShellCommand::new("cat; printf ' %s'", "-c").with_variable("X", "1");
        let messages: Vec<Vec<u8>> =
            (0..20).map(|number| format!("{number}\n").into_bytes()).collect();
        let paths = [PathBuf::from("/a b"), PathBuf::from("/c")];
        for jobs in [1, 3] {
            let verdicts = filter.ask_all(&paths, &messages, jobs).expect("a shell");
            assert_eq!(verdicts.len(), 20);
            assert_eq!(verdicts[7], b"7\n -c /a b -c /c");
        }
        assert_eq!(filter.show(&paths), "cat; printf ' %s' -c /a b -c /c");
    }

    #[test]
    fn filters_need_not_read_their_message() {
        let message = vec![b'x'; 1 << 20];
        let filter = ShellCommand::new("echo '  good  '; false", "");
        assert_eq!(filter.ask(&[], &message).expect("a shell"), b"good");
        let missing = ShellCommand::new("/nowhere/at/all 2>/dev/null", "");
        assert_eq!(missing.ask(&[], &message).expect("a shell"), b"");
    }

    #[test]
    fn learners_read_all_mailboxes() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str| place.path().join(name);
        std::fs::write(file("a"), "1\n").expect("written");
        std::fs::write(file("b"), "2\n").expect("written");
        let learner = ShellCommand::new("f() { cat > \"$1\"; echo \"$2\" >> \"$1\"; }; f", "");
        let mailboxes = [file("a"), file("none"), file("b")];
        let fine = learner
            .learn(&file("model"), &["-x y".into()], &mailboxes, Stdio::null())
            .expect("a shell");
        assert!(fine);
        assert_eq!(std::fs::read_to_string(file("model")).expect("a model"), "1\n2\n-x y\n");
    }

    #[test]
    fn verdicts_are_single_words() {
        for (verdict, expected) in
            [(&b"good"[..], true), (b"", false), (b"a b", false), (b"a\nb", false)]
        {
            assert_eq!(one_word(verdict).is_some(), expected);
        }
    }
}
