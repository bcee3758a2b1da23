// SPDX-License-Identifier: GPL-3.0-or-later
//! The interactive mode of mailinspect in a pseudo-terminal, and the batch mode beside the
//! classifier.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::time::Instant;

use dbacl_testing::{PATIENCE, Scratch, command, done, holds_soon, kill, skip, terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{Winsize, tcsetwinsize};

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
fn folder() -> Scratch {
    let place = Scratch::new();
    place.write("mbox", MBOX);
    for (name, text) in [
        ("sea", "Subject: boats\n\nthe red boat sails from the harbour before noon\n"),
        ("food", "Subject: supper\n\nbutter and salt on hot potatoes\n"),
    ] {
        learn(&place, "-T email", name, text);
    }
    place
}

/// Learns the category `name` in `place` from one message.
fn learn(place: &Scratch, options: &str, name: &str, text: &str) {
    place.write("learn", format!("From x@x\n{text}"));
    place.dbacl(&format!("{options} -l ./{name} learn")).output();
}

/// The number that a line of JSON has under `name`.
fn number(line: &str, name: &str) -> f64 {
    let (_, rest) = line.split_once(&format!("\"{name}\":")).expect("a member");
    rest.split([',', '}']).next().and_then(|text| text.parse().ok()).expect("a number")
}

/// Each mail of `mbox` costs under `./sea` what the classifier says; returns bits a token of each.
fn exact_costs(place: &Scratch, mbox: &[u8]) -> Vec<String> {
    let options = ["--exact", "--json", "-c", "./sea", "mbox"];
    let list = done(&mut place.program("mailinspect", options)).stdout;
    let exact = |line: &str| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small offset
        let (start, end) = (number(line, "start") as usize, number(line, "end") as usize);
        place.write("one", &mbox[start..end]);
        let per_token = place.dbacl("-c ./sea -vn one").stdout;
        let bits = number(line, "cost_per_token") / std::f64::consts::LN_2;
        let shown = format!("sea {bits:.2} * {:.1}", number(line, "tokens"));
        let classified = per_token.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(classified.starts_with(&shown), "{shown} in {classified}");
        let total = place.dbacl("-c ./sea -P -n one").stdout;
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
    seen: Vec<u8>,
}

impl Session {
    /// Starts mailinspect in `place`; `None` if there are no pseudo-terminals here.
    fn start(place: &Scratch, args: &[&str]) -> Option<Self> {
        let (terminal, side) = terminal::open("mailinspect on a terminal")?;
        let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).expect("a terminal has a size");
        let stdio = || Stdio::from(side.try_clone().expect("a descriptor"));
        // The program must not use the terminal on which the tests run.
        let child = command("setsid")
            .args(["-c", "-w", MAILINSPECT])
            .args(args)
            .current_dir(place.path(""))
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("PAGER", "tee paged")
            .env("HOME", place.path(""))
            .env_remove("NO_COLOR")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn();
        if child.is_err() {
            skip("mailinspect on a terminal", "no program setsid");
        }
        Some(Self { child: child.ok()?, terminal, seen: Vec::new() })
    }

    fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Takes in output until `is_there`.
    #[track_caller]
    fn wait(&mut self, wanted: &str, is_there: impl Fn(&[u8]) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut block = [0; 4096];
        while !is_there(&self.seen) {
            let mut waiting = [PollFd::new(&self.terminal, PollFlags::IN)];
            let moment = Timespec { tv_sec: 1, tv_nsec: 0 };
            let has_output = poll(&mut waiting, Some(&moment)).is_ok_and(|ready| ready > 0);
            // A terminal that nobody has open gives an error.
            let length = if has_output { self.terminal.read(&mut block).unwrap_or(0) } else { 0 };
            let goes_on = length > 0 || !has_output && Instant::now() < end;
            assert!(goes_on, "no {wanted:?} in:\n{}", screen(&self.seen).join("\n"));
            self.seen.extend_from_slice(&block[..length]);
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
    if !holds_soon(|| child.try_wait().expect("it can be waited for").is_some()) {
        let _ = child.kill();
        panic!("it goes on and on");
    }
    child.wait().expect("it has ended").code().expect("it ended by itself")
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
    place.write(".mailinspectrc", "F1 grep Subject >>by-key\n");
    let Some(mut session) = Session::start(&place, &["-I", "-c", "./sea", "mbox"]) else { return };
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
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap_or_default();
    assert!(read("piped").starts_with("From "), "{}", read("piped"));
    assert_eq!(read("by-key"), "Subject: lunch\n");
    assert!(read("paged").starts_with("From "), "{}", read("paged"));
    assert_eq!(read("mbox"), MBOX);
}

#[test]
fn a_terminated_session_leaves_the_terminal_in_order() {
    let place = folder();
    let args = ["-I", "-z", "-c", "./sea", "mbox"];
    let Some(mut session) = Session::start(&place, &args) else { return };
    session.expect("sorted(message cost, reversed)");
    kill(session.child.id(), "TERM");
    session.expect_end();
    assert_eq!(session.status(), 1);
}

#[test]
fn a_session_whose_terminal_goes_away_ends() {
    let place = folder();
    let Some(mut session) = Session::start(&place, &["-I", "-c", "./sea", "mbox"]) else { return };
    session.expect("3 msgs");
    let Session { mut child, terminal, .. } = session;
    drop(terminal);
    assert_eq!(status(&mut child), 1);
}

#[test]
fn a_list_on_a_terminal_shows_control_bytes() {
    let place = folder();
    let mail = "From \x1b[2Jann Mon Jan  1 00:00:00 2024\nSubject: \x1b]0;x\x07\n\nsome words\n\n";
    place.write("odd", mail);
    let Some(mut session) = Session::start(&place, &["-c", "./sea", "odd"]) else { return };
    session.wait("the list", |seen| seen.windows(7).any(|at| at == b"^[[2Jan"));
    session.wait("its end", |seen| seen.ends_with(b"\n"));
    assert!(!session.seen.contains(&0x1b), "{:?}", String::from_utf8_lossy(&session.seen));
    assert_eq!(session.status(), 1);
}

#[test]
fn a_list_that_cannot_be_written_is_an_error() {
    let place = folder();
    for more in [&[][..], &["--json"], &["--help"], &["-V"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let mut command = place.program("mailinspect", more);
        let done = done(command.args(["-c", "./sea", "mbox"]).stdout(full));
        assert_eq!(
            done.complaint(74),
            "mailinspect:error: cannot write standard output: No space left on device (os error \
             28)\n"
        );
    }
}

#[test]
fn without_a_terminal_the_interactive_mode_is_refused() {
    let place = folder();
    let done = done(&mut place.program("mailinspect", ["-I", "-c", "./sea", "mbox"]));
    assert_eq!((done.status, done.stdout.as_str()), (0, ""));
    let message = done.stderr;
    assert!(message.starts_with("mailinspect:error: option -I needs a terminal"), "{message}");
}

#[test]
fn exact_scores_are_the_classifier_s() {
    let place = folder();
    assert_eq!(exact_costs(&place, MBOX.as_bytes()).len(), 3);
}

#[test]
fn mails_in_any_character_set_are_ranked_as_unicode_text() {
    let place = Scratch::new();
    learn(&place, "-T email:unicode -e word", "sea", "\nкрасная лодка стоит в гавани\n");
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
    place.write("mbox", &mbox);
    let costs = exact_costs(&place, &mbox);
    assert_eq!(costs.len(), 4, "{costs:?}");
    assert!(costs[1] == costs[0] && costs[2] == costs[0], "{costs:?}");
    assert_ne!(costs[3], costs[0]);
}
