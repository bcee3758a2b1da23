// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of the verbs.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use dbacl::Scheme;
use dbacl::text::TextModel;
use dbacl::text::data::{Format, Reading, name_within};
use dbacl::text::recipe::{
    InBlocks, Kind, LABEL_COLUMN, Preset, Recipe, TEXT_COLUMNS, is_cost, is_share,
};
use dbacl_cli::listen::Address;
use dbacl_files::lock::USUAL_LIMIT;
use std::ffi::OsString;
use std::path::PathBuf;

/// Trains a text classifier from one file of labelled documents, tests it, and labels texts.
#[derive(Debug, Parser)]
#[command(name = "dbacl-text", version, about, max_term_width = 100)]
#[command(
    after_help = "A model is one file. 'dbacl-text VERB --help' shows the options of a verb."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Train a model on labelled documents
    #[command(after_help = "Example: dbacl-text train reviews.csv  # writes reviews.model")]
    Train(TrainArguments),
    /// Learn more documents; the model must keep its documents
    #[command(after_help = "Example: dbacl-text update reviews.model february.csv")]
    Update(ChangeArguments),
    /// Forget documents, as if they had never been learned
    #[command(after_help = "Example: dbacl-text forget reviews.model wrong.csv")]
    Forget(ChangeArguments),
    /// Make one model of several that keep their documents
    #[command(after_help = "Example: dbacl-text merge north.model south.model -o both.model")]
    Merge(MergeArguments),
    /// Print the most probable labels of each text, or 'error' where it cannot be read
    #[command(after_help = "Example: dbacl-text predict reviews.model texts.txt --at-least 0.9")]
    Predict(PredictArguments),
    /// Measure how well a model classifies labelled documents
    #[command(after_help = "Example: dbacl-text test reviews.model more-reviews.csv")]
    Test(TestArguments),
    /// Print a page about a model, tested on labelled documents, in Markdown
    #[command(after_help = "Example: dbacl-text card reviews.model more-reviews.csv > reviews.md")]
    Card(CardArguments),
    /// List the words of a text that speak for its label
    #[command(after_help = "Example: dbacl-text explain reviews.model review.txt")]
    Explain(ExplainArguments),
    /// Show what a model was made of
    #[command(after_help = "Example: dbacl-text info reviews.model")]
    Info {
        /// The model
        model: PathBuf,
    },
    /// Make a model smaller and slightly less accurate
    #[command(after_help = "Example: dbacl-text quantize reviews.model -o small.model --size 500k")]
    Quantize(QuantizeArguments),
    /// Print the features that speak most for each label
    #[command(after_help = "Example: dbacl-text features reviews.model texts.txt")]
    Features {
        /// The model
        model: PathBuf,
        /// Texts, one a line; - for standard input
        texts: PathBuf,
        /// Number of features for each label
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        number: usize,
    },
    /// Answer texts over HTTP, in JSON
    #[command(after_help = "Example: dbacl-text serve intents.model --listen 127.0.0.1:8765")]
    Serve(ServeArguments),
    /// Run fastText's commands supervised, test, predict and predict-prob
    #[command(
        after_help = "Example: dbacl-text fasttext supervised -input train.txt -output model"
    )]
    Fasttext {
        /// The command and its options, as fastText spells them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        #[arg(value_name = "COMMAND")]
        words: Vec<OsString>,
    },
}

/// How labelled documents are read.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataArguments {
    /// A file, a folder of folders, or - for standard input
    pub data: PathBuf,
    /// The format, if neither name nor first line shows it
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Column or JSON member with the label; default: that of training, else one with a usual name
    /// such as 'label'
    #[arg(long, value_name = "NAME")]
    pub label_column: Option<String>,
    /// Columns or JSON members with the text, separated by commas; default: those of training, else
    /// one with a usual name such as 'text'
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub text_column: Vec<String>,
    /// Separator of several labels in a field
    #[arg(long, value_name = "TEXT", default_value = ",")]
    pub label_separator: String,
}

impl DataArguments {
    /// How documents are read that a model was trained on, or is going to be.
    pub(crate) fn reading(&self, has_several: bool, model: Option<&TextModel>) -> Reading {
        let (label, text) = model.map_or((None, None), columns_of);
        let usual = Reading::default();
        let is_given = self.label_column.is_some() || !self.text_column.is_empty();
        Reading {
            format: self.format,
            label: self.label_column.clone().or(label).unwrap_or(usual.label),
            text: given_or(&self.text_column, text),
            finds_columns: !is_given,
            needs_label: true,
            has_several,
            separator: self.label_separator.clone(),
            id: None,
        }
    }
}

