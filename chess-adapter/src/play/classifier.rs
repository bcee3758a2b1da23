// SPDX-License-Identifier: GPL-3.0-or-later
//! The classifier as a process that is kept running. It reads lines and answers with scores (spec
//! chess 4.2 and 4.3).

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chess_games::cannot::Cannot;

/// What speaks for a move, in words for a player or as the feature of a gameline, and by how many
/// bits; a negative number speaks against it.
pub(crate) type Reason = (String, f64);

/// All children of this process that are to end with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChildProcesses(Arc<Mutex<Started>>);

#[derive(Debug, Default)]
struct Started {
    children: Vec<Weak<Mutex<Child>>>,
    /// Whether new ones are refused.
    is_closed: bool,
}

/// A child that ends when this is dropped.
pub(crate) struct Owned(Arc<Mutex<Child>>);

/// A running child process. Its standard input and output have a thread each: a long list of lines
/// fills both pipes before the first answer is read.
pub(crate) struct Process {
    child: Owned,
    pub to: mpsc::Sender<String>,
    /// Its lines.
    pub from: mpsc::Receiver<String>,
}

impl ChildProcesses {
    /// Ends all children and refuses new ones.
    pub(crate) fn close(&self) {
        let mut started = lock(&self.0);
        started.is_closed = true;
        for child in started.children.drain(..).filter_map(|child| child.upgrade()) {
            end(&child);
        }
    }

    /// Starts a child of its own process group, so that the terminal's interrupt does not reach it.
    pub(crate) fn spawn(&self, command: &mut Command) -> Result<Process> {
        let mut started = lock(&self.0);
        if started.is_closed {
            bail!("shutting down");
        }
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| Cannot::Run(command.get_program().into()))?;
        let mut stdin = child.stdin.take().context("no pipe")?;
        let stdout = BufReader::new(child.stdout.take().context("no pipe")?);
        let child = Arc::new(Mutex::new(child));
        started.children.retain(|child| child.strong_count() > 0);
        started.children.push(Arc::downgrade(&child));
        let (to, texts) = mpsc::channel::<String>();
        std::thread::spawn(move || {
            texts.into_iter().try_for_each(|text| stdin.write_all(text.as_bytes()))
        });
        let (lines, from) = mpsc::channel();
        std::thread::spawn(move || {
            let mut read = stdout.split(b'\n').map_while(Result::ok);
            read.try_for_each(|line| lines.send(String::from_utf8_lossy(&line).into_owned()))
        });
        Ok(Process { child: Owned(child), to, from })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills the child and takes its status, so that no zombie stays.
fn end(child: &Mutex<Child>) {
    let mut child = lock(child);
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Owned {
    fn drop(&mut self) {
        end(&self.0);
    }
}

/// The options of every verb that needs the classifier.
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    /// The classifier; default: dbacl beside this program, then on the search path
    #[arg(long, value_name = "PATH")]
    dbacl: Option<PathBuf>,
    /// Option for the classifier, such as -m; may repeat
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    dbacl_args: Vec<String>,
}

impl ProgramArgs {
    pub(crate) fn program(&self) -> Program {
        let beside = || {
            let beside = std::env::current_exe().ok()?.with_file_name("dbacl");
            beside.is_file().then_some(beside)
        };
        let args = self.dbacl_args.iter().flat_map(|a| a.split_whitespace()).map(str::to_owned);
        let path = self.dbacl.clone().or_else(beside).unwrap_or_else(|| "dbacl".into());
        Program { path, args: args.collect(), children: ChildProcesses::default() }
    }
}

/// The classifier program and its options, which stand before the other arguments.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub path: PathBuf,
    pub args: Vec<String>,
    /// The processes that run it.
    pub children: ChildProcesses,
}

impl Program {
    /// A stand-in: what this script of the shell answers.
    #[cfg(test)]
    pub(crate) fn of_script(script: &str) -> Self {
        let args = vec!["-c".to_owned(), script.to_owned()];
        Self { path: "sh".into(), args, children: ChildProcesses::default() }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.args);
        command
    }
}

/// A classifier that runs.
struct Running {
    process: Process,
    /// Answers that nobody waits for any more, and that come before others.
    owed: usize,
}

impl Running {
    fn send(&self, lines: &[String]) -> Result<()> {
        let text = lines.join("\n") + "\n";
        self.process.to.send(text).ok().context("the classifier's pipe is closed")
    }

