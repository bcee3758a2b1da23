// SPDX-License-Identifier: GPL-3.0-or-later
//! Hostile mail through the real program: time grows linearly, memory stays bounded, nothing
//! crashes.
//!
//! Each kind of mail is generated at two sizes, and read as dbacl 1.14.1 does and as Unicode text.
//! Processor time at four times the size may be [`GROWTH`] times as long; quadratic work would make
//! it sixteen times. Memory may grow with the longest line and with nothing else.
//! `DBACL_HOSTILE=1` adds a line of 1 GB.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Permitted ratio of processor times at sizes 1 : 4.
const GROWTH: f64 = 8.0;

/// Processor times below this are noise and count as this, seconds.
const NOISE: f64 = 0.1;

/// Memory that every run may take, MB: the program, its tables, the fit.
const BASE: u64 = 80;

/// Clock ticks a second of `/proc`, the same on all Linux systems.
const TICKS: f64 = 100.0;

/// A kind of hostile mail.
struct Kind {
    name: &'static str,
    /// Writes the mail at a size.
    write: fn(&mut dyn Write, usize) -> io::Result<()>,
    /// The full size.
    size: usize,
    /// Memory beyond [`BASE`] at full size, MB.
    memory: u64,
}

const HEAD: &str = "From ann@example.org Mon Jan  1 10:00:00 2024\nSubject: hello\n";

const fn kind(
    name: &'static str,
    size: usize,
    memory: u64,
    write: fn(&mut dyn Write, usize) -> io::Result<()>,
) -> Kind {
    Kind { name, write, size, memory }
}

/// What was used up by a run.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// Processor time, seconds.
    time: f64,
    /// Largest resident set, MB.
    memory: u64,
}

/// A line of `bytes` bytes made of `unit`, without an end.
fn long(out: &mut dyn Write, unit: impl AsRef<[u8]>, bytes: usize) -> io::Result<()> {
    let unit = unit.as_ref();
    let block = unit.repeat((1 << 16) / unit.len() + 1);
    let mut left = bytes;
    while left > 0 {
        let length = left.min(block.len());
        out.write_all(&block[..length])?;
        left -= length;
    }
    Ok(())
}

const MB: usize = 1 << 20;

