// SPDX-License-Identifier: GPL-3.0-or-later
//! The classifier as a process that is kept running. It reads lines and answers with scores (spec
//! chess 4.2 and 4.3).

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chess_games::cannot::Cannot;

/// A feature's tokens, and the bits that it adds to the line's score.
pub type FeatureRow = (String, f64);

/// A running child process, and the pipes to its standard input and from its standard output.
type Piped = (Arc<Mutex<Child>>, ChildStdin, BufReader<ChildStdout>);

/// All children of this process that are to end with it.
#[derive(Clone, Debug, Default)]
pub struct ChildProcesses {
    children: Arc<Mutex<Vec<Weak<Mutex<Child>>>>>,
    closed: Arc<AtomicBool>,
}

impl ChildProcesses {
    /// Ends all children and refuses new ones.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let children = std::mem::take(&mut *lock(&self.children));
        for child in children.iter().filter_map(Weak::upgrade) {
            end(&child);
        }
    }

    /// Starts a child, with pipes to it and from it, of its own process group, so that the
    /// terminal's interrupt does not reach it.
    pub fn spawn(&self, command: &mut Command) -> Result<Piped> {
        if self.closed.load(Ordering::SeqCst) {
            bail!("shutting down");
        }
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| Cannot::Run(command.get_program().into()))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let child = Arc::new(Mutex::new(child));
        let mut children = lock(&self.children);
        children.retain(|c| c.strong_count() > 0);
        children.push(Arc::downgrade(&child));
        drop(children);
        if self.closed.load(Ordering::SeqCst) {
            end(&child);
        }
        let (to, from) = (pipes.0.context("no pipe")?, pipes.1.context("no pipe")?);
        Ok((child, to, BufReader::new(from)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills the child and takes its status, so that no zombie stays.
pub fn end(child: &Mutex<Child>) {
    let mut child = lock(child);
    let _ = child.kill();
    let _ = child.wait();
}

/// The options of every verb that needs the classifier.
#[derive(Debug, clap::Args)]
pub struct ProgramArgs {
    /// The classifier; default: dbacl beside this program, then on the search path
    #[arg(long, value_name = "PATH")]
    dbacl: Option<PathBuf>,
    /// Option for the classifier, such as -m; may repeat
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    dbacl_args: Vec<String>,
}

impl ProgramArgs {
    pub fn program(&self) -> Program {
        let args = self.dbacl_args.iter().flat_map(|a| a.split_whitespace()).map(str::to_owned);
        Program::find(self.dbacl.as_deref(), &args.collect::<Vec<_>>())
    }
}

/// The classifier program and its options.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    args: Vec<OsString>,
    /// The processes that run it.
    pub children: ChildProcesses,
}

impl Program {
    /// The named program, or `dbacl` beside this one, or `dbacl` on the search path. `args` stand
    /// before the other arguments.
    pub fn find(path: Option<&Path>, args: &[String]) -> Self {
        let beside = || {
            let beside = std::env::current_exe().ok()?.with_file_name("dbacl");
            beside.is_file().then_some(beside)
        };
        let path =
            path.map(Path::to_path_buf).or_else(beside).unwrap_or_else(|| PathBuf::from("dbacl"));
        let args = args.iter().map(OsString::from).collect();
        Self { path, args, children: ChildProcesses::default() }
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.args);
        command
    }
}

struct Running {
    child: Arc<Mutex<Child>>,
    to: mpsc::Sender<Vec<u8>>,
    from: mpsc::Receiver<Vec<u8>>,
    /// Answers that nobody waits for any more, and that come before others.
    owed: usize,
}

impl Drop for Running {
    fn drop(&mut self) {
        end(&self.child);
    }
}

/// A classifier process for one or more categories.
pub struct Classifier {
    program: Program,
    categories: Vec<PathBuf>,
    running: Option<Running>,
    /// Lines that were sent and not yet answered; they are sent again after a restart.
    pending: Vec<u8>,
    expected: usize,
}

impl Classifier {
    /// Prepares a classifier; [`Classifier::start`] or the first question starts it.
    pub const fn new(program: Program, categories: Vec<PathBuf>) -> Self {
        Self { program, categories, running: None, pending: Vec::new(), expected: 0 }
    }

