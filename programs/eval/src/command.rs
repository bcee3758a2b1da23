// SPDX-License-Identifier: GPL-3.0-or-later
//! Commands given by the user: learners that read a mailbox, filters that read a message and print
//! a verdict.

use dbacl::parallel;
use dbacl_cli::progress;
use dbacl_files::reading::if_there;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A shell command; paths are appended as further words.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShellCommand {
    pub words: OsString,
    /// What stands before each path that is appended, such as `-c`; may be empty.
    pub prefix: OsString,
    /// What is added to its environment.
    pub variables: Vec<(OsString, OsString)>,
}

impl ShellCommand {
    /// A verb of a wrapper, whose path may hold any character.
    pub(crate) fn wrapper(path: &Path, verb: &str) -> Self {
        Self { words: Self::wrapper_words(path, verb), ..Self::default() }
    }

    /// The words of [`Self::wrapper`], as a shell reads them.
    pub(crate) fn wrapper_words(path: &Path, verb: &str) -> OsString {
        let mut words = b"'".to_vec();
        for &byte in path.as_os_str().as_bytes() {
            match byte {
                b'\'' => words.extend_from_slice(br"'\''"),
                _ => words.push(byte),
            }
        }
        words.extend_from_slice(format!("' {verb}").as_bytes());
        OsString::from_vec(words)
    }

    /// The command line, to be shown to the user.
    pub(crate) fn show(&self, paths: &[PathBuf]) -> OsString {
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
    pub(crate) fn learn(
        &self,
        category: &Path,
        arguments: &[OsString],
        mailboxes: &[PathBuf],
    ) -> io::Result<bool> {
        let mut command = self.prepare(&[category.to_path_buf()], arguments);
        // A terminal has one line for progress, which is this program's.
        if io::stderr().is_terminal() {
            command.stderr(Stdio::piped());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
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
    pub(crate) fn ask(&self, paths: &[PathBuf], message: &[u8]) -> io::Result<Vec<u8>> {
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
    pub(crate) fn ask_all(
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
pub(crate) fn call(wrapper: &Path, arguments: &[&OsStr]) -> io::Result<Output> {
    let mut command = Command::new(wrapper);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.output().map_err(|error| about(wrapper, &error))
}

/// What a wrapper says of its filter.
pub(crate) fn description(wrapper: &Path) -> io::Result<Vec<u8>> {
    Ok(call(wrapper, &[OsStr::new("describe")])?.stdout.trim_ascii().to_vec())
}

/// An error of the operating system with the file that it is about.
pub(crate) fn about(path: &Path, error: &io::Error) -> io::Error {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &str) -> ShellCommand {
        ShellCommand { words: words.into(), ..ShellCommand::default() }
    }

    #[test]
    fn verdicts_come_back_in_order() {
        let variables = vec![("X".into(), "$".into())];
        let filter =
            ShellCommand { words: "cat; printf \" $X%s\"".into(), prefix: "-c".into(), variables };
        let messages: Vec<Vec<u8>> =
            (0..20).map(|number| format!("{number}\n").into_bytes()).collect();
        let paths = [PathBuf::from("/a b"), PathBuf::from("/c")];
        for jobs in [1, 3] {
            let verdicts = filter.ask_all(&paths, &messages, jobs).expect("a shell");
            assert_eq!(verdicts.len(), 20);
            assert_eq!(verdicts[7], b"7\n $-c $/a b $-c $/c");
        }
        assert_eq!(filter.show(&paths), "cat; printf \" $X%s\" -c /a b -c /c");
    }

    #[test]
    fn filters_need_not_read_their_message() {
        let message = vec![b'x'; 1 << 20];
        let filter = command("echo '  good  '; false");
        assert_eq!(filter.ask(&[], &message).expect("a shell"), b"good");
        let missing = command("/nowhere/at/all 2>/dev/null");
        assert_eq!(missing.ask(&[], &message).expect("a shell"), b"");
    }

    #[test]
    fn learners_read_all_mailboxes() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str| place.path().join(name);
        std::fs::write(file("a"), "1\n").expect("written");
        std::fs::write(file("b"), "2\n").expect("written");
        let learner = command("f() { cat > \"$1\"; echo \"$2\" >> \"$1\"; }; f");
        let mailboxes = [file("a"), file("none"), file("b")];
        let fine = learner.learn(&file("model"), &["-x y".into()], &mailboxes).expect("a shell");
        assert!(fine);
        assert_eq!(std::fs::read_to_string(file("model")).expect("a model"), "1\n2\n-x y\n");
    }
}
