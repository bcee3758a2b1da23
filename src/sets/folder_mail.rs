// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the mail of a folder: the features of each message, and where it was.

use super::error::{MailFilterError, unless_stopped};
use super::mail_folders::{MailLearnOptions, ProgressSink};
use super::mailboxes::MailFile;
use super::message::Gathering;
use super::misfiled::Place;
use crate::document::{Cutter, FeatureReader, FeatureSink, LineState, ReadOptions};
use crate::error::{Error, Warning};
use crate::fit::beginning::{LIMIT, MailLines};
use crate::input::source::{self, Operand, Source};
use crate::mail::contents::{self, Contents};
use crate::mail::day::{day_in, day_of};
use crate::mail::from_line::FROM;
use crate::mail::mailbox::{Boundaries, begins_message};
use crate::mail::scanner::{Holds, form_of};
use crate::parallel;
use crate::store::Document;
use crate::token::Feature;
use dbacl_files::reading::if_there;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// The mail of a folder.
#[derive(Default)]
pub(super) struct FolderMail {
    /// Its messages that have features.
    pub documents: Vec<Document>,
    /// Where each of them was.
    pub places: Vec<Place>,
    pub warnings: Vec<Warning>,
}

impl FolderMail {
    /// Adds the mail of further files.
    fn append(&mut self, other: Self) {
        self.documents.extend(other.documents);
        self.places.extend(other.places);
        self.warnings.extend(other.warnings);
    }
}

/// Files of a folder that one processor reads in a row.
const PIECE: usize = 64;

/// How the files of all folders are read.
pub(super) struct Reading<'a> {
    options: &'a ReadOptions,
    stop: &'a AtomicBool,
    progress: Option<&'a ProgressSink>,
    /// The first day whose mail is learned.
    since: Option<i64>,
    done: AtomicU64,
    total: u64,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        options: &'a ReadOptions,
        how: &'a MailLearnOptions,
        files: &[Vec<MailFile>],
    ) -> Self {
        let length = |file: &MailFile| std::fs::metadata(&file.path).map_or(0, |found| found.len());
        Self {
            options,
            stop: &how.set.stop,
            progress: how.progress.as_ref(),
            since: how.since,
            done: AtomicU64::new(0),
            total: files.iter().flatten().map(length).sum(),
        }
    }

    /// Reads the mail of folders, whose labels are their places in `folders`, on all processors.
    ///
    /// # Errors
    /// That of the first file that cannot be read.
    pub(super) fn read(&self, folders: &[Vec<MailFile>]) -> Result<Vec<FolderMail>> {
        let pieces: Vec<(usize, usize)> = (0..)
            .zip(folders)
            .flat_map(|(label, files)| (0..files.len()).step_by(PIECE).map(move |at| (label, at)))
            .collect();
        let read = parallel::try_all(pieces.len(), |piece| {
            let (label, start) = pieces[piece];
            self.read_piece(&folders[label], start, u8::try_from(label).unwrap_or(u8::MAX))
        })?;
        let mut all: Vec<FolderMail> = folders.iter().map(|_| FolderMail::default()).collect();
        let mut others = vec![Vec::new(); folders.len()];
        for (&(label, _), (found, not_mail)) in pieces.iter().zip(read) {
            all[label].append(found);
            others[label].extend(not_mail);
        }
        for (found, others) in all.iter_mut().zip(&others) {
            found.warnings.extend(left_out(others));
        }
        Ok(all)
    }

    /// Reads the mail in a piece of `files` that begins at file number `start`; returns also files
    /// that are not mail.
    fn read_piece<'f>(
        &self,
        files: &'f [MailFile],
        start: usize,
        label: u8,
    ) -> Result<(FolderMail, Vec<(&'f MailFile, Contents)>)> {
        let mut sink = Messages { label, ..Messages::default() };
        let mut reader =
            FeatureReader::new(self.options).until(Some(self.stop)).of_beginnings(LIMIT);
        let mut others = Vec::new();
        for (number, file) in files.iter().enumerate().skip(start).take(PIECE) {
            unless_stopped(self.stop)?;
            let Some(found) = open_mail(file, self.stop, &mut others)? else { continue };
            let OpenMail { source, head, may_be_mailbox } = found;
            if let Some(since) = self.since {
                let is_mailbox = may_be_mailbox && form_of(&head).is_mailbox();
                if !is_mailbox && day_of(&head).is_some_and(|day| day < since) {
                    continue;
                }
                sink.age = is_mailbox.then(|| Age::new(since));
            }
            reader.start_anew();
            sink.may_be_mailbox = may_be_mailbox;
            sink.now.file = u32::try_from(number).unwrap_or(u32::MAX);
            let counted = Counted { reader: source.reader, reading: self };
            let source = Source { name: source.name, reader: Box::new(counted) };
            let ended = reader.read(source, &mut sink);
            // Counting cannot fail.
            if let Ok(Some(source)) | Err(source) = ended {
                let path = file.path.clone();
                return Err(MailFilterError::Unread { path, source });
            }
            let sight = std::mem::take(&mut sink.sight);
            sink.found.warnings.extend(sight.warning(&file.path));
        }
        unless_stopped(self.stop)?;
        Ok((sink.found, others))
    }
}

