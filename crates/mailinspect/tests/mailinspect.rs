// SPDX-License-Identifier: GPL-3.0-or-later
//! The interactive mode of mailinspect in a pseudo-terminal, and the batch mode beside the
//! classifier.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dbacl_testing::PATIENCE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use dbacl_testing::programs;

const MAILINSPECT: &str = env!("CARGO_BIN_EXE_mailinspect");

const MBOX: &str = "From a@x Mon Jan  5 10:00:00 2004\nFrom: Ann <a@x>\nSubject: the red boat\n\n\
                    the red boat left the harbour at noon\n\n\
                    From b@x Mon Jan  5 11:00:00 2004\nFrom: Bob <b@x>\nSubject: lunch\n\n\
                    potatoes with butter and salt for lunch\n\n\
                    From c@x Mon Jan  5 12:00:00 2004\nFrom: Cid <c@x>\nSubject: \
                    =?utf-8?q?caf=C3=A9?=\n\
                    MIME-Version: 1.0\nContent-Type: text/html\n\n\
                    <html><p>coffee in the <b>harbour</b> at noon</p></html>\n\n";

/// A folder with `mbox`, and the categories `sea` and `food`.
fn folder() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| place.path().join(name);
    fs::write(path("mbox"), MBOX).expect("written");
    for (name, text) in [
        ("sea", "Subject: boats\n\nthe red boat sails from the harbour before noon\n"),
        ("food", "Subject: supper\n\nbutter and salt on hot potatoes\n"),
    ] {
        learn(place.path(), &["-T", "email"], name, text);
    }
    place
}

/// Learns the category `name` in `place` from one message.
fn learn(place: &Path, options: &[&str], name: &str, text: &str) {
    fs::write(place.join("learn"), format!("From x@x\n{text}")).expect("written");
    let status = Command::new(programs().join("dbacl"))
        .args(options)
        .args(["-l", &format!("./{name}"), "learn"])
        .current_dir(place)
        .env("LC_ALL", "C")
        .status();
    assert!(status.expect("dbacl runs").success());
}

/// What a program prints in `place`.
fn printed(place: &Path, program: &Path, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(place)
        .env("LC_ALL", "C")
        .env_remove("DBACL_PATH")
        .output()
        .expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number that a line of JSON has under `name`.
fn number(line: &str, name: &str) -> f64 {
    let (_, rest) = line.split_once(&format!("\"{name}\":")).expect("a member");
    rest.split([',', '}']).next().and_then(|text| text.parse().ok()).expect("a number")
}

/// Each mail of `mbox` costs under `./sea` what the classifier says; returns bits a token of each.
fn exact_costs(place: &Path, mbox: &[u8]) -> Vec<String> {
    let dbacl = programs().join("dbacl");
    let run = |program: &Path, args: &[&str]| printed(place, program, args);
    let list = run(Path::new(MAILINSPECT), &["--exact", "--json", "-c", "./sea", "mbox"]);
    let exact = |line: &str| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small offset
        let (start, end) = (number(line, "start") as usize, number(line, "end") as usize);
        fs::write(place.join("one"), &mbox[start..end]).expect("written");
        let per_token = run(&dbacl, &["-c", "./sea", "-vn", "one"]);
        let bits = number(line, "cost_per_token") / std::f64::consts::LN_2;
        let shown = format!("sea {bits:.2} * {:.1}", number(line, "tokens"));
        let classified = per_token.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(classified.starts_with(&shown), "{shown} in {classified}");
        let total = run(&dbacl, &["-c", "./sea", "-P", "-n", "one"]);
        let bits = number(line, "message_cost") / std::f64::consts::LN_2;
        assert!(total.starts_with(&format!("sea {bits:.2}")), "{bits} in {total}");
        shown
    };
    list.lines().map(exact).collect()
}

/// A program on a terminal of 100 by 30.
struct Session {
    child: Child,
    terminal: File,
    output: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    /// The thread that reads output, until `hold` is dropped.
    reading: JoinHandle<()>,
    hold: Sender<()>,
}

