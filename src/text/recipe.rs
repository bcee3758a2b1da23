// SPDX-License-Identifier: GPL-3.0-or-later
//! How a model is trained: what a user may choose, as the options of the program spell it and as a
//! model tells it.

use crate::{LearnOptions, ModelOption, ReadOptions, Scheme};

/// What a model calls the options that it was trained with.
pub const OPTIONS: &str = "options";

/// Which features a text has, for callers who do not want to choose tokenizer and order. Without
/// one, words and pairs of words are learned, and runs of characters where texts are short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Single words: small models.
    Words,
    /// Words and pairs of neighbouring words.
    Pairs,
    /// Single words and runs of up to five characters.
    Chars,
    /// Words, pairs and runs of characters.
    Both,
}

impl Preset {
    /// The presets and their names in recipes and options.
    pub const NAMES: [(Self, &'static str); 4] = [
        (Self::Words, "words"),
        (Self::Pairs, "pairs"),
        (Self::Chars, "chars"),
        (Self::Both, "both"),
    ];

    /// The preset of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|&(preset, _)| preset)
    }
}

/// What a model calls the columns that its texts were in.
pub const TEXT_COLUMNS: &str = "text columns";
/// And that of its labels.
pub const LABEL_COLUMN: &str = "label column";

/// Kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Kind {
    /// Plain text
    #[default]
    Text,
    /// HTML without its markup
    Html,
    /// XML without its markup
    Xml,
}

impl Kind {
    const NAMES: [(Self, &'static str); 3] =
        [(Self::Text, "text"), (Self::Html, "html"), (Self::Xml, "xml")];

    /// The kind of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|&(kind, _)| kind)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |&(_, name)| name)
    }
}

/// How a model is trained. What is not said has a value that suits most texts.
///
/// ```
/// use dbacl::text::Recipe;
///
/// let recipe = Recipe { order: Some(3), case_sensitive: true, ..Recipe::default() };
/// let spelled = recipe.spelling();
/// assert!(spelled.contains(&"--order=3".to_owned()));
/// assert_eq!(Recipe::of_spelling(&spelled), Some(recipe));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recipe {
    /// Which features a text has, for those who do not choose tokenizer and order.
    pub preset: Option<Preset>,
    /// How text is cut into words, in place of what the preset says.
    pub tokenizer: Option<Scheme>,
    /// Longest run of words, 1 to 7, in place of what the preset says.
    pub order: Option<u8>,
    /// Upper and lower case are distinguished.
    pub case_sensitive: bool,
    /// Runs of words go on across line ends.
    pub across_lines: bool,
    /// The kind of text.
    pub kind: Kind,
    /// Regular expressions: what they capture is learned in place of words.
    pub regex: Vec<String>,
    /// All settings are tried, however long it takes.
    pub choose: bool,
    /// What a document on the wrong side costs, above 0.
    pub cost: Option<f64>,
    /// Words that tell the labels apart are not preferred.
    pub no_contrast: bool,
    /// The share of ordinary weights that the fit starts from, 0 to 1.
    pub start: Option<f64>,
    /// The power with which documents of rare labels cost more, 0 to 1.
    pub balance: Option<f64>,
    /// Labels are chosen for the mean F1 of all labels.
    pub for_f1: bool,
    /// A document may have several labels, or none.
    pub several: bool,
    /// The name of each label is learned as a text that has it.
    pub label_names: bool,
    /// Documents are fitted in blocks, where they are more than one block holds.
    pub in_blocks: Option<InBlocks>,
}

/// How documents are fitted in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InBlocks {
    /// Documents of a block.
    pub block: u64,
    /// The most features that take part.
    pub features: u64,
}

impl InBlocks {
    /// The largest number of features that take part, unless another one is given.
    pub const FEATURES: u64 = 1 << 19;
}

/// What a caller wants of a fit.
#[derive(Debug, Clone)]
pub(crate) struct FitPlan {
    pub recipe: Recipe,
    /// How words are read.
    pub words: ReadOptions,
    /// Whether there are runs of characters; without a value, where texts are short.
    pub runs: Option<bool>,
}

/// What an option without a value sets.
type Flag = fn(&mut Recipe) -> &mut bool;

/// The options without values.
const FLAGS: [(&str, Flag); 7] = [
    ("--case-sensitive", |it| &mut it.case_sensitive),
    ("--across-lines", |it| &mut it.across_lines),
    ("--choose", |it| &mut it.choose),
    ("--no-contrast", |it| &mut it.no_contrast),
    ("--for=macro-f1", |it| &mut it.for_f1),
    ("--several", |it| &mut it.several),
    ("--label-names", |it| &mut it.label_names),
];

impl Recipe {
    /// The options of `dbacl-text train` that say the same, to be read back by
    /// [`Self::of_spelling`].
    pub fn spelling(&self) -> Vec<String> {
        let presets = Preset::NAMES.iter().filter(|(preset, _)| self.preset == Some(*preset));
        let mut words: Vec<String> = presets.map(|(_, name)| format!("--{name}")).collect();
        let mut own = self.clone();
        let flags = FLAGS.iter().filter(|(_, flag)| *flag(&mut own));
        words.extend(flags.map(|&(name, _)| name.to_owned()));
        let values = [
            self.tokenizer.map(|it| format!("--tokenizer={}", it.name())),
            self.order.map(|it| format!("--order={it}")),
            Some(format!("--type={}", self.kind.name())),
            self.cost.map(|it| format!("--cost={it}")),
            self.start.map(|it| format!("--start={it}")),
            self.balance.map(|it| format!("--balance={it}")),
            self.in_blocks.map(|it| format!("--block={}", it.block)),
            self.in_blocks.map(|it| format!("--features={}", it.features)),
        ];
        words.extend(values.into_iter().flatten());
        words.extend(self.regex.iter().map(|it| format!("--regex={it}")));
        words
    }

