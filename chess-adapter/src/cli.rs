// SPDX-License-Identifier: GPL-3.0-or-later
//! The verbs and their options; the only user of clap's parser.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use shakmaty::Color;

use crate::features::basic::Template;
use crate::play::bayes::evaluation::Evaluation;
use crate::play::bayes::parameters::Goal;
use crate::play::bayes::stage::Stage;
use crate::play::book::Counter;
use crate::play::classifier::{ChildProcesses, Program};
use crate::play::cluster;
use crate::play::engine::{Engine, EngineFactory};
use crate::play::models::Manifest;
use crate::play::settings::Settings;
use crate::play::style::Words;
use crate::play::why;
use crate::protocol::dialogue::{self, Protocol};
use crate::random::Random;
use crate::text::encode::Encoding;
use crate::text::notation::Spelling;
use crate::text::prepare::{self, Describe, Describe2, Statistics, TextFiles, Unfinished};
use crate::tools::arena::{
    self, Clocks, EnginePlayer, Player, RandomMover, Side, UciPlayer, XboardPlayer,
};
use crate::tools::bayes;
use crate::tools::bayes::selfplay::{self, Against};
use crate::tools::evaluate;
use crate::tools::learn::{self, Preset};

/// The text classifier plays chess.
#[derive(Debug, Parser)]
#[command(name = "chess-adapter", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs and their options, from which completions and manual page are made.
pub fn command() -> clap::Command {
    Cli::command()
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// PGN files to training text
    Prepare(PrepareArgs),
    /// PGN files to a folder of models, ready to play
    Learn(LearnArgs),
    /// Play in a chess interface that speaks XBoard or UCI
    Play(PlayArgs),
    /// Measure the share of master moves found
    Evaluate(EvaluateArgs),
    /// Play games against a random mover, itself or a UCI engine
    Match(MatchArgs),
    /// Explain a move by the classifier's own evidence
    Why(WhyArgs),
    /// Learn to tell players' styles apart
    Style(StyleArgs),
    /// PGN files to an opening book
    Book(BookArgs),
    /// A game as one HTML page: boards, likeliest moves, evidence
    Report(ReportArgs),
    /// Make endgame tables by retrograde analysis
    Tables(TablesArgs),
    /// Learn evaluations from games, for the search
    #[command(subcommand)]
    Bayes(BayesVerb),
}

#[derive(Debug, Subcommand)]
enum BayesVerb {
    /// Play games in which one side's parameters are perturbed, and record them
    Play(BayesPlayArgs),
    /// Learn from records of games, or from the positions of games
    Learn(BayesLearnArgs),
    /// Show what was learned, and the value of a position
    Show(BayesShowArgs),
}

#[derive(Debug, Args)]
struct BayesPlayArgs {
    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 100)]
    games: usize,
    /// Half-moves that both sides look ahead
    #[arg(long, value_name = "N", default_value_t = 2)]
    depth: usize,
    /// Half-moves drawn at random at the start of each game
    #[arg(long, value_name = "N", default_value_t = selfplay::DRAWN_MOVES)]
    drawn_moves: usize,
    /// Seed of the perturbed parameters and of the first moves
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Play so many games at once
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Play against the parameters of this folder, in place of those not perturbed
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,
    /// What that folder's parameters are chosen for
    #[arg(long, value_enum, default_value_t)]
    goal: Goal,
    /// Write the records to this file, or add them to it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the games to this PGN file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct BayesLearnArgs {
    /// Files of records; with --positions, PGN files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Folder of what is learned
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Learn what positions are worth, from at most N of those of PGN files; 0 for all
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
          default_missing_value = "200000")]
    positions: Option<usize>,
    /// Learn from the records of the first N games only
    #[arg(long, value_name = "N", conflicts_with = "positions")]
    games: Option<usize>,
    /// Take only levels that are better than no perturbation by N standard errors; 0 for the best
    /// level, as BayesChess does
    #[arg(long, value_name = "N", default_value_t = bayes::parameters::CAUTION)]
    caution: f64,
    /// What a mistake costs in the fit of positions
    #[arg(long, value_name = "C", default_value_t = bayes::positions::COST)]
    cost: f64,
    /// Seed of the draw of positions
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    program: ProgramArgs,
}

