// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads sources of labelled documents into a corpus, through the same filters and tokenizers as
//! scoring.

use super::super::failure::{Failure, Kind};
use super::super::inputs;
use super::super::jobs::Reading;
use super::super::signals::Signals;
use dbacl_cli::names::lossy;
use dbacl_corpus::{Fields, Format, Reading as Labelled, read_line};
use dbacl_engine::category::mapped::MappedCategory;
use dbacl_engine::document::{Cutter, FeatureSink, LineState, ReadOptions};
use dbacl_engine::input::source::open_regular;
use dbacl_engine::token::Feature;
use dbacl_joint::beginning::{LIMIT, MailLines};
use dbacl_joint::documents::{Corpus, CorpusBuilder};
use dbacl_mail::contents::{Contents, ENOUGH};
use dbacl_mail::scanner::Holds;
use dbacl_model::settings::ModelOption;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

/// What is a document in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A message of a mailbox, which begins with a `From ` line, else a file.
    Whole,
    Line,
    /// A line `LABEL<TAB>TEXT`.
    Tsv,
    /// A line with a JSON object that has `label` and `text`.
    Json,
}

impl Unit {
    /// The unit called `name` (`--documents`).
    pub fn by_name(name: &[u8]) -> Option<Self> {
        match name {
            b"files" | b"mbox" | b"whole" => Some(Self::Whole),
            b"lines" => Some(Self::Line),
            b"tsv" => Some(Self::Tsv),
            b"ndjson" | b"jsonl" => Some(Self::Json),
            _ => None,
        }
    }

    /// The unit of a file with labels of its own, by its name.
    pub fn by_extension(path: &Path) -> Option<Self> {
        Self::by_name(path.extension()?.as_encoded_bytes())
            .filter(|unit| matches!(unit, Self::Tsv | Self::Json))
    }
}

pub struct Reader<'a> {
    options: ReadOptions,
    documents: Documents<'a>,
}

/// The documents that were read, and the one that is being read.
struct Documents<'a> {
    corpus: CorpusBuilder,
    /// `None` where documents are no mail.
    mail: Option<MailLines>,
    /// Categories whose reference measures differ; else none.
    measured: &'a [MappedCategory],
    names: &'a [Vec<u8>],
    label: u32,
    unit: Unit,
    /// Whether the source may be a mailbox; its first line says whether it is one.
    may_be_mailbox: bool,
    /// Whether a message begins with this line.
    begins: bool,
    line: u64,
    /// How lines with labels are read, and room for what they spell.
    labelled: Labelled,
    fields: Fields,
    room: Vec<u8>,
    fault: Option<String>,
    /// How a source begins, where messages are learned: what is no mail is refused.
    head: Option<Vec<u8>>,
}

impl<'a> Reader<'a> {
    /// A reader for the tokens of categories that are called `names`. `measured` are the categories
    /// if their reference measures differ.
    pub fn new(
        reading: &mut Reading,
        measured: &'a [MappedCategory],
        names: &'a [Vec<u8>],
    ) -> Self {
        let documents = Documents {
            corpus: CorpusBuilder::default(),
            mail: reading.options.has(ModelOption::Mail).then(MailLines::default),
            measured,
            names,
            label: 0,
            unit: Unit::Whole,
            may_be_mailbox: false,
            begins: false,
            line: 0,
            labelled: Labelled::default(),
            fields: Fields::default(),
            room: Vec::new(),
            fault: None,
            head: None,
        };
        Self { options: reading.read_options(), documents }
    }

    /// Refuses messages that are none.
    pub fn refusing_others(mut self) -> Self {
        self.documents.head = self.documents.mail.is_some().then(Vec::new);
        self
    }

    /// Why what was read cannot be learned.
    pub fn fault(&mut self) -> Option<String> {
        self.documents.fault.take()
    }

    /// Reads the documents of `source`; `None` stands for standard input. Documents get `label`,
    /// unless the source has labels of its own.
    pub fn read(
        &mut self,
        reading: &mut Reading,
        signals: &Signals,
        source: Option<&OsStr>,
        unit: Unit,
        label: u32,
    ) -> Result<(), Failure> {
        let folder = source.map(Path::new).filter(|path| path.is_dir());
        if let (Unit::Tsv | Unit::Json, Some(path)) = (unit, source.map(Path::new)) {
            // A file with labels must be a regular file: opening a named pipe might wait for ever.
            open_regular(path).map_err(|error| {
                let text = format!("{}: {error}", path.display());
                Failure::new(Kind::of_reading(&error), text)
            })?;
        }
        let may_be_mailbox = folder.is_none();
        let operands = match (source, folder) {
            (_, Some(folder)) => messages_of(folder),
            (Some(source), None) => vec![source.to_owned()],
            (None, None) => Vec::new(),
        };
        self.read_operands(reading, signals, operands, (unit, label, may_be_mailbox))?;
        match self.documents.fault.take() {
            Some(fault) => {
                let name =
                    source.map_or_else(|| "stdin".into(), |name| lossy(name.as_encoded_bytes()));
                Err(Failure::new(Kind::Data, format!("{name}: {fault}")))
            }
            None => Ok(()),
        }
    }