/// The names of columns that were given, else those of training, else the usual one.
fn given_or(given: &[String], trained_on: Option<Vec<String>>) -> Vec<String> {
    match (given, trained_on) {
        ([], None) => Reading::default().text,
        ([], Some(own)) => own,
        (given, _) => given.to_vec(),
    }
}

/// The columns that a model was trained on, as far as they have not the usual names: that with the
/// label, and those with the text.
fn columns_of(model: &TextModel) -> (Option<String>, Option<Vec<String>>) {
    let told = |wanted: &str| {
        model.about().iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    let text = told(TEXT_COLUMNS).map(|names| names.split(',').map(str::to_owned).collect());
    (told(LABEL_COLUMN).map(str::to_owned), text)
}

/// How text is cut into words.
fn tokenizer() -> impl TypedValueParser<Value = Scheme> {
    let values = [
        ("word", "Words of any language, by Unicode (the default)"),
        ("glyph", "Characters of any language"),
        ("alpha", "Runs of letters"),
        ("alnum", "Runs of letters and digits"),
        ("graph", "Runs of visible bytes"),
        ("char", "Single visible bytes"),
        ("cef", "Words with inner punctuation, amounts, addresses"),
        ("adp", "Letters, digits and punctuation in runs of a kind"),
        ("cef2", "Atoms of mail headers and addresses"),
    ];
    PossibleValuesParser::new(values.map(|(name, help)| PossibleValue::new(name).help(help)))
        .try_map(|name| Scheme::by_name(name.as_bytes()).ok_or("no tokenizer"))
}

/// What labels are chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Aim {
    /// Most texts right (the default)
    Accuracy,
    /// The mean F1 of all labels
    #[value(name = "macro-f1")]
    MacroF1,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TrainArguments {
    #[command(flatten)]
    pub data: DataArguments,
    /// The file to write, instead of DATA's name with the ending .model; a model is replaced
    #[arg(short, long, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Keep the documents in the model, for update, forget and merge
    #[arg(long)]
    pub keep: bool,
    /// Learn single words: small models
    #[arg(long, group = "preset", help_heading = "Features")]
    pub words: bool,
    /// Learn words and pairs of neighbouring words (the default for long texts)
    #[arg(long, group = "preset", help_heading = "Features")]
    pub pairs: bool,
    /// Learn single words and runs of up to five characters
    #[arg(long, group = "preset", help_heading = "Features")]
    pub chars: bool,
    /// Learn words, pairs and runs of up to five characters (the default for a median of up to 100
    /// words)
    #[arg(long, group = "preset", conflicts_with = "regex", help_heading = "Features")]
    pub both: bool,
    /// How text is cut into words
    #[arg(short = 'e', long, value_name = "NAME", help_heading = "Features")]
    #[arg(value_parser = tokenizer())]
    pub tokenizer: Option<Scheme>,
    /// Longest run of words, 1 to 7
    #[arg(short = 'w', long, value_name = "N", help_heading = "Features")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=7))]
    pub order: Option<u8>,
    /// Distinguish upper and lower case
    #[arg(short = 'j', long, help_heading = "Features", alias = "keep-case")]
    pub case_sensitive: bool,
    /// Let runs of words cross line ends
    #[arg(short = 'S', long, help_heading = "Features")]
    pub across_lines: bool,
    /// The kind of text
    #[arg(short = 'T', long = "type", value_name = "KIND", default_value = "text")]
    #[arg(help_heading = "Features")]
    pub kind: Kind,
    /// Learn what a regular expression captures instead of words; may be repeated
    #[arg(short = 'g', long, value_name = "EXPRESSION", help_heading = "Features")]
    pub regex: Vec<String>,
    /// Documents have any number of labels: JSON lists, __label__ words, or separated labels
    #[arg(long, conflicts_with_all = ["keep", "block"], help_heading = "Labels")]
    pub several: bool,
    /// Learn the words of each label's name as a text that has it: helps with few documents
    #[arg(long, conflicts_with = "block", help_heading = "Labels")]
    pub label_names: bool,
    /// Let rare labels cost more: a power of the share that a label lacks, 0 to 1
    #[arg(long, value_name = "POWER", value_parser = share, num_args = 0..=1)]
    #[arg(default_missing_value = "0.5", require_equals = true, help_heading = "Labels")]
    pub balance: Option<f64>,
    /// What labels are chosen for
    #[arg(long = "for", value_name = "MEASURE", help_heading = "Labels")]
    pub aim: Option<Aim>,
    /// Texts without labels, used if cross-validation says that they help
    #[arg(long, value_name = "FILE", conflicts_with_all = ["keep", "autotune"])]
    #[arg(help_heading = "Learning")]
    pub unlabelled: Option<PathBuf>,
    /// Texts that have none of the labels, for predict --keep; they are learned as the label 'none'
    #[arg(long, value_name = "FILE", conflicts_with_all = ["several", "block"])]
    #[arg(help_heading = "Learning")]
    pub none: Option<PathBuf>,
    /// Try all settings of the fit
    #[arg(long, help_heading = "Learning")]
    pub choose: bool,
    /// Try ways to read texts for N seconds, and keep the best by cross-validation
    #[arg(long, value_name = "N", alias = "seconds", help_heading = "Learning")]
    #[arg(conflicts_with_all = ["preset", "tokenizer", "order", "case_sensitive", "regex", "cost"])]
    pub autotune: Option<u64>,
    /// Cost of a document on the wrong side; default: by cross-validation
    #[arg(long, value_name = "C", value_parser = positive, help_heading = "Learning")]
    pub cost: Option<f64>,
    /// Share of ordinary weights to start from, 0 to 1; default: by cross-validation
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Learning")]
    pub start: Option<f64>,
    /// Do not prefer words that distinguish the labels
    #[arg(long, help_heading = "Learning")]
    pub no_contrast: bool,
    /// Fit this number of documents at a time, to save memory
    #[arg(long, value_name = "DOCUMENTS", help_heading = "Many documents")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["keep", "unlabelled", "autotune", "choose", "start"])]
    pub block: Option<u64>,
    /// With --block: the memory to use, such as 500M or 2G
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "block")]
    #[arg(help_heading = "Many documents")]
    pub memory: Option<u64>,
    /// With --block: how many of the most frequent features take part
    #[arg(long, value_name = "N", default_value_t = InBlocks::FEATURES, requires = "block")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 28))]
    #[arg(help_heading = "Many documents")]
    pub features: u64,
    #[command(flatten)]
    pub replacing: Replacing,
}