    /// What [`Self::spelling`] has spelled; `None` if it did not.
    pub fn of_spelling(words: &[String]) -> Option<Self> {
        let mut recipe = Self::default();
        for word in words {
            if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| name == word) {
                *flag(&mut recipe) = true;
                continue;
            }
            let Some((name, value)) = word.split_once('=') else {
                recipe.preset = Some(Preset::by_name(word.strip_prefix("--")?)?);
                continue;
            };
            let number = || value.parse().ok();
            match name {
                "--start" => recipe.start = Some(number().filter(|&it| is_share(it))?),
                "--balance" => recipe.balance = Some(number().filter(|&it| is_share(it))?),
                "--cost" => recipe.cost = Some(number().filter(|&it| is_cost(it))?),
                "--tokenizer" => recipe.tokenizer = Some(Scheme::by_name(value.as_bytes())?),
                "--order" => {
                    let order = value.parse().ok().filter(|order| (1..=7).contains(order));
                    recipe.order = Some(order?);
                }
                "--type" => recipe.kind = Kind::by_name(value)?,
                "--block" => {
                    let block = value.parse().ok().filter(|&it| it > 0)?;
                    recipe.in_blocks = Some(InBlocks { block, features: InBlocks::FEATURES });
                }
                // It follows the size of a block.
                "--features" => recipe.in_blocks.as_mut()?.features = value.parse().ok()?,
                "--regex" => recipe.regex.push(value.to_owned()),
                _ => return None,
            }
        }
        Some(recipe)
    }

    /// The options that are not the default, as one types them.
    pub(crate) fn command(&self) -> String {
        let usual = Self::default().spelling();
        let own = self.spelling();
        own.into_iter().filter(|word| !usual.contains(word)).collect::<Vec<_>>().join(" ")
    }

    /// The recipe as a model tells it.
    pub(crate) fn told(&self) -> String {
        // Strings are always JSON.
        serde_json::to_string(&self.spelling()).unwrap_or_default()
    }

    /// The recipe that a model tells.
    pub(crate) fn of_told(told: &str) -> Option<Self> {
        Self::of_spelling(&serde_json::from_str::<Vec<String>>(told).ok()?)
    }

    /// Whether texts are folded before they are read (see [`crate::fold`]): not where case counts,
    /// and expressions see texts as they are.
    pub(crate) fn folds(&self) -> bool {
        !self.case_sensitive && self.regex.is_empty()
    }

    /// What is to be learned of texts; `warn` is shown what is odd about expressions.
    pub(crate) fn plan(&self, warn: &mut dyn FnMut(String)) -> Result<FitPlan, crate::Error> {
        let order = match self.preset {
            Some(Preset::Words | Preset::Chars) => 1,
            Some(Preset::Pairs | Preset::Both) | None => 2,
        };
        // Who cuts words in another way wants these, and what expressions capture stands alone.
        let is_own = self.tokenizer.is_some() || self.order.is_some() || !self.regex.is_empty();
        let runs = match self.preset {
            Some(Preset::Words | Preset::Pairs) => Some(false),
            Some(Preset::Chars | Preset::Both) => Some(true),
            None if is_own => Some(false),
            None => None,
        };
        let mut learn = LearnOptions::text()
            .tokenizer(self.tokenizer.unwrap_or(Scheme::Word))
            .order(self.order.unwrap_or(order));
        for (is_wanted, option) in [
            (self.case_sensitive, ModelOption::KeepCase),
            (self.across_lines, ModelOption::Straddle),
            (self.kind == Kind::Html, ModelOption::Html),
            (self.kind == Kind::Xml, ModelOption::Xml),
        ] {
            if is_wanted {
                learn = learn.with(option);
            }
        }
        for expression in &self.regex {
            learn = learn.pattern(expression, &mut |warning| warn(warning.to_string()))?;
        }
        Ok(FitPlan { recipe: self.clone(), words: learn.reading().clone(), runs })
    }
}

/// Whether a number can be a cost.
pub fn is_cost(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

/// Whether a number can be a share.
pub fn is_share(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spelled_is_read_back() {
        let all = Recipe {
            preset: Some(Preset::Chars),
            tokenizer: Some(Scheme::Cef),
            order: Some(7),
            case_sensitive: true,
            across_lines: true,
            kind: Kind::Html,
            regex: vec!["a=(b)".into(), "c".into()],
            choose: true,
            cost: Some(0.05),
            no_contrast: true,
            start: Some(0.05),
            balance: Some(0.5),
            for_f1: true,
            several: true,
            label_names: true,
            in_blocks: Some(InBlocks { block: 7, features: 99 }),
        };
        let both = Recipe { preset: Some(Preset::Both), ..Recipe::default() };
        for recipe in [Recipe::default(), both, all] {
            assert_eq!(Recipe::of_told(&recipe.told()), Some(recipe));
        }
        let default = ["--type=text"];
        assert_eq!(Recipe::default().spelling(), default);
        for word in [
            "--order=8",
            "--order",
            "--cost=0",
            "--cost=nan",
            "--start=2",
            "--keep",
            "--block=0",
            "--features=9",
            "x",
            "--words=1",
        ] {
            assert_eq!(Recipe::of_spelling(&[word.to_owned()]), None, "{word}");
        }
    }
}
