// SPDX-License-Identifier: GPL-3.0-or-later
//! The ledger: the features of each learned document, in place of its text
//! (`docs/spec/ledger-format.md`).
//!
//! ```text
//! "# dbacl ledger 3\n"
//! head, 64 bytes        sizes, settings, checksums; rewritten whenever a document is added
//! names                 of the categories, each with its length and how it was learned
//! body                  one record for each document
//! ```
//!
//! A document is added behind the body, then the head is rewritten. If the program is killed in
//! between, there are bytes behind the body that the head does not count; the next addition
//! overwrites them.

pub use super::record::{Record, RecordHead, write_record, write_withdrawal};
use crate::fit::checksum::Checksum;
use crate::fit::documents::{Corpus, FeatureKind, Term};
use crate::learn::LearnSettings;
use crate::learn::reference::Reference;
use crate::learn::state::LearningState;
use crate::learn::table::MAX_BITS;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use byteorder::{ByteOrder, LittleEndian};
use hashbrown::{HashMap, HashSet};

/// How a ledger begins.
pub const MAGIC: &[u8] = b"# dbacl ledger 3\n";

/// How ledgers of any version begin.
pub const ANY_MAGIC: &[u8] = b"# dbacl ledger ";

/// Bytes of the head, without [`MAGIC`].
pub const HEAD: usize = 64;

/// Categories of a ledger at most.
pub const MAX_NAMES: usize = 255;

/// The settings by which the features of a ledger's documents were made. Features made by different
/// settings cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The options of the model that matter for features.
    pub options: ModelOptions,
    /// The tokenizing scheme.
    pub scheme: Scheme,
    /// Longest n-gram.
    pub order: u8,
    /// Checksum of the regular expressions; 0 without.
    pub patterns: u64,
}

/// Why a ledger cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It does not begin as one.
    Foreign,
    /// Another version of dbacl wrote it.
    Version,
    /// It ends before its head or body does.
    Cut,
    /// The checksum of the head and the names is wrong.
    Head,
    /// The checksum of the records is wrong.
    Body,
    /// A record has an impossible value.
    Record {
        /// Its number, from 0.
        document: u32,
    },
}

impl Fault {
    /// A text that says what is wrong.
    pub fn text(self) -> String {
        match self {
            Self::Foreign => "not a dbacl ledger".into(),
            Self::Version => {
                "a ledger of another version of dbacl: remove it and learn again with --keep".into()
            }
            Self::Cut => "the ledger is cut short".into(),
            Self::Head => "the ledger's head is damaged".into(),
            Self::Body => "the ledger's documents are damaged: learn them again".into(),
            Self::Record { document } => {
                format!("document {} is damaged: learn the documents again", document + 1)
            }
        }
    }
}

/// The settings by which a category was learned, as far as its ordinary file can be made again from
/// the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Learning {
    /// Whether the documents determine the ordinary file: single words and pairs of words, the
    /// uniform measure, no decimation, and no other file such as an online dump.
    pub is_plain: bool,
    /// Bits of the table's size at the start (`-h`).
    pub bits: u8,
    /// Bits up to which it may grow (`-H`).
    pub max_bits: Option<u8>,
    /// Quality of the fit (`-q`).
    pub quality: Option<u8>,
    /// The cut-off (`-z`).
    pub min_count: i32,
}

/// Bytes of [`Learning`].
const LEARNING: usize = 8;

impl Learning {
    /// How a category with this state is learned.
    pub fn of(settings: &LearnSettings, state: &LearningState, has_patterns: bool) -> Self {
        let is_plain = settings.reference == Reference::Uniform
            && state.max_order <= FeatureKind::PAIR
            && state.table.has_room(state.used)
            && !state.is_multinomial()
            && !state.options.has(ModelOption::Overflow)
            && !state.options.has(ModelOption::ReferenceOnly)
            && settings.decimation.is_none()
            && !settings.confidence
            && !has_patterns;
        Self {
            is_plain,
            bits: settings.bits,
            max_bits: settings.max_bits,
            quality: settings.quality,
            min_count: settings.min_count,
        }
    }

