// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits categories together on labelled documents in memory.

use super::reading::DocumentReader;
use crate::classify::CategorySet;
use dbacl_engine::category::reader::Category;
use dbacl_joint::blend;
use dbacl_joint::documents::CorpusBuilder;
use dbacl_joint::fit::{self, FitError, FitNote, FitOptions, FitVerdicts, Problem};
use dbacl_joint::header::RefitLine;
use dbacl_joint::select::{Quality, Settings};
use dbacl_joint::stop::Stop;
use dbacl_model::settings::ModelOption;

/// Fits the categories of a set together on labelled documents (`dbacl --refit`). The fitted set
/// usually classifies much better than categories that were learned one by one, and its
/// probabilities are calibrated.
///
/// ```
/// # mod dbacl {
/// #     pub use dbacl_sets::classify::CategorySet;
/// #     pub use dbacl_joint::fit::FitOptions;
/// #     pub use dbacl_sets::JointFit;
/// #     pub use dbacl_engine::learn::options::LearnOptions;
/// #     pub use dbacl_engine::learn::learner::Learner;
/// # }
/// use dbacl::{CategorySet, FitOptions, JointFit, LearnOptions, Learner};
///
/// let sea = ["the whale and the ship", "sailors of the whale ship", "a ship at sea"];
/// let war = ["the nation and the war", "soldiers of a war", "a nation of soldiers"];
/// let learn = |documents: &[&str]| {
///     let mut learner = Learner::new(&LearnOptions::text())?;
///     documents.iter().for_each(|document| learner.learn(document.as_bytes()));
///     learner.finish().map(|learned| learned.category)
/// };
/// let learned = CategorySet::new([("sea", learn(&sea)?), ("war", learn(&war)?)])?;
///
/// // The documents again: those that the categories were learned from, or others.
/// let mut fit = JointFit::new(&learned, &FitOptions::default().always())?;
/// for document in sea {
///     fit.document("sea", document.as_bytes())?;
/// }
/// for document in war {
///     fit.document("war", document.as_bytes())?;
/// }
/// let fit = fit.fit()?;
/// assert_eq!(fit.documents, [3, 3]);
/// assert!(fit.notes[0].to_string().contains("results may be poor"));
///
/// let set = CategorySet::new(fit.categories.expect("asked for always"))?;
/// assert!(set.is_fitted());
/// assert_eq!(set.classify(b"soldiers").best(), "war");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Settings that the options leave open are chosen by cross-validation, on all processors. The
/// result depends on the order of the documents, but not on the number of processors.
pub struct JointFit<'a> {
    names: Vec<String>,
    categories: Vec<Category<&'a [u8]>>,
    options: FitOptions,
    reader: DocumentReader<'static>,
    is_mail: bool,
    /// Whether the categories have different reference measures, so that each document is weighed
    /// by all of them.
    measures: bool,
    corpus: CorpusBuilder,
    /// Documents so far.
    given: usize,
    /// The numbers of those with features.
    told: Vec<usize>,
}

/// The result of a fit.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fit {
    /// The fitted categories with their names; `None` where the learned categories judge the
    /// documents as well as the fitted ones, unless [`FitOptions::always`] asks for the fit
    /// nevertheless.
    pub categories: Option<Vec<(String, Category<Vec<u8>>)>>,
    /// For each category, the number of its documents that have features.
    pub documents: Vec<usize>,
    /// How well the learned categories judge the documents, each without the counts that were
    /// learned from it.
    pub before: Quality,
    /// How well the fit classifies documents that it has not seen, by cross-validation.
    pub after: Quality,
    /// How many documents were classified for that: all of them, unless [`FitOptions::quick`] was
    /// asked for.
    pub judged: usize,
    /// The documents that were classified, by their numbers in the order in which they were given
    /// from 0 on, with the probabilities of the categories; empty where the learned ones are kept.
    pub held_out: Vec<(usize, Vec<f64>)>,
    /// The settings that were chosen.
    pub settings: Settings,
    /// With two categories, verdicts on documents that the fit has not seen.
    pub verdicts: Option<FitVerdicts>,
    /// Warnings and remarks for the user.
    pub notes: Vec<FitNote>,
}

