// SPDX-License-Identifier: GPL-3.0-or-later
//! What the tests share: where the programs are, how one is run, temporary folders, made-up
//! messages, terminals, and checks of manual pages.

mod changes;
pub mod mails;
pub mod manual;
pub mod power;
pub mod scripts;
pub mod terminal;
pub mod verbs;

pub use changes::change;
use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The repository's folder.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lies two folders below").to_path_buf()
}

/// The folder of the programs: `DBACL_BIN`, or that of those just built, which lie one folder above
/// the tests. Cargo builds the programs of the packages whose tests it runs; a test that calls
/// others needs them built before.
pub fn programs() -> PathBuf {
    if let Some(folder) = std::env::var_os("DBACL_BIN") {
        return fs::canonicalize(folder).expect("DBACL_BIN names a folder");
    }
    let test = std::env::current_exe().expect("the test's own path");
    let folder = test.ancestors().nth(2).expect("the folder above the tests").to_path_buf();
    assert!(
        folder.join("dbacl").is_file(),
        "{} has no dbacl: `cargo build --workspace --bins` with the profile of the tests makes it",
        folder.display()
    );
    folder
}

/// Two ports at which nothing listens. They lie below the range from which the system takes ports
/// for programs that ask for any, so that no program gets them before they are used.
///
/// # Panics
/// When a thousand ports are taken.
pub fn free_ports() -> (u16, u16) {
    let seed = RandomState::new().build_hasher().finish() >> 1;
    let place = |at: u64| u16::try_from((seed + 7 * at) % 20_000).expect("below 20,000");
    let mut ports = (0..1000).map(|at| 10_000 + place(at));
    let mut door =
        || ports.find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok()).expect("a free port");
    let (one, other) = (door(), door());
    let port = |door: &TcpListener| door.local_addr().expect("an address").port();
    (port(&one), port(&other))
}

/// Files with these extensions below a folder, sorted, without those below folders of the names
/// `left_out`; none if the folder does not exist.
pub fn files_below(folder: &Path, left_out: &[&str], extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return found;
    }
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !left_out.iter().any(|left_out| name == *left_out) {
                found.extend(files_below(&path, left_out, extensions));
            }
        } else if path.extension().is_some_and(|kind| extensions.iter().any(|own| kind == *own)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Reports that a test was skipped. The line is shown although the output of tests is captured.
pub fn skip(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

/// Whether system calls can be made to fail, by strace; if not, the test is skipped.
pub fn has_tracer(test: &str) -> bool {
    let mut run = Command::new("strace");
    run.args(["-qq", "-o", "/dev/null", "-e", "inject=mkdir:error=ENOSPC:when=1", "true"]);
    let has = run.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !has {
        skip(test, "no strace that can trace");
    }
    has
}

/// Whether a program can be started; if not, the test is reported as skipped.
pub fn is_installed(program: &str, test: &str) -> bool {
    let is_installed = command(program).arg("--version").output().is_ok();
    if !is_installed {
        skip(test, &format!("{program} is not installed"));
    }
    is_installed
}

/// Compares a file of the repository that is made from others with what it should hold. With
/// `BLESS` in the environment it is written.
#[track_caller]
pub fn holds(name: &str, expected: &str) {
    let path = root().join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, expected).expect("a writable repository");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} is not up to date: run these tests again with BLESS=1");
}

/// A command without the environment variables that the programs read.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in ["DBACL_PATH", "DBACL_STRICT", "POSIXLY_CORRECT", "LANG", "LC_CTYPE"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C");
    command
}

/// The result of running a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Exit status, or 128 plus the number of the signal that ended it.
    pub status: i32,
    /// What it printed.
    pub stdout: String,
    /// What it printed on standard error.
    pub stderr: String,
}

impl Done {
    /// The standard output. The test fails unless the program ended with `status` and printed
    /// nothing on standard error.
    #[track_caller]
    pub fn quiet(self, status: i32) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (status, ""), "stdout: {}", self.stdout);
        self.stdout
    }

    /// The standard output, whatever was said beside it. The test fails unless the program ended
    /// with status 0.
    #[track_caller]
    pub fn output(self) -> String {
        assert_eq!(self.status, 0, "{}", self.stderr);
        self.stdout
    }

    /// The standard error. The test fails unless the program ended with `status`.
    #[track_caller]
    pub fn complaint(self, status: i32) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert_ne!(self.stderr, "", "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }

    /// As [`Self::output`]. The test also fails if a part is missing: see [`has`].
    #[track_caller]
    pub fn says(self, parts: &str) -> String {
        let said = self.output();
        has(&said, parts);
        said
    }

    /// As [`Self::complaint`]. The test also fails if a part is missing: see [`has`].
    #[track_caller]
    pub fn complains(self, status: i32, parts: &str) -> String {
        let said = self.complaint(status);
        has(&said, parts);
        said
    }
}