const KINDS: &[Kind] = &[
    kind("headers", 500_000, 0, |out, size| {
        write!(out, "{HEAD}")?;
        (0..size).try_for_each(|at| writeln!(out, "X-Field-{at}: value{} of it", at % 977))
    }),
    kind("one header of many lines", 500_000, 0, |out, size| {
        writeln!(out, "{HEAD}To: a@example.org,")?;
        (0..size).try_for_each(|at| writeln!(out, "\tb{}@example.org,", at % 977))
    }),
    kind("parts", 200_000, 0, |out, size| {
        write!(out, "{HEAD}Content-Type: multipart/mixed; boundary=\"b\"\n\n")?;
        (0..size).try_for_each(|_| write!(out, "--b\nContent-Type: text/plain\n\na part\n"))
    }),
    kind("parts inside parts", 200_000, 0, |out, size| {
        write!(out, "{HEAD}")?;
        for depth in 0..size {
            write!(
                out,
                "Content-Type: multipart/mixed; boundary=\"b{depth}\"\n\ntext\n--b{depth}\n"
            )?;
        }
        write!(out, "Content-Type: text/html\n\n<b>deep</b>\n")?;
        (0..size).rev().try_for_each(|depth| write!(out, "--b{depth}--\nafter\n"))
    }),
    kind("messages inside messages", 500_000, 0, |out, size| {
        write!(out, "{HEAD}")?;
        (0..size).try_for_each(|_| write!(out, "Content-Type: message/rfc822\n\nSubject: inner\n"))
    }),
    kind("a long boundary", 2_000_000, 40, |out, size| {
        write!(out, "{HEAD}Content-Type: multipart/mixed; boundary=\"")?;
        long(out, "b", size)?;
        write!(out, "\"\n\n")?;
        for _ in 0..20 {
            write!(out, "--")?;
            long(out, "b", size)?;
            write!(out, "\n\ntext\n")?;
        }
        Ok(())
    }),
    kind("messages", 200_000, 0, |out, size| {
        (0..size).try_for_each(|at| write!(out, "{HEAD}\nmessage{}\n\n", at % 977))
    }),
    kind("a line of words", 64 * MB, 400, |out, size| {
        writeln!(out, "{HEAD}")?;
        long(out, "some words that fill a line ", size)
    }),
    kind("a line of one word", 64 * MB, 400, |out, size| {
        writeln!(out, "{HEAD}")?;
        long(out, "x", size)
    }),
    kind("a header of one line", 64 * MB, 400, |out, size| {
        write!(out, "From: ")?;
        long(out, "some words that fill a line ", size)?;
        write!(out, "\n\ntext\n")
    }),
    kind("a line of base64", 64 * MB, 400, |out, size| {
        write!(out, "{HEAD}Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n")?;
        long(out, "aGVsbG8gd29ybGQg", size)
    }),
    kind("a line of HTML", 64 * MB, 400, |out, size| {
        write!(out, "{HEAD}Content-Type: text/html\n\n")?;
        long(out, "<a href=\"http://example.org/?a=1&amp;b\">&eacute;<i ", size)
    }),
    kind("tags that never close", 64 * MB, 400, |out, size| {
        write!(out, "{HEAD}Content-Type: text/html\n\n")?;
        long(out, "<!--<a href='<!", size)
    }),
    kind("entities that never end", 16 * MB, 120, |out, size| {
        write!(out, "{HEAD}Content-Type: text/html\n\n")?;
        long(out, "&#x&amp&#", size)
    }),
    kind("newlines in links", 300_000, 0, |out, size| {
        write!(out, "{HEAD}Content-Type: text/html\n\n")?;
        (0..size).try_for_each(|_| write!(out, "<a href=\"http://example.\norg/\n>"))
    }),
    kind("encoded words that never end", 800_000, 80, |out, size| {
        write!(out, "Subject: ")?;
        long(out, "=?utf-8?B?", 10 * size)?;
        write!(out, "\nFrom: ")?;
        long(out, "=?x?Q?a ", 8 * size)?;
        write!(out, "\n\n")
    }),
    kind("encoded words on lines", 800_000, 0, |out, size| {
        writeln!(out, "Subject: one")?;
        (0..size).try_for_each(|_| writeln!(out, " =?utf-8?Q?=C3=A9t=C3"))
    }),
    kind("zero bytes", 16 * MB, 40, |out, size| {
        writeln!(out, "{HEAD}")?;
        long(out, "\0\0\0word\0 ", size)
    }),
    kind("base64 of equals signs", 2_000_000, 0, |out, size| {
        write!(out, "{HEAD}Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n")?;
        (0..size).try_for_each(|_| writeln!(out, "===================="))
    }),
    kind("base64 cut anywhere", 1_000_000, 0, |out, size| {
        write!(out, "{HEAD}Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n")?;
        (0..size).try_for_each(|at| writeln!(out, "{}", &"PGEgaHJlZj0iaHR0cDovL2V4"[..at % 24]))
    }),
    kind("quoted-printable of equals signs", 64 * MB, 400, |out, size| {
        let encoding = "Content-Transfer-Encoding: quoted-printable";
        write!(out, "{HEAD}Content-Type: text/plain\n{encoding}\n\n")?;
        long(out, "==4=ZZ=\r=", size)
    }),
    kind("soft line ends", 300_000, 0, |out, size| {
        let encoding = "Content-Transfer-Encoding: quoted-printable";
        write!(out, "{HEAD}Content-Type: text/plain\n{encoding}\n\n")?;
        (0..size).try_for_each(|_| writeln!(out, "never a word's end="))
    }),
    kind("uuencode that is none", 1_000_000, 0, |out, size| {
        write!(out, "{HEAD}\nbegin 644 file\n")?;
        (0..size).try_for_each(|at| {
            if at % 3 == 0 { writeln!(out, "begin 644 f") } else { writeln!(out, "M=5%#`~\x7f") }
        })
    }),
    kind("bytes without sense", 16 * MB, 40, |out, size| {
        let mut state = 0x2545_f491u32;
        let mut block = vec![0; 1 << 16];
        for _ in 0..size >> 16 {
            for byte in &mut block {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                *byte = state.to_le_bytes()[1];
            }
            out.write_all(&block)?;
        }
        Ok(())
    }),
    kind("marks on one letter", 16 * MB, 80, |out, size| {
        part(out, "utf-8")?;
        long(out, "\u{301}\u{327}\u{94d}\u{20dd}", size)
    }),
    kind("words that look like others", 16 * MB, 80, |out, size| {
        part(out, "utf-8")?;
        long(out, "\u{440}\u{430}\u{443}\u{440}\u{430}l \u{441}\u{43e}\u{440}\u{435} ", size)
    }),
    kind("characters that become many", 4 * MB, 80, |out, size| {
        part(out, "utf-8")?;
        long(out, "\u{fdfa}", size)
    }),
    kind("overrides of the direction", 16 * MB, 80, |out, size| {
        part(out, "utf-8")?;
        long(out, "\u{202e}txet\u{202c}\u{2066}", size)
    }),
    kind("characters of a script without blanks", 16 * MB, 80, |out, size| {
        part(out, "utf-8")?;
        long(out, "\u{4e2d}", size)
    }),
    kind("UTF-8 that is none", 16 * MB, 80, |out, size| {
        part(out, "utf-8")?;
        long(out, b"\xed\xa0\x80\xc0\xaf\xf0\x9fx", size)
    }),
    kind("letters of no declared character set", 16 * MB, 80, |out, size| {
        writeln!(out, "{HEAD}")?;
        long(out, b"\xf0\xd2\xc9\xd7\xc5\xd4 ", size)
    }),
    kind("shifts of UTF-7", 16 * MB, 80, |out, size| {
        part(out, "utf-7")?;
        long(out, "+2D0-+////", size)
    }),
    kind("shifts of ISO-2022-JP", 16 * MB, 80, |out, size| {
        part(out, "iso-2022-jp")?;
        long(out, "\u{1b}$B\u{1b}(B\u{1b}$Z", size)
    }),
    kind("characters of GB18030 cut off", 16 * MB, 80, |out, size| {
        part(out, "gb18030")?;
        long(out, b"\x81\x30\x81\xff", size)
    }),
    kind("hidden elements inside others", 16 * MB, 80, |out, size| {
        write!(out, "{HEAD}Content-Type: text/html; charset=utf-8\n\n")?;
        long(out, "<span style=\"display:none\">x<b ", size)
    }),
    kind("8-bit letters in a header", 16 * MB, 80, |out, size| {
        write!(out, "Subject: ")?;
        long(out, b"\xf0\xd2\xc9 ", size)?;
        write!(out, "\n\n")
    }),
    kind("parameters in pieces", 16 * MB, 120, |out, size| {
        write!(out, "Content-Type: text/plain; ")?;
        long(out, "name*0*=utf-8''%D0%BF; ", size)?;
        write!(out, "\n\ntext\n")
    }),
];