#[derive(Debug, Args)]
struct BayesShowArgs {
    /// Folder of what was learned
    folder: PathBuf,
    /// The position whose value is told
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Show all parameters
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Args)]
struct TablesArgs {
    /// Men of both sides, such as KQK KRKN: up to four with the kings
    #[arg(required = true, value_name = "MEN")]
    materials: Vec<String>,
    /// Folder of the tables; those that are there already are kept
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// How games become text; the same for every verb that reads PGN.
#[derive(Debug, Args)]
struct TextArgs {
    /// What unfinished games become
    #[arg(long, value_enum, default_value_t)]
    unfinished: Unfinished,
    /// Take games from set-up positions too
    #[arg(long)]
    keep_setup: bool,
    /// Leave out + and #
    #[arg(long)]
    no_check_marks: bool,
    /// Name the captured piece after the x, as in BxBc4
    #[arg(long)]
    victims: bool,
}

impl TextArgs {
    const fn spelling(&self) -> Spelling {
        Spelling { check_marks: !self.no_check_marks, victims: self.victims }
    }
}

#[derive(Debug, Args)]
struct PrepareArgs {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// Folder for the text files
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Also write these encodings
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    encodings: Vec<Encoding>,
    #[command(flatten)]
    text: TextArgs,
    /// Write descriptions of played and not played moves: 1, eight words; 2, many
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "1",
          value_name = "VERSION", value_parser = clap::value_parser!(u8).range(1..=2))]
    describe: Option<u8>,
    /// Describe the moves of at most N games a colour, 0 for all
    #[arg(long, value_name = "N", default_value_t = 1500)]
    describe_games: usize,
    /// Describe in many words the moves of at most N positions, 0 for all
    #[arg(long, value_name = "N", default_value_t = learn::POSITIONS)]
    describe_positions: usize,
    /// Other legal moves drawn from each described position; default: 2, with many words 8
    #[arg(long, value_name = "N")]
    alternatives: Option<usize>,
    /// Template of the descriptions, instead of the built-in one
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write lines of position hash and move
    #[arg(long)]
    position_words: bool,
    /// Also cut the encodings asked for into opening, middle and end, with N words of overlap
    #[arg(long, value_name = "N")]
    phases: Option<usize>,
}

#[derive(Debug, Args)]
struct ProgramArgs {
    /// The classifier; default: dbacl beside this program, then on the search path
    #[arg(long, value_name = "PATH")]
    dbacl: Option<PathBuf>,
    /// Option for the classifier, such as -m; may repeat
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    dbacl_args: Vec<String>,
}

impl ProgramArgs {
    fn program(&self, children: &ChildProcesses) -> Program {
        let args: Vec<String> =
            self.dbacl_args.iter().flat_map(|a| a.split_whitespace()).map(str::to_owned).collect();
        Program::find(self.dbacl.as_deref(), &args, children)
    }
}