    /// Reads the documents of `operands`. The last argument says what a document is, which label
    /// all get, and whether a file may be a mailbox.
    pub fn read_operands(
        &mut self,
        reading: &mut Reading,
        signals: &Signals,
        operands: Vec<OsString>,
        (unit, label, may_be_mailbox): (Unit, u32, bool),
    ) -> Result<(), Failure> {
        let documents = &mut self.documents;
        documents.unit = unit;
        documents.label = label;
        documents.may_be_mailbox = documents.mail.is_some() && may_be_mailbox;
        documents.line = 0;
        reading.operands = operands;
        // Lines as documents come without the two lines that end an input.
        reading.by_lines = unit != Unit::Whole;
        let mut reader = inputs::reader(reading, &self.options, signals);
        if documents.mail.is_some() && unit == Unit::Whole {
            reader = reader.of_beginnings(LIMIT);
        }
        inputs::read(reading, signals, &mut reader, documents, |_, _| Ok(()))
    }

    pub fn into_corpus(self) -> Corpus {
        self.documents.corpus.finish()
    }

    /// Adds documents that were read before.
    pub fn add(&mut self, corpus: &Corpus, label: u32) {
        self.documents.corpus.add(corpus, label);
    }
}

impl Documents<'_> {
    /// Ends the document; the next one is read as if it came alone.
    fn end_document(&mut self, cutter: &mut Cutter) {
        cutter.restart();
        self.corpus.end_document(self.label, self.measured);
    }

    /// Removes the label from a line; `Err` says what is wrong with it.
    fn unlabel(&mut self, line: &mut Vec<u8>) -> Result<bool, String> {
        let end =
            line.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
        if end == 0 {
            return Ok(false);
        }
        let format = match self.unit {
            Unit::Whole | Unit::Line => return Ok(true),
            Unit::Tsv => Format::Tsv,
            Unit::Json => Format::Ndjson,
        };
        let how = (format, &self.labelled);
        let text = read_line(&line[..end], how, &mut self.fields, &mut self.room);
        let mut text = text.map_err(|fault| fault.what)?.to_vec();
        let label = self.fields.label.as_bytes();
        let number = self.names.iter().position(|known| known == label);
        let number = number.and_then(|at| u32::try_from(at).ok());
        self.label = number.ok_or_else(|| format!("no category is called {}", lossy(label)))?;
        // Zero bytes would hide the rest of the text, so they become blanks.
        text.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
        *line = text;
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        Ok(true)
    }
}

/// The folders with the messages of `folder`: those of a Maildir, or itself.
fn messages_of(folder: &Path) -> Vec<OsString> {
    let parts = ["cur", "new"].map(|part| folder.join(part));
    if parts.iter().all(|part| part.is_dir()) {
        parts.into_iter().map(OsString::from).collect()
    } else {
        vec![folder.as_os_str().to_owned()]
    }
}

impl FeatureSink for Documents<'_> {
    fn holds(&self) -> Option<Holds> {
        let several = if self.may_be_mailbox { Holds::Mailbox } else { Holds::One };
        self.mail.as_ref().filter(|_| self.unit == Unit::Whole).map(|_| several)
    }

    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.line += 1;
        if let Some(head) = &mut self.head {
            let room = ENOUGH.saturating_sub(head.len());
            head.extend_from_slice(&line[..line.len().min(room)]);
        }
        if let Some(mail) = &mut self.mail {
            self.begins = mail.begins(line, self.may_be_mailbox);
            // A verdict that came with the mail must not become a feature.
            let is_read = if self.unit == Unit::Whole {
                mail.hold(line)
            } else {
                mail.restart_message();
                !mail.verdicts.contain(line)
            };
            if !is_read {
                return Ok(false);
            }
        }
        if self.fault.is_some() {
            return Ok(false);
        }
        match self.unlabel(line) {
            Ok(keep) => Ok(keep || self.unit == Unit::Whole),
            Err(fault) => {
                self.fault = Some(format!("line {}: {fault}", self.line));
                Ok(false)
            }
        }
    }

    fn text(&mut self, _: &[u8], state: LineState, cutter: &mut Cutter) -> io::Result<()> {
        if !state.is_late && std::mem::take(&mut self.begins) {
            self.end_document(cutter);
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.corpus.feature(&feature, self.measured);
    }

    fn end_of_line(&mut self, _: &[u8], cutter: &mut Cutter) -> io::Result<()> {
        if self.unit != Unit::Whole {
            self.end_document(cutter);
        }
        Ok(())
    }

    fn end_of_source(&mut self, _: &[u8], cutter: &mut Cutter) -> io::Result<()> {
        self.end_document(cutter);
        if let Some(head) = &mut self.head {
            let head = std::mem::take(head);
            if let Some(what) = Contents::refusal(&head) {
                let packed = if what.starts_with("compressed") { "; unpack it first" } else { "" };
                self.fault = Some(format!("this is not mail but {what}{packed}"));
            }
        }
        self.begins = false;
        if let Some(mail) = &mut self.mail {
            mail.restart();
        }
        Ok(())
    }
}
