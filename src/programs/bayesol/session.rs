// SPDX-License-Identifier: GPL-3.0-or-later
//! A run of `bayesol`: reads specification and document, decides, and says what is wrong.

use super::options::{Config, Key, USAGE, help};
use super::print::{NAME, document, round_text, round_trace, trace_observation};
use crate::model::settings::Locale;
use crate::programs::dbacl::load;
use crate::risk::advice::{self, Advice};
use crate::risk::decide::{LossMatrix, Scores, decide};
use crate::risk::evidence::{CapturedRows, NoLosses, Observation, Unreadable};
use crate::risk::parse::{self, Specification};
use crate::sets::classify::{CategorySet, Classifier};
use dbacl_cli::getopt::{self, Event};
use dbacl_cli::names::{base_name, resolve};
use dbacl_cli::output::complaint;
use dbacl_numeric::elementary::{LN_2, bits};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The run is over, with this exit status; what there is to say has been said.
pub(super) struct Stop(pub u8);

/// Exit status of a fatal error; also that of a decision for the first category.
pub(super) const FATAL: u8 = 1;
/// Exit status of a wrong command line, specification or file.
const REFUSED: u8 = 0;

/// A run: what it has to print, and where.
pub(super) struct Session<'a> {
    /// Where results go.
    pub stdout: &'a mut dyn Write,
    /// Where errors and warnings go.
    pub stderr: &'a mut dyn Write,
    /// Whether a person reads the errors, and so gets more of them explained.
    pub is_terminal: bool,
    /// Results not yet written.
    pub out: Vec<u8>,
    /// Whether results could not be written.
    pub has_failed: bool,
}

/// Results are written when this much has gathered, and at the end.
const FLUSH_AT: usize = 1 << 16;