/// The beginning of a message with one part of plain text in a character set.
fn part(out: &mut dyn Write, charset: &str) -> io::Result<()> {
    let encoding = "Content-Transfer-Encoding: 8bit";
    write!(out, "{HEAD}Content-Type: text/plain; charset={charset}\n{encoding}\n\n")
}

/// The options of each way to read mail.
const READINGS: [(&str, &str); 2] = [
    ("bytes", "-T email -T email:headers -T email:xheaders -T html:links -T html:comments -w 2"),
    (
        "Unicode",
        "-T email:unicode -T email:headers -T email:theaders -T html:links -T html:alt -e word",
    ),
];

/// Runs the program on a file and measures it.
#[allow(clippy::zombie_processes)] // a test that fails meanwhile fails
fn measure(folder: &Path, args: &[&str], file: &Path) -> (Usage, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbacl"));
    command.args(args).arg(file).current_dir(folder).env_clear().env("LC_ALL", "C");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let process = format!("/proc/{}", child.id());
    let mut memory = 0;
    loop {
        let status = fs::read_to_string(format!("{process}/status")).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(peak) = peak {
            let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
            memory = memory.max(kilobytes / 1024);
        }
        // A process that has ended keeps its times until it is waited for.
        let stat = fs::read_to_string(format!("{process}/stat")).unwrap();
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
        if fields[0] == "Z" {
            let ticks: u32 = fields[11..13].iter().map(|ticks| ticks.parse::<u32>().unwrap()).sum();
            let status = child.wait().unwrap();
            let code =
                status.code().unwrap_or_else(|| panic!("{args:?} {}: {status}", file.display()));
            return (Usage { time: f64::from(ticks) / TICKS, memory }, code);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn generate(folder: &Path, kind: &Kind, size: usize) -> std::path::PathBuf {
    let path = folder.join(format!("mail-{size}"));
    let mut out = BufWriter::with_capacity(1 << 16, fs::File::create(&path).unwrap());
    (kind.write)(&mut out, size).unwrap();
    out.flush().unwrap();
    path
}

/// A folder with the categories `one` and `two`, learned in a way of reading.
fn learned(learn: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text_file = folder.path().join("text");
    for (category, text) in
        [("./one", "a text of some words"), ("./two", "another text, more words")]
    {
        fs::write(&text_file, format!("{HEAD}\n{text}\n")).unwrap();
        let args = [learn, &["-l", category]].concat();
        assert_eq!(measure(folder.path(), &args, &text_file).1, 0);
    }
    folder
}

/// Learns and classifies kinds at both sizes, read in each way; returns what is wrong.
fn complaints(kinds: &[Kind]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (reading, options) in READINGS {
        let mut learn: Vec<&str> = options.split(' ').collect();
        learn.extend(["--keep-nul", "-h", "14", "--quiet"]);
        let folder = learned(&learn);
        learn.extend(["-l", "./new"]);
        for kind in kinds {
            let found = complaints_of(kind, folder.path(), reading, &learn);
            // A busy machine can spoil a measurement once.
            if !found.is_empty() {
                complaints.extend(complaints_of(kind, folder.path(), reading, &learn));
            }
        }
    }
    complaints
}

fn complaints_of(kind: &Kind, folder: &Path, reading: &str, learn: &[&str]) -> Vec<String> {
    const CLASSIFY: &[&str] =
        &["--strict", "--keep-nul", "--quiet", "-nv", "-c", "./one", "-c", "./two"];
    // Programs built without optimisation are slow, so they get smaller messages.
    let size = if cfg!(debug_assertions) { kind.size / 16 } else { kind.size };
    let (small, large) = (generate(folder, kind, size / 4), generate(folder, kind, size));
    let mut complaints = Vec::new();
    for (what, args) in [("learning", learn), ("classifying", CLASSIFY)] {
        let (less, _) = measure(folder, args, &small);
        let (more, status) = measure(folder, args, &large);
        let ratio = more.time.max(NOISE) / less.time.max(NOISE);
        println!(
            "{:38} {reading:8} {what:12} {:6.2} s {:5.1}x {:5} MB",
            kind.name, more.time, ratio, more.memory
        );
        if status != 0 {
            complaints.push(format!("{}, {reading}: {what} ends with {status}", kind.name));
        }
        if ratio > GROWTH {
            complaints.push(format!("{}, {reading}: {what}: {less:?}, then {more:?}", kind.name));
        }
        if more.memory > BASE + kind.memory {
            complaints.push(format!("{}, {reading}: {what} takes {} MB", kind.name, more.memory));
        }
    }
    for file in [small, large] {
        fs::remove_file(file).unwrap();
    }
    complaints
}

#[test]
fn hostile_mail_takes_linear_time_and_bounded_memory() {
    let complaints = complaints(KINDS);
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn a_line_of_a_gigabyte() {
    if std::env::var_os("DBACL_HOSTILE").is_none() {
        return;
    }
    let line = kind("a line of 1 GB", 1024 * MB, 6000, |out, size| {
        writeln!(out, "{HEAD}")?;
        long(out, "some words that fill a line ", size)
    });
    let complaints = complaints(&[line]);
    assert!(complaints.is_empty(), "{complaints:#?}");
}
