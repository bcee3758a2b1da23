// SPDX-License-Identifier: GPL-3.0-or-later
//! PGN to a model folder in one go: preparation, then the classifier's learning (spec chess 4.1).

use dbacl_cli::output::raw;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

use anyhow::{Context as _, Result, bail};
use shakmaty::Color;

use crate::features::basic::Template;
use crate::features::{context, rich};
use crate::play::classifier::Program;
use crate::play::models::{
    CategoryEntry, Document, FORMAT, Manifest, ModelEntry, Side, TEMPLATE, Weight,
};
use crate::text::encode::Encoding;
use crate::text::prepare::{self, Describe, Describe2, GameSink, PHASES, Statistics, TextFiles};
use crate::tools::odds;

/// The largest table tried when tables are full, as an exponent of two.
const MAX_TABLE: u32 = 28;

/// Which models to learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    /// The essay's: pairs of half-moves, sevens of full moves, carrot and stick.
    Essay,
    /// Sevens of full moves, shifted for White.
    Full,
    /// Descriptions of played moves less those of moves not played.
    Describe,
    /// Descriptions, and a little of full moves.
    Best,
    /// The odds of each move among all legal ones.
    #[default]
    Odds,
    /// Full moves in three phases.
    Phases,
    /// Full moves of wins, and of wins and draws, for play by the opponent's style.
    Style,
    /// Everything that was measured.
    All,
}

impl Preset {
    /// The name in options and manifests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Essay => "essay",
            Self::Full => "full",
            Self::Describe => "describe",
            Self::Best => "best",
            Self::Odds => "odds",
            Self::Phases => "phases",
            Self::Style => "style",
            Self::All => "all",
        }
    }
}

/// One category to be learned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lesson {
    /// The training text's file name without its ending.
    text: String,
    /// The classifier's token class.
    tokens: &'static str,
    order: u32,
    /// Table size, exponent of two.
    table: u32,
}

impl Lesson {
    fn category(&self) -> String {
        format!("{}-{}{}", self.text, self.tokens, self.order)
    }
}

/// How the categories of a model get their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FittedBy {
    /// Each is learned from its text by the classifier.
    Learning,
    /// They are learned, then the classifier fits them together.
    Refit,
    /// They are fitted together from all legal moves of positions; there is no text.
    Choices,
}

/// A model as planned: lessons with factors and phases.
struct Plan {
    name: &'static str,
    document: Document,
    /// How its categories get their weights.
    fitted_by: FittedBy,
    parts: Vec<(Lesson, f64, Option<usize>)>,
}

/// Weight of full moves beside descriptions of many words, by phase: games repeat each other in the
/// opening only. docs/chess.md has the figures around it.
pub const BEST_WEIGHTS: [f64; 3] = [1.2, 0.1, 0.1];

/// Positions whose moves are described in many words, unless told otherwise.
pub const POSITIONS: usize = 60_000;

/// Moves not played that are drawn from each of them.
pub const ALTERNATIVES: usize = 8;

/// The cost of mistakes in the joint fit of moves played and not played.
const COST: &str = "0.02";