    /// Starts the process, if it is not running.
    pub fn start(&mut self) -> Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        let mut command = self.program.command();
        command.arg("-n");
        self.name_categories(&mut command);
        let (child, mut stdin, stdout) = self.program.children.spawn(&mut command)?;
        let (to, lines) = mpsc::channel::<Vec<u8>>();
        // Writing has a thread of its own: a long list fills both pipes before the first answer is
        // read.
        std::thread::spawn(move || {
            for text in lines {
                if stdin.write_all(&text).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        let (answers, from) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.split(b'\n').map_while(Result::ok) {
                if answers.send(line).is_err() {
                    return;
                }
            }
        });
        self.running = Some(Running { child, to, from, owed: 0 });
        Ok(())
    }

    /// Adds the options that name the categories and have lines judged one by one. Categories that
    /// were fitted together are always named together, because the classifier warns if some are
    /// missing.
    fn name_categories(&self, command: &mut Command) {
        for category in &self.categories {
            command.arg("-c").arg(category);
        }
        let columns: Vec<String> = (1..=self.categories.len()).map(|i| i.to_string()).collect();
        command.arg("-f").arg(columns.join(","));
    }

    /// Sends the pending lines; the process must run.
    fn send(&mut self) -> Result<()> {
        self.start()?;
        if let Some(running) = &self.running {
            running.to.send(self.pending.clone()).context("the classifier's pipe is closed")?;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Vec<Vec<f64>>> {
        let running = self.running.as_mut().context("the classifier does not run")?;
        let mut rows = Vec::with_capacity(self.expected);
        while rows.len() < self.expected {
            let line = running.from.recv().ok().context("the classifier ended")?;
            if running.owed > 0 {
                running.owed -= 1;
                continue;
            }
            let scores = parse_scores(&line, self.categories.len());
            let shown = || String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            rows.push(
                scores.with_context(|| {
                    format!("unexpected line from the classifier: {:?}", shown())
                })?,
            );
        }
        Ok(rows)
    }

    /// Has everything loaded that an answer needs, or waits for it for a limited time.
    pub fn warm_up(&mut self) -> Result<()> {
        self.ask(&["e4".to_owned()])?;
        if let Some(running) = &mut self.running
            && running.from.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout)
        {
            running.owed += 1;
        }
        Ok(())
    }

    /// Sends lines, which must not hold line ends, to be answered by a score for each category:
    /// minus log2 of the line's probability, smaller is likelier.
    pub fn ask(&mut self, lines: &[String]) -> Result<()> {
        self.pending.clear();
        for line in lines {
            self.pending.extend_from_slice(line.as_bytes());
            self.pending.push(b'\n');
        }
        self.expected = lines.len();
        self.send().or_else(|_| {
            self.running = None;
            self.send()
        })
    }

    /// Reads the scores of the lines just sent, in their order.
    pub fn scores(&mut self) -> Result<Vec<Vec<f64>>> {
        self.read().or_else(|first| {
            self.running = None;
            let again = self.send().and_then(|()| self.read());
            if again.is_err() {
                self.running = None;
            }
            again.with_context(|| format!("after a restart ({first:#})"))
        })
    }

    /// The features of a line and their evidence, one list for each category in their order.
    pub fn features(&self, line: &str) -> Result<Vec<Vec<FeatureRow>>> {
        let mut command = self.program.command();
        command.arg("-nv");
        self.name_categories(&mut command);
        command.arg("-d");
        let (child, mut stdin, report) = self.program.children.spawn(&mut command)?;
        // One line fits any pipe.
        stdin.write_all(format!("{line}\n").as_bytes())?;
        drop(stdin);
        let rows = read_features(report, self.categories.len());
        end(&child);
        rows
    }
}

/// Reads `NAME SCORE` pairs from the left of a score line.
fn parse_scores(line: &[u8], categories: usize) -> Option<Vec<f64>> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty());
    (0..categories)
        .map(|_| {
            fields.next()?;
            let score: f64 = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
            score.is_finite().then_some(score)
        })
        .collect()
}

/// How long [`Classifier::warm_up`] waits.
const PATIENCE: Duration = Duration::from_secs(5);

