// SPDX-License-Identifier: GPL-3.0-or-later
//! The checks after all options (spec text 10.1), and the job that is asked for.

use super::builder::Builder;
use super::config::Config;
use super::count_files::Fitted;
use super::failure::{Failure, Kind, usage};
use super::hints;
use super::job_options;
use super::jobs::Job;
use super::messages::{MESSAGES, warn};
use super::options::Key;
use crate::learn::reference::Reference;
use crate::model::settings::{ModelOption, ModelOptions};
use crate::sets::classify::shared::{complete_kind, default_scheme, settle_multinomial};
use crate::shards::counts::{Documents, counting_options};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Options are read before signals are handled.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Builder {
    /// The job that the options ask for, and how it is done.
    pub(super) fn job(mut self) -> Result<(Job, Config), Failure> {
        self.settle()?;
        let Self { mut config, learn, count, merge, .. } = self;
        let (job, target) = match (merge, count, learn) {
            (Some(target), _, _) => (Job::Merge, target),
            (_, Some(target), _) => (Job::Count, target),
            (_, _, Some(path)) => (Job::Learn, path),
            (None, None, None) => match (config.records, config.explain) {
                (Some(records), _) => (Job::ClassifyRecords(records), PathBuf::new()),
                (None, Some(is_html)) => (Job::Explain { is_html }, PathBuf::new()),
                (None, None) => (Job::Classify, PathBuf::new()),
            },
        };
        config.target = target;
        config.settle_for(job)?;
        Ok((job, config))
    }

    /// The checks after all options, in their order.
    fn settle(&mut self) -> Result<(), Failure> {
        use ModelOption::{Entropy, HtmlComments, Mail, StandardTokenizer};
        if self.config.reading.strict && self.misread {
            return Err(Failure::silent(Kind::Usage));
        }
        let tasks =
            [self.learn.is_some(), self.classify, self.count.is_some(), self.merge.is_some()];
        let tasks = tasks.iter().filter(|&&task| task).count();
        if self.count.is_none() && self.merge.is_none() && tasks != 1 {
            for text in hints::MAIL {
                hints::give(text);
            }
            return usage("please use either -c or -l option.");
        }
        if tasks != 1 {
            return usage("please use only one of -l, -c, --count and --merge.");
        }
        if let Some(fault) = job_options::fault(&self.used) {
            return usage(fault);
        }
        if self.merge.is_some() {
            return Ok(());
        }
        if self.config.reading.charset.is_some() && self.config.reading.options.has(Mail) {
            return usage(
                "--charset cannot be used with -T email: mail says what it is written in",
            );
        }
        self.adopt_counts()?;
        let learning = self.learn.is_some() || self.count.is_some();
        let config = &mut self.config;
        if config.form.confidence && (config.online.is_some() || !config.merges.is_empty()) {
            config.reading.options.remove(HtmlComments);
        }
        if !learning && config.decimation.take().is_some() {
            MESSAGES.warning("option -x ignored, applies only when learning.");
        }
        if config.dump && config.form.verbose {
            config.form.verbose = false;
            config.debug = false;
        }
        config.reading.by_lines = !config.filters.is_empty();
        complete_kind(&mut config.reading.options)?;
        if learning && config.reading.options.has(Mail) {
            config.reading.options.insert(Entropy);
        }
        if config.form.append && !config.filters.is_empty() {
            config.form.append = false;
            MESSAGES.warning("disabling option -a, because it cannot be used with -f.");
        }
        if learning {
            if config.reading.patterns.is_empty() {
                config.reading.options.insert(StandardTokenizer);
            } else {
                config.reading.options.remove(StandardTokenizer);
            }
        }
        if self.wide {
            MESSAGES.warning(
                "this version of dbacl does not support -g and -i switches simultaneously, \
                 disabling -i.",
            );
        }
        let models = if learning { &[] } else { config.models.as_slice() };
        if settle_multinomial(&mut config.reading.options, models) {
            MESSAGES.warning(
                "not all categories support multinomial calculations, disabling (-M switch)",
            );
        }
        let mail = config.reading.options.has(Mail);
        config.reading.scheme = self.scheme.unwrap_or(default_scheme(config.reading.options));
        config.reference =
            self.reference.unwrap_or(if mail { Reference::Uniform } else { Reference::Dirichlet });
        config.hints = hints::are_welcome();
        if config.hints {
            let asks_for_best = !learning && config.filters.is_empty() && config.form.verbose;
            let alone = asks_for_best && config.models.len() == 1;
            let typed = config.reading.operands.is_empty() && std::io::stdin().is_terminal();
            for hint in [
                hints::about_cuts(&self.cuts),
                alone.then(|| "one category is always the best; learn its opposite too".into()),
                typed.then(|| hints::TYPED.into()),
            ]
            .into_iter()
            .flatten()
            {
                MESSAGES.hint(&hint);
            }
        }
        let fits = |counts: &Fitted| {
            counts.settings().options == counting_options(config.reading.options)
                && (config.reading.options.has(Mail)
                    || counts.settings().documents == Documents::None)
        };
        if !config.counts.as_ref().is_none_or(fits) {
            return usage("these options cannot be used with --fit");
        }
        Ok(())
    }

    /// Loads the counts of `--fit`, and takes over how they were counted.
    fn adopt_counts(&mut self) -> Result<(), Failure> {
        if self.fit.is_empty() {
            return Ok(());
        }
        let config = &mut self.config;
        if !config.reading.operands.is_empty() {
            return usage("--fit reads no other input");
        }
        let counts = Fitted::open_all(&self.fit, config.reading.locale, &NEVER)?;
        let theirs = counts.settings();
        let united = ModelOptions::from_bits(
            counting_options(config.reading.options).bits() | theirs.options.bits(),
        );
        let name = self.fit[0].display();
        let refuse = |what: &str| usage(format!("{name} already fixes {what}; remove that option"));
        let is_ordered = !(config.form.confidence && theirs.documents == Documents::Bags);
        for (agrees, what) in [
            (united == theirs.options, "other options (-T, -j or -S)"),
            (self.scheme.is_none_or(|own| own == theirs.scheme), "another tokenizing scheme (-e)"),
            (
                !self.used.contains(&Key::Order) || config.reading.order == theirs.order,
                "another order of n-grams (-w)",
            ),
            (is_ordered, "no order of tokens in documents (-X)"),
        ] {
            if !agrees {
                return refuse(what);
            }
        }
        let given = config.reading.stored_patterns(&config.reading.patterns);
        if given.is_empty() {
            for text in &theirs.patterns {
                let pattern = config.reading.patterns.add(text, &mut warn)?;
                config.reading.own_patterns.push(pattern);
            }
        } else if given != theirs.patterns {
            return refuse("other regular expressions (-g)");
        }
        let bits = config.reading.options.bits() | theirs.options.bits();
        config.reading.options = ModelOptions::from_bits(bits);
        config.reading.order = theirs.order;
        self.scheme = Some(theirs.scheme);
        config.counts = Some(counts);
        Ok(())
    }
}