fn plans(preset: Preset, color: Color) -> Vec<Plan> {
    let encoding = Encoding::of_full_moves(color);
    let (own, other) = match color {
        Color::White => ("WhiteWin", "BlackWin"),
        Color::Black => ("BlackWin", "WhiteWin"),
    };
    let side = color.fold_wb("White", "Black");
    let draw = format!("{own}Draw");
    let lesson = |text: String, tokens, order, table| Lesson { text, tokens, order, table };
    let half = |set: &str, tokens, order, table| lesson(set.to_owned(), tokens, order, table);
    let full = |set: &str| lesson(format!("{set}-{}", encoding.as_str()), "graph", 7, 23);
    let described = |kind: &str| lesson(format!("{side}-{kind}"), "graph", 1, 20);
    let one = |name, document, lesson| Plan {
        name,
        document,
        fitted_by: FittedBy::Learning,
        parts: vec![(lesson, 1.0, None)],
    };
    let minus = |name, document, plus, minus| Plan {
        name,
        document,
        fitted_by: FittedBy::Learning,
        parts: vec![(plus, 1.0, None), (minus, -1.0, None)],
    };
    let document = Document::from(encoding);
    let full_plan = || one("full", document, full(own));
    let describe_plan =
        || minus("describe", Document::Describe, described("played"), described("notplayed"));
    let many = |kind: &str| lesson(format!("many-{kind}"), "graph", 1, 21);
    let many_plan = || Plan {
        fitted_by: FittedBy::Refit,
        ..minus("describe2", Document::Describe2, many("played"), many("notplayed"))
    };
    let odds = |kind: &str| lesson(format!("odds-{kind}"), "graph", 1, 24);
    let odds_plan = || Plan {
        fitted_by: FittedBy::Choices,
        ..minus("odds", Document::Odds, odds("chosen"), odds("other"))
    };
    let carrot_plan = || minus("carrot", document, full(own), full(other));
    let phase_plan = || Plan {
        name: "phases",
        document,
        fitted_by: FittedBy::Learning,
        parts: PHASES
            .iter()
            .enumerate()
            .map(|(i, phase)| {
                (
                    lesson(format!("{own}-{}-{phase}", encoding.as_str()), "graph", 7, 23),
                    1.0,
                    Some(i),
                )
            })
            .collect(),
    };
    match preset {
        Preset::Full => vec![full_plan()],
        Preset::Describe => vec![describe_plan()],
        Preset::Phases => vec![phase_plan()],
        Preset::Style => vec![full_plan(), one("full-draws", document, full(&draw))],
        Preset::Best => vec![many_plan(), full_plan()],
        Preset::Odds => vec![odds_plan()],
        Preset::Essay => {
            vec![
                one("pairs", Document::Half, half(&draw, "alnum", 2, 20)),
                full_plan(),
                carrot_plan(),
            ]
        }
        Preset::All => {
            let mut plans = vec![
                one("pairs", Document::Half, half(&draw, "alnum", 2, 20)),
                one("fours", Document::Half, half(&draw, "alnum", 4, 22)),
                one("sevens", Document::Half, half(own, "alnum", 7, 23)),
                one("sevens-graph", Document::Half, half(own, "graph", 7, 23)),
                full_plan(),
                one("full-draws", document, full(&draw)),
                phase_plan(),
                carrot_plan(),
                minus(
                    "carrot-half",
                    Document::Half,
                    half(own, "alnum", 7, 23),
                    half(other, "alnum", 7, 23),
                ),
                one(
                    "positions",
                    Document::Position,
                    lesson(format!("{own}-positions"), "graph", 2, 22),
                ),
                one("played", Document::Describe, described("played")),
                describe_plan(),
                many_plan(),
            ];
            if color.is_white() {
                let odd = lesson(format!("{own}-full"), "graph", 7, 23);
                plans.push(one("full-odd", Document::Full, odd));
            }
            plans
        }
    }
}

/// Voices of the learned models: each alone, the essay's names, and the combinations.
fn voices(plans: &[Plan]) -> BTreeMap<String, Vec<(String, Weight)>> {
    let has = |name: &str| plans.iter().any(|p| p.name == name);
    let mut voices = BTreeMap::new();
    for plan in plans {
        voices.insert(plan.name.to_owned(), vec![(plan.name.to_owned(), Weight::Always(1.0))]);
    }
    let mut combine = |name: &str, terms: &[(&str, Weight)]| {
        if terms.iter().all(|(model, _)| has(model)) {
            let terms =
                terms.iter().map(|(model, weight)| ((*model).to_owned(), *weight)).collect();
            voices.insert(name.to_owned(), terms);
        }
    };
    let always = Weight::Always;
    combine("best-words", &[("describe", always(1.0)), ("full", always(0.1))]);
    combine("best", &[("describe2", always(1.0)), ("full", Weight::ByPhase(BEST_WEIGHTS))]);
    combine("best-draws", &[("describe", always(1.0)), ("full-draws", always(0.3))]);
    voices
}