#[derive(Debug, Args)]
struct LearnArgs {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// The model folder
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Which models to learn
    #[arg(long, value_enum, default_value_t)]
    preset: Preset,
    #[command(flatten)]
    text: TextArgs,
    /// Describe the moves of at most N games a colour, 0 for all
    #[arg(long, value_name = "N", default_value_t = 5000)]
    describe_games: usize,
    /// Describe in many words the moves of at most N positions, 0 for all
    #[arg(long, value_name = "N", default_value_t = learn::POSITIONS)]
    describe_positions: usize,
    /// Other legal moves drawn from each position described in many words
    #[arg(long, value_name = "N", default_value_t = learn::ALTERNATIVES)]
    alternatives: usize,
    /// Template of the descriptions, instead of the built-in one
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Seed of the moves not played
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Keep the training text in DIR/text
    #[arg(long)]
    keep_text: bool,
    /// Learn so many categories at once
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Engines of the essay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Essay {
    Basic,
    #[value(name = "1")]
    One,
    #[value(name = "2")]
    Two,
    #[value(name = "3")]
    Three,
    Final,
}

/// What makes an engine; the same for every verb that needs one.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Debug, Args)]
struct EngineArgs {
    /// Model folder for both colours
    #[arg(value_name = "MODELS")]
    models: Option<PathBuf>,
    /// White's model: a folder or a category
    #[arg(long, value_name = "MODEL")]
    white: Option<PathBuf>,
    /// Black's model: a folder or a category
    #[arg(long, value_name = "MODEL")]
    black: Option<PathBuf>,
    /// Which voice of the model folder plays; default: its preset's
    #[arg(long, value_name = "NAME")]
    voice: Option<String>,
    /// Which completions are preferred: basic, captures or tactical
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// How the gamelines of a category are encoded: half, full, shifted or auto
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<String>,
    /// Play as that engine of the essay
    #[arg(long, value_enum, value_name = "ENGINE")]
    essay: Option<Essay>,
    /// Draw moves by their probability
    #[arg(long)]
    random: bool,
    /// Divide score differences in draws by T; 0 takes the best move
    #[arg(long, value_name = "T")]
    temperature: Option<String>,
    /// Seed of the draws
    #[arg(long, value_name = "N")]
    seed: Option<String>,
    /// Ignore the interface's command to play at random
    #[arg(long)]
    deterministic: bool,
    /// Do not play mates at once
    #[arg(long)]
    no_mate_keyword: bool,
    /// Leave out moves that draw at once, unless behind
    #[arg(long)]
    avoid_draws: bool,
    /// Rank moves by the lines that extend them by every reply (half-move models)
    #[arg(long)]
    look_ahead: bool,
    /// Send only the last N words to the classifier
    #[arg(long, value_name = "N")]
    window: Option<String>,
    /// Take moves from this opening book, ours or Polyglot
    #[arg(long, value_name = "FILE")]
    book: Option<String>,
    /// Look ahead: so many half-moves, or so long (as 500ms or 0.5s), on, off, or auto
    #[arg(long, value_name = "DEPTH|TIME")]
    search: Option<String>,
    /// Folder of Syzygy endgame tables
    #[arg(long, value_name = "DIR")]
    syzygy: Option<String>,
    /// Folder of endgame tables made by the verb tables
    #[arg(long, value_name = "DIR")]
    tables: Option<String>,
    /// Folder of style categories: play by the opponent's style (preset style)
    #[arg(long, value_name = "DIR")]
    style: Option<String>,
    /// Folder of an evaluation made by the verb bayes: searches judge positions by it
    #[arg(long, value_name = "DIR")]
    evaluation: Option<String>,
    /// Set any option by its protocol name
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Template of the descriptions, if not the models' own
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Gamelines have no + and #
    #[arg(long)]
    no_check_marks: bool,
    /// Gamelines name captured pieces
    #[arg(long)]
    victims: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

impl EngineArgs {
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        if let Some(essay) = self.essay {
            settings.mate_keyword = false;
            settings.avoid_draws = Some(false);
            settings.deterministic = essay != Essay::Final;
            let (rule, encoding, voice) = match essay {
                Essay::Basic => ("basic", "half", "pairs"),
                Essay::One => ("basic", "auto", "full"),
                Essay::Two => ("captures", "auto", "full"),
                Essay::Three | Essay::Final => ("tactical", "auto", "full"),
            };
            settings.set("Rule", rule)?;
            settings.set("Encoding", encoding)?;
            settings.set("Voice", voice)?;
        }
        let path = |p: &PathBuf| p.to_string_lossy().into_owned();
        let shared = self.models.as_ref().map(path);
        let white = self.white.as_ref().map(path).or_else(|| shared.clone());
        let black = self.black.as_ref().map(path).or(shared);
        for (name, value) in [
            ("WhiteModel", &white),
            ("BlackModel", &black),
            ("Voice", &self.voice),
            ("Rule", &self.rule),
            ("Encoding", &self.encoding),
            ("Temperature", &self.temperature),
            ("Seed", &self.seed),
            ("Window", &self.window),
            ("BookFile", &self.book),
            ("SyzygyPath", &self.syzygy),
            ("TablePath", &self.tables),
            ("StylePath", &self.style),
            ("EvaluationPath", &self.evaluation),
            ("Search", &self.search),
        ] {
            if let Some(value) = value {
                settings.set(name, value).with_context(|| name.to_lowercase())?;
            }
        }
        settings.random_play |= self.random;
        settings.deterministic |= self.deterministic;
        settings.mate_keyword &= !self.no_mate_keyword;
        if self.avoid_draws {
            settings.avoid_draws = Some(true);
        }
        settings.look_ahead = usize::from(self.look_ahead);
        settings.own_book = self.book.is_some();
        for pair in &self.set {
            let (name, value) =
                pair.split_once('=').with_context(|| format!("no NAME=VALUE: {pair}"))?;
            settings.set(name, value).with_context(|| pair.clone())?;
        }
        Ok(settings)
    }

    fn engine(&self, children: &ChildProcesses) -> Result<Engine> {
        let template = match &self.template {
            None => None,
            Some(path) => Some(template(Some(path))?),
        };
        let factory = EngineFactory { program: self.program.program(children), template };
        let spelling = Spelling { check_marks: !self.no_check_marks, victims: self.victims };
        Ok(Engine::new(self.settings()?, factory, spelling))
    }

