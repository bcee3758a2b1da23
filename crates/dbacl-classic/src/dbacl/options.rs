// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of `dbacl`: one table for the command line, the help text and completions.

use dbacl_cli::getopt::{Opt, Value};

/// An option, by what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the table below says what each is
pub enum Key {
    Learn,
    Category,
    Type,
    Verbose,
    Scores,
    Probabilities,
    Uncertainty,
    Confidence,
    Prior,
    Random,
    FilterLines,
    PerFile,
    Append,
    AppendIndented,
    ByLine,
    Media,
    Dump,
    Debug,
    Tokenizer,
    Order,
    KeepCase,
    Straddle,
    Regex,
    Wide,
    TableBits,
    MaxTableBits,
    MinCount,
    Decimation,
    Reference,
    ReferenceOnly,
    Quality,
    Multinomial,
    Preload,
    NoPreload,
    Online,
    MergeOnline,
    MemoryMap,
    Nothing,
    VersionText,
    Help,
    Version,
    Count,
    Merge,
    Fit,
    Place,
    Canonical,
    Large,
    Threads,
    Format,
    Input,
    LineBuffered,
    Strict,
    Quiet,
    KeepNul,
    Charset,
    Refit,
    Choices,
    Documents,
    Cost,
    Blend,
    Exact,
    Once,
    Contrast,
    Always,
    FalsePositives,
    Unsure,
    Keep,
    Update,
    LearnErrors,
    Unlearn,
    Correct,
    Verdict,
    Explain,
    ExplainHtml,
    MailLearn,
    MailFilter,
    MailCorrect,
    MailAsk,
    MailReview,
    Check,
    LockTimeout,
    Protect,
    Reading,
    Caution,
    Window,
    General,
    Reasons,
}

/// A job that options serve: a heading of the help text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What most people need.
    Main,
    /// A mail filter in two commands.
    MailFilter,
    /// How a category is learned.
    Learning,
    /// What is printed of a text.
    Results,
    /// Categories that are fitted together.
    Fitting,
    /// Single documents of a fitted set.
    Documents,
    /// Counting in parts, and on several processors.
    Parts,
    /// What programs and scripts ask for.
    Programs,
    /// The rest.
    Rare,
}

impl Group {
    /// All groups, in the order of the help text, with their headings.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Main, "Most used"),
        (Self::MailFilter, "A mail filter in two commands"),
        (Self::Learning, "Learning"),
        (Self::Results, "Results"),
        (Self::Fitting, "Fitting categories together"),
        (Self::Documents, "Single documents of a fitted set"),
        (Self::Parts, "Counting in parts, several processors"),
        (Self::Programs, "Programs and scripts"),
        (Self::Rare, "Rarely needed"),
    ];
}

impl Key {
    /// The job that the option serves first of all.
    pub const fn group(self) -> Group {
        match self {
            Self::Learn
            | Self::Category
            | Self::Type
            | Self::Verbose
            | Self::Scores
            | Self::Probabilities
            | Self::FilterLines
            | Self::Tokenizer
            | Self::Charset
            | Self::Order
            | Self::MaxTableBits
            | Self::Help => Group::Main,
            Self::MailLearn
            | Self::MailFilter
            | Self::MailCorrect
            | Self::MailAsk
            | Self::MailReview
            | Self::Check
            | Self::Protect
            | Self::Reading
            | Self::Caution
            | Self::Window
            | Self::General
            | Self::Reasons => Group::MailFilter,
            Self::KeepCase
            | Self::Straddle
            | Self::Regex
            | Self::TableBits
            | Self::MinCount
            | Self::Decimation
            | Self::Reference
            | Self::ReferenceOnly
            | Self::Quality
            | Self::Multinomial
            | Self::Preload
            | Self::NoPreload
            | Self::Online
            | Self::MergeOnline => Group::Learning,
            Self::Uncertainty
            | Self::Confidence
            | Self::Prior
            | Self::Random
            | Self::PerFile
            | Self::Append
            | Self::AppendIndented
            | Self::ByLine
            | Self::Media
            | Self::Dump
            | Self::Debug => Group::Results,
            Self::Refit
            | Self::Choices
            | Self::Verdict
            | Self::Explain
            | Self::ExplainHtml
            | Self::Documents
            | Self::Cost
            | Self::Blend
            | Self::Exact
            | Self::Once
            | Self::Contrast
            | Self::Always
            | Self::FalsePositives
            | Self::Unsure => Group::Fitting,
            Self::Keep
            | Self::Update
            | Self::LearnErrors
            | Self::Unlearn
            | Self::Correct
            | Self::LockTimeout => Group::Documents,
            Self::Count
            | Self::Merge
            | Self::Fit
            | Self::Place
            | Self::Canonical
            | Self::Large
            | Self::Threads => Group::Parts,
            Self::Format | Self::Input | Self::LineBuffered | Self::Strict | Self::Quiet => {
                Group::Programs
            }
            Self::KeepNul
            | Self::Wide
            | Self::MemoryMap
            | Self::Nothing
            | Self::VersionText
            | Self::Version => Group::Rare,
        }
    }
}