/// What to learn from, and how.
pub struct Options {
    /// PGN files.
    pub pgn: Vec<PathBuf>,
    /// The model folder.
    pub output: PathBuf,
    /// Which models.
    pub preset: Preset,
    /// How games become text; encodings and descriptions are set by the preset.
    pub text: prepare::Options,
    /// Games described a colour, 0 for all.
    pub describe_games: usize,
    /// Positions described in many words, 0 for all.
    pub describe_positions: usize,
    /// Moves not played, of each position described in many words.
    pub alternatives: usize,
    /// Seed of the moves not played.
    pub seed: u64,
    /// The description words, and their text if not built in.
    pub template: Template,
    /// The template's text.
    pub template_text: Option<String>,
    /// Keep the training text.
    pub keep_text: bool,
    /// Learn at most so many categories at once.
    pub jobs: usize,
}

/// Learns a model folder.
///
/// # Errors
///
/// No game could be used, the classifier fails, or files cannot be written.
pub fn learn(options: &Options, program: &Program) -> Result<Statistics> {
    let text = options.output.join("text");
    let learned = learn_from(options, program, &text);
    if !options.keep_text {
        let removed = std::fs::remove_dir_all(&text);
        if learned.is_ok() {
            removed.with_context(|| format!("cannot remove {}", text.display()))?;
        }
    }
    learned
}

fn learn_from(options: &Options, program: &Program, text: &Path) -> Result<Statistics> {
    let folder = &options.output;
    let sides = [Color::White, Color::Black].map(|color| plans(options.preset, color));
    let all = || sides.iter().flatten();
    let documents: Vec<Document> = all().map(|p| p.document).collect();
    let mut wanted = options.text.clone();
    wanted.encodings = vec![Encoding::Full, Encoding::Shifted];
    if documents.contains(&Document::Describe) {
        wanted.describe = Some(Describe {
            template: options.template.clone(),
            games: options.describe_games,
            alternatives: 2,
            seed: options.seed,
        });
    }
    if documents.contains(&Document::Describe2) {
        wanted.describe2 = Some(Describe2 {
            positions: options.describe_positions,
            alternatives: options.alternatives,
            seed: options.seed,
        });
    }
    wanted.position_words = documents.contains(&Document::Position);
    if all().any(|p| p.parts.iter().any(|(_, _, phase)| phase.is_some())) {
        wanted.phases = Some(6);
    }
    let mut files = TextFiles::create(text, &wanted)?;
    let mut statistics = Statistics::default();
    let has_choices = all().any(|p| p.fitted_by == FittedBy::Choices);
    let mut games = odds::Games::default();
    if has_choices {
        let sinks: &mut [&mut dyn GameSink] = &mut [&mut files, &mut games];
        prepare::read_files(&options.pgn, &wanted, &mut statistics, sinks)?;
    } else {
        prepare::read_files(&options.pgn, &wanted, &mut statistics, &mut [&mut files])?;
    }
    files.finish()?;
    if statistics.written == 0 {
        bail!("no game could be used");
    }
    let lessons: BTreeSet<Lesson> = all()
        .filter(|p| p.fitted_by != FittedBy::Choices)
        .flat_map(|p| p.parts.iter().map(|(l, _, _)| l.clone()))
        .collect();
    run_lessons(lessons.into_iter().collect(), text, folder, options.jobs, program)?;
    let fits: BTreeSet<Vec<Lesson>> = all()
        .filter(|p| p.fitted_by == FittedBy::Refit)
        .map(|p| p.parts.iter().map(|(l, _, _)| l.clone()).collect())
        .collect();
    for lessons in fits {
        refit(&lessons, text, folder, program)?;
    }
    let (mut temperatures, mut curvatures) = (BTreeMap::new(), BTreeMap::new());
    if let Some(plan) = all().find(|p| p.fitted_by == FittedBy::Choices) {
        let files = [0, 1].map(|i| folder.join(plan.parts[i].0.category()));
        let wanted = odds::Options {
            positions: options.describe_positions,
            seed: options.seed,
            threads: options.jobs,
        };
        let learned = odds::learn(&games, &wanted, &files)?;
        raw(learned.to_string().as_bytes());
        temperatures.insert(plan.name.to_owned(), learned.calibration.temperature);
        curvatures.insert(plan.name.to_owned(), learned.calibration.curvature);
    }
    let template = folder.join(TEMPLATE);
    match &options.template_text {
        Some(text) => std::fs::write(&template, text)
            .with_context(|| format!("cannot write {}", template.display()))?,
        None => {
            let _ = std::fs::remove_file(&template);
        }
    }
    let [white, black] = [side(folder, &sides[0])?, side(folder, &sides[1])?];
    let voice = match options.preset {
        Preset::Essay | Preset::Style => "full",
        Preset::All => "best",
        preset => preset.as_str(),
    };
    let manifest = Manifest {
        format: FORMAT,
        preset: options.preset.as_str().to_owned(),
        voice: voice.to_owned(),
        games: statistics.written,
        check_marks: wanted.spelling.check_marks,
        victims: wanted.spelling.victims,
        template: options.template.identity(),
        avoid_draws: vec![if has_choices { "odds" } else { "best" }.to_owned()],
        temperatures,
        curvatures,
        white,
        black,
    };
    manifest.write(folder)?;
    Ok(statistics)
}