    /// An engine whose models are loaded.
    fn loaded_engine(&self, children: &ChildProcesses) -> Result<Engine> {
        let mut engine = self.engine(children)?;
        for complaint in engine.load() {
            eprintln!("chess-adapter: {complaint}");
        }
        Ok(engine)
    }
}

#[derive(Debug, Args)]
struct PlayArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// Which protocol to speak
    #[arg(long, value_enum, default_value_t)]
    protocol: Protocol,
    /// The engine's name in the interface
    #[arg(long, default_value = "dbacl")]
    name: String,
    /// Append finished games to this PGN file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Write files to watch: PREFIX.current.pgn, .gameline, .scores, .scores.cap, .emove
    #[arg(long, value_name = "PREFIX")]
    watch: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct EvaluateArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// Positions, one a line: gameline, tab, the move played
    #[arg(long, value_name = "FILE", required = true)]
    positions: Vec<PathBuf>,
    /// Judge every voice of the model folder
    #[arg(long)]
    all_voices: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What an opponent speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum EngineProtocol {
    #[default]
    Uci,
    Xboard,
}

#[derive(Debug, Args)]
struct MatchArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 100)]
    games: u32,
    /// random, self, or the command of an engine
    #[arg(long, default_value = "random")]
    opponent: String,
    /// Option of the opponent; may repeat
    #[arg(long, value_name = "NAME=VALUE")]
    opponent_set: Vec<String>,
    /// The protocol an engine speaks
    #[arg(long, value_enum, default_value_t)]
    opponent_protocol: EngineProtocol,
    /// What the opponent is told: after go for UCI, at the start of a game for XBoard (commands
    /// with commas)
    #[arg(long, value_name = "LIMITS")]
    opponent_go: Option<String>,
    /// What our engine is told after go, such as "movetime 500"
    #[arg(long, value_name = "LIMITS")]
    go: Option<String>,
    /// Clocks beside other limits, seconds for the game and after each move, such as 10+0.1
    #[arg(long, value_name = "TIME+INCREMENT")]
    clock: Option<String>,
    /// Gamelines to begin with, one a line; each is played with both colours
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Half-moves taken from each of these
    #[arg(long, value_name = "N", default_value_t = 8)]
    opening_plies: usize,
    /// Say how the match stands after each game
    #[arg(long)]
    progress: bool,
    /// Seed of the random mover
    #[arg(long, value_name = "N", default_value_t = 1)]
    match_seed: u64,
    /// Which colour the engine has
    #[arg(long, value_enum, default_value_t)]
    side: Side,
    /// Stop games after so many half-moves
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
    /// Write the games to this PGN file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct WhyArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// The moves played before, as one argument
    #[arg(long, value_name = "MOVES", default_value = "")]
    moves: String,
    /// The move to explain; default: the best one
    #[arg(long = "move", value_name = "MOVE", default_value = "")]
    word: String,
}

#[derive(Debug, Args)]
struct StyleArgs {
    /// PGN files
    #[arg(required = true)]
    pgn: Vec<PathBuf>,
    /// Folder for the three categories
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// An attacking player's name, or a part of it; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    attacking: Vec<String>,
    /// A positional player's name; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    positional: Vec<String>,
    /// The name of a player of mixed style; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    mixed: Vec<String>,
    /// What styles are told by: the moves, four features of the game after ten moves, or both
    #[arg(long, value_enum, default_value_t)]
    words: Words,
    /// Keep every N-th game back and judge it after ten moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    test_every: usize,
    #[command(flatten)]
    program: ProgramArgs,
}

#[derive(Debug, Args)]
struct ReportArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// The PGN file
    #[arg(long, value_name = "FILE")]
    pgn: PathBuf,
    /// Which game of the file, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    game: usize,
    /// Where to write; standard output if missing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct BookArgs {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// Where to write; standard output if missing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Half-moves counted of each game
    #[arg(long, value_name = "N", default_value_t = 24)]
    plies: usize,
    /// Moves seen less often are left out
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_count: u32,
    /// Write a Polyglot file
    #[arg(long, conflicts_with = "tree")]
    polyglot: bool,
    /// Write clusters of positions, for those a book does not know
    #[arg(long, conflicts_with_all = ["tree", "polyglot"])]
    clusters: bool,
    /// How many single piece moves positions of a cluster may be apart
    #[arg(long, value_name = "N", default_value_t = 2)]
    reach: usize,
    /// Print the book as a tree
    #[arg(long)]
    tree: bool,
    /// Depth of the tree
    #[arg(long, value_name = "N", default_value_t = 8)]
    depth: usize,
}