impl Session<'_> {
    /// Writes what has gathered. The first failure is reported, unless a reader has gone away. It
    /// does not change the exit status, which is the answer.
    pub(super) fn flush(&mut self) {
        let written = self.stdout.write_all(&self.out).and_then(|()| self.stdout.flush());
        self.out.clear();
        if let Err(error) = written
            && !std::mem::replace(&mut self.has_failed, true)
            && let Some(text) = complaint(&error)
        {
            self.error(text.as_bytes());
        }
    }

    fn say(&mut self, parts: &[&[u8]]) {
        let mut line = parts.concat();
        line.push(b'\n');
        let _ = self.stderr.write_all(&line);
    }

    fn warning(&mut self, text: &str) {
        self.say(&[NAME.as_bytes(), b":warning: ", text.as_bytes()]);
    }

    fn error(&mut self, text: &[u8]) {
        self.say(&[NAME.as_bytes(), b":error: ", text]);
    }

    fn fatal(&mut self, text: &str) -> Stop {
        self.error(text.as_bytes());
        Stop(FATAL)
    }

    fn refused(&mut self, text: &[u8]) -> Stop {
        self.error(text);
        self.say(&[b"\n", USAGE.as_bytes(), b"\n\nTry bayesol --help."]);
        Stop(REFUSED)
    }

    fn note(&mut self, path: &OsStr, text: &[u8], advice: &Advice) {
        let (line, column) = advice::position(text, advice.offset);
        let rest = format!(":{line}:{column}: {}", advice.text);
        self.say(&[NAME.as_bytes(), b":note: ", path.as_bytes(), rest.as_bytes()]);
    }

    /// Acts on the options in their order.
    pub(super) fn options(&mut self, events: Vec<Event<Key>>) -> Result<Config, Stop> {
        let mut config = Config::default();
        let mut has_specification = false;
        let has = |wanted| getopt::has(&events, &wanted);
        let (explain, relaxed) = (self.is_terminal || has(Key::Explain), has(Key::Relaxed));
        for event in events {
            let (key, value) = match event {
                Event::Complaint(text) => {
                    self.say(&[&text]);
                    continue;
                }
                Event::Operand(file) => {
                    config.files.push(file);
                    continue;
                }
                Event::Option { key, value } => (key, value.unwrap_or_default()),
            };
            match key {
                Key::Specification if has_specification => {
                    return Err(self.fatal("option -c can only occur once"));
                }
                Key::Specification => {
                    config.specification = self.specification(&value, explain, relaxed)?;
                    has_specification = true;
                }
                Key::Verbose => config.name = true,
                Key::Risks => config.risks = true,
                Key::Ranking => config.ranking = true,
                Key::Debug => config.debug = true,
                Key::Json => config.json = true,
                Key::Nats => config.nats = true,
                Key::Category => config.categories.push(value),
                Key::Wide | Key::Explain | Key::Relaxed => {}
                Key::Version | Key::VersionText => {
                    self.out.extend_from_slice(dbacl_cli::version(NAME).as_bytes());
                    return Err(Stop(if key == Key::Version { REFUSED } else { FATAL }));
                }
                Key::Help => {
                    self.out.extend_from_slice(help().as_bytes());
                    return Err(Stop(REFUSED));
                }
            }
        }
        if !has_specification {
            return Err(self.refused(b"please use -c option"));
        }
        if config.risks && config.ranking {
            self.warning("option -n is incompatible with -N, ignoring");
        }
        config.risks &= !config.ranking;
        config.name &= !config.risks && !config.ranking;
        if let Err(error) = config.specification.check() {
            return Err(self.fatal(&error.to_string()));
        }
        Ok(config)
    }

    /// Reads the specification file, telling what is odd about it.
    fn specification(
        &mut self,
        path: &OsStr,
        explain: bool,
        relaxed: bool,
    ) -> Result<Specification, Stop> {
        let Ok(text) = std::fs::read(path) else {
            self.error(&[b"could not read ", path.as_bytes(), b", program aborted"].concat());
            return Err(Stop(FATAL));
        };
        let result = parse::parse(&text, relaxed, &mut |notice| {
            self.say(&[notice.to_string().as_bytes()]);
        });
        match result {
            Ok(specification) => {
                if explain {
                    for advice in advice::on_specification(&specification) {
                        self.note(path, &text, &advice);
                    }
                }
                Ok(specification)
            }
            Err(error) => {
                self.say(&[error.to_string().as_bytes()]);
                if explain {
                    self.note(path, &text, &advice::on_syntax_error(&text, error.offset));
                }
                Err(Stop(REFUSED))
            }
        }
    }

    /// Reads the document, fills in the losses and decides.
    pub(super) fn decide(
        &mut self,
        config: &Config,
        stdin: &mut dyn BufRead,
        locale: Locale,
    ) -> Result<u8, Stop> {
        let specification = &config.specification;
        let mut evidence = CapturedRows::new(specification, locale, |condition| {
            let text = [b"couldn't compile regex '", condition, b"', ignoring"].concat();
            self.say(&[NAME.as_bytes(), b":warning: ", &text]);
        });
        let mut classifier = self.classifier(config, locale)?;
        if config.files.is_empty() {
            if config.debug {
                self.out.extend_from_slice(b"taking input from stdin\n");
            }
            self.input(config, &mut evidence, classifier.as_mut(), stdin)?;
        }
        for name in &config.files {
            let Some(mut input) = open(Path::new(name)) else {
                return Err(self.refused(&[b"couldn't open ", name.as_bytes()].concat()));
            };
            if config.debug {
                self.out.extend_from_slice(&[b"processing file ", name.as_bytes(), b"\n"].concat());
            }
            self.input(config, &mut evidence, classifier.as_mut(), &mut input)?;
        }
        if let Some(mut classifier) = classifier {
            let mut scores = Scores::zero(specification.categories.len());
            let verdict = classifier.finish();
            let numbers = verdict.means().zip(verdict.complexities());
            for (name, (mean, &complexity)) in verdict.names().iter().zip(numbers) {
                if let Some(at) = specification.index_of(name.as_bytes()) {
                    scores.cross_entropy[at] = if complexity > 0.0 { bits(-mean) } else { 0.0 };
                    scores.complexity[at] = complexity;
                }
            }
            evidence.set_scores(scores);
        }
        if config.nats
            && let Some(mut scores) = evidence.scores().cloned()
        {
            for cross_entropy in &mut scores.cross_entropy {
                *cross_entropy *= LN_2;
            }
            evidence.set_scores(scores);
        }
        let Some(scores) = evidence.scores() else {
            return Err(self.fatal("no scores found. Did you use dbacl with the -a switch?"));
        };
        if scores.are_disparate() {
            self.warning(DISPARITY);
        }
        let losses = self.losses(config, &evidence)?;
        let best = self.rounds(config, scores, losses)?;
        if config.name && !config.json {
            self.out.extend_from_slice(specification.categories[best].as_bytes());
            self.out.push(b'\n');
        }
        if specification.categories.len() == 1 {
            self.warning("only one category specified, this is trivial!");
        }
        Ok(u8::try_from(best + 1).unwrap_or(u8::MAX))
    }

    /// Loads the categories to score the text under, if there are any.
    fn classifier(&mut self, config: &Config, locale: Locale) -> Result<Option<Classifier>, Stop> {
        if config.categories.is_empty() {
            return Ok(None);
        }
        let set = open_all(&config.categories, locale).map_err(|lines| {
            for line in lines {
                self.error(line.as_bytes());
            }
            Stop(FATAL)
        })?;
        set.warnings().iter().for_each(|warning| self.warning(&warning.0));
        let Specification { categories, .. } = &config.specification;
        if let Some(name) = categories.iter().find(|name| !set.names().contains(name)) {
            return Err(self.fatal(&format!("category {name} has no scores: use --category")));
        }
        if set.names().iter().any(|name| !categories.contains(name)) {
            return Err(self.fatal(&Unreadable::Mismatch.to_string()));
        }
        Ok(Some(set.classifier()))
    }

    /// Takes in one input: a document with scores, or a text for the classifier.
    fn input(
        &mut self,
        config: &Config,
        evidence: &mut CapturedRows<'_>,
        classifier: Option<&mut Classifier>,
        input: &mut dyn BufRead,
    ) -> Result<(), Stop> {
        let Some(classifier) = classifier else { return self.read(config, evidence, input) };
        let mut text = Vec::new();
        // What could be read counts, as it does line by line.
        let _ = input.read_to_end(&mut text);
        classifier.add(&text);
        classifier.warnings().iter().for_each(|warning| self.warning(&warning.0));
        let mut observe = observer(&mut self.out, config);
        // Conditions see what `dbacl -a` would show them, with its blank before each line.
        let mut shown = Vec::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            shown.clear();
            shown.push(b' ');
            shown.extend(line.iter().take_while(|&&byte| byte != 0));
            evidence.document_line(&shown, &mut observe);
        }
        evidence.end_of_file(text.is_empty() || text.ends_with(b"\n"), &mut observe);
        Ok(())
    }

    /// Takes in one input to its end; an input that fails has ended.
    fn read(
        &mut self,
        config: &Config,
        evidence: &mut CapturedRows<'_>,
        input: &mut dyn BufRead,
    ) -> Result<(), Stop> {
        let mut line = Vec::new();
        let mut is_complete = true;
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                break;
            }
            is_complete = line.ends_with(b"\n");
            let result = evidence.line(&line, &mut observer(&mut self.out, config));
            if let Err(error) = result {
                self.error(error.to_string().as_bytes());
                if error != Unreadable::Mismatch {
                    self.error(Unreadable::Mismatch.to_string().as_bytes());
                }
                return Err(Stop(FATAL));
            }
            if self.out.len() > FLUSH_AT {
                self.flush();
            }
        }
        evidence.end_of_file(is_complete, &mut observer(&mut self.out, config));
        Ok(())
    }

    fn losses(&mut self, config: &Config, evidence: &CapturedRows<'_>) -> Result<LossMatrix, Stop> {
        let Specification { categories, rows, .. } = &config.specification;
        let result = evidence.losses(&mut |row| {
            if config.debug {
                let row = &rows[row];
                let name = categories[row.category].as_bytes();
                self.out.extend_from_slice(
                    &[b"category ", name, b"\t risk spec: ", &row.formulas[..], b"\n"].concat(),
                );
            }
        });
        result.map_err(|error| match error {
            NoLosses::Negative(truth, decision) => {
                let (truth, decision) = (&categories[truth], &categories[decision]);
                let text = format!("error: negative losses not supported ({truth},{decision})");
                self.say(&[text.as_bytes()]);
                Stop(REFUSED)
            }
            NoLosses::Syntax(row, error) => {
                self.say(&[error.to_string().as_bytes()]);
                let row = &rows[row];
                let name = categories[row.category].as_bytes();
                self.error(
                    &[b"couldn't parse spec for (", name, b", \"", &row.condition[..], b"\")"]
                        .concat(),
                );
                Stop(FATAL)
            }
        })
    }

    /// Decides, once or as often as there are categories, and prints; returns the first decision.
    fn rounds(
        &mut self,
        config: &Config,
        scores: &Scores,
        mut losses: LossMatrix,
    ) -> Result<usize, Stop> {
        let Specification { categories, log_priors, .. } = &config.specification;
        let mut count = 1;
        if config.ranking {
            losses.finite_diagonal();
            count = categories.len();
        }
        let mut order = Vec::with_capacity(count);
        let mut first = None;
        for _ in 0..count {
            let round = match decide(scores, log_priors, &losses) {
                Ok(round) => round,
                Err(error) => return Err(self.fatal(&error.to_string())),
            };
            if config.debug {
                self.out.extend(round_trace(&config.specification, &losses, &round).bytes());
            }
            if !config.json {
                self.out.extend(round_text(config, &round).bytes());
            }
            order.push(round.best);
            if first.is_none() {
                first = Some((losses.clone(), round));
            }
            losses.exclude(order[order.len() - 1]);
        }
        if config.json {
            if let Some((losses, round)) = &first {
                let text = document(config, scores, losses, round, &order);
                self.out.extend_from_slice(text.as_bytes());
            }
        } else if config.risks || config.ranking {
            self.out.push(b'\n');
        }
        Ok(order.first().copied().unwrap_or(0))
    }
}

