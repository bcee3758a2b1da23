// SPDX-License-Identifier: GPL-3.0-or-later
//! Texts by stage and outcome, and the classifier's categories of them.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::play::bayes::stage::{Outcome, Stage, category};
use crate::play::classifier::Program;

/// Files of text, one for each stage and outcome, a line for each document.
pub struct Texts {
    folder: PathBuf,
    files: Vec<BufWriter<File>>,
    lines: [[u64; 3]; 3],
}

impl Texts {
    /// Makes the files in this folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// A file cannot be created.
    pub fn create(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let folder = std::path::absolute(folder)?;
        let mut files = Vec::new();
        for stage in Stage::ALL {
            for outcome in Outcome::ALL {
                let path = path(&folder, stage, outcome);
                let file = File::create(&path)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                files.push(BufWriter::new(file));
            }
        }
        Ok(Self { folder, files, lines: [[0; 3]; 3] })
    }

    /// Adds a line.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn push(&mut self, stage: Stage, outcome: Outcome, line: &str) -> Result<()> {
        let (stage, outcome) = (stage as usize, outcome as usize);
        self.lines[stage][outcome] += 1;
        let file = &mut self.files[3 * stage + outcome];
        writeln!(file, "{line}").with_context(|| format!("{}", self.folder.display()))
    }

    /// Lines of each stage and outcome.
    pub const fn lines(&self) -> [[u64; 3]; 3] {
        self.lines
    }

    /// Has the classifier learn each file, under the same name in `output`; if `cost` is given, it
    /// then fits those of a stage together. Files without lines are passed over. The texts are
    /// removed.
    ///
    /// # Errors
    ///
    /// The classifier fails, or files cannot be written.
    pub fn learn(mut self, output: &Path, cost: Option<f64>, program: &Program) -> Result<()> {
        for file in &mut self.files {
            file.flush().with_context(|| format!("{}", self.folder.display()))?;
        }
        let output = std::path::absolute(output)?;
        for stage in Stage::ALL {
            let mut learned = Vec::new();
            for outcome in Outcome::ALL {
                let file = output.join(category(stage, outcome));
                if self.lines[stage as usize][outcome as usize] == 0 {
                    let _ = std::fs::remove_file(&file);
                    continue;
                }
                let text = path(&self.folder, stage, outcome);
                let mut command = program.command();
                command.args(["-T", "text", "-l"]).arg(&file).args(MODEL).arg(&text);
                run(program, command)?;
                learned.push((file, text));
            }
            if let Some(cost) = cost.filter(|_| learned.len() > 1) {
                let mut command = program.command();
                command.args(["--refit", "--documents", "lines", "--always"]);
                if learned.len() > 2 {
                    command.arg("--exact");
                }
                command.args(["--cost", &cost.to_string(), "--blend", "0", "-T", "text"]);
                command.args(MODEL);
                for (file, text) in &learned {
                    let mut operand = file.clone().into_os_string();
                    operand.push("=");
                    operand.push(text);
                    command.arg("-c").arg(operand);
                }
                run(program, command)?;
                for (file, _) in learned {
                    // What the fit started from, kept for another one.
                    let mut ordinary = file.into_os_string();
                    ordinary.push(".ordinary");
                    let _ = std::fs::remove_file(ordinary);
                }
            }
        }
        std::fs::remove_dir_all(&self.folder)
            .with_context(|| format!("cannot remove {}", self.folder.display()))
    }
}

/// How lines become features: words as they are, each alone, all of them as likely beforehand as
/// their letters are.
const MODEL: [&str; 8] = ["-e", "graph", "-L", "uniform", "-j", "-w", "1", "-H20"];

fn path(folder: &Path, stage: Stage, outcome: Outcome) -> PathBuf {
    folder.join(format!("{}.txt", category(stage, outcome)))
}

fn run(program: &Program, mut command: std::process::Command) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let name = || program.path().display();
    let done = command.output().with_context(|| format!("cannot run {}", name()))?;
    if !done.status.success() {
        let told = String::from_utf8_lossy(&done.stderr);
        bail!("{} failed ({}): {}", name(), done.status, told.trim());
    }
    Ok(())
}