/// Reads the template named on the command line, or gives the built-in one.
fn template(path: Option<&PathBuf>) -> Result<Template> {
    match path {
        None => Ok(Template::default()),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Template::parse(&text).with_context(|| format!("{}", path.display()))
        }
    }
}

fn run_prepare(args: &PrepareArgs) -> Result<ExitCode> {
    let describe = match args.describe {
        Some(1) => Some(Describe {
            template: template(args.template.as_ref())?,
            games: args.describe_games,
            alternatives: args.alternatives.unwrap_or(2),
            seed: args.seed,
        }),
        _ => None,
    };
    let describe2 = args.describe.filter(|&version| version == 2).map(|_| Describe2 {
        positions: args.describe_positions,
        alternatives: args.alternatives.unwrap_or(learn::ALTERNATIVES),
        seed: args.seed,
    });
    let options = prepare::Options {
        encodings: args.encodings.clone(),
        unfinished: args.text.unfinished,
        keep_setup: args.text.keep_setup,
        spelling: args.text.spelling(),
        describe,
        describe2,
        position_words: args.position_words,
        phases: args.phases,
    };
    let mut files = TextFiles::create(&args.output, &options)?;
    let mut statistics = Statistics::default();
    prepare::read_files(&args.pgn, &options, &mut statistics, &mut [&mut files])?;
    files.finish()?;
    statistics.write(&mut std::io::stderr())?;
    Ok(ExitCode::from(u8::from(statistics.written == 0)))
}

fn run_learn(args: &LearnArgs) -> Result<ExitCode> {
    let template_text = match &args.template {
        None => None,
        Some(path) => Some(
            std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?,
        ),
    };
    let options = learn::Options {
        pgn: args.pgn.clone(),
        output: args.output.clone(),
        preset: args.preset,
        text: prepare::Options {
            unfinished: args.text.unfinished,
            keep_setup: args.text.keep_setup,
            spelling: args.text.spelling(),
            ..prepare::Options::default()
        },
        describe_games: args.describe_games,
        describe_positions: args.describe_positions,
        alternatives: args.alternatives,
        seed: args.seed,
        template: template(args.template.as_ref())?,
        template_text,
        keep_text: args.keep_text,
        jobs: processors(args.jobs),
    };
    let statistics = learn::learn(&options, &args.program.program(&ChildProcesses::default()))?;
    statistics.write(&mut std::io::stderr())?;
    Ok(ExitCode::SUCCESS)
}

fn run_play(args: &PlayArgs) -> Result<ExitCode> {
    let children = ChildProcesses::default();
    let mut engine = args.engine.engine(&children)?;
    engine.watch(args.watch.clone());
    dialogue::run(engine, args.protocol, &args.name, args.log.as_ref(), &children)?;
    Ok(ExitCode::SUCCESS)
}

fn read_cases(paths: &[PathBuf]) -> Result<Vec<evaluate::Case>> {
    let mut cases = Vec::new();
    for path in paths {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let read = evaluate::read_cases(BufReader::new(file));
        cases.extend(read.with_context(|| format!("{}", path.display()))?);
    }
    Ok(cases)
}