    fn scores(&mut self, lines: &[String], categories: usize) -> Result<Vec<Vec<f64>>> {
        self.send(lines)?;
        let answer = || self.process.from.recv().ok().context("the classifier ended");
        for _ in 0..std::mem::take(&mut self.owed) {
            answer()?;
        }
        let scores = |_| {
            let line = answer()?;
            parse_scores(&line, categories).with_context(|| {
                let shown: String = line.chars().take(80).collect();
                format!("unexpected line from the classifier: {shown:?}")
            })
        };
        lines.iter().map(scores).collect()
    }
}

/// A classifier process for one or more categories; what is asked first starts it.
pub(crate) struct Classifier {
    program: Program,
    categories: Vec<PathBuf>,
    running: Option<Running>,
}

impl Classifier {
    pub(crate) const fn new(program: Program, categories: Vec<PathBuf>) -> Self {
        Self { program, categories, running: None }
    }

    /// The process, which is started if it does not run.
    fn running(&mut self) -> Result<&mut Running> {
        let running = match self.running.take() {
            Some(running) => running,
            None => Running { process: self.spawn("-n", &[])?, owed: 0 },
        };
        Ok(self.running.insert(running))
    }

    /// Starts the program with options that have lines classified one by one. Categories that were
    /// fitted together are always named together, because the classifier warns if some are missing.
    fn spawn(&self, first: &str, last: &[&str]) -> Result<Process> {
        let mut command = self.program.command();
        command.arg(first);
        for category in &self.categories {
            command.arg("-c").arg(category);
        }
        let columns: Vec<String> = (1..=self.categories.len()).map(|i| i.to_string()).collect();
        command.arg("-f").arg(columns.join(",")).args(last);
        self.program.children.spawn(&mut command)
    }

    /// Has everything loaded that an answer needs, or waits for it for a limited time.
    pub(crate) fn warm_up(&mut self) -> Result<()> {
        let running = self.running()?;
        running.send(&["e4".to_owned()])?;
        let answer = running.process.from.recv_timeout(PATIENCE);
        running.owed += usize::from(answer == Err(mpsc::RecvTimeoutError::Timeout));
        Ok(())
    }

    /// For each of the lines, which must not hold line ends, a score for each category: minus log2
    /// of the line's probability, smaller is likelier. A process that fails is started once more.
    pub(crate) fn scores(&mut self, lines: &[String]) -> Result<Vec<Vec<f64>>> {
        let categories = self.categories.len();
        let first = match self.running()?.scores(lines, categories) {
            Ok(scores) => return Ok(scores),
            Err(error) => error,
        };
        self.running = None;
        let again = self.running().and_then(|running| running.scores(lines, categories));
        if again.is_err() {
            self.running = None;
        }
        again.with_context(|| format!("after a restart ({first:#})"))
    }

    /// The features of a line, and what each takes from the sum of the categories' scores, which
    /// have these factors.
    pub(crate) fn features(&self, line: &str, factors: &[f64]) -> Result<Vec<Reason>> {
        let Process { child: _child, to, from } = self.spawn("-nv", &["-d"])?;
        to.send(format!("{line}\n")).ok().context("the classifier's pipe is closed")?;
        drop(to);
        Ok(read_features(from.iter(), factors))
    }
}

/// Reads `NAME SCORE` pairs from the left of a score line.
fn parse_scores(line: &str, categories: usize) -> Option<Vec<f64>> {
    let mut fields = line.split_ascii_whitespace();
    let score = |_| {
        fields.next()?;
        fields.next()?.parse().ok().filter(|score: &f64| score.is_finite())
    };
    (0..categories).map(score).collect()
}

/// How long [`Classifier::warm_up`] waits.
const PATIENCE: Duration = Duration::from_secs(5);

/// Turns the report of running averages into bits per feature, those of the categories weighed by
/// their factors and subtracted.
///
/// A row has for each category the average score so far in nats and the complexity so far, then the
/// feature. Each feature adds the reciprocal of the model's order to the complexity, which is
/// printed with one decimal only: the last row shows the order, and with it every complexity
/// exactly.
fn read_features(report: impl Iterator<Item = String>, factors: &[f64]) -> Vec<Reason> {
    let rows: Vec<_> = report.filter_map(|line| parse_feature(&line, factors.len())).collect();
    let count = u32::try_from(rows.len()).map_or(f64::INFINITY, f64::from);
    let mut reasons: Vec<Reason> = rows.iter().map(|(_, text)| (text.clone(), 0.0)).collect();
    for (category, factor) in factors.iter().enumerate() {
        let order = rows.last().map_or(1.0, |(averages, _)| {
            let (_, complexity) = averages[category];
            (count / complexity.max(0.05)).round().max(1.0)
        });
        let (mut before, mut complexity) = (0.0, 0.0);
        for ((averages, _), (_, sum)) in rows.iter().zip(&mut reasons) {
            complexity += 1.0 / order;
            let total = averages[category].0 * complexity / std::f64::consts::LN_2;
            *sum -= factor * (total - std::mem::replace(&mut before, total));
        }
    }
    reasons
}