/// How a model is replaced.
#[derive(Debug, Clone, Args)]
pub(crate) struct Replacing {
    /// Seconds to wait for another process that changes the model
    #[arg(long, value_name = "SECONDS", default_value_t = USUAL_LIMIT.as_secs())]
    pub lock_timeout: u64,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn number(text: &str, fits: fn(f64) -> bool, what: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or("no number")?;
    if fits(number) { Ok(number) } else { Err(what.into()) }
}

fn positive(text: &str) -> Result<f64, String> {
    number(text, is_cost, "not above 0")
}

fn share(text: &str) -> Result<f64, String> {
    number(text, is_share, "not between 0 and 1")
}

fn kept(text: &str) -> Result<f64, String> {
    number(text, |it| (0.8..=0.99).contains(&it), "not between 0.8 and 0.99")
}

/// Bytes, or with a letter KiB, MiB or GiB.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().last() {
        Some((end, 'k' | 'K')) => (&text[..end], 10),
        Some((end, 'm' | 'M')) => (&text[..end], 20),
        Some((end, 'g' | 'G')) => (&text[..end], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'));
    number.and_then(|number| number.checked_mul(1 << shift)).ok_or("no size".into())
}

impl TrainArguments {
    /// The file to write; `None` if it has no name.
    pub(crate) fn model(&self) -> Option<PathBuf> {
        let data = &self.data.data;
        let name = || Some(data.with_file_name(name_within(data)?).with_extension("model"));
        self.output.clone().or_else(|| if data.as_os_str() == "-" { None } else { name() })
    }