fn run_evaluate(args: &EvaluateArgs) -> Result<ExitCode> {
    let children = ChildProcesses::default();
    let mut out = std::io::stdout().lock();
    let mut reports = serde_json::Map::new();
    for path in &args.positions {
        let cases = read_cases(std::slice::from_ref(path))?;
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let mut engine = args.engine.loaded_engine(&children)?;
        let turn = if cases[0].is_white() { Color::White } else { Color::Black };
        let voices: Vec<String> = match (&args.engine.models, args.all_voices) {
            (Some(models), true) => {
                Manifest::read(models)?.side(turn).voices.keys().cloned().collect()
            }
            (None, true) => bail!("--all-voices needs a model folder"),
            _ => vec![engine.settings().voice.clone()],
        };
        if !args.json {
            writeln!(out, "{name}: {turn} to move\n{}", evaluate::HEADING)?;
        }
        for voice in voices {
            if args.all_voices {
                // Only the colour that is judged needs the voice; the other may not have it.
                engine.set_option("Voice", &voice)?;
                engine.load();
            }
            let report = evaluate::evaluate(&mut engine, &cases)?;
            if args.json {
                reports.insert(
                    format!("{name} {voice}").trim().to_owned(),
                    serde_json::to_value(report)?,
                );
            } else {
                writeln!(
                    out,
                    "{}",
                    report.row(if voice.is_empty() { "(default)" } else { &voice })
                )?;
                out.flush()?;
            }
        }
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reports)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn opponent(args: &MatchArgs, children: &ChildProcesses) -> Result<Box<dyn Player>> {
    Ok(match args.opponent.as_str() {
        "random" => Box::new(RandomMover(Random::from_seed(args.match_seed))),
        "self" => {
            let mut engine = args.engine.engine(children)?;
            for pair in &args.opponent_set {
                let (name, value) =
                    pair.split_once('=').with_context(|| format!("no NAME=VALUE: {pair}"))?;
                engine.set_option(name, value).with_context(|| pair.clone())?;
            }
            for complaint in engine.load() {
                eprintln!("chess-adapter: opponent: {complaint}");
            }
            let go = args.opponent_go.as_ref().or(args.go.as_ref());
            Box::new(EnginePlayer(engine, go.cloned().unwrap_or_default()))
        }
        command => {
            let set = &args.opponent_set;
            let default = match args.opponent_protocol {
                _ if args.clock.is_some() => "",
                EngineProtocol::Uci => "depth 1",
                EngineProtocol::Xboard => "sd 1,st 1",
            };
            let go = args.opponent_go.as_deref().unwrap_or(default);
            match args.opponent_protocol {
                EngineProtocol::Uci => Box::new(UciPlayer::start(command, set, go, children)?),
                EngineProtocol::Xboard => {
                    Box::new(XboardPlayer::start(command, set, go, children)?)
                }
            }
        }
    })
}

/// The first half-moves of each gameline of a file.
fn read_openings(path: &Path, plies: usize) -> Result<Vec<Vec<shakmaty::Move>>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut openings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut game = crate::text::game::Game::default();
        for word in line.split_whitespace().take(plies) {
            let m = crate::text::notation::read_move(game.position(), word.as_bytes()).map_err(
                |e| {
                    anyhow::anyhow!(
                        "{} line {}: {word}: {}",
                        path.display(),
                        number + 1,
                        e.as_str()
                    )
                },
            )?;
            game.play(m);
        }
        openings.push(game.moves().to_vec());
    }
    Ok(openings)
}