    fn bytes(self) -> [u8; LEARNING] {
        let mut bytes = [0; LEARNING];
        bytes[0] = u8::from(self.is_plain);
        bytes[1] = self.bits;
        bytes[2] = self.max_bits.map_or(0, |bits| bits + 1);
        bytes[3] = self.quality.unwrap_or(0);
        LittleEndian::write_i32(&mut bytes[4..], self.min_count);
        bytes
    }

    fn parse(bytes: &[u8]) -> Self {
        Self {
            is_plain: bytes[0] == 1,
            bits: bytes[1].min(MAX_BITS),
            max_bits: bytes[2].checked_sub(1).map(|bits| bits.min(MAX_BITS)),
            quality: (1..=4).contains(&bytes[3]).then_some(bytes[3]),
            min_count: LittleEndian::read_i32(&bytes[4..]),
        }
    }
}

/// A category of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// What it is called.
    pub name: Vec<u8>,
    /// How it was learned.
    pub learning: Learning,
}

impl Name {
    /// A name without settings.
    pub fn new(name: &[u8]) -> Self {
        Self { name: name.to_vec(), learning: Learning::default() }
    }
}

/// The head of a ledger and its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How features were made.
    pub settings: Settings,
    /// Names of the categories; a document's label is a place in this list.
    pub names: Vec<Name>,
    /// Documents.
    pub documents: u32,
    /// Bytes of the body.
    pub length: u64,
    /// Checksum of the body so far.
    pub sum: Checksum,
}

impl Head {
    /// A ledger without documents.
    pub fn new(settings: Settings, names: Vec<Name>) -> Self {
        Self { settings, names, documents: 0, length: 0, sum: Checksum::default() }
    }

    /// Offset of the body in the file.
    pub fn body(&self) -> u64 {
        let names = self.names.iter().map(|name| name.name.len() + 4 + LEARNING);
        (MAGIC.len() + HEAD + names.sum::<usize>()) as u64
    }

    /// The bytes before the body.
    #[allow(clippy::cast_possible_truncation)] // names are category names, at most 255 of them
    pub fn bytes(&self) -> Vec<u8> {
        let mut names = Vec::new();
        for name in &self.names {
            names.extend_from_slice(&(name.name.len() as u32).to_le_bytes());
            names.extend_from_slice(&name.name);
            names.extend_from_slice(&name.learning.bytes());
        }
        let mut head = [0; HEAD];
        LittleEndian::write_u64(&mut head, self.length);
        LittleEndian::write_u64(&mut head[8..], self.sum.state());
        LittleEndian::write_u32(&mut head[16..], self.documents);
        LittleEndian::write_u32(&mut head[20..], names.len() as u32);
        LittleEndian::write_u32(&mut head[24..], self.settings.options.bits());
        head[28] = self.settings.scheme as u8;
        head[29] = self.settings.order;
        LittleEndian::write_u64(&mut head[32..], self.settings.patterns);
        LittleEndian::write_u64(&mut head[48..], Checksum::of(&names));
        let sum = Checksum::of(&head[..56]);
        LittleEndian::write_u64(&mut head[56..], sum);
        [MAGIC, &head, &names].concat()
    }