/// Turns the report of running averages into bits per feature, one list for each category.
///
/// A row has for each category the average score so far in nats and the complexity so far, then the
/// feature. Each feature adds the reciprocal of the model's order to the complexity, which is
/// printed with one decimal only: the last row tells the order, and with it every complexity
/// exactly.
fn read_features(report: impl std::io::BufRead, categories: usize) -> Result<Vec<Vec<FeatureRow>>> {
    let mut rows = Vec::new();
    for line in report.lines() {
        rows.extend(parse_feature(&line?, categories));
    }
    let count = f64::from(u32::try_from(rows.len()).context("endless report")?);
    let bits_of = |category: usize| {
        let order = rows.last().map_or(1.0, |(averages, _)| {
            let (_, complexity) = averages[category];
            (count / complexity.max(0.05)).round().max(1.0)
        });
        let (mut before, mut complexity) = (0.0, 0.0);
        let bits = rows.iter().map(|(averages, feature)| {
            complexity += 1.0 / order;
            let total = averages[category].0 * complexity / std::f64::consts::LN_2;
            let bits = total - std::mem::replace(&mut before, total);
            (feature.clone(), bits)
        });
        bits.collect()
    };
    Ok((0..categories).map(bits_of).collect())
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
            assert_eq!(parse_scores(line.as_bytes(), *categories), *scores, "{line}");
        }
    }

    #[test]
    fn feature_rows_become_increments() {
        let report = "# categories: a \n# format: avg_score * complexity\n    16.62 * 0.5   \
                      \t[]e4[](1)\n     3.12 * 1.0   \t[]e4[]c5[](1)\n";
        let both = read_features(report.as_bytes(), 1).expect("memory does not fail");
        let rows = &both[0];
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].0.as_str(), rows[1].0.as_str()), ("e4", "e4 c5"));
        assert!((rows[0].1 - 8.31 / std::f64::consts::LN_2).abs() < 1e-9);
        assert!((rows[1].1 - (3.12 - 8.31) / std::f64::consts::LN_2).abs() < 1e-9);
        let two = "    42.14 * 1.0   \t    47.39 * 1.0   \t[]hc*00[](1)\n    39.40 * 2.0   \t    \
                   41.86 * 2.0   \t[]b[](1)\n";
        let both = read_features(two.as_bytes(), 2).expect("memory does not fail");
        assert_eq!((both[1][0].0.as_str(), both[0][1].0.as_str()), ("hc*00", "b"));
        assert!((both[1][0].1 - 47.39 / std::f64::consts::LN_2).abs() < 1e-9);
        assert!((both[1][1].1 - (2.0 * 41.86 - 47.39) / std::f64::consts::LN_2).abs() < 1e-9);
    }

    /// What this shell script answers.
    fn classifier(script: &str) -> Classifier {
        let args = ["-c".to_owned(), script.to_owned()];
        Classifier::new(Program::find(Some(Path::new("sh")), &args), vec!["x".into()])
    }

    #[test]
    fn a_dead_classifier_is_restarted_once() {
        // Answers two lines, then ends: the second question finds it dead.
        let mut classifier =
            classifier("for i in 1 2; do read -r line; echo \"x 1.50 $line\"; done");
        for _ in 0..2 {
            classifier.ask(&["a".to_owned(), "b".to_owned()]).expect("restarted");
            assert_eq!(classifier.scores().expect("restarted"), [[1.5], [1.5]]);
        }
    }

    #[test]
    fn a_classifier_that_is_warm_answers_what_it_is_asked() {
        let mut classifier = classifier("while read -r line; do echo \"x ${#line} $line\"; done");
        classifier.warm_up().expect("it runs");
        classifier.ask(&["abc".to_owned()]).expect("it runs");
        assert_eq!(classifier.scores().expect("it answers"), [[3.0]]);
    }

    #[test]
    fn nonsense_is_an_error() {
        let mut classifier = classifier("while read -r line; do echo '!'; done");
        classifier.ask(&["a".to_owned()]).expect("it runs");
        assert!(classifier.scores().is_err());
        let mut nothing =
            Classifier::new(Program::find(Some(Path::new("/nonexistent")), &[]), vec!["x".into()]);
        assert!(nothing.ask(&["a".to_owned()]).is_err());
    }

    #[test]
    fn long_lists_do_not_deadlock() {
        let mut classifier = classifier("while read -r line; do echo \"x 1.00 $line\"; done");
        let lines: Vec<String> = (0..300).map(|_| "e4 ".repeat(500)).collect();
        classifier.ask(&lines).expect("it runs");
        assert_eq!(classifier.scores().expect("it answers").len(), 300);
    }

    #[test]
    fn closing_ends_the_children() {
        let children = ChildProcesses::default();
        let mut command = Command::new("sleep");
        command.arg("100");
        let (child, ..) = children.spawn(&mut command).expect("sleep runs");
        children.close();
        assert!(lock(&child).try_wait().expect("known child").is_some());
        assert!(children.spawn(&mut command).is_err());
    }
}