/// Loads categories that can be compared with each other, or says line by line why it cannot.
fn open_all(categories: &[OsString], locale: Locale) -> Result<CategorySet, Vec<String>> {
    let folder = std::env::var_os("DBACL_PATH");
    let open = |name: &OsString| {
        if name.is_empty() {
            return Err(vec!["category needs a name".to_owned()]);
        }
        let path = resolve(folder.as_deref(), name.as_bytes());
        let category = load(&path).map_err(|failure| failure.lines)?;
        Ok((String::from_utf8_lossy(&base_name(&path)).into_owned(), category))
    };
    let categories: Result<Vec<_>, Vec<String>> = categories.iter().map(open).collect();
    CategorySet::shared(categories?, locale).map_err(|error| vec![error.to_string()])
}

/// Shows what is observed, if that is wanted.
fn observer<'a>(out: &'a mut Vec<u8>, config: &'a Config) -> impl FnMut(Observation<'_>) + use<'a> {
    move |observation| {
        if config.debug {
            trace_observation(out, &config.specification.categories, &observation);
        }
    }
}

const DISPARITY: &str = "
         There is a significant disparity between the complexities
         reported under each category. This most likely indicates that
         you've chosen categories whose features aren't comparable.

         The Bayes solution calculations will be meaningless.
";

/// Opens a file; a directory is as good as missing.
fn open(path: &Path) -> Option<BufReader<File>> {
    let file = File::open(path).ok()?;
    let is_directory = file.metadata().is_ok_and(|metadata| metadata.is_dir());
    (!is_directory).then(|| BufReader::with_capacity(1 << 16, file))
}
