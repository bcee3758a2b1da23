// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of the verbs.

use crate::data::{Format, Reading};
use crate::recipe::{InBlocks, Kind, Recipe, is_cost, is_share};
use crate::train::Preset;
use clap::{Args, Parser, Subcommand, ValueEnum};
use dbacl::{Reference, Scheme};
use std::path::{Path, PathBuf};

/// Trains a text classifier from one file of labelled documents, tests it, and labels texts.
#[derive(Debug, Parser)]
#[command(name = "dbacl-text", version, about, max_term_width = 100)]
#[command(
    after_help = "A model is one file. 'dbacl-text VERB --help' tells the options of a verb."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Train a model on labelled documents
    Train(TrainArguments),
    /// Learn more documents, of known or of new labels; the model must keep its documents
    Update(ChangeArguments),
    /// Forget documents, as if they had never been learned; the model must keep its documents
    Forget(ChangeArguments),
    /// Make one model of several that keep their documents
    Merge(MergeArguments),
    /// Print the most probable labels of each text
    Predict(PredictArguments),
    /// Tell how well a model judges labelled documents
    Test(TestArguments),
    /// Tell which words of a text speak for its label
    Explain(ExplainArguments),
    /// Tell what a model was made of
    Info {
        /// The model
        model: PathBuf,
    },
    /// Write a category file for each label, for dbacl -c
    Unpack {
        /// The model
        model: PathBuf,
        /// The folder for the files; it is made if it is missing
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
}

/// How labelled documents are read.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataArguments {
    /// The documents: a file, a folder of folders, or - for standard input
    pub data: PathBuf,
    /// The format of the documents, if neither name nor first line tells it
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    #[command(flatten)]
    pub columns: Columns,
}

impl DataArguments {
    pub fn reading(&self) -> Reading {
        self.columns.reading(self.format, true)
    }
}

/// Columns of CSV, or members of JSON objects.
#[derive(Debug, Clone, Args)]
pub(crate) struct Columns {
    /// The CSV column or JSON member with the label
    #[arg(long, value_name = "NAME", default_value = "label")]
    pub label_column: String,
    /// The CSV columns or JSON members with the text, separated by commas
    #[arg(long, value_name = "NAMES", default_value = "text", value_delimiter = ',')]
    pub text_column: Vec<String>,
}

impl Columns {
    pub fn reading(&self, format: Option<Format>, needs_label: bool) -> Reading {
        let (label, text) = (self.label_column.clone(), self.text_column.clone());
        Reading { format, label, text, needs_label }
    }
}

/// How text is cut into words.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Tokenizer {
    /// Words of any language, by Unicode (the default)
    Word,
    /// Characters of any language
    Glyph,
    /// Runs of letters
    Alpha,
    /// Runs of letters and digits
    Alnum,
    /// Runs of visible bytes
    Graph,
    /// Single visible bytes
    Char,
    /// Words with inner punctuation, amounts of money, addresses
    Cef,
    /// Letters, digits and punctuation in runs of a kind
    Adp,
    /// Atoms of mail headers and addresses
    Cef2,
}

impl Tokenizer {
    const fn scheme(self) -> Scheme {
        match self {
            Self::Word => Scheme::Word,
            Self::Glyph => Scheme::Glyph,
            Self::Alpha => Scheme::Alpha,
            Self::Alnum => Scheme::Alnum,
            Self::Graph => Scheme::Graph,
            Self::Char => Scheme::Char,
            Self::Cef => Scheme::Cef,
            Self::Cef2 => Scheme::Cef2,
            Self::Adp => Scheme::Adp,
        }
    }
}

