// SPDX-License-Identifier: GPL-3.0-or-later
//! How a model is trained: what a user may choose, as the options of the program spell it and as a
//! model tells it.

use crate::search::Candidate;
use crate::train::{Preset, SecondView, TrainOptions};
use dbacl::{FitOptions, ModelOption, Reference, Scheme};

/// What a model calls the options that it was trained with.
pub const OPTIONS: &str = "options";

/// Kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
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
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |&(_, name)| name)
    }
}

/// The reference measures and their names.
const MEASURES: [(Reference, &str); 3] = [
    (Reference::Uniform, "uniform"),
    (Reference::Dirichlet, "dirichlet"),
    (Reference::MaximumEntropy, "maxent"),
];

/// The reference measure of this name: `uniform`, `dirichlet` or `maxent`.
pub fn reference_by_name(name: &str) -> Option<Reference> {
    MEASURES.iter().find(|(_, known)| *known == name).map(|&(reference, _)| reference)
}

/// How a model is trained. What is not said has a value that suits most texts.
///
/// ```
/// use dbacl_text::Recipe;
///
/// let recipe = Recipe { order: Some(3), case_sensitive: true, ..Recipe::default() };
/// let spelled = recipe.spelling();
/// assert!(spelled.contains(&"--order=3".to_owned()));
/// assert_eq!(Recipe::of_spelling(&spelled), Some(recipe));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// Which features a text has, for those who do not choose tokenizer and order.
    pub preset: Option<Preset>,
    /// How text is cut into words, in place of what the preset says.
    pub tokenizer: Option<Scheme>,
    /// Longest run of words, 1 to 7, in place of what the preset says.
    pub order: Option<u8>,
    /// Upper and lower case are told apart.
    pub case_sensitive: bool,
    /// Runs of words go on across line ends.
    pub across_lines: bool,
    /// The kind of text.
    pub kind: Kind,
    /// Regular expressions: what they capture is learned in place of words.
    pub regex: Vec<String>,
    /// The reference measure of the ordinary categories.
    pub reference: Reference,
    /// Cost and blend are chosen by cross-validation.
    pub choose: bool,
    /// What a document on the wrong side costs, above 0.
    pub cost: Option<f64>,
    /// The share of the ordinary scores that is kept, 0 to 1.
    pub blend: Option<f64>,
    /// Words that tell the labels apart are not preferred.
    pub no_contrast: bool,
    /// Every category carries every word.
    pub exact: bool,
    /// Documents are fitted in blocks, where they are more than one block holds.
    pub in_blocks: Option<InBlocks>,
}

/// How documents are fitted in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InBlocks {
    /// Documents of a block.
    pub block: u64,
    /// Features that take part, at most.
    pub features: u64,
}

impl InBlocks {
    /// The largest number of features that take part, unless another one is given.
    pub const FEATURES: u64 = dbacl::blocks::FEATURES as u64;
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            preset: None,
            tokenizer: None,
            order: None,
            case_sensitive: false,
            across_lines: false,
            kind: Kind::default(),
            regex: Vec::new(),
            reference: Reference::Uniform,
            choose: false,
            cost: None,
            blend: None,
            no_contrast: false,
            exact: false,
            in_blocks: None,
        }
    }
}

