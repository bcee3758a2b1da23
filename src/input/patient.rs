// SPDX-License-Identifier: GPL-3.0-or-later
//! Waiting for pipes and terminals so that a signal is noticed: a plain read goes on waiting after
//! one, and a program that has caught it would not end before the next line comes.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a signal that comes just before the wait can stay unnoticed.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A reader whose reads fail with [`io::ErrorKind::Interrupted`] after a signal, and from time to
/// time while nothing comes.
pub(crate) struct Patient<R>(pub R);

impl<R: Read + AsFd> Read for Patient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut wanted = [PollFd::new(&self.0, PollFlags::IN)];
        if poll(&mut wanted, Some(&PATIENCE))? == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.0.read(buffer) {
            // Somebody else was quicker.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::ErrorKind::Interrupted.into())
            }
            read => read,
        }
    }
}

/// An input that counts as ended once `stop` is set, for callers that read on after a signal, as a
/// buffered reader does.
pub(crate) struct UntilStopped<'a> {
    /// The input, whose reads are interrupted by signals.
    pub input: Box<dyn Read + 'a>,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
}

impl Read for UntilStopped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            match self.input.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};

    #[test]
    fn a_pipe_is_read_and_silence_interrupts() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut patient = Patient(reader);
        let mut buffer = [0; 8];
        writer.write_all(b"text").unwrap();
        assert_eq!(patient.read(&mut buffer).unwrap(), 4);
        let error = patient.read(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        drop(writer);
        assert_eq!(patient.read(&mut buffer).unwrap(), 0);
    }

    #[test]
    fn a_silent_pipe_ends_when_reading_is_to_stop() {
        let (reader, mut writer) = io::pipe().unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let input = Box::new(Patient(reader));
                let mut lines = BufReader::new(UntilStopped { input, stop: &stop }).lines();
                let first = lines.next().unwrap().unwrap();
                stop.store(true, Ordering::Relaxed);
                (first, lines.next().is_none())
            });
            writer.write_all(b"line\n").unwrap();
            assert_eq!(reading.join().unwrap(), ("line".into(), true));
        });
    }
}