fn side(folder: &Path, plans: &[Plan]) -> Result<Side> {
    let mut models = BTreeMap::new();
    for plan in plans {
        let mut categories = Vec::new();
        for (lesson, factor, phase) in &plan.parts {
            let file = lesson.category();
            let path = folder.join(&file);
            let bytes = std::fs::metadata(&path)
                .with_context(|| format!("cannot read {}", path.display()))?
                .len();
            categories.push(CategoryEntry { file, bytes, factor: *factor, phase: *phase });
        }
        let order = plan.parts.first().map_or(1, |(lesson, _, _)| lesson.order as usize);
        models.insert(
            plan.name.to_owned(),
            ModelEntry {
                document: plan.document,
                order,
                words: match plan.document {
                    Document::Describe2 => Some(rich::NAME.to_owned()),
                    Document::Odds => Some(context::NAME.to_owned()),
                    _ => None,
                },
                categories,
            },
        );
    }
    Ok(Side { models, voices: voices(plans) })
}

/// Learns the categories, some at a time; the first failure ends it.
fn run_lessons(
    lessons: Vec<Lesson>,
    text: &Path,
    folder: &Path,
    jobs: usize,
    program: &Program,
) -> Result<()> {
    let queue = Mutex::new(lessons.into_iter());
    let failed = Mutex::new(None);
    let next = || queue.lock().ok().and_then(|mut q| q.next());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(lesson) = next() {
                    if let Err(error) = run_lesson(&lesson, text, folder, program) {
                        if let Ok(mut failed) = failed.lock() {
                            failed.get_or_insert(error);
                        }
                        if let Ok(mut queue) = queue.lock() {
                            *queue = Vec::new().into_iter();
                        }
                    }
                }
            });
        }
    });
    failed.into_inner().ok().flatten().map_or(Ok(()), Err)
}

