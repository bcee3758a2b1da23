// SPDX-License-Identifier: GPL-3.0-or-later
//! Sends mail to a running server at a steady rate, over the protocol of spamc, and says how long
//! the answers take, counted from when each message was due.
//!
//! `load SOCKET RATE SECONDS USERS MAIL...`: so many messages a second, for users `user0`, `user1`
//! and so on in an order that looks random; 0 users stands for the default filter.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Connections at a time.
const THREADS: usize = 8;

fn ask(socket: &str, user: &str, mail: &[u8]) -> std::io::Result<bool> {
    let length = mail.len();
    let head = format!("PROCESS SPAMC/1.5\r\nUser: {user}\r\nContent-length: {length}\r\n\r\n");
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(mail)?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let is_whole = answer.len() > mail.len() && answer.starts_with(b"SPAMD/1.1 0 EX_OK");
    let header = String::from_utf8_lossy(&answer[..answer.len().min(300)]).into_owned();
    Ok(is_whole && header.contains("X-DBACL: ") && !header.contains("X-DBACL: error"))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let socket = arguments.next().expect("SOCKET RATE SECONDS USERS MAIL...");
    let mut number =
        || arguments.next().and_then(|text| text.parse::<u64>().ok()).expect("a number");
    let (rate, seconds, users) = (number(), number(), number());
    let mails: Vec<Vec<u8>> =
        arguments.map(|name| std::fs::read(&name).expect("a readable mail")).collect();
    assert!(!mails.is_empty(), "no mail is given");
    let (next, failures) = (AtomicU64::new(0), AtomicU64::new(0));
    let times = Arc::new(Mutex::new(Vec::new()));
    let (count, start) = (rate * seconds, Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= count {
                        return;
                    }
                    let due = start + Duration::from_micros(number * 1_000_000 / rate);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
                    let user =
                        mixed.checked_rem(users).map_or_else(String::new, |at| format!("user{at}"));
                    let mail = &mails[usize::try_from(number).expect("small") % mails.len()];
                    if !ask(&socket, &user, mail).unwrap_or(false) {
                        failures.fetch_add(1, Relaxed);
                    }
                    times.lock().expect("no panic").push(due.elapsed());
                }
            });
        }
    });
    let mut times = std::mem::take(&mut *times.lock().expect("no panic"));
    times.sort_unstable();
    let at = |share: f64| {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let place = (share * (times.len() - 1) as f64) as usize;
        times[place].as_secs_f64() * 1e3
    };
    println!(
        "{} mails at {rate}/s, {users} users: median {:.2} ms, p99 {:.2} ms, most {:.2} ms; {} \
         failed",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0),
        failures.load(Relaxed)
    );
}
