// SPDX-License-Identifier: GPL-3.0-or-later
//! What happened to the games that were read.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::TrainingSet;
use crate::gameline::Unusable;
use crate::pgn::RawGame;

/// What happened to the games.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Games read.
    pub read: u64,
    /// Games written.
    pub written: u64,
    /// Games left out, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Number, reason and first tag of the first few games left out.
    pub examples: Vec<(u64, Unusable, String)>,
    /// Words between moves that were taken for remarks, and the first few of them.
    pub remarks: u64,
    /// See `remarks`.
    pub remark_examples: Vec<String>,
    /// Games whose result tag and text disagree.
    pub disagreements: u64,
    /// Gamelines in each training set.
    pub sets: [u64; 4],
}

impl Statistics {
    const EXAMPLES: usize = 5;

    pub(super) fn skip(&mut self, reason: Unusable, raw: &RawGame) {
        *self.skipped.entry(reason.reason).or_default() += 1;
        if self.examples.len() < Self::EXAMPLES {
            let tag = raw.tags.first().map_or_else(String::new, |(name, value)| {
                format!("[{} \"{}\"]", printable(name), printable(value))
            });
            self.examples.push((self.read, reason, tag));
        }
    }

    pub(super) fn ignore(&mut self, remarks: &[String]) {
        for remark in remarks {
            self.remarks += 1;
            if self.remark_examples.len() < Self::EXAMPLES && !self.remark_examples.contains(remark)
            {
                self.remark_examples.push(remark.clone());
            }
        }
    }

    /// Names the files and what is wrong with the first game if none of `inputs` could be used.
    ///
    /// # Errors
    ///
    /// No game was written.
    pub fn check_used(&self, inputs: &[PathBuf]) -> Result<()> {
        let names: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
        let names = if names.is_empty() { "standard input".to_owned() } else { names.join(", ") };
        match self.examples.first() {
            _ if self.written > 0 => Ok(()),
            Some((number, reason, _)) => {
                let reason = printable(reason.to_string().as_bytes());
                bail!("{names}: no game could be used; game {number}: {reason}")
            }
            None => bail!("{names}: there is no game"),
        }
    }

    /// Writes the summary, for people.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let skipped: u64 = self.skipped.values().sum();
        writeln!(out, "games read {}, written {}, skipped {skipped}", self.read, self.written)?;
        for (reason, count) in &self.skipped {
            writeln!(out, "  skipped {count}: {reason}")?;
        }
        for (number, reason, tag) in &self.examples {
            writeln!(out, "  game {number} ({}) {tag}", printable(reason.to_string().as_bytes()))?;
        }
        if skipped > self.examples.len() as u64 {
            writeln!(out, "  ... and {} more", skipped - self.examples.len() as u64)?;
        }
        if self.remarks > 0 {
            let words = self.remark_examples.join(" ");
            let words = printable(words.as_bytes());
            writeln!(out, "ignored {} words that are not moves, such as {words}", self.remarks)?;
        }
        if self.disagreements > 0 {
            writeln!(
                out,
                "warning: result tag and text disagree in {} games; the text is taken",
                self.disagreements
            )?;
        }
        for (set, count) in TrainingSet::ALL.iter().zip(self.sets) {
            writeln!(out, "  {}: {count}", set.name)?;
        }
        Ok(())
    }
}

fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect()
}