/// A file with mail, open at its beginning.
pub(super) struct OpenMail {
    pub source: Source<'static>,
    /// How it begins.
    pub head: Vec<u8>,
    /// Whether it may hold several messages.
    pub may_be_mailbox: bool,
}

/// Opens a file; `None` for one of a listing that is gone, or that is not mail: this one goes to
/// `others`.
pub(super) fn open_mail<'f>(
    file: &'f MailFile,
    stop: &AtomicBool,
    others: &mut Vec<(&'f MailFile, Contents)>,
) -> Result<Option<OpenMail>> {
    let Some(mut source) = open(file)? else { return Ok(None) };
    let head = beginning(&mut source, file, stop)?;
    let contents = Contents::of(&head[..head.len().min(contents::ENOUGH)]);
    match contents.objection() {
        Some(_) if file.is_listed => {
            others.push((file, contents));
            return Ok(None);
        }
        Some(what) if contents != Contents::Text => {
            return Err(MailFilterError::NotMail { path: file.path.clone(), what });
        }
        _ => {}
    }
    let may_be_mailbox = file.may_be_mailbox && (!file.is_listed || contents == Contents::Mailbox);
    Ok(Some(OpenMail { source, head, may_be_mailbox }))
}

/// Mail on standard input, one message or a mailbox.
pub(super) fn standard_input(stop: &AtomicBool) -> Result<(MailFile, OpenMail)> {
    let file = MailFile::named("standard input".into());
    let mut source = source::standard_input();
    let head = beginning(&mut source, &file, stop)?;
    Ok((file, OpenMail { source, head, may_be_mailbox: true }))
}

/// How a source begins. All of it is still to be read afterwards: a pipe cannot be opened a second
/// time.
fn beginning(source: &mut Source<'static>, file: &MailFile, stop: &AtomicBool) -> Result<Vec<u8>> {
    let mut head = vec![0; HEAD];
    let mut length = 0;
    while length < HEAD {
        match source.reader.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(_) if stop.load(Ordering::Relaxed) => return Err(MailFilterError::Stopped),
            // While nothing comes from a pipe, its reader looks for signals.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(MailFilterError::Unread { path: file.path.clone(), source });
            }
        }
    }
    head.truncate(length);
    let rest = std::mem::replace(&mut source.reader, Box::new(io::empty()));
    source.reader = Box::new(io::Cursor::new(head.clone()).chain(rest));
    Ok(head)
}

/// A warning that names files that were left out because they hold no mail.
pub(super) fn left_out(files: &[(&MailFile, Contents)]) -> Option<Warning> {
    let named: Vec<String> = files
        .iter()
        .take(NAMED)
        .map(|(file, contents)| {
            format!("{} ({})", file.path.display(), contents.objection().unwrap_or_default())
        })
        .collect();
    let were = match files.len() {
        0 => return None,
        1 => "1 file is not mail and was",
        all => &format!("{all} files are not mail and were"),
    };
    let more = files.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(Warning::new(format!("{were} left out: {}{more}", named.join(", "))))
}

/// Opens a file with mail; `None` for a file of a listing that has been removed meanwhile.
fn open(file: &MailFile) -> Result<Option<Source<'static>>> {
    let path = &file.path;
    if file.is_listed {
        let name = path.as_os_str().as_bytes().to_vec();
        let file = if_there(source::open_regular(path));
        let file = file.map_err(|source| MailFilterError::Source { path: path.clone(), source })?;
        return Ok(file.map(|file| Source { name, reader: Box::new(file) }));
    }
    match source::open(path.as_os_str(), &mut |_| {}) {
        Ok(Operand::File(source)) => Ok(Some(source)),
        Ok(Operand::Folder(_)) => Ok(None),
        Err(error) => Err(unopened(path, error)),
    }
}

/// Files without mail that a warning names.
const NAMED: usize = 3;

/// Number of bytes at the beginning of a message in which its day is looked for.
const HEAD: usize = 1 << 16;

/// Leaves out those messages of a mailbox that are too old.
struct Age {
    since: i64,
    boundaries: Boundaries,
    is_old: bool,
    /// How many messages in a row have just been left out because of their age.
    left_out: u32,
}

impl Age {
    fn new(since: i64) -> Self {
        Self { since, boundaries: Boundaries::default(), is_old: false, left_out: 0 }
    }