/// Checks that a text contains each of these parts, which bars separate; none if `parts` is empty.
/// A part cannot contain a bar.
#[track_caller]
pub fn has(text: &str, parts: &str) {
    for part in parts.split('|') {
        assert!(!part.is_empty() || parts.is_empty(), "an empty part in {parts:?}");
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

/// How long tests wait for something that happens at once on an idle machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until the process sleeps and has caught TERM.
pub fn wait_until_reading(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let deadline = Instant::now() + PATIENCE;
    let mut calm = 0;
    while calm < 5 {
        assert!(Instant::now() < deadline, "the program does not wait for input");
        let text = fs::read_to_string(&status).unwrap_or_default();
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        let term = caught.is_some_and(|mask| mask & 1 << (15 - 1) != 0);
        let sleeps = field("State:").is_some_and(|state| state.starts_with('S'));
        calm = if term && sleeps { calm + 1 } else { 0 };
        sleep(Duration::from_millis(5));
    }
}

/// Sends a process a signal, such as `TERM`.
#[track_caller]
pub fn kill(process: u32, signal: &str) {
    let sent = command("kill").args(["-s", signal, &process.to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

/// The memory of a process in kB, by its name in `proc(5)`, such as `VmRSS`.
pub fn memory(process: u32, name: &str) -> u64 {
    let status = format!("/proc/{process}/status");
    let text = fs::read_to_string(status).expect("the status of a process");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.expect("a field").split_whitespace().next().expect("a number");
    number.parse().expect("a number")
}

/// The number that an environment variable holds, or a default.
pub fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

/// Waits until something holds; returns whether it does in the end.
pub fn holds_soon(mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        if Instant::now() > end {
            return false;
        }
        sleep(Duration::from_millis(20));
    }
    true
}

/// Waits for a started program and returns its result.
pub fn finish(child: Child) -> Done {
    let output = child.wait_with_output().expect("the program can be waited for");
    let signal = || output.status.signal().map(|signal| 128 + signal);
    Done {
        status: output.status.code().or_else(signal).expect("a status or a signal"),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command of [`Scratch`].
pub fn done(command: &mut Command) -> Done {
    finish(command.spawn().expect("the program starts"))
}

/// Starts a command of [`Scratch`]; returns it and its standard input.
pub fn piped(mut command: Command) -> (Child, ChildStdin) {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
    let stdin = child.stdin.take().expect("piped");
    (child, stdin)
}

/// Runs a command of [`Scratch`] with `input` on standard input.
pub fn fed(command: Command, input: impl AsRef<[u8]>) -> Done {
    let (child, mut stdin) = piped(command);
    let input = input.as_ref().to_vec();
    let feeder = std::thread::spawn(move || {
        // Writing fails if the program ends before it has read all of it.
        let _ = stdin.write_all(&input);
    });
    let done = finish(child);
    feeder.join().expect("writes do not panic");
    done
}

/// A temporary folder in which programs run; it is removed when this is dropped.
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The folder, or a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and makes the folders above it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders above the file");
        fs::write(path, content).expect("a file in the scratch folder");
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file of text.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.read(name)).into_owned()
    }

    /// A copy of the folder and all in it.
    #[must_use]
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        let copied = Command::new("cp").arg("-a").arg(self.path(".")).arg(copy.path(".")).status();
        assert!(copied.expect("cp starts").success());
        copy
    }

    /// The names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("the scratch folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// A command in the folder, with the programs first on the path, nothing to read, and pipes for
    /// what it prints.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = command(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", programs().display()));
        command.current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A command that runs a program of ours with `args` in the folder.
    pub fn program<S: AsRef<OsStr>>(
        &self,
        name: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = self.command(programs().join(name));
        command.args(args);
        command
    }

    /// A command that runs `dbacl` with `args` in the folder.
    pub fn dbacl_command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        self.program("dbacl", args)
    }

    /// Runs `dbacl` with the words of `args` and nothing on standard input.
    pub fn dbacl(&self, args: &str) -> Done {
        self.dbacl_args(args.split_whitespace())
    }

    /// Runs `dbacl` with `args` and nothing on standard input.
    pub fn dbacl_args<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Done {
        done(&mut self.dbacl_command(args))
    }

    /// Runs `dbacl` with the words of `args` and `input` on standard input.
    pub fn dbacl_reading(&self, args: &str, input: impl AsRef<[u8]>) -> Done {
        fed(self.dbacl_command(args.split_whitespace()), input)
    }

    /// Starts `dbacl` with the words of `args`; returns it and its standard input.
    pub fn typing(&self, args: &str) -> (Child, ChildStdin) {
        piped(self.dbacl_command(args.split_whitespace()))
    }

    /// Runs a script of `sh` in the folder.
    pub fn sh(&self, script: &str) -> Done {
        let mut command = self.command("sh");
        done(command.args(["-c", script]))
    }
}