    /// How the model is to be trained.
    pub(crate) fn recipe(&self) -> Recipe {
        let presets = [self.words, self.pairs, self.chars, self.both].into_iter();
        let preset = presets.zip(Preset::NAMES).find(|(is_set, _)| *is_set);
        Recipe {
            preset: preset.map(|(_, (preset, _))| preset),
            tokenizer: self.tokenizer,
            order: self.order,
            case_sensitive: self.case_sensitive,
            across_lines: self.across_lines,
            kind: self.kind,
            regex: self.regex.clone(),
            choose: self.choose,
            cost: self.cost,
            no_contrast: self.no_contrast,
            start: self.start,
            balance: self.balance,
            for_f1: self.aim == Some(Aim::MacroF1),
            several: self.several,
            label_names: self.label_names,
            in_blocks: self.block.map(|block| InBlocks { block, features: self.features }),
        }
    }
}

/// How texts without labels are read: as lines, unless name or first line shows a table.
pub fn reading_of_texts(
    format: Option<Format>,
    columns: &[String],
    model: Option<&TextModel>,
) -> Reading {
    let text = given_or(columns, model.and_then(|model| columns_of(model).1));
    let finds_columns = columns.is_empty();
    Reading { format, text, finds_columns, needs_label: false, ..Reading::default() }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// Labels and probabilities, separated by tabs
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
    /// The texts, one a line unless name, first line or --input show a table; - for standard input
    #[arg(default_value = "-")]
    pub file: PathBuf,
    /// Files that are a text each, named before the labels
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with_all = ["file", "input"])]
    pub files: Vec<PathBuf>,
    /// CSV column or JSON member that names a text, printed before the labels
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    pub id_column: Option<String>,
    /// The format of the texts; labels are ignored
    #[arg(long, value_name = "FORMAT")]
    pub input: Option<Format>,
    /// CSV columns or JSON members with the text, instead of those of training
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub text_column: Vec<String>,
    /// Number of threads; 0 for one a processor
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
}

impl TextArguments {
    /// How texts are read for a model.
    pub(crate) fn reading(&self, model: &TextModel) -> Reading {
        let reading = reading_of_texts(self.input, &self.text_column, Some(model));
        Reading { id: self.id_column.clone(), ..reading }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    #[command(flatten)]
    pub texts: TextArguments,
    /// Print the K most probable labels of each text
    #[arg(short = 'k', long, value_name = "K")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub labels: Option<u32>,
    /// Print 'unsure' where the label is less probable than P
    #[arg(long, value_name = "P", value_parser = share)]
    pub at_least: Option<f64>,
    /// Print 'none' where a text seems to have none of the labels; the share SHARE of those that
    /// have one keep it, 0.8 to 0.99
    #[arg(long, value_name = "SHARE", value_parser = kept)]
    pub keep: Option<f64>,
    /// Read all texts first, and adapt to the shares that the labels have among them
    #[arg(long)]
    pub adapt: bool,
    /// How results are printed
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub format: ResultFormat,
    /// As fastText prints it: whether labels alone, and how probable they must be.
    #[arg(skip)]
    pub as_fasttext: Option<(bool, f64)>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The models, which are called like their files; requests that name no model ask the first one
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Where to listen: an address with a port, or the path of a socket
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    pub listen: Vec<Address>,
    /// Answer 'none' where a text seems to have none of the labels; the share SHARE of those that
    /// have one keep it, 0.8 to 0.99
    #[arg(long, value_name = "SHARE", value_parser = kept)]
    pub keep: Option<f64>,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 256)]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=60_000))]
    pub connections: usize,
    /// Bytes of a request
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = size)]
    pub request_size: u64,
}

#[derive(Debug, Args)]
pub(crate) struct QuantizeArguments {
    /// The model
    pub model: PathBuf,
    /// The file for the smaller model
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// Bits of a weight
    #[arg(long, value_name = "BITS", default_value_t = 8, value_parser = bits)]
    pub bits: u8,
    /// Largest size of the file, such as 500k or 4M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: Option<u64>,
    #[command(flatten)]
    pub replacing: Replacing,
}

fn bits(text: &str) -> Result<u8, String> {
    match text {
        "8" => Ok(8),
        "16" => Ok(16),
        _ => Err("neither 8 nor 16".into()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The model
    pub model: PathBuf,
    /// A file with one text; - for standard input
    #[arg(default_value = "-")]
    pub file: PathBuf,
    /// Number of words for each side
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
pub(crate) struct CardArguments {
    /// The model
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeArguments {
    /// The model
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArguments,
    /// The file for the changed model, instead of the model itself
    #[arg(short, long, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replacing: Replacing,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// The models; the options of the first one count
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// The file for the new model
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    #[command(flatten)]
    pub replacing: Replacing,
}