/// Reads a row `AVERAGE * COMPLEXITY ... []TOKEN[]TOKEN[](MEDIUM)`, averages and complexities for
/// each category.
fn parse_feature(line: &str, categories: usize) -> Option<(Vec<(f64, f64)>, String)> {
    let mut rest = line;
    let mut averages = Vec::with_capacity(categories);
    for _ in 0..categories {
        let (average, after) = rest.split_once('*')?;
        let (complexity, after) = after.trim_start().split_once(char::is_whitespace)?;
        averages.push((average.trim().parse().ok()?, complexity.parse().ok()?));
        rest = after;
    }
    let feature = rest.trim();
    let tokens = feature.rsplit_once('(').map_or(feature, |(tokens, _)| tokens);
    let tokens: Vec<&str> = tokens.split("[]").filter(|t| !t.is_empty()).collect();
    (!tokens.is_empty()).then(|| (averages, tokens.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_from_the_left() {
        let rows: &[(&str, usize, Option<Vec<f64>>)] = &[
            ("BlackWin 123.45 e4_c5\n", 1, Some(vec![123.45])),
            ("a  -0.00 \n", 1, Some(vec![0.0])),
            ("a 1.00 b  22.50 Nf3 9.9\n", 2, Some(vec![1.0, 22.5])),
            ("a 1.00\n", 2, None),
            ("dbacl: error\n", 1, None),
            ("a nan x\n", 1, None),
        ];
        for (line, categories, scores) in rows {
            assert_eq!(parse_scores(line, *categories), *scores, "{line}");
        }
    }

    #[test]
    fn feature_rows_become_increments() {
        let report = "# categories: a \n# format: avg_score * complexity\n    16.62 * 0.5   \
                      \t[]e4[](1)\n     3.12 * 1.0   \t[]e4[]c5[](1)\n";
        let rows = read_features(report.lines().map(str::to_owned), &[-1.0]);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].0.as_str(), rows[1].0.as_str()), ("e4", "e4 c5"));
        assert!((rows[0].1 - 8.31 / std::f64::consts::LN_2).abs() < 1e-9);
        assert!((rows[1].1 - (3.12 - 8.31) / std::f64::consts::LN_2).abs() < 1e-9);
        let two = "    42.14 * 1.0   \t    47.39 * 1.0   \t[]hc*00[](1)\n    39.40 * 2.0   \t    \
                   41.86 * 2.0   \t[]b[](1)\n";
        let rows = read_features(two.lines().map(str::to_owned), &[0.5, -1.0]);
        assert_eq!((rows[0].0.as_str(), rows[1].0.as_str()), ("hc*00", "b"));
        let nats = [47.39 - 0.5 * 42.14, 2.0 * 41.86 - 47.39 - 0.5 * (2.0 * 39.40 - 42.14)];
        for (row, nats) in rows.iter().zip(nats) {
            assert!((row.1 - nats / std::f64::consts::LN_2).abs() < 1e-9);
        }
    }

    /// What this shell script answers.
    fn classifier(script: &str) -> Classifier {
        Classifier::new(Program::of_script(script), vec!["x".into()])
    }

    #[test]
    fn a_classifier_that_is_warm_answers_what_it_is_asked() {
        let mut classifier = classifier("while read -r line; do echo \"x ${#line} $line\"; done");
        classifier.warm_up().expect("it runs");
        assert_eq!(classifier.scores(&["abc".to_owned()]).expect("it answers"), [[3.0]]);
    }

    #[test]
    fn nonsense_is_an_error() {
        let mut classifier = classifier("while read -r line; do echo '!'; done");
        assert!(classifier.scores(&["a".to_owned()]).is_err());
        classifier.program.path = "/nonexistent".into();
        assert!(classifier.scores(&["a".to_owned()]).is_err());
    }

    #[test]
    fn long_lists_do_not_deadlock() {
        let mut classifier = classifier("while read -r line; do echo \"x 1.00 $line\"; done");
        let lines: Vec<String> = (0..300).map(|_| "e4 ".repeat(500)).collect();
        assert_eq!(classifier.scores(&lines).expect("it answers").len(), 300);
    }

    #[test]
    fn closing_ends_the_children() {
        let children = ChildProcesses::default();
        let mut command = Command::new("sleep");
        command.arg("100");
        let process = children.spawn(&mut command).expect("sleep runs");
        children.close();
        assert!(lock(&process.child.0).try_wait().expect("known child").is_some());
        assert!(children.spawn(&mut command).is_err());
    }
}