impl<'a> JointFit<'a> {
    /// A fit of the categories of `set`, without documents so far.
    ///
    /// # Errors
    /// [`FitError::TooFewCategories`]; categories that cannot be fitted: multinomial ones
    /// ([`FitError::Multinomial`]), those of other features ([`FitError::OtherFeatures`]), and the
    /// result of a fit ([`FitError::AlreadyFitted`]), and large ones ([`FitError::Large`]).
    pub fn new<D: AsRef<[u8]>>(
        set: &'a CategorySet<D>,
        options: &FitOptions,
    ) -> Result<Self, FitError> {
        let names = set.names().to_vec();
        let mut categories = Vec::new();
        for (category, name) in set.categories().zip(&names) {
            let large = || FitError::Large { category: name.clone() };
            let category = category.ok_or_else(large)?;
            if RefitLine::find(category.other_lines()).is_some() {
                return Err(FitError::AlreadyFitted { category: name.clone() });
            }
            // The bytes come from a category, so they open.
            categories.extend(Category::new(category.as_bytes()).ok());
        }
        if categories.len() < 2 {
            return Err(FitError::TooFewCategories);
        }
        fit::check(&categories, &names)?;
        let reading = set.reading();
        Ok(Self {
            measures: !blend::digrams_agree(&categories),
            is_mail: reading.has(ModelOption::Mail),
            reader: DocumentReader::new(reading, None),
            options: options.clone(),
            corpus: CorpusBuilder::default(),
            given: 0,
            told: Vec::new(),
            names,
            categories,
        })
    }

    /// Takes a document of the category that is called `label`: a text, or one message.
    ///
    /// # Errors
    /// [`FitError::UnknownLabel`].
    pub fn document(&mut self, label: &str, document: impl AsRef<[u8]>) -> Result<(), FitError> {
        let known = self.names.iter().position(|name| name == label);
        let Some(at) = known.and_then(|at| u32::try_from(at).ok()) else {
            return Err(FitError::UnknownLabel { label: label.into() });
        };
        let measured = if self.measures { self.categories.as_slice() } else { &[] };
        let before = self.corpus.documents();
        self.reader.read(document.as_ref(), at, measured, &mut self.corpus);
        if self.corpus.documents() > before {
            self.told.push(self.given);
        }
        self.given += 1;
        Ok(())
    }

    /// Fits the categories.
    ///
    /// # Errors
    /// [`FitError::NoDocuments`] for a category without documents that have features.
    pub fn fit(self) -> Result<Fit, FitError> {
        let Self { names, categories, options, is_mail, corpus, told, .. } = self;
        let options = &options;
        let (categories, names) = (&categories, &names);
        let (general, stop) = (None, Stop::NEVER);
        let problem = Problem { categories, names, options, is_mail, general, stop };
        let mut notes = Vec::new();
        let solution = problem.solve(corpus.finish(), &mut |note| notes.push(note))?;
        let fitted = solution.fitted.as_ref().map(|weights| {
            let each = names.iter().zip(categories).enumerate();
            each.filter_map(|(at, (name, ordinary))| {
                let file = weights.file(at, ordinary, name.as_bytes());
                // The fit has just written these bytes, so they open.
                Some((name.clone(), Category::new(file).ok()?))
            })
            .collect()
        });
        let held_out = solution.fitted.as_ref().map_or_else(Vec::new, |weights| {
            let rows = solution.choice.scores.chunks_exact(names.len());
            let each = solution.judged.iter().zip(rows);
            each.map(|(&at, scores)| (told[at], weights.probabilities(scores))).collect()
        });
        Ok(Fit {
            categories: fitted,
            documents: solution.data.documents_by_category(),
            before: solution.before,
            after: solution.choice.quality,
            judged: solution.choice.labels.len(),
            held_out,
            settings: solution.choice.settings,
            verdicts: solution.fitted.and_then(|weights| weights.verdicts),
            notes,
        })
    }
}
