// SPDX-License-Identifier: GPL-3.0-or-later
//! Hostile mail through the real program: time grows linearly, memory stays bounded, nothing
//! crashes.
//!
//! Each kind of mail is generated at two sizes, and read as dbacl 1.14.1 does and as Unicode text.
//! Processor time at four times the size may be [`GROWTH`] times as long; quadratic work would make
//! it sixteen times. Memory may grow with the longest line and with nothing else.
//! `DBACL_HOSTILE=1` adds a line of 1 GB.

#![cfg(target_os = "linux")]

use dbacl_numeric::random::SplitMix64;
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

/// Writes a message of this size.
type Writer = dyn Fn(&mut dyn Write, usize) -> io::Result<()>;

/// A kind of hostile mail.
struct Kind {
    name: &'static str,
    /// The full size.
    size: usize,
    /// Memory beyond [`BASE`] at full size, MB.
    memory: u64,
    write: Box<Writer>,
}

fn kind(
    name: &'static str,
    size: usize,
    memory: u64,
    write: impl Fn(&mut dyn Write, usize) -> io::Result<()> + 'static,
) -> Kind {
    Kind { name, size, memory, write: Box::new(write) }
}

const HEAD: &str = "From ann@example.org Mon Jan  1 10:00:00 2024\nSubject: hello\n";

/// What was used up by a run.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// Processor time, seconds.
    time: f64,
    /// Largest resident set, MB.
    memory: u64,
}

/// `bytes` bytes made of `unit`.
fn long(out: &mut dyn Write, unit: &[u8], bytes: usize) -> io::Result<()> {
    let block = unit.repeat((1 << 16) / unit.len() + 1);
    let mut left = bytes;
    while left > 0 {
        let length = left.min(block.len());
        out.write_all(&block[..length])?;
        left -= length;
    }
    Ok(())
}

/// Kinds that repeat something after a beginning: name, full size in MB, memory beyond [`BASE`] in
/// MB, beginning, and what is repeated. `PART`, `CODE` and `CHARSET` stand for a part of this type,
/// transfer encoding or character set, `HEAD` for the usual header lines. If the beginning is in a
/// header, the header is ended after what is repeated, and a text follows.
const REPEATED: &[(&str, usize, u64, &str, &[u8])] = &[
    (
        "messages inside messages",
        23,
        0,
        "HEAD",
        b"Content-Type: message/rfc822\n\nSubject: inner\n",
    ),
    ("parts", 7, 0, "PART multipart/mixed; boundary=b", b"--b\nContent-Type: text/plain\n\npart\n"),
    ("a line of words", 64, 400, "HEAD\n", b"some words that fill a line "),
    ("a line of one word", 64, 400, "HEAD\n", b"x"),
    ("a header of one line", 64, 400, "From: ", b"some words that fill a line "),
    ("a line of base64", 64, 400, "CODE base64", b"aGVsbG8gd29ybGQg"),
    (
        "a line of HTML",
        64,
        400,
        "PART text/html",
        b"<a href='http://example.org/?a=1&amp;b'>&eacute;<i ",
    ),
    ("tags that never close", 64, 400, "PART text/html", b"<!--<a href='<!"),
    ("entities that never end", 16, 120, "PART text/html", b"&#x&amp&#"),
    ("newlines in links", 9, 0, "PART text/html", b"<a href=\"http://example.\norg/\n>"),
    ("encoded words on lines", 18, 0, "Subject: one\n", b" =?utf-8?Q?=C3=A9t=C3\n"),
    ("zero bytes", 16, 40, "HEAD\n", b"\0\0\0word\0 "),
    ("base64 of equals signs", 42, 0, "CODE base64", b"====================\n"),
    ("quoted-printable of equals signs", 64, 400, "CODE quoted-printable", b"==4=ZZ=\r="),
    ("soft line ends", 6, 0, "CODE quoted-printable", b"never a word's end=\n"),
    (
        "uuencode that is none",
        10,
        0,
        "HEAD\nbegin 644 a\n",
        b"begin 644 f\nM=5%#`~\x7f\nM=5%#`~\x7f\n",
    ),
    ("marks on one letter", 16, 80, "CHARSET utf-8", "\u{301}\u{327}\u{94d}\u{20dd}".as_bytes()),
    ("lookalikes", 16, 80, "CHARSET utf-8", "\u{440}\u{430}\u{443}\u{440}\u{430}l ".as_bytes()),
    ("characters that become many", 4, 80, "CHARSET utf-8", "\u{fdfa}".as_bytes()),
    ("overrides of direction", 16, 80, "CHARSET utf-8", "\u{202e}txet\u{202c}\u{2066}".as_bytes()),
    ("characters of a script without blanks", 16, 80, "CHARSET utf-8", "\u{4e2d}".as_bytes()),
    ("UTF-8 that is none", 16, 80, "CHARSET utf-8", b"\xed\xa0\x80\xc0\xaf\xf0\x9fx"),
    ("letters of no declared character set", 16, 80, "HEAD\n", b"\xf0\xd2\xc9\xd7\xc5\xd4 "),
    ("shifts of UTF-7", 16, 80, "CHARSET utf-7", b"+2D0-+////"),
    ("shifts of ISO-2022-JP", 16, 80, "CHARSET iso-2022-jp", b"\x1b$B\x1b(B\x1b$Z"),
    ("characters of GB18030 cut off", 16, 80, "CHARSET gb18030", b"\x81\x30\x81\xff"),
    ("nested hidden elements", 16, 80, "PART text/html", b"<span style=\"display:none\">x<b "),
    ("8-bit letters in a header", 16, 80, "Subject: ", b"\xf0\xd2\xc9 "),
    ("parameters in pieces", 16, 120, "Content-Type: text/plain; ", b"name*0*=utf-8''%D0%BF; "),
];