const fn flag(key: Key, letter: u8, long: &'static str, help: &'static str) -> Opt<Key> {
    Opt { key, letter: Some(letter), long, value: Value::None, help }
}

const fn value(
    key: Key,
    letter: u8,
    long: &'static str,
    metavar: &'static str,
    help: &'static str,
) -> Opt<Key> {
    Opt { key, letter: Some(letter), long, value: Value::Required(metavar), help }
}

const fn long(key: Key, long: &'static str, help: &'static str) -> Opt<Key> {
    Opt { key, letter: None, long, value: Value::None, help }
}

const fn long_value(
    key: Key,
    long: &'static str,
    metavar: &'static str,
    help: &'static str,
) -> Opt<Key> {
    Opt { key, letter: None, long, value: Value::Required(metavar), help }
}

/// All options, in the order of the help text.
pub const TABLE: &[Opt<Key>] = &[
    value(Key::Learn, b'l', "learn", "CATEGORY", "learn CATEGORY from the text"),
    value(Key::Category, b'c', "category", "CATEGORY", "classify: compare the text with CATEGORY"),
    value(Key::Type, b'T', "type", "TYPE", "kind of text: text, email[:KIND], html[:KIND], xml"),
    flag(Key::Verbose, b'v', "verbose", "print the best category; when learning, progress"),
    flag(Key::Scores, b'n', "scores", "print scores: minus log2 of the probability of the text"),
    flag(Key::Probabilities, b'N', "probabilities", "print the categories' probabilities"),
    flag(Key::Uncertainty, b'U', "uncertainty", "print how sure the verdict is, or deviations"),
    flag(Key::Confidence, b'X', "confidence", "learn and print p-values of divergences"),
    flag(Key::Prior, b'P', "prior", "let the length of a message count as well"),
    flag(Key::Random, b'R', "random", "compare with random text, too"),
    value(
        Key::FilterLines,
        b'f',
        "filter",
        "CATEGORY",
        "print the lines that CATEGORY is best for",
    ),
    flag(Key::PerFile, b'F', "per-file", "classify each file by itself"),
    flag(Key::Append, b'a', "append", "print the text, then the results"),
    flag(Key::AppendIndented, b'A', "append-indented", "as -a, reading only indented lines"),
    flag(Key::ByLine, b's', "by-line", "one category a line in results"),
    flag(Key::Media, b'Y', "media", "print token counts by part of the message"),
    flag(Key::Dump, b'd', "dump", "print the model, or each token's scores"),
    flag(Key::Debug, b'D', "debug", "print new tokens, or the text as it is read"),
    value(
        Key::Tokenizer,
        b'e',
        "tokenizer",
        "SCHEME",
        "alpha, alnum, graph, char, cef, adp, cef2; word, glyph, gram",
    ),
    long_value(Key::Charset, "charset", "NAME", "the text is in this character set, not UTF-8"),
    value(Key::Order, b'w', "order", "N", "learn n-grams of up to N words, 1 to 7"),
    flag(Key::KeepCase, b'j', "keep-case", "distinguish upper and lower case"),
    flag(Key::Straddle, b'S', "straddle", "let n-grams run on over line ends"),
    value(Key::Regex, b'g', "regex", "REGEX", "tokens are what REGEX captures"),
    value(Key::Regex, b'G', "", "REGEX", "the same as -g"),
    flag(Key::Wide, b'i', "international", "no effect; text is read byte by byte"),
    value(Key::TableBits, b'h', "hash-bits", "N", "start with a table of 2^N features (15)"),
    value(Key::MaxTableBits, b'H', "max-hash-bits", "N", "let the table grow to 2^N features"),
    value(Key::MinCount, b'z', "min-count", "N", "ignore features seen N times or less"),
    value(Key::Decimation, b'x', "decimate", "N", "learn about 1 in 2^N features or messages"),
    value(Key::Reference, b'L', "reference", "MEASURE", "uniform, dirichlet, maxent, mle, iid"),
    flag(Key::ReferenceOnly, b'r', "reference-only", "learn only the reference measure"),
    value(Key::Quality, b'q', "quality", "N", "fit quickly (1) to exactly (4)"),
    flag(Key::Multinomial, b'M', "multinomial", "count features independently of their order"),
    flag(Key::Preload, b'1', "preload", "start the fit from the existing category"),
    flag(Key::NoPreload, b'0', "no-preload", "do not (the default)"),
    value(Key::Online, b'o', "online", "FILE", "keep counts in FILE, to learn more later"),
    value(Key::MergeOnline, b'O', "merge-online", "FILE", "add the counts in FILE"),
    flag(Key::MemoryMap, b'm', "memory-map", "map categories instead of reading them"),
    flag(Key::Nothing, b'p', "", ""),
    flag(Key::Nothing, b'@', "", ""),
    long(Key::Verdict, "verdict", "print the verdict of fitted categories, its probability"),
    long(Key::Explain, "explain", "say which tokens speak for and against the verdict"),
    long(Key::ExplainHtml, "explain-html", "the same as an HTML page with the text tinted"),
    long(Key::Refit, "refit", "fit categories together: -c NAME=DOCUMENTS ... or FILE.tsv"),
    long_value(Key::Documents, "documents", "KIND", "files, mbox, lines, tsv or ndjson"),
    long_value(Key::Choices, "choices", "FILE", "refit from groups of texts, one of each chosen"),
    long_value(Key::Cost, "cost", "C", "refit with this cost, not a chosen one"),
    long_value(Key::Blend, "blend", "SHARE", "keep this share of the ordinary scores"),
    long(Key::Exact, "exact", "refit many categories exactly, into larger files"),
    long(Key::Once, "once", "refit for verdicts that count each token of a document once"),
    long_value(Key::Contrast, "contrast", "YES", "prefer tokens of few categories: yes or no"),
    long(Key::Always, "always", "refit even where it does not help"),
    long_value(Key::FalsePositives, "fp", "SHARE", "threshold for this share of false positives"),
    long(Key::Unsure, "unsure", "let verdicts be unsure between two thresholds"),
    long_value(Key::Keep, "keep", "LEDGER", "keep what was learned of each document in LEDGER"),
    long_value(Key::Update, "update", "CATEGORY", "learn the document, too: needs --keep and -c"),
    long_value(Key::LearnErrors, "learn-error", "CATEGORY", "the same if it is classified wrongly"),
    long_value(Key::Unlearn, "unlearn", "CATEGORY", "forget that the document was learned"),
    long_value(Key::Correct, "correct", "CATEGORY", "learn it as CATEGORY and as nothing else"),
    long_value(Key::MailLearn, "mail-learn", "DIR", "make a mail filter: DIR ham=MAIL spam=MAIL"),
    long_value(Key::MailFilter, "mail-filter", "DIR", "print a message with a line X-DBACL"),
    long_value(Key::MailCorrect, "mail-correct", "DIR", "correct a verdict: DIR spam MESSAGE"),
    long_value(Key::MailAsk, "mail-ask", "DIR", "ask about ten messages: DIR MAIL..."),
    long_value(Key::MailReview, "mail-review", "DIR", "ask about mail in the wrong folder"),
    long_value(Key::Check, "check", "PATH", "say whether a filter or file is damaged"),
    long_value(Key::Protect, "protect", "LABEL", "with --mail-learn: the mail not to be lost"),
    long_value(Key::Caution, "caution", "LEVEL", "with --mail-learn: low, normal or high"),
    long_value(Key::Reading, "reading", "NAME", "with --mail-learn: how messages are read"),
    long_value(Key::Window, "window", "DAYS", "with --mail-learn: leave older mail out"),
    long_value(Key::General, "general", "DIR", "with --mail-learn: begin with this filter"),
    long(Key::Reasons, "reasons", "with --mail-filter: say which tokens decided"),
    long_value(Key::Count, "count", "FILE", "count only, into FILE (- is standard output)"),
    long_value(Key::Merge, "merge", "FILE", "merge counts: the operands, into FILE"),
    long_value(Key::Fit, "fit", "FILE", "with -l: learn from the counts in FILE"),
    long_value(Key::Place, "place", "N", "with --count: this is part N of the input"),
    long(Key::Canonical, "canonical", "with --fit: the same category for any order of input"),
    long(Key::Large, "large", "with -l: learn up to 2^32 features, in a format of its own"),
    long_value(Key::Threads, "threads", "N", "use N processors (as many as there are)"),
    long_value(Key::Format, "format", "FORMAT", "print results as json, ndjson or tsv"),
    long_value(Key::Input, "input", "RECORDS", "classify each line: ndjson or lines"),
    long(Key::LineBuffered, "line-buffered", "write each result at once"),
    long_value(
        Key::LockTimeout,
        "lock-timeout",
        "SECONDS",
        "wait so long for another process (10)",
    ),
    long(Key::Strict, "strict", "status 0 for any verdict, sysexits(3) for errors"),
    long(Key::Quiet, "quiet", "no warnings, no hints"),
    long(Key::KeepNul, "keep-nul", "zero bytes are blanks; they hide the rest of a line if not"),
    flag(Key::VersionText, b'V', "", "print the version as dbacl 1.14.1 did"),
    long(Key::Help, "help", "print this help"),
    long(Key::Version, "version", "print the version"),
];