/// Learns one category; a table that is full grows until it is not.
fn run_lesson(lesson: &Lesson, text: &Path, folder: &Path, program: &Program) -> Result<()> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let category = folder.join(lesson.category());
    let source = text.join(format!("{}.txt", lesson.text));
    let mut table = lesson.table;
    loop {
        let mut command = program.command();
        command.args(["-T", "text", "-l"]).arg(&category).args([
            "-e",
            lesson.tokens,
            "-L",
            "uniform",
            "-j",
        ]);
        command
            .arg("-w")
            .arg(lesson.order.to_string())
            .arg("-H")
            .arg(table.to_string())
            .arg(&source);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let done =
            command.output().with_context(|| format!("cannot run {}", program.path().display()))?;
        let messages = String::from_utf8_lossy(&done.stderr);
        for line in messages.lines() {
            raw(format!("{}: {line}", lesson.category()).as_bytes());
        }
        if !done.status.success() || !category.is_file() {
            bail!(
                "{} could not learn {} ({})",
                program.path().display(),
                lesson.category(),
                done.status
            );
        }
        if !messages.contains("table full") || table >= MAX_TABLE {
            return Ok(());
        }
        table += 1;
        raw(format!("{}: learning again with -H {table}", lesson.category()).as_bytes());
    }
}

/// Fits categories together, so that words that go together are not counted twice. The files stay
/// ordinary ones. A classifier that cannot do that leaves them as they are.
fn refit(lessons: &[Lesson], text: &Path, folder: &Path, program: &Program) -> Result<()> {
    let Some(first) = lessons.first() else { return Ok(()) };
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let text = std::path::absolute(text).unwrap_or_else(|_| text.to_path_buf());
    let help = program.command().arg("--help").stdin(Stdio::null()).output();
    if !help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--refit")) {
        let path = program.path().display();
        let text = format!("{path} cannot fit categories together: descriptions will judge worse");
        raw(text.as_bytes());
        return Ok(());
    }
    let mut command = program.command();
    command.args(["--refit", "--documents", "lines", "--always", "--cost", COST, "--blend", "0"]);
    command.args(["-T", "text", "-e", first.tokens, "-L", "uniform", "-j"]);
    command.arg("-w").arg(first.order.to_string()).arg("-H").arg(first.table.to_string());
    for lesson in lessons {
        let mut operand = folder.join(lesson.category()).into_os_string();
        operand.push("=");
        operand.push(text.join(format!("{}.txt", lesson.text)));
        command.arg("-c").arg(operand);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let done =
        command.output().with_context(|| format!("cannot run {}", program.path().display()))?;
    for line in String::from_utf8_lossy(&done.stderr).lines() {
        raw(format!("refit: {line}").as_bytes());
    }
    if !done.status.success() {
        bail!("{} could not fit categories ({})", program.path().display(), done.status);
    }
    for lesson in lessons {
        // What the fit started from, kept for another one.
        let _ = std::fs::remove_file(folder.join(format!("{}.ordinary", lesson.category())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_name_existing_models() {
        for preset in [
            Preset::Essay,
            Preset::Full,
            Preset::Describe,
            Preset::Best,
            Preset::Odds,
            Preset::Phases,
            Preset::All,
        ] {
            for color in [Color::White, Color::Black] {
                let plans = plans(preset, color);
                for (voice, terms) in voices(&plans) {
                    for (model, _) in terms {
                        assert!(
                            plans.iter().any(|p| p.name == model),
                            "{preset:?} {voice} {model}"
                        );
                    }
                }
            }
        }
        assert!(voices(&plans(Preset::Best, Color::White)).contains_key("best"));
    }

    #[test]
    fn equal_lessons_are_learned_once() {
        let plans = plans(Preset::Essay, Color::Black);
        let lessons: BTreeSet<Lesson> =
            plans.iter().flat_map(|p| p.parts.iter().map(|(l, _, _)| l.clone())).collect();
        let names: Vec<String> = lessons.iter().map(Lesson::category).collect();
        assert_eq!(names, ["BlackWin-full-graph7", "BlackWinDraw-alnum2", "WhiteWin-full-graph7"]);
    }
}