/// What prices a feature before anything is learned.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Measure {
    /// All characters alike
    Uniform,
    /// Pairs of characters, as they were learned
    Dirichlet,
    /// The same, fitted
    Maxent,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TrainArguments {
    #[command(flatten)]
    pub data: DataArguments,
    /// The model's file, which is replaced if it is a model
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// Keep the documents in the model, for update, forget and merge
    #[arg(long)]
    pub keep: bool,
    /// Learn single words: small models
    #[arg(long, group = "preset", help_heading = "Features")]
    pub words: bool,
    /// Learn words and pairs of neighbouring words (the default for more than 1 MB of documents)
    #[arg(long, group = "preset", help_heading = "Features")]
    pub pairs: bool,
    /// Learn runs of up to five characters, and by themselves single words, and judge by both
    #[arg(long, group = "preset", help_heading = "Features")]
    pub chars: bool,
    /// Learn pairs, and by themselves runs of up to four characters, and judge by both (the default
    /// for up to 1 MB)
    #[arg(long, group = "preset", conflicts_with = "regex", help_heading = "Features")]
    pub both: bool,
    /// How text is cut into words, in place of what the preset says
    #[arg(short = 'e', long, value_name = "NAME", help_heading = "Features")]
    pub tokenizer: Option<Tokenizer>,
    /// Longest run of words that is learned, 1 to 7, in place of what the preset says
    #[arg(short = 'w', long, value_name = "N", help_heading = "Features")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=7))]
    pub order: Option<u8>,
    /// Tell upper from lower case
    #[arg(short = 'j', long, help_heading = "Features")]
    pub case_sensitive: bool,
    /// Runs of words go on across line ends
    #[arg(short = 'S', long, help_heading = "Features")]
    pub across_lines: bool,
    /// The kind of text
    #[arg(short = 'T', long = "type", value_name = "KIND", default_value = "text")]
    #[arg(help_heading = "Features")]
    pub kind: Kind,
    /// Learn what a regular expression captures, in place of words; may be given several times
    #[arg(short = 'g', long, value_name = "EXPRESSION", help_heading = "Features")]
    pub regex: Vec<String>,
    /// The reference measure of the ordinary categories
    #[arg(short = 'L', long, value_name = "MEASURE", default_value = "uniform")]
    #[arg(help_heading = "Learning")]
    pub reference: Measure,
    /// Texts without labels, read as by predict: those whose labels are sure are learned as well,
    /// if cross-validation says that it does no harm
    #[arg(long, value_name = "FILE", conflicts_with_all = ["keep", "seconds"])]
    #[arg(help_heading = "Learning")]
    pub unlabelled: Option<PathBuf>,
    /// Choose cost and blend by cross-validation, which takes several times as long
    #[arg(long, help_heading = "Learning")]
    pub choose: bool,
    /// Try one way to read texts after the other for N seconds, and keep the best by
    /// cross-validation
    #[arg(long, value_name = "N", help_heading = "Learning")]
    #[arg(conflicts_with_all = ["preset", "tokenizer", "order", "case_sensitive", "regex", "cost",
        "blend", "reference"])]
    pub seconds: Option<u64>,
    /// What a document on the wrong side costs, 0.2 unless it is chosen
    #[arg(long, value_name = "C", value_parser = positive, help_heading = "Learning")]
    pub cost: Option<f64>,
    /// The share of the ordinary scores that is kept, 0 to 1; unless it is chosen 0.1 with --words,
    /// 0.4 with --chars, and else 0.01
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Learning")]
    pub blend: Option<f64>,
    /// Do not prefer words that tell the labels apart
    #[arg(long, help_heading = "Learning")]
    pub no_contrast: bool,
    /// Every category carries every word: a larger model
    #[arg(long, help_heading = "Learning")]
    pub exact: bool,
    /// Fit so many documents at a time, for more than memory holds
    #[arg(long, value_name = "DOCUMENTS", help_heading = "Many documents")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["keep", "unlabelled", "seconds", "choose", "regex"])]
    pub block: Option<u64>,
    /// With --block, the memory that may be used, such as 500M or 2G; it changes nothing else
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "block")]
    #[arg(help_heading = "Many documents")]
    pub memory: Option<u64>,
    /// With --block, how many words or runs of words take part at most: those that are in most
    /// documents
    #[arg(long, value_name = "N", default_value_t = InBlocks::FEATURES, requires = "block")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 28))]
    #[arg(help_heading = "Many documents")]
    pub features: u64,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn number(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or("no number".into())
}

fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|it| if is_cost(it) { Ok(it) } else { Err("not above 0".into()) })
}