    /// Reads the bytes before the body; the rest of the file may be missing.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let is_ours = bytes.starts_with(ANY_MAGIC);
        let fault = if is_ours { Fault::Version } else { Fault::Foreign };
        let rest = bytes.strip_prefix(MAGIC).ok_or(fault)?;
        let (head, rest) = rest.split_at_checked(HEAD).ok_or(Fault::Cut)?;
        if LittleEndian::read_u64(&head[56..]) != Checksum::of(&head[..56]) {
            return Err(Fault::Head);
        }
        let length = LittleEndian::read_u32(&head[20..]) as usize;
        let mut rest = rest.get(..length).ok_or(Fault::Cut)?;
        if LittleEndian::read_u64(&head[48..]) != Checksum::of(rest) {
            return Err(Fault::Head);
        }
        let mut names = Vec::new();
        while !rest.is_empty() && names.len() < MAX_NAMES {
            let (length, behind) = rest.split_at_checked(4).ok_or(Fault::Head)?;
            let length = LittleEndian::read_u32(length) as usize;
            let (name, behind) = behind.split_at_checked(length).ok_or(Fault::Head)?;
            let (learning, behind) = behind.split_at_checked(LEARNING).ok_or(Fault::Head)?;
            names.push(Name { name: name.to_vec(), learning: Learning::parse(learning) });
            rest = behind;
        }
        let settings = Settings {
            options: ModelOptions::from_bits(LittleEndian::read_u32(&head[24..])),
            scheme: Scheme::by_number(i64::from(head[28])).ok_or(Fault::Head)?,
            order: head[29],
            patterns: LittleEndian::read_u64(&head[32..]),
        };
        if !rest.is_empty() || !(1..8).contains(&settings.order) {
            return Err(Fault::Head);
        }
        Ok(Self {
            settings,
            names,
            documents: LittleEndian::read_u32(&head[16..]),
            length: LittleEndian::read_u64(head),
            sum: Checksum::from_state(LittleEndian::read_u64(&head[8..])),
        })
    }

    /// Updates the head for a record (`documents` is 1) or a withdrawal (-1) that is added to the
    /// body.
    pub fn add(&mut self, bytes: &[u8], documents: i32) {
        self.documents = self.documents.saturating_add_signed(documents);
        self.length += bytes.len() as u64;
        self.sum.bytes(bytes);
    }

    /// Whether the categories have these names, in this order.
    pub fn are_named(&self, names: &[Vec<u8>]) -> bool {
        self.names.iter().map(|name| &name.name).eq(names)
    }

    /// The place of `name` among the names, added if it is not there.
    pub fn label(&mut self, name: &[u8]) -> u32 {
        let known = self.names.iter().position(|known| known.name == name);
        let place = known.unwrap_or_else(|| {
            self.names.push(Name::new(name));
            self.names.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX)
    }
}

/// A ledger in memory. It was checked when it was read, so all its records are whole.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// What stands before the records.
    pub head: Head,
    /// The records.
    pub body: Vec<u8>,
}

impl Ledger {
    /// A ledger without documents.
    pub fn new(settings: Settings, names: Vec<Name>) -> Self {
        Self { head: Head::new(settings, names), body: Vec::new() }
    }