impl Recipe {
    /// The options of `dbacl-text train` that say the same, to be read back by
    /// [`Self::of_spelling`].
    pub fn spelling(&self) -> Vec<String> {
        let mut words = Vec::new();
        let preset = |preset| self.preset == Some(preset);
        let flags = [
            (preset(Preset::Words), "--words"),
            (preset(Preset::Pairs), "--pairs"),
            (preset(Preset::Chars), "--chars"),
            (preset(Preset::Both), "--both"),
            (self.case_sensitive, "--case-sensitive"),
            (self.across_lines, "--across-lines"),
            (self.choose, "--choose"),
            (self.no_contrast, "--no-contrast"),
            (self.exact, "--exact"),
        ];
        words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|&(_, flag)| flag.to_owned()));
        let measure = MEASURES.iter().find(|(known, _)| *known == self.reference);
        let values = [
            self.tokenizer.map(|it| format!("--tokenizer={}", it.name())),
            self.order.map(|it| format!("--order={it}")),
            Some(format!("--type={}", self.kind.name())),
            measure.map(|(_, name)| format!("--reference={name}")),
            self.cost.map(|it| format!("--cost={it}")),
            self.blend.map(|it| format!("--blend={it}")),
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
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.as_str(), None),
            };
            match (name, value) {
                ("--words", None) => recipe.preset = Some(Preset::Words),
                ("--pairs", None) => recipe.preset = Some(Preset::Pairs),
                ("--chars", None) => recipe.preset = Some(Preset::Chars),
                ("--both", None) => recipe.preset = Some(Preset::Both),
                ("--case-sensitive", None) => recipe.case_sensitive = true,
                ("--across-lines", None) => recipe.across_lines = true,
                ("--choose", None) => recipe.choose = true,
                ("--no-contrast", None) => recipe.no_contrast = true,
                ("--exact", None) => recipe.exact = true,
                ("--tokenizer", Some(name)) => {
                    recipe.tokenizer = Some(Scheme::by_name(name.as_bytes())?);
                }
                ("--order", Some(number)) => {
                    let order: u8 = number.parse().ok()?;
                    recipe.order = Some(order).filter(|order| (1..=7).contains(order));
                    recipe.order?;
                }
                ("--type", Some(name)) => recipe.kind = Kind::by_name(name)?,
                ("--reference", Some(name)) => recipe.reference = reference_by_name(name)?,
                ("--cost", Some(number)) => {
                    recipe.cost = Some(number.parse().ok().filter(|&it| is_cost(it))?);
                }
                ("--blend", Some(number)) => {
                    recipe.blend = Some(number.parse().ok().filter(|&it| is_share(it))?);
                }
                ("--block", Some(number)) => {
                    let block = number.parse().ok().filter(|&it| it > 0)?;
                    recipe.in_blocks = Some(InBlocks { block, features: InBlocks::FEATURES });
                }
                // It follows the size of a block.
                ("--features", Some(number)) => {
                    recipe.in_blocks.as_mut()?.features = number.parse().ok()?;
                }
                ("--regex", Some(expression)) => recipe.regex.push(expression.to_owned()),
                _ => return None,
            }
        }
        Some(recipe)
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

    /// The recipe for the candidate that a search has found best: it says how texts are read. All
    /// other settings stay.
    #[must_use]
    pub fn with_candidate(mut self, candidate: Candidate) -> Self {
        self.preset = candidate.is_both.then_some(Preset::Both);
        (self.tokenizer, self.order) = (Some(candidate.tokenizer), Some(candidate.order));
        (self.case_sensitive, self.reference) = (candidate.keeps_case, candidate.reference);
        self.choose = true;
        self
    }

    /// What the library calls it; `warn` is told what is odd about expressions.
    ///
    /// # Errors
    /// [`dbacl::Error::Pattern`] and its like, for expressions that are none.
    pub fn options(&self, warn: &mut dyn FnMut(String)) -> Result<TrainOptions, dbacl::Error> {
        let says_features =
            self.tokenizer.is_some() || self.order.is_some() || !self.regex.is_empty();
        let usual = match self.preset {
            None if !says_features => TrainOptions::default(),
            preset => TrainOptions::new(preset.unwrap_or_default()),
        };
        let TrainOptions { mut learn, second, mut fit } = usual;
        if let Some(tokenizer) = self.tokenizer {
            learn = learn.tokenizer(tokenizer);
        }
        if let Some(order) = self.order {
            learn = learn.order(order);
        }
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
        learn = learn.reference(self.reference);
        // What expressions capture is learned in place of words and of characters.
        let second = second.filter(|_| self.regex.is_empty());
        let preset = self.preset.unwrap_or(Preset::Both);
        let second = second.and_then(|SecondView { most_bytes, .. }| {
            Some(SecondView { most_bytes, ..preset.second(&learn)? })
        });
        if self.choose {
            fit = FitOptions::default();
        }
        if let Some(cost) = self.cost {
            fit = fit.cost(cost);
        }
        if let Some(blend) = self.blend {
            fit = fit.blend(blend);
        }
        if self.no_contrast {
            fit = fit.contrast(false);
        }
        if self.exact {
            fit = fit.exact();
        }
        Ok(TrainOptions { learn, second, fit })
    }
}

/// Whether a number can be a cost.
pub(crate) fn is_cost(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

/// Whether a number can be a share.
pub(crate) fn is_share(number: f64) -> bool {
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
            reference: Reference::MaximumEntropy,
            choose: true,
            cost: Some(0.05),
            blend: Some(1.0),
            no_contrast: true,
            exact: true,
            in_blocks: Some(InBlocks { block: 7, features: 99 }),
        };
        let both = Recipe { preset: Some(Preset::Both), ..Recipe::default() };
        for recipe in [Recipe::default(), both, all] {
            assert_eq!(Recipe::of_told(&recipe.told()), Some(recipe));
        }
        let default = ["--type=text", "--reference=uniform"];
        assert_eq!(Recipe::default().spelling(), default);
        for word in [
            "--order=8",
            "--order",
            "--cost=0",
            "--cost=nan",
            "--blend=2",
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