impl Session {
    /// Starts mailinspect in `place`; `None` if there are no pseudo-terminals here.
    fn start(place: &Path, args: &[&str]) -> Option<Self> {
        let skip = |reason: &dyn std::fmt::Display| {
            let _ = writeln!(std::io::stderr(), "SKIPPED mailinspect on a terminal: {reason}");
        };
        let opened = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .and_then(|terminal| {
                grantpt(&terminal)?;
                unlockpt(&terminal)?;
                let name = ptsname(&terminal, Vec::new())?;
                Ok((terminal, name))
            });
        let (terminal, name) = opened.map_err(|error| skip(&error)).ok()?;
        let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).expect("a terminal has a size");
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let side = OpenOptions::new().read(true).write(true).open(path);
        let side = side.map_err(|error| skip(&error)).ok()?;
        let stdio = || Stdio::from(side.try_clone().expect("a descriptor"));
        // The program must not use the terminal on which the tests run.
        let child = Command::new("setsid")
            .args(["-c", "-w", MAILINSPECT])
            .args(args)
            .current_dir(place)
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("PAGER", "tee paged")
            .env("HOME", place)
            .env_remove("DBACL_PATH")
            .env_remove("NO_COLOR")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn();
        let child = child.map_err(|error| skip(&format!("setsid: {error}"))).ok()?;
        drop(side);
        let terminal = File::from(terminal);
        let mut reader = terminal.try_clone().expect("a descriptor");
        let (sender, output) = channel();
        let (hold, is_over) = channel::<()>();
        let reading = thread::spawn(move || {
            let mut block = vec![0; 4096];
            while !matches!(is_over.try_recv(), Err(TryRecvError::Disconnected)) {
                let mut waiting = [PollFd::new(&reader, PollFlags::IN)];
                let moment = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
                if poll(&mut waiting, Some(&moment)) == Ok(0) {
                    continue;
                }
                let Ok(length @ 1..) = reader.read(&mut block) else { break };
                if sender.send(block[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(Self { child, terminal, output, seen: Vec::new(), reading, hold })
    }

    /// Takes the terminal away from the program, which is returned.
    fn hang_up(self) -> Child {
        let Self { child, terminal, reading, hold, .. } = self;
        drop(hold);
        reading.join().expect("the reader ends");
        drop(terminal);
        child
    }

    fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Takes in output until `is_there`.
    #[track_caller]
    fn wait(&mut self, wanted: &str, is_there: impl Fn(&[u8]) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_there(&self.seen) {
            let left = end.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(block) => self.seen.extend(block),
                Err(error) => {
                    panic!("{error}: no {wanted:?} in:\n{}", screen(&self.seen).join("\n"))
                }
            }
        }
    }

    /// Waits until a row of the screen holds `text`.
    #[track_caller]
    fn expect(&mut self, text: &str) {
        self.wait(text, |seen| screen(seen).iter().any(|row| row.contains(text)));
    }

    /// Waits until the screen has been given back.
    #[track_caller]
    fn expect_end(&mut self) {
        self.wait("end", |seen| seen.windows(LEFT_SCREEN.len()).any(|part| part == LEFT_SCREEN));
    }

    #[track_caller]
    fn status(&mut self) -> i32 {
        status(&mut self.child)
    }
}

/// Waits for a program that ends by itself; returns its status.
#[track_caller]
fn status(child: &mut Child) -> i32 {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status.code().expect("it ended by itself");
        }
        if Instant::now() > end {
            let _ = child.kill();
            panic!("it goes on and on");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

const LEFT_SCREEN: &[u8] = b"\x1b[?1049l";

/// What a terminal shows after `output`: text at the places where it was put; the alternate screen
/// begins and ends empty. Colours are passed over.
fn screen(output: &[u8]) -> Vec<String> {
    let output = String::from_utf8_lossy(output);
    let mut cells = vec![vec![' '; 100]; 30];
    let (mut row, mut column) = (0, 0);
    let mut rest = output.chars();
    while let Some(character) = rest.next() {
        match character {
            '\x1b' => {
                if rest.next() != Some('[') {
                    continue;
                }
                let mut sequence = String::new();
                for part in rest.by_ref() {
                    sequence.push(part);
                    if part.is_ascii_alphabetic() {
                        break;
                    }
                }
                match sequence.as_str() {
                    "?1049h" | "?1049l" | "2J" => cells.fill(vec![' '; 100]),
                    place if place.ends_with('H') => {
                        let numbers = place.trim_end_matches('H').split(';');
                        let mut numbers = numbers.map(|number| number.parse().unwrap_or(1_usize));
                        row = numbers.next().unwrap_or(1) - 1;
                        column = numbers.next().unwrap_or(1) - 1;
                    }
                    _ => {}
                }
            }
            '\r' => column = 0,
            '\n' => row = (row + 1).min(29),
            _ => {
                if let Some(cell) = cells.get_mut(row).and_then(|row| row.get_mut(column)) {
                    *cell = character;
                }
                column += 1;
            }
        }
    }
    cells.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
}

#[test]
fn a_session_on_a_terminal() {
    let place = folder();
    fs::write(place.path().join(".mailinspectrc"), "F1 grep Subject >>by-key\n").expect("written");
    let Some(mut session) = Session::start(place.path(), &["-I", "-c", "./sea", "mbox"]) else {
        return;
    };
    session.expect("mailinspect mbox 3 msgs sorted(message cost) by category sea");
    session.expect("caf\u{e9}");
    session.expect("evidence for sea:");
    session.press("o");
    session.expect("cost per token");
    session.press("/lunch\r");
    session.expect("1 messages listed");
    session.press("t");
    session.press("/\r");
    session.press("scat >piped\r");
    session.expect("[press return]");
    session.press("\r");
    session.expect("by category sea");
    session.press("\x1bOP\r"); // F1, then its command as it is
    session.expect("[press return]");
    session.press("\r");
    session.expect("by category sea");
    session.press("c./nowhere\r");
    session.expect("could not load category ./nowhere");
    session.press("c./food\r");
    session.expect("3 msgs sorted(cost per token) by category food");
    session.press("\x1b>v");
    session.expect("by category food");
    session.press("h");
    session.expect("Any key goes on.");
    session.seen.clear();
    session.press("xq");
    session.expect_end();
    assert_eq!(session.status(), 1);
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap_or_default();
    assert!(read("piped").starts_with("From "), "{}", read("piped"));
    assert_eq!(read("by-key"), "Subject: lunch\n");
    assert!(read("paged").starts_with("From "), "{}", read("paged"));
    assert_eq!(read("mbox"), MBOX);
}

#[test]
fn a_terminated_session_leaves_the_terminal_in_order() {
    let place = folder();
    let Some(mut session) = Session::start(place.path(), &["-I", "-z", "-c", "./sea", "mbox"])
    else {
        return;
    };
    session.expect("sorted(message cost, reversed)");
    let process = session.child.id().to_string();
    Command::new("kill").arg(process).status().expect("kill runs");
    session.expect_end();
    assert_eq!(session.status(), 1);
}

#[test]
fn a_session_whose_terminal_goes_away_ends() {
    let place = folder();
    let Some(mut session) = Session::start(place.path(), &["-I", "-c", "./sea", "mbox"]) else {
        return;
    };
    session.expect("3 msgs");
    assert_eq!(status(&mut session.hang_up()), 1);
}

#[test]
fn a_list_on_a_terminal_shows_control_bytes() {
    let place = folder();
    let mail = "From \x1b[2Jann Mon Jan  1 00:00:00 2024\nSubject: \x1b]0;x\x07\n\nsome words\n\n";
    fs::write(place.path().join("odd"), mail).expect("written");
    let Some(mut session) = Session::start(place.path(), &["-c", "./sea", "odd"]) else { return };
    session.wait("the list", |seen| seen.windows(7).any(|at| at == b"^[[2Jan"));
    session.wait("its end", |seen| seen.ends_with(b"\n"));
    assert!(!session.seen.contains(&0x1b), "{:?}", String::from_utf8_lossy(&session.seen));
    assert_eq!(session.status(), 1);
}

#[test]
fn a_list_that_cannot_be_written_is_an_error() {
    let place = folder();
    for more in [&[][..], &["--json"], &["--help"], &["-V"]] {
        let mut command = Command::new(MAILINSPECT);
        command.args(more).args(["-c", "./sea", "mbox"]).current_dir(place.path());
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let done = command.stdout(full).output().expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(74), "{more:?}: {said}");
        assert_eq!(
            said,
            "mailinspect:error: cannot write standard output: No space left on device (os error \
             28)\n"
        );
    }
}

#[test]
fn without_a_terminal_the_interactive_mode_is_refused() {
    let place = folder();
    let output = Command::new(MAILINSPECT)
        .args(["-I", "-c", "./sea", "mbox"])
        .current_dir(place.path())
        .env_remove("DBACL_PATH")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(message.starts_with("mailinspect:error: option -I needs a terminal"), "{message}");
}

#[test]
fn exact_scores_are_the_classifier_s() {
    let place = folder();
    assert_eq!(exact_costs(place.path(), MBOX.as_bytes()).len(), 3);
}

#[test]
fn mails_in_any_character_set_are_ranked_as_unicode_text() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for kind in ["email:unicode"] {
        let options = ["-T", kind, "-e", "word"];
        learn(place.path(), &options, "sea", "\nкрасная лодка стоит в гавани\n");
        // The same words in UTF-8, KOI8-R and as a page; then others.
        let mut mbox = Vec::new();
        for (header, text) in [
            ("", "Красная лодка\n".as_bytes()),
            (
                "Content-Type: text/plain; charset=koi8-r\n",
                b"\xeb\xd2\xc1\xd3\xce\xc1\xd1 \xcc\xcf\xc4\xcb\xc1\n",
            ),
            (
                "Content-Type: text/html; charset=utf-8\n\
                 Content-Transfer-Encoding: quoted-printable\n",
                b"<b>=D0=9A=D1=80</b>=D0=B0=D1=81=D0=BD=D0=B0=D1=8F \
                  &#1083;=D0=BE=D0=B4=D0=BA=D0=B0\n",
            ),
            ("", "картошка с солью\n".as_bytes()),
        ] {
            mbox.extend_from_slice(b"From a@x Mon Jan  5 10:00:00 2004\nFrom: a@x\n");
            mbox.extend_from_slice(header.as_bytes());
            mbox.push(b'\n');
            mbox.extend_from_slice(text);
            mbox.push(b'\n');
        }
        fs::write(place.path().join("mbox"), &mbox).expect("written");
        let costs = exact_costs(place.path(), &mbox);
        assert_eq!(costs.len(), 4, "{kind}: {costs:?}");
        assert!(costs[1] == costs[0] && costs[2] == costs[0], "{kind}: {costs:?}");
        assert_ne!(costs[3], costs[0], "{kind}");
    }
}