    /// Reads a ledger and checks all of it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        Self::parse_with(Head::parse(bytes)?, bytes)
    }

    /// Reads a ledger whose `head` stands in another file, as far as that head says.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse_with(head: Head, bytes: &[u8]) -> Result<Self, Fault> {
        let start = usize::try_from(head.body()).map_err(|_| Fault::Cut)?;
        let length = usize::try_from(head.length).map_err(|_| Fault::Cut)?;
        let body = bytes.get(start..).and_then(|rest| rest.get(..length)).ok_or(Fault::Cut)?;
        let ledger = Self { head, body: body.to_vec() };
        let (mut sum, mut length) = (Checksum::default(), 0);
        let (mut documents, mut withdrawn) = (0u32, 0u32);
        let names = u32::try_from(ledger.head.names.len()).unwrap_or(u32::MAX);
        for (record, bytes) in ledger.heads() {
            sum.bytes(bytes);
            if record.label < names {
                documents += 1;
            } else if record.is_empty && record.label - names < names {
                withdrawn += 1;
            } else {
                break;
            }
            length += bytes.len();
        }
        if length < body.len() {
            return Err(Fault::Record { document: documents + withdrawn });
        }
        let left = documents.checked_sub(withdrawn);
        if sum != ledger.head.sum || left != Some(ledger.head.documents) {
            return Err(Fault::Body);
        }
        if withdrawn == 0 { Ok(ledger) } else { ledger.without_withdrawn(names) }
    }

    /// The ledger without what was withdrawn.
    fn without_withdrawn(&self, names: u32) -> Result<Self, Fault> {
        // The places where each document stands, by its label and name.
        let mut places: HashMap<(u32, u64), Vec<u32>> = HashMap::new();
        let mut gone = HashSet::new();
        for (document, (record, _)) in (0..).zip(self.heads()) {
            let own = places.entry((record.label % names, record.fingerprint)).or_default();
            if record.label < names {
                own.push(document);
            } else {
                gone.extend([document, own.pop().ok_or(Fault::Record { document })?]);
            }
        }
        let mut numbers = 0..;
        Ok(self.filter(|_, _| numbers.next().is_none_or(|number| !gone.contains(&number))))
    }

    /// Calls `look` for each record with its bytes.
    pub fn each(&self, mut look: impl FnMut(&Record, &[u8])) {
        let mut rest = self.body.as_slice();
        let mut record = Record::default();
        loop {
            let before = rest;
            let Some(()) = record.take(&mut rest) else { break };
            look(&record, &before[..before.len() - rest.len()]);
        }
    }

    /// The head of each record, with the record's bytes.
    pub fn heads(&self) -> impl Iterator<Item = (RecordHead, &[u8])> {
        let mut rest = self.body.as_slice();
        std::iter::from_fn(move || {
            let before = rest;
            let head = RecordHead::read(&mut rest, |_| {})?;
            Some((head, &before[..before.len() - rest.len()]))
        })
    }

    /// Adds a document.
    pub fn push(&mut self, label: u32, occurrences: u32, terms: &[Term]) {
        let start = self.body.len();
        write_record(&mut self.body, label, occurrences, terms);
        self.head.add(&self.body[start..], 1);
    }

    /// The ledger with only the documents that `keep` holds for.
    #[must_use]
    pub fn filter(&self, mut keep: impl FnMut(RecordHead, &[u8]) -> bool) -> Self {
        let mut kept = Self::new(self.head.settings, self.head.names.clone());
        for (_, bytes) in self.heads().filter(|&(record, bytes)| keep(record, bytes)) {
            kept.body.extend_from_slice(bytes);
            kept.head.add(bytes, 1);
        }
        kept
    }

    /// The documents whose category is among `names`, labelled by their place there.
    pub fn corpus(&self, names: &[Vec<u8>]) -> Corpus {
        let place = |name: &Name| (0..).zip(names).find(|(_, wanted)| **wanted == name.name);
        let places: Vec<Option<u32>> =
            self.head.names.iter().map(|name| place(name).map(|(place, _)| place)).collect();
        let mut corpus = Corpus::default();
        self.each(|record, _| {
            if let Some(label) = places.get(record.label as usize).copied().flatten() {
                corpus.push(label, record.occurrences, &record.terms);
            }
        });
        corpus
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        [self.head.bytes(), self.body.clone()].concat()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::fit::documents::FeatureKind;
    use crate::token::id::FeatureId;

    fn settings() -> Settings {
        Settings { options: ModelOptions::from_bits(8), scheme: Scheme::Cef, order: 2, patterns: 0 }
    }

    pub fn ledger() -> Ledger {
        let mut ledger = Ledger::new(settings(), vec![Name::new(b"ham"), Name::new(b"spam")]);
        ledger.head.names[1].learning = Learning {
            is_plain: true,
            bits: 15,
            max_bits: Some(25),
            quality: Some(2),
            min_count: -3,
        };
        for label in [0, 1, 1] {
            let term = |id, count| Term::new(FeatureId(id), 1 + (id & 1) as u8, count);
            let terms = [term(5 + label, 1), term(700, 1000), term(u32::MAX, 3)];
            ledger.push(label, 1004, &terms);
        }
        ledger
    }

    #[test]
    fn what_was_written_reads_the_same() {
        let bytes = ledger().bytes();
        let read = Ledger::parse(&bytes).unwrap();
        assert_eq!(read.head, ledger().head);
        assert_eq!(read.bytes(), bytes);
        let corpus = read.corpus(&[b"spam".to_vec()]);
        assert_eq!(corpus.documents.len(), 2);
        assert_eq!(corpus.terms_of(1)[1], Term::new(FeatureId(700), 1, 1000));
    }

    #[test]
    fn withdrawn_documents_are_not_there() {
        let whole = ledger();
        let names = whole.head.names.len();
        let records: Vec<_> = whole.heads().collect();
        let with = |withdrawals: &[(u32, u64)]| {
            let mut ledger = whole.clone();
            for &(label, fingerprint) in withdrawals {
                let start = ledger.body.len();
                write_withdrawal(&mut ledger.body, label, names, fingerprint);
                ledger.head.add(&ledger.body[start..], -1);
            }
            Ledger::parse(&ledger.bytes())
        };
        let name = records[1].0.fingerprint;
        assert_eq!(name, records[2].0.fingerprint, "two are equal");
        for (withdrawals, left) in [
            (vec![(1, name)], vec![0, 1]),
            (vec![(1, name), (1, name)], vec![0]),
            (vec![(0, records[0].0.fingerprint)], vec![1, 2]),
        ] {
            let read = with(&withdrawals).unwrap();
            let body: Vec<u8> = left.iter().flat_map(|&at| records[at].1).copied().collect();
            assert_eq!((read.head.documents as usize, read.body), (left.len(), body));
        }
        // Of another label, of no document, of no label, and once too often.
        for (withdrawals, fault) in [
            (vec![(0, name)], Fault::Record { document: 3 }),
            (vec![(1, 77)], Fault::Record { document: 3 }),
            (vec![(2, name)], Fault::Record { document: 3 }),
            (vec![(1, name); 3], Fault::Record { document: 5 }),
        ] {
            assert_eq!(with(&withdrawals).unwrap_err(), fault);
        }
        let mut ledger = with(&[(1, name)]).unwrap();
        ledger.push(0, 7, &[Term::new(FeatureId(1), 1, 7)]);
        assert_eq!(Ledger::parse(&ledger.bytes()).unwrap().head, ledger.head);
    }

    #[test]
    fn heads_of_records_are_those_of_the_records() {
        let mut ledger = ledger();
        let kind =
            FeatureKind { order: FeatureKind::PAIR, medium: 2, pairs: 9, second: FeatureId(77) };
        ledger.push(0, 300, &[Term { id: FeatureId(6), count: 300, kind }]);
        ledger.push(1, 0, &[]);
        let mut heads = ledger.heads();
        ledger.each(|record, bytes| {
            let Record { label, occurrences, fingerprint, .. } = *record;
            let is_empty = record.terms.is_empty();
            let head = RecordHead { label, occurrences, is_empty, fingerprint };
            assert_eq!(heads.next(), Some((head, bytes)));
        });
        assert_eq!(heads.next(), None);
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_found() {
        let bytes = ledger().bytes();
        for at in 0..bytes.len() {
            assert!(Ledger::parse(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(Ledger::parse(&damaged).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn ledgers_of_other_versions_are_told_apart_from_other_files() {
        for (bytes, fault) in
            [(&b"# dbacl ledger 1\n..."[..], Fault::Version), (b"# dbacl 1.14.1", Fault::Foreign)]
        {
            assert_eq!(Ledger::parse(bytes).unwrap_err(), fault);
        }
    }

    #[test]
    fn bytes_behind_the_body_are_an_addition_that_was_not_finished() {
        let mut bytes = ledger().bytes();
        bytes.extend_from_slice(b"half a record");
        assert_eq!(Ledger::parse(&bytes).unwrap().head, ledger().head);
    }

    #[test]
    fn forgetting_all_of_a_category() {
        let kept = ledger().filter(|record, _| record.label == 0);
        assert_eq!(kept.head.documents, 1);
        assert!(Ledger::parse(&kept.bytes()).is_ok());
    }
}