fn run_match(args: &MatchArgs) -> Result<ExitCode> {
    let children = ChildProcesses::default();
    let mut engine =
        EnginePlayer(args.engine.loaded_engine(&children)?, args.go.clone().unwrap_or_default());
    let mut opponent = opponent(args, &children)?;
    let mut pgn = match &args.pgn {
        None => None,
        Some(path) => {
            Some(File::create(path).with_context(|| format!("cannot write {}", path.display()))?)
        }
    };
    let options = arena::Options {
        games: args.games,
        side: args.side,
        limit: args.limit,
        clocks: args.clock.as_deref().map(Clocks::parse).transpose()?,
        openings: args
            .openings
            .as_deref()
            .map_or_else(|| Ok(Vec::new()), |path| read_openings(path, args.opening_plies))?,
    };
    let report = |played: &arena::Played, color: Color, score: &arena::Score| -> Result<()> {
        if args.progress {
            eprintln!("{}", score.line());
        }
        if let Some(file) = &mut pgn {
            let names = ["dbacl", args.opponent.as_str()];
            let (white, black) =
                if color.is_white() { (names[0], names[1]) } else { (names[1], names[0]) };
            let (result, reason) = match (played.overstepped, played.end) {
                (Some(Color::White), _) => ("0-1", "White loses on time"),
                (Some(Color::Black), _) => ("1-0", "Black loses on time"),
                (None, Some(end)) => (end.result().as_str(), end.reason()),
                (None, None) => ("*", "stopped"),
            };
            writeln!(file, "{}", played.game.to_pgn(white, black, result, reason))?;
        }
        Ok(())
    };
    let score = arena::play_match(&mut engine, opponent.as_mut(), &options, report)?;
    children.close();
    let mut out = std::io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&score)?)?,
        false => writeln!(out, "{}", score.line())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn run_why(args: &WhyArgs) -> Result<ExitCode> {
    let children = ChildProcesses::default();
    let mut engine = args.engine.loaded_engine(&children)?;
    for word in args.moves.split_whitespace() {
        let m = crate::text::notation::read_move(engine.game().position(), word.as_bytes())
            .map_err(|e| anyhow::anyhow!("{word}: {}", e.as_str()))?;
        engine.play(m);
    }
    let mut out = std::io::stdout().lock();
    for line in why::explain(&mut engine, &args.word)? {
        writeln!(out, "{line}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_output(path: Option<&Path>, contents: &[u8]) -> Result<()> {
    match path {
        None => std::io::stdout().lock().write_all(contents).context("standard output"),
        Some(path) => crate::play::models::replace_file(path, contents),
    }
}

fn run_tables(args: &TablesArgs) -> Result<ExitCode> {
    let mut progress = |text: &str| eprintln!("{text}");
    crate::tools::endgames::make(&args.materials, &args.output, &mut progress)?;
    Ok(ExitCode::SUCCESS)
}

/// Processors that may be used.
fn processors(jobs: Option<usize>) -> usize {
    jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn run_bayes_play(args: &BayesPlayArgs) -> Result<ExitCode> {
    let against = match &args.against {
        None => Against::Base,
        Some(folder) => Against::Learned(Evaluation::parameters(folder)?, args.goal),
    };
    let open = |path: &Path, again: bool| {
        let mut options = File::options();
        options.create(true).append(again).write(true).truncate(!again);
        options.open(path).with_context(|| format!("cannot write {}", path.display()))
    };
    let mut records = args.output.as_deref().map(|path| open(path, true)).transpose()?;
    let mut pgn = args.pgn.as_deref().map(|path| open(path, false)).transpose()?;
    let options = selfplay::Options {
        games: args.games,
        depth: args.depth.clamp(1, 20),
        seed: args.seed,
        drawn_moves: args.drawn_moves,
        threads: processors(args.jobs),
        against,
    };
    let mut score = selfplay::Score::default();
    let finished = AtomicU64::new(0);
    let part = || Some((finished.load(Ordering::Relaxed), args.games as u64));
    let take = |played: selfplay::Played| {
        finished.fetch_add(1, Ordering::Relaxed);
        score.add(played.outcome);
        if let Some(file) = &mut records {
            let mut lines = Vec::new();
            for record in &played.records {
                record.write(&mut lines)?;
            }
            file.write_all(&lines).context("the records")?;
        }
        if let Some(file) = &mut pgn {
            let result = played.result.as_str();
            writeln!(file, "{}", played.game.to_pgn("?", "?", result, "")).context("the games")?;
        }
        Ok(())
    };
    dbacl_cli::progress::watch("playing", part, || selfplay::play(&options, take))?;
    let score = if args.against.is_some() { score.turned() } else { score };
    let who = if args.against.is_some() { "learned" } else { "perturbed" };
    let ([won, drawn, lost], (mean, error)) = (score.0, score.mean());
    println!(
        "{who} parameters won {won} drawn {drawn} lost {lost}: {:.1} % +- {:.1}",
        100.0 * mean,
        100.0 * error
    );
    Ok(ExitCode::SUCCESS)
}

fn run_bayes_learn(args: &BayesLearnArgs) -> Result<ExitCode> {
    let children = ChildProcesses::default();
    let program = args.program.program(&children);
    if let Some(wanted) = args.positions {
        let mut games = bayes::positions::Games::default();
        let (options, mut statistics) = (prepare::Options::default(), Statistics::default());
        prepare::read_files(&args.files, &options, &mut statistics, &mut [&mut games])?;
        if !(args.cost.is_finite() && args.cost > 0.0) {
            bail!("a cost above 0 is needed: {}", args.cost);
        }
        let (cost, seed, output) = (args.cost, args.seed, &args.output);
        let report = bayes::positions::learn(&games, wanted, cost, seed, output, &program)?;
        println!("{report}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut records = Vec::new();
    for path in &args.files {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let read = selfplay::Record::read_all(BufReader::new(file));
        records.extend(read.with_context(|| path.display().to_string())?);
    }
    if let Some(games) = args.games {
        // Each game has a record of its opening, which comes first.
        let openings = records.iter().enumerate().filter(|(_, r)| r.stage == Stage::Opening);
        let end = openings.map(|(at, _)| at).nth(games);
        records.truncate(end.unwrap_or(usize::MAX));
    }
    if !(args.caution.is_finite() && args.caution >= 0.0) {
        bail!("a caution from 0 on is needed: {}", args.caution);
    }
    bayes::parameters::learn(&records, args.caution, &args.output, &program)?;
    println!("{} records learned", records.len());
    Ok(ExitCode::SUCCESS)
}

fn run_bayes_show(args: &BayesShowArgs) -> Result<ExitCode> {
    let mut out = Vec::new();
    bayes::show::show(&args.folder, args.fen.as_deref(), args.all, &mut out)?;
    write_output(None, &out)?;
    Ok(ExitCode::SUCCESS)
}

fn run_book(args: &BookArgs) -> Result<ExitCode> {
    let mut counter = Counter::new(if args.clusters { cluster::PLIES } else { args.plies });
    let mut statistics = Statistics::default();
    let options = prepare::Options::default();
    prepare::read_files(&args.pgn, &options, &mut statistics, &mut [&mut counter])?;
    let contents = if args.clusters {
        if args.pgn.is_empty() || args.pgn.iter().any(|p| p.as_os_str() == "-") {
            bail!("clusters need the games twice: name files");
        }
        let mut collector = cluster::Collector::new(&counter, args.min_count);
        let mut again = Statistics::default();
        prepare::read_files(&args.pgn, &options, &mut again, &mut [&mut collector])?;
        cluster::to_text(&counter, &collector, args.min_count, args.reach).into_bytes()
    } else if args.tree {
        counter.to_tree(args.depth, args.min_count).into_bytes()
    } else if args.polyglot {
        counter.to_polyglot(args.min_count)
    } else {
        counter.to_text(args.min_count).into_bytes()
    };
    write_output(args.output.as_deref(), &contents)?;
    Ok(ExitCode::from(u8::from(statistics.written == 0)))
}

fn run_style(args: &StyleArgs) -> Result<ExitCode> {
    let options = crate::play::style::Options {
        pgn: args.pgn.clone(),
        output: args.output.clone(),
        players: [args.attacking.clone(), args.positional.clone(), args.mixed.clone()],
        test_every: args.test_every,
        words: args.words,
    };
    let children = ChildProcesses::default();
    let outcome = crate::play::style::learn(&options, &args.program.program(&children))?;
    children.close();
    let [attacking, positional, mixed] = outcome.learned;
    println!("learned: attacking {attacking}, positional {positional}, mixed {mixed} games");
    if outcome.judged > 0 {
        println!(
            "kept back {} games, judged rightly after ten moves: {}",
            outcome.judged, outcome.right
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn run_report(args: &ReportArgs) -> Result<ExitCode> {
    let children = ChildProcesses::default();
    let file =
        File::open(&args.pgn).with_context(|| format!("cannot read {}", args.pgn.display()))?;
    let mut games = crate::text::pgn::Games::new(BufReader::new(file));
    let mut raw = crate::text::pgn::RawGame::default();
    for _ in 0..args.game.max(1) {
        if !games.next_game(&mut raw)? {
            bail!("{} has fewer games than {}", args.pgn.display(), args.game);
        }
    }
    let mut game = prepare::Gameline::default();
    if let Err(reason) = game.replay(&raw, Spelling::default(), true) {
        bail!("{}: game {}: {reason}", args.pgn.display(), args.game);
    }
    let mut engine = args.engine.loaded_engine(&children)?;
    let page = crate::tools::report::page(&mut engine, &raw, &game)?;
    write_output(args.output.as_deref(), page.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the program: reads the command line, does what it says, tells errors on standard error.
pub fn main() -> ExitCode {
    let cli: Cli = match dbacl_cli::arguments::read(2) {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    let done = match &cli.verb {
        Verb::Prepare(args) => run_prepare(args),
        Verb::Learn(args) => run_learn(args),
        Verb::Play(args) => run_play(args),
        Verb::Evaluate(args) => run_evaluate(args),
        Verb::Match(args) => run_match(args),
        Verb::Why(args) => run_why(args),
        Verb::Book(args) => run_book(args),
        Verb::Report(args) => run_report(args),
        Verb::Style(args) => run_style(args),
        Verb::Tables(args) => run_tables(args),
        Verb::Bayes(BayesVerb::Play(args)) => run_bayes_play(args),
        Verb::Bayes(BayesVerb::Learn(args)) => run_bayes_learn(args),
        Verb::Bayes(BayesVerb::Show(args)) => run_bayes_show(args),
    };
    done.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        eprintln!("chess-adapter: {error:#}");
        ExitCode::FAILURE
    })
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|e| e.downcast_ref::<std::io::Error>());
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