fn repeated(out: &mut dyn Write, head: &str, unit: &[u8], bytes: usize) -> io::Result<()> {
    let part = |kind: &str| format!("{HEAD}Content-Type: {kind}\n\n");
    let plain = "text/plain\nContent-Transfer-Encoding: ";
    let head = match head.split_once(' ') {
        Some(("PART", kind)) => part(kind),
        Some(("CODE", encoding)) => part(&format!("{plain}{encoding}")),
        Some(("CHARSET", name)) => part(&format!("text/plain; charset={name}")),
        _ => head.replace("HEAD", HEAD),
    };
    out.write_all(head.as_bytes())?;
    long(out, unit, bytes)?;
    if head.contains("\n\n") { Ok(()) } else { out.write_all(b"\n\ntext\n") }
}

const MB: usize = 1 << 20;

fn kinds() -> Vec<Kind> {
    let repeated = REPEATED.iter().map(|&(name, megabytes, memory, head, unit)| {
        kind(name, megabytes * MB, memory, move |out, size| repeated(out, head, unit, size))
    });
    repeated.chain(others()).collect()
}

/// Kinds that are made in another way.
fn others() -> [Kind; 8] {
    [
        kind("headers", 500_000, 0, |out, size| {
            write!(out, "{HEAD}")?;
            (0..size).try_for_each(|at| writeln!(out, "X-Field-{at}: value{} of it", at % 977))
        }),
        kind("one header of many lines", 500_000, 0, |out, size| {
            writeln!(out, "{HEAD}To: a@example.org,")?;
            (0..size).try_for_each(|at| writeln!(out, "\tb{}@example.org,", at % 977))
        }),
        kind("parts inside parts", 200_000, 0, |out, size| {
            write!(out, "{HEAD}")?;
            for depth in 0..size {
                let head = format!("Content-Type: multipart/mixed; boundary=\"b{depth}\"");
                write!(out, "{head}\n\ntext\n--b{depth}\n")?;
            }
            write!(out, "Content-Type: text/html\n\n<b>deep</b>\n")?;
            (0..size).rev().try_for_each(|depth| write!(out, "--b{depth}--\nafter\n"))
        }),
        kind("a long boundary", 2_000_000, 40, |out, size| {
            let boundary = "b".repeat(size);
            write!(out, "{HEAD}Content-Type: multipart/mixed; boundary=\"{boundary}\"\n\n")?;
            (0..20).try_for_each(|_| write!(out, "--{boundary}\n\ntext\n"))
        }),
        kind("messages", 200_000, 0, |out, size| {
            (0..size).try_for_each(|at| write!(out, "{HEAD}\nmessage{}\n\n", at % 977))
        }),
        kind("encoded words that never end", 800_000, 80, |out, size| {
            let (one, other) = ("=?utf-8?B?".repeat(size), "=?x?Q?a ".repeat(size));
            write!(out, "Subject: {one}\nFrom: {other}\n\n")
        }),
        kind("base64 cut anywhere", 1_000_000, 0, |out, size| {
            write!(out, "{HEAD}Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n")?;
            let cut = |at: usize| &"PGEgaHJlZj0iaHR0cDovL2V4"[..at % 24];
            (0..size).try_for_each(|at| writeln!(out, "{}", cut(at)))
        }),
        kind("bytes without sense", 16 * MB, 40, |out, size| {
            let mut random = SplitMix64::new(1);
            let mut byte = || u8::try_from(random.below(256)).expect("a byte");
            (0..size >> 12).try_for_each(|_| out.write_all(&[0; 1 << 12].map(|_| byte())))
        }),
    ]
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

/// A folder with the categories `one` and `two`, learned with these options.
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
        let is_bounded = ratio <= GROWTH && more.memory <= BASE + kind.memory;
        if status != 0 || !is_bounded {
            let (name, used) = (kind.name, format!("{less:?}, then {more:?}"));
            complaints.push(format!("{name}, {reading}: {what} ends with {status}: {used}"));
        }
    }
    for file in [small, large] {
        fs::remove_file(file).unwrap();
    }
    complaints
}

#[test]
fn hostile_mail_takes_linear_time_and_bounded_memory() {
    let mut kinds = kinds();
    if std::env::var_os("DBACL_HOSTILE").is_some() {
        kinds.push(kind("a line of 1 GB", 1024 * MB, 6000, |out, size| {
            repeated(out, "HEAD\n", b"some words that fill a line ", size)
        }));
    }
    let complaints = complaints(&kinds);
    assert!(complaints.is_empty(), "{complaints:#?}");
}
