// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores of a text at full precision, from the classifier itself.

use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor};

use crate::cli::dbacl::config::{Builder, Config};
use crate::cli::dbacl::options::Key;
use crate::cli::getopt::Event;
use crate::cli::output::Messages;
use crate::error::Warning;
use crate::filter::Filter;
use crate::input::source::Source;
use crate::model::settings::ModelOption;
use crate::numeric::elementary::bits;
use crate::pipeline::{Consumer, LineState, Pipeline};
use crate::score::document;
use crate::score::scorer::Scorer;
use crate::token::ngram::Window;
use crate::token::pattern::PatternList;
use crate::token::tokenizer::Tokenizer;
use crate::token::{Feature, features};

static MESSAGES: Messages = Messages::of(super::NAME);

/// Bits of the table of empirical counts, as in the classifier.
const EMPIRICAL_BITS: u8 = 15;

/// Categories, and what they make of a text.
pub struct Judges {
    pipeline: Pipeline<'static>,
    reader: Reader,
}

struct Reader {
    scorer: Scorer,
    patterns: PatternList,
    tokenizer: Tokenizer,
    window: Window,
    is_standard: bool,
    keep_case: bool,
}

impl Judges {
    /// Loads `categories`, which the classifier could compare with each other.
    ///
    /// # Errors
    /// What to say, line by line.
    pub fn load(categories: &[OsString]) -> Result<Self, Vec<String>> {
        let variable = |name: &str| std::env::var_os(name);
        let mut builder = Builder::new(OsStr::new(super::NAME), &MESSAGES, &variable);
        for name in categories {
            let event = Event::Option { key: Key::Category, value: Some(name.clone()) };
            builder.act(event).map_err(|failure| failure.lines)?;
        }
        let Config { options, locale, order, scheme, patterns, models, .. } =
            builder.finish().map_err(|failure| failure.lines)?;
        let keep_case = options.has(ModelOption::KeepCase);
        let straddles = options.has(ModelOption::Straddle);
        let bits = options.has(ModelOption::Entropy).then_some(EMPIRICAL_BITS);
        let reader = Reader {
            scorer: Scorer::new(models, bits),
            patterns,
            tokenizer: Tokenizer::new(scheme, keep_case, straddles, order),
            window: Window::new(order),
            is_standard: options.has(ModelOption::StandardTokenizer),
            keep_case,
        };
        Ok(Self { pipeline: Pipeline::new(Filter::new(options, locale), true, None), reader })
    }

    /// Takes in a text; several make up one document.
    pub fn read(&mut self, text: Vec<u8>) {
        let source = Source { name: Vec::new(), reader: Box::new(Cursor::new(text)) };
        // Memory can be read, and the reader asks for no end.
        let _: Result<_, io::Error> = self.pipeline.run(source, &mut self.reader);
    }

    /// Each category's name, cross-entropy in bits per token, and complexity.
    pub fn scores(&self) -> impl Iterator<Item = (&[u8], f64, f64)> {
        let scorer = &self.reader.scorer;
        let standings = document::finish(scorer, false);
        let scores = standings.into_iter().map(|standing| {
            let cross_entropy =
                if standing.complexity > 0.0 { bits(-standing.mean()) } else { 0.0 };
            (cross_entropy, standing.complexity)
        });
        scorer.models().iter().zip(scores).map(|(model, score)| (&model.name[..], score.0, score.1))
    }
}

impl Consumer for Reader {
    fn raw_line(&mut self, _: &mut Vec<u8>) -> io::Result<bool> {
        Ok(true)
    }

    fn text(&mut self, line: &mut Vec<u8>, state: LineState) -> io::Result<()> {
        if !state.kept {
            return Ok(());
        }
        let Self { scorer, patterns, tokenizer, window, .. } = self;
        let medium = state.medium;
        let mut warn = |warning: Warning| MESSAGES.warning(&warning.0);
        let mut score = |feature: Feature<'_>| scorer.score(&feature, &mut warn);
        let words = self.is_standard.then_some((tokenizer, window));
        features(line, medium, (patterns, self.keep_case), words, &mut score);
        Ok(())
    }

    fn end_of_line(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn end_of_source(&mut self, _: &[u8]) -> io::Result<()> {
        self.window.clear();
        self.tokenizer.end_of_file();
        Ok(())
    }
}