    /// Whether the next line belongs to a message that is too old.
    fn leaves_out(&mut self, line: &[u8]) -> bool {
        if self.boundaries.begins(line) && begins_message(line) {
            self.is_old = day_in(line).is_some_and(|day| day < self.since);
            self.left_out += u32::from(self.is_old);
        }
        self.is_old
    }
}

/// Reports how many bytes were read.
struct Counted<'a, R> {
    reader: R,
    reading: &'a Reading<'a>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        if let Some(progress) = self.reading.progress {
            let before = self.reading.done.fetch_add(read as u64, Ordering::Relaxed);
            progress(before + read as u64, self.reading.total);
        }
        Ok(read)
    }
}

/// What was seen of a source, without the messages that are too old.
#[derive(Default)]
struct Sight {
    bytes: usize,
    messages: u32,
    /// Lines that begin with `From `.
    from_lines: u32,
}

impl Sight {
    fn line(&mut self, line: &[u8]) {
        self.bytes += line.len();
        self.from_lines += u32::from(line.strip_prefix(b">").unwrap_or(line).starts_with(FROM));
    }

    /// A warning about a file that looks like a mailbox and gave one message.
    fn warning(&self, path: &Path) -> Option<Warning> {
        let is_odd = self.messages == 1 && self.from_lines > 1 && self.bytes > ODD;
        is_odd.then(|| {
            Warning::new(format!(
                "{}: one message of {} kB, though several lines begin with \"From \"; if it is a \
                 mailbox, let your mail program export it as mbox",
                path.display(),
                self.bytes / 1000
            ))
        })
    }
}

/// Bytes of a single message that are odd in a file with several lines `From `.
const ODD: usize = 100_000;

/// Gathers the messages of sources that may be mailboxes.
#[derive(Default)]
struct Messages {
    label: u8,
    found: FolderMail,
    gathering: Gathering,
    mail: MailLines,
    /// The source may be a mailbox; its first line says whether it is one.
    may_be_mailbox: bool,
    /// Whether a message begins with this line.
    begins: bool,
    /// The file that is being read, and the message of it that has begun last.
    now: Place,
    /// Finds the messages of a mailbox that are too old.
    age: Option<Age>,
    sight: Sight,
}

impl Messages {
    fn end_message(&mut self) {
        if let Some(message) = self.gathering.finish() {
            let document = message.document(self.label);
            self.found.places.push(Place { id: document.name(), ..self.now });
            self.found.documents.push(document);
        }
    }
}

impl FeatureSink for Messages {
    fn holds(&self) -> Option<Holds> {
        Some(if self.may_be_mailbox { Holds::Mailbox } else { Holds::One })
    }

    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        if self.age.as_mut().is_some_and(|age| age.leaves_out(line)) {
            return Ok(false);
        }
        self.sight.line(line);
        self.begins = self.mail.begins(line, self.may_be_mailbox);
        // A verdict in the header does not count: corrections leave it out.
        Ok(self.mail.hold(line))
    }

    fn text(&mut self, _: &[u8], state: LineState, cutter: &mut Cutter) -> io::Result<()> {
        if !state.is_late && std::mem::take(&mut self.begins) {
            self.end_message();
            cutter.restart();
            let left_out = self.age.as_mut().map_or(0, |age| std::mem::take(&mut age.left_out));
            self.now.mail += 1 + left_out;
            self.sight.messages += 1;
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.gathering.add(&feature);
    }

    fn end_of_source(&mut self, _: &[u8], cutter: &mut Cutter) -> io::Result<()> {
        self.end_message();
        self.begins = false;
        self.mail.restart();
        cutter.restart();
        self.now.mail = 0;
        Ok(())
    }
}

/// The error of the mail at `path`, which cannot be opened; it names the file or folder within
/// that mail that is the reason.
pub(super) fn unopened(path: &Path, error: Error) -> MailFilterError {
    let (path, source) = match error {
        Error::Io { path, source } => (path, source),
        other => (path.to_path_buf(), io::Error::other(other)),
    };
    MailFilterError::Source { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_of_a_file_with_several_from_lines_is_odd() {
        let text = "text\n".repeat(ODD / 5);
        for (lines, messages, is_odd) in [
            (["From a\n", &text, ">From b\n", "x\n"], 1, true),
            (["From a\n", &text, ">From b\n", "x\n"], 2, false),
            (["From a\n", &text, "x\n", "x\n"], 1, false),
            (["From a\n", "x\n", "From b\n", "x\n"], 1, false),
        ] {
            let mut sight = Sight { messages, ..Sight::default() };
            for line in lines {
                sight.line(line.as_bytes());
            }
            let warning = sight.warning(Path::new("Inbox"));
            assert_eq!(warning.is_some_and(|it| it.0.starts_with("Inbox: one")), is_odd);
        }
    }
}