/// Bytes, or with a letter KiB, MiB or GiB.
fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().last() {
        Some((end, 'k' | 'K')) => (&text[..end], 10),
        Some((end, 'm' | 'M')) => (&text[..end], 20),
        Some((end, 'g' | 'G')) => (&text[..end], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'));
    number.and_then(|number| number.checked_mul(1 << shift)).ok_or("no size".into())
}

fn share(text: &str) -> Result<f64, String> {
    let share = number(text)?;
    if is_share(share) { Ok(share) } else { Err("not between 0 and 1".into()) }
}

impl TrainArguments {
    /// How texts without labels are read.
    pub fn reading_of_unlabelled(&self, file: &Path) -> Reading {
        reading_of_texts(file, None, &self.data.columns.text_column)
    }

    /// How the model is to be trained.
    pub fn recipe(&self) -> Recipe {
        let presets = [
            (self.words, Preset::Words),
            (self.pairs, Preset::Pairs),
            (self.chars, Preset::Chars),
            (self.both, Preset::Both),
        ];
        Recipe {
            preset: presets.iter().find(|(is_set, _)| *is_set).map(|&(_, preset)| preset),
            tokenizer: self.tokenizer.map(Tokenizer::scheme),
            order: self.order,
            case_sensitive: self.case_sensitive,
            across_lines: self.across_lines,
            kind: self.kind,
            regex: self.regex.clone(),
            reference: match self.reference {
                Measure::Uniform => Reference::Uniform,
                Measure::Dirichlet => Reference::Dirichlet,
                Measure::Maxent => Reference::MaximumEntropy,
            },
            choose: self.choose,
            cost: self.cost,
            blend: self.blend,
            no_contrast: self.no_contrast,
            exact: self.exact,
            in_blocks: self.block.map(|block| InBlocks { block, features: self.features }),
        }
    }
}

/// How the texts of a file without labels are read: as lines, unless its name says otherwise.
fn reading_of_texts(file: &Path, format: Option<Format>, columns: &[String]) -> Reading {
    let format = format.or_else(|| {
        let kind = file.extension().unwrap_or_default().to_ascii_lowercase();
        let has_own = ["csv", "ndjson", "jsonl"].iter().any(|known| kind == *known);
        (!has_own && !file.is_dir()).then_some(Format::Lines)
    });
    Reading { format, text: columns.to_vec(), needs_label: false, ..Reading::default() }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// Label, tab, probability, for each of the labels, separated by tabs
    Tsv,
    /// A JSON object
    Ndjson,
    /// `__label__NAME PROBABILITY`, as fastText prints it
    #[value(name = "fasttext")]
    FastText,
}

/// How texts without labels are read.
#[derive(Debug, Args)]
pub(crate) struct TextArguments {
    /// The model
    pub model: PathBuf,
    /// The texts, one a line unless --input says otherwise; - for standard input
    #[arg(default_value = "-")]
    pub file: PathBuf,
    /// The format of the texts; labels are not looked at
    #[arg(long, value_name = "FORMAT")]
    pub input: Option<Format>,
    /// The CSV columns or JSON members with the text, separated by commas
    #[arg(long, value_name = "NAMES", default_value = "text", value_delimiter = ',')]
    pub text_column: Vec<String>,
}

impl TextArguments {
    pub fn reading(&self) -> Reading {
        reading_of_texts(&self.file, self.input, &self.text_column)
    }
}

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    #[command(flatten)]
    pub texts: TextArguments,
    /// How many labels are printed for each text
    #[arg(short = 'k', long, value_name = "K", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub labels: u32,
    /// How results are printed
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub format: ResultFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The model
    pub model: PathBuf,
    /// A file with one text; - for standard input
    #[arg(default_value = "-")]
    pub file: PathBuf,
    /// How many words are printed for each side
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub words: usize,
}

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The model
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArguments,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeArguments {
    /// The model
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArguments,
    /// The file for the changed model, in place of the model itself
    #[arg(short, long, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// The models; they are trained with the options of the first one
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// The file for the new model
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}
