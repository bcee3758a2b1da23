// SPDX-License-Identifier: GPL-3.0-or-later
//! PGN files to training text: gamelines, the four training sets, encodings, descriptions (spec
//! chess 2.3).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen};

use crate::features::basic::Template;
use crate::features::rich::Scene;
use crate::random::Random;
use crate::text::encode::Encoding;
use crate::text::notation::{self, Spelling};
use crate::text::pgn::{GameResult, Games, RawGame};

/// What unfinished games become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Unfinished {
    /// Left out.
    #[default]
    Skip,
    /// Both Draw sets take them, as the essay has it.
    Draw,
}

/// The four training sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrainingSet {
    /// White wins and draws.
    WhiteWinDraw,
    /// Black wins and draws.
    BlackWinDraw,
    /// White wins.
    WhiteWin,
    /// Black wins.
    BlackWin,
}

impl TrainingSet {
    /// All of them, in the specification's order.
    pub const ALL: [Self; 4] =
        [Self::WhiteWinDraw, Self::BlackWinDraw, Self::WhiteWin, Self::BlackWin];

    /// The file name without its ending.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WhiteWinDraw => "WhiteWinDraw",
            Self::BlackWinDraw => "BlackWinDraw",
            Self::WhiteWin => "WhiteWin",
            Self::BlackWin => "BlackWin",
        }
    }

    /// Whether a game with that result belongs here; `None` is an unfinished one kept as a draw.
    pub const fn takes(self, result: Option<GameResult>) -> bool {
        match result {
            Some(GameResult::WhiteWins) => matches!(self, Self::WhiteWinDraw | Self::WhiteWin),
            Some(GameResult::BlackWins) => matches!(self, Self::BlackWinDraw | Self::BlackWin),
            Some(GameResult::Draw) | None => {
                matches!(self, Self::WhiteWinDraw | Self::BlackWinDraw)
            }
        }
    }
}

/// Options of the preparation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Also write the sets in these encodings, beside the plain gamelines.
    pub encodings: Vec<Encoding>,
    /// What to do with unfinished games.
    pub unfinished: Unfinished,
    /// Take games from set-up positions too.
    pub keep_setup: bool,
    /// How moves are spelt.
    pub spelling: Spelling,
    /// Write descriptions of played and not played moves.
    pub describe: Option<Describe>,
    /// Write descriptions of many words.
    pub describe2: Option<Describe2>,
    /// Write position words (spec chess 9.8 b).
    pub position_words: bool,
    /// Cut the encoded sets into three phases, with this many words of overlap (spec chess 9.8 a).
    pub phases: Option<usize>,
}

/// Which moves are described, and how.
#[derive(Clone, Debug)]
pub struct Describe {
    /// The words.
    pub template: Template,
    /// The most games a colour, drawn uniformly from all; 0 for all.
    pub games: usize,
    /// Other legal moves drawn from each position.
    pub alternatives: usize,
    /// Seed of the draw.
    pub seed: u64,
}

/// Which moves are described in many words.
#[derive(Clone, Copy, Debug)]
pub struct Describe2 {
    /// The most positions, drawn uniformly from all of all games, for both colours together; 0 for
    /// all.
    pub positions: usize,
    /// Other legal moves drawn from each position.
    pub alternatives: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            encodings: Vec::new(),
            unfinished: Unfinished::Skip,
            keep_setup: false,
            spelling: Spelling::default(),
            describe: None,
            describe2: None,
            position_words: false,
            phases: None,
        }
    }
}

/// The last half-move of opening and middle game, exclusive (spec chess 9.8 a).
pub const PHASE_ENDS: [usize; 2] = [24, 70];
/// Names of the phases in file names.
pub const PHASES: [&str; 3] = ["opening", "middle", "end"];

/// The phase in which the half-move with that number (from 0) is played.
pub const fn phase_of(ply: usize) -> usize {
    if ply < PHASE_ENDS[0] {
        0
    } else if ply < PHASE_ENDS[1] {
        1
    } else {
        2
    }
}

/// One legal game, ready to be written.
#[derive(Debug, Default)]
pub struct Gameline {
    /// The half-moves in SAN, one after the other.
    text: String,
    ends: Vec<usize>,
    /// Who moves first.
    pub first: Option<Color>,
    /// The result, unless unfinished.
    pub result: Option<GameResult>,
    /// The moves, for those who need the board.
    pub moves: Vec<shakmaty::Move>,
    /// Where the game began.
    pub start: Chess,
}

impl Gameline {
    /// The half-moves.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// Number of half-moves.
    pub fn plies(&self) -> usize {
        self.ends.len()
    }

    /// Replays a raw game on a board.
    ///
    /// # Errors
    ///
    /// Why the game cannot be used.
    pub fn replay(
        &mut self,
        raw: &RawGame,
        spelling: Spelling,
        keep_setup: bool,
    ) -> Result<(), &'static str> {
        self.ends.clear();
        self.moves.clear();
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        if let Some(damage) = raw.damage {
            return Err(damage);
        }
        if let Some(variant) = raw.tag("Variant")
            && !matches!(
                variant.to_ascii_lowercase().as_slice(),
                b"standard" | b"normal" | b"chess" | b"from position"
            )
        {
            return Err("variant");
        }
        let mut position = match raw.tag("FEN") {
            None => Chess::default(),
            Some(_) if !keep_setup => return Err("set-up position"),
            Some(fen) => Fen::from_ascii(fen)
                .ok()
                .and_then(|fen| fen.into_position(CastlingMode::Standard).ok())
                .ok_or("unreadable FEN")?,
        };
        if raw.is_without_moves() {
            return Err("no moves");
        }
        self.first = Some(position.turn());
        self.start = position.clone();
        for word in raw.words() {
            let m = notation::respell_and_play(&mut position, word, spelling, &mut bytes)
                .map_err(notation::WordError::as_str)?;
            self.ends.push(bytes.len());
            self.moves.push(m);
        }
        self.text = String::from_utf8(bytes).expect("SAN is ASCII");
        let text = raw.terminator.as_deref().and_then(GameResult::from_bytes);
        self.result = text.or_else(|| {
            // `*` says that the game is unfinished; silence lets the tag speak.
            if raw.terminator.is_some() {
                None
            } else {
                raw.tag("Result").and_then(GameResult::from_bytes)
            }
        });
        Ok(())
    }
}

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
    pub examples: Vec<(u64, &'static str, String)>,
    /// Games whose result tag and text disagree.
    pub disagreements: u64,
    /// Gamelines in each training set.
    pub sets: [u64; 4],
    /// Bytes of input.
    pub bytes: u64,
}

impl Statistics {
    const EXAMPLES: usize = 5;

    fn skip(&mut self, reason: &'static str, raw: &RawGame) {
        *self.skipped.entry(reason).or_default() += 1;
        if self.examples.len() < Self::EXAMPLES {
            let tag = raw.tags.first().map_or_else(String::new, |(name, value)| {
                format!("[{} \"{}\"]", printable(name), printable(value))
            });
            self.examples.push((self.read, reason, tag));
        }
    }

    /// Writes the summary, for people.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let skipped: u64 = self.skipped.values().sum();
        writeln!(out, "games read {}, written {}, skipped {skipped}", self.read, self.written)?;
        for (reason, count) in &self.skipped {
            writeln!(out, "  skipped {count}: {reason}")?;
        }
        for (number, reason, tag) in &self.examples {
            writeln!(out, "  game {number} ({reason}) {tag}")?;
        }
        if skipped > self.examples.len() as u64 {
            writeln!(out, "  ... and {} more", skipped - self.examples.len() as u64)?;
        }
        if self.disagreements > 0 {
            writeln!(
                out,
                "warning: result tag and text disagree in {} games; the text is taken",
                self.disagreements
            )?;
        }
        for (set, count) in TrainingSet::ALL.iter().zip(self.sets) {
            writeln!(out, "  {}: {count}", set.as_str())?;
        }
        Ok(())
    }
}

fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect()
}

/// Where games go.
pub trait GameSink {
    /// Takes one legal, wanted game.
    ///
    /// # Errors
    ///
    /// Those of writing it.
    fn take(&mut self, game: &Gameline) -> Result<()>;
}

/// Reads all games of one input and hands the wanted ones on.
///
/// # Errors
///
/// Those of reading, and of the sinks.
pub fn read_games<R: BufRead>(
    input: R,
    options: &Options,
    statistics: &mut Statistics,
    sinks: &mut [&mut dyn GameSink],
) -> Result<()> {
    let mut games = Games::new(input);
    let mut raw = RawGame::default();
    let mut game = Gameline::default();
    let mut progress = Progress::new();
    while games.next_game(&mut raw)? {
        statistics.read += 1;
        if let Err(reason) = game.replay(&raw, options.spelling, options.keep_setup) {
            statistics.skip(reason, &raw);
            continue;
        }
        if game.result.is_none() && options.unfinished == Unfinished::Skip {
            statistics.skip("unfinished", &raw);
            continue;
        }
        let tag = raw.tag("Result").and_then(GameResult::from_bytes);
        if tag.is_some() && game.result.is_some() && tag != game.result {
            statistics.disagreements += 1;
        }
        statistics.written += 1;
        for (set, count) in TrainingSet::ALL.iter().zip(&mut statistics.sets) {
            *count += u64::from(set.takes(game.result));
        }
        for sink in &mut *sinks {
            sink.take(&game)?;
        }
        progress.tell(statistics.read);
    }
    progress.end();
    Ok(())
}

/// A line on the terminal that says how far the work is; silent elsewhere.
struct Progress {
    started: Instant,
    shown: bool,
    on: bool,
}

impl Progress {
    fn new() -> Self {
        Self { started: Instant::now(), shown: false, on: io::stderr().is_terminal() }
    }

    fn tell(&mut self, games: u64) {
        if self.on && games.is_multiple_of(2048) && self.started.elapsed().as_millis() > 300 {
            eprint!("\r{games} games");
            self.shown = true;
        }
    }

    fn end(&self) {
        if self.shown {
            eprint!("\r                    \r");
        }
    }
}

/// A file that is written; its errors name it.
struct Out {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Out {
    fn create(path: PathBuf) -> io::Result<Self> {
        match File::create(&path) {
            Ok(file) => Ok(Self { path, file: BufWriter::with_capacity(1 << 16, file) }),
            Err(error) => Err(Self::named(&path, &error)),
        }
    }

    fn named(path: &Path, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| Self::named(&self.path, &error))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).map_err(|error| Self::named(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| Self::named(&self.path, &error))
    }
}

/// Writes gamelines and training sets into a folder.
pub struct TextFiles {
    all: Out,
    sets: [Out; 4],
    encoded: Vec<(Encoding, Vec<Out>)>,
    phased: Vec<(Encoding, usize, Vec<[Out; 3]>)>,
    position_words: Option<[Out; 2]>,
    describe: Option<Descriptions>,
    describe2: Option<ManyDescriptions>,
    unfinished: Option<GameResult>,
    line: String,
}

/// A game kept for its descriptions.
struct Kept {
    number: usize,
    start: Chess,
    moves: Vec<shakmaty::Move>,
}

struct Descriptions {
    options: Describe,
    random: Random,
    /// Played and not played, White's pair first.
    files: [[Out; 2]; 2],
    games: [usize; 2],
    /// The games kept so far of each colour.
    samples: [Vec<Kept>; 2],
    line: String,
}

impl TextFiles {
    /// Opens the files below `folder`, which is made if need be.
    ///
    /// # Errors
    ///
    /// Those of creating files.
    pub fn create(folder: &Path, options: &Options) -> Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let open =
            |name: &str| -> Result<Out> { Ok(Out::create(folder.join(format!("{name}.txt")))?) };
        let [a, b, c, d] = TrainingSet::ALL.map(|set| open(set.as_str()));
        let mut encoded = Vec::new();
        let mut phased = Vec::new();
        for &encoding in &options.encodings {
            let files: Result<Vec<Out>> = TrainingSet::ALL
                .iter()
                .map(|set| open(&format!("{}-{}", set.as_str(), encoding.as_str())))
                .collect();
            if encoding != Encoding::Half {
                encoded.push((encoding, files?));
            }
            if let Some(overlap) = options.phases {
                let mut sets = Vec::new();
                for set in TrainingSet::ALL {
                    let [x, y, z] = PHASES.map(|phase| {
                        open(&format!("{}-{}-{phase}", set.as_str(), encoding.as_str()))
                    });
                    sets.push([x?, y?, z?]);
                }
                phased.push((encoding, overlap, sets));
            }
        }
        let position_words = match options.position_words {
            true => Some([open("WhiteWin-positions")?, open("BlackWin-positions")?]),
            false => None,
        };
        let describe = match &options.describe {
            None => None,
            Some(describe) => Some(Descriptions {
                random: Random::from_seed(describe.seed),
                options: describe.clone(),
                files: [
                    [open("White-played")?, open("White-notplayed")?],
                    [open("Black-played")?, open("Black-notplayed")?],
                ],
                games: [0; 2],
                samples: [Vec::new(), Vec::new()],
                line: String::new(),
            }),
        };
        let describe2 = match options.describe2 {
            None => None,
            Some(wanted) => Some(ManyDescriptions {
                options: wanted,
                random: Random::from_seed(wanted.seed),
                files: [open("many-played")?, open("many-notplayed")?],
                seen: 0,
                sample: Vec::new(),
                line: String::new(),
            }),
        };
        Ok(Self {
            all: open("all")?,
            sets: [a?, b?, c?, d?],
            encoded,
            phased,
            position_words,
            describe,
            describe2,
            unfinished: None,
            line: String::new(),
        })
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn finish(mut self) -> Result<()> {
        if let Some(describe) = &mut self.describe {
            describe.finish()?;
        }
        if let Some(describe) = &mut self.describe2 {
            describe.finish()?;
        }
        self.all.flush()?;
        let encoded = self.encoded.iter_mut().flat_map(|(_, files)| files);
        let phased = self.phased.iter_mut().flat_map(|(_, _, sets)| sets.iter_mut().flatten());
        let positions = self.position_words.iter_mut().flatten();
        let described = self.describe.iter_mut().flat_map(|d| d.files.iter_mut().flatten());
        let described = described.chain(self.describe2.iter_mut().flat_map(|d| &mut d.files));
        for file in
            self.sets.iter_mut().chain(encoded).chain(phased).chain(positions).chain(described)
        {
            file.flush()?;
        }
        Ok(())
    }
}

impl GameSink for TextFiles {
    fn take(&mut self, game: &Gameline) -> Result<()> {
        let result = game.result.or(self.unfinished);
        let end = result.map(GameResult::as_str);
        let first = game.first.unwrap_or(Color::White);
        let line = &mut self.line;
        let wanted = |i: usize| TrainingSet::ALL[i].takes(result);
        encode_line(Encoding::Half, first, game, end, line);
        self.all.write_all(line.as_bytes())?;
        for (i, file) in self.sets.iter_mut().enumerate().filter(|(i, _)| wanted(*i)) {
            let _ = i;
            file.write_all(line.as_bytes())?;
        }
        for (encoding, files) in &mut self.encoded {
            encode_line(*encoding, first, game, end, line);
            for (_, file) in files.iter_mut().enumerate().filter(|(i, _)| wanted(*i)) {
                file.write_all(line.as_bytes())?;
            }
        }
        for (encoding, overlap, sets) in &mut self.phased {
            encode_line(*encoding, first, game, end, line);
            for (_, files) in sets.iter_mut().enumerate().filter(|(i, _)| wanted(*i)) {
                write_phases(line.trim_end(), *encoding, *overlap, files)?;
            }
        }
        if let Some(files) = &mut self.position_words {
            let winner = match result {
                Some(GameResult::WhiteWins) => Some((0, Color::White)),
                Some(GameResult::BlackWins) => Some((1, Color::Black)),
                _ => None,
            };
            if let Some((i, winner)) = winner {
                position_words(game, winner, line);
                files[i].write_all(line.as_bytes())?;
            }
        }
        if let Some(describe) = &mut self.describe {
            describe.take(game, result)?;
        }
        if let Some(describe) = &mut self.describe2 {
            describe.take(game)?;
        }
        Ok(())
    }
}

fn encode_line(
    encoding: Encoding,
    first: Color,
    game: &Gameline,
    end: Option<&str>,
    line: &mut String,
) {
    line.clear();
    for (index, word) in game.words().chain(end).enumerate() {
        encoding.push_word(line, index, first, word);
    }
    line.push('\n');
}

/// Cuts a line where the phases meet; each part but the first repeats some words of the one before.
fn write_phases(
    line: &str,
    encoding: Encoding,
    overlap: usize,
    files: &mut [Out; 3],
) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    let half_moves = if encoding == Encoding::Half { 1 } else { 2 };
    let cuts = PHASE_ENDS.map(|ply| ply / half_moves);
    let bounds = [(0, cuts[0]), (cuts[0], cuts[1]), (cuts[1], usize::MAX)];
    for (file, (start, end)) in files.iter_mut().zip(bounds) {
        if words.len() > start {
            let from = start.saturating_sub(overlap);
            writeln!(file, "{}", words[from..end.min(words.len())].join(" "))?;
        }
    }
    Ok(())
}

/// `HASH MOVE` lines of the moves of one side.
fn position_words(game: &Gameline, side: Color, lines: &mut String) {
    lines.clear();
    let mut position = game.start.clone();
    for (word, &m) in game.words().zip(&game.moves) {
        if position.turn() == side {
            lines.push_str(&position_word(&position));
            lines.push(' ');
            lines.push_str(word);
            lines.push('\n');
        }
        position.play_unchecked(m);
    }
}

/// Eight hexadecimal digits that stand for a position (spec chess 9.8 b).
pub fn position_word(position: &Chess) -> String {
    use shakmaty::{EnPassantMode, zobrist::Zobrist64};
    let hash: Zobrist64 = position.zobrist_hash(EnPassantMode::Legal);
    format!("{:08x}", u64::from(hash) >> 32)
}

impl Descriptions {
    /// Describes the winner's moves, at once or, if only so many games are wanted, when all were
    /// seen: then a uniform sample of the games is kept, whatever their order in the files
    /// (reservoir sampling, Vitter's algorithm R).
    fn take(&mut self, game: &Gameline, result: Option<GameResult>) -> Result<()> {
        let side = match result {
            Some(GameResult::WhiteWins) => Color::White,
            Some(GameResult::BlackWins) => Color::Black,
            _ => return Ok(()),
        };
        let index = usize::from(side.is_black());
        if self.options.games == 0 {
            return self.describe(index, &game.start, &game.moves);
        }
        self.games[index] += 1;
        let kept = Kept {
            number: self.games[index],
            start: game.start.clone(),
            moves: game.moves.clone(),
        };
        let sample = &mut self.samples[index];
        if sample.len() < self.options.games {
            sample.push(kept);
        } else {
            let place = self.random.below(kept.number);
            if let Some(old) = sample.get_mut(place) {
                *old = kept;
            }
        }
        Ok(())
    }

    /// Describes the games of the sample in their order.
    fn finish(&mut self) -> Result<()> {
        for index in 0..2 {
            let mut sample = std::mem::take(&mut self.samples[index]);
            sample.sort_unstable_by_key(|kept| kept.number);
            for kept in &sample {
                self.describe(index, &kept.start, &kept.moves)?;
            }
        }
        Ok(())
    }

    fn describe(&mut self, index: usize, start: &Chess, moves: &[shakmaty::Move]) -> Result<()> {
        let side = if index == 0 { Color::White } else { Color::Black };
        let mut position = start.clone();
        for (ply, &m) in moves.iter().enumerate() {
            if position.turn() == side {
                self.write(index, 0, &position, m, ply)?;
                let mut others = position.legal_moves();
                others.retain(|o| *o != m);
                for _ in 0..self.options.alternatives.min(others.len()) {
                    let drawn = others.swap_remove(self.random.below(others.len()));
                    self.write(index, 1, &position, drawn, ply)?;
                }
            }
            position.play_unchecked(m);
        }
        Ok(())
    }

    fn write(
        &mut self,
        side: usize,
        kind: usize,
        at: &Chess,
        m: shakmaty::Move,
        ply: usize,
    ) -> Result<()> {
        self.line.clear();
        self.options.template.describe(at, m, ply, &mut self.line);
        self.line.push('\n');
        self.files[side][kind].write_all(self.line.as_bytes())?;
        Ok(())
    }
}

/// Descriptions of many words: a uniform sample of positions, whoever is to move and whatever the
/// result.
struct ManyDescriptions {
    options: Describe2,
    random: Random,
    /// Played and not played.
    files: [Out; 2],
    seen: usize,
    /// The positions kept so far: number, game, half-moves before.
    sample: Vec<(usize, Arc<Kept>, usize)>,
    line: String,
}

impl ManyDescriptions {
    fn take(&mut self, game: &Gameline) -> Result<()> {
        let kept =
            Arc::new(Kept { number: 0, start: game.start.clone(), moves: game.moves.clone() });
        for ply in 0..kept.moves.len() {
            self.seen += 1;
            let limit = self.options.positions;
            let item = (self.seen, Arc::clone(&kept), ply);
            if limit == 0 || self.sample.len() < limit {
                self.sample.push(item);
            } else {
                let place = self.random.below(self.seen);
                if let Some(old) = self.sample.get_mut(place) {
                    *old = item;
                }
            }
        }
        if self.options.positions == 0 {
            self.finish()?;
        }
        Ok(())
    }

    /// Describes the positions of the sample in their order.
    fn finish(&mut self) -> Result<()> {
        let mut sample = std::mem::take(&mut self.sample);
        sample.sort_unstable_by_key(|(number, ..)| *number);
        let mut current: Option<(Arc<Kept>, Chess, usize)> = None;
        for (_, game, ply) in sample {
            let (position, played) = match current.take() {
                Some((same, position, played)) if Arc::ptr_eq(&same, &game) => (position, played),
                _ => (game.start.clone(), 0),
            };
            let mut position = position;
            for &m in &game.moves[played..ply] {
                position.play_unchecked(m);
            }
            self.describe(&position, &game.moves[..ply], game.moves[ply])?;
            current = Some((game, position, ply));
        }
        Ok(())
    }

    fn describe(
        &mut self,
        position: &Chess,
        history: &[shakmaty::Move],
        played: shakmaty::Move,
    ) -> Result<()> {
        let mut others = position.legal_moves();
        others.retain(|o| *o != played);
        if others.is_empty() {
            return Ok(());
        }
        let scene = Scene::new(position, history, history.len());
        self.write(0, &scene, played)?;
        for _ in 0..self.options.alternatives.min(others.len()) {
            let drawn = others.swap_remove(self.random.below(others.len()));
            self.write(1, &scene, drawn)?;
        }
        Ok(())
    }

    fn write(&mut self, kind: usize, scene: &Scene<'_>, m: shakmaty::Move) -> Result<()> {
        self.line.clear();
        scene.describe(&scene.prospect(m), &mut self.line);
        self.line.push('\n');
        self.files[kind].write_all(self.line.as_bytes())?;
        Ok(())
    }
}

/// Reads all inputs, standard input if there is none or for `-`.
///
/// # Errors
///
/// Those of reading and of the sinks.
pub fn read_files(
    inputs: &[PathBuf],
    options: &Options,
    statistics: &mut Statistics,
    sinks: &mut [&mut dyn GameSink],
) -> Result<()> {
    if inputs.is_empty() {
        return read_games(io::stdin().lock(), options, statistics, sinks)
            .context("standard input");
    }
    for path in inputs {
        if path.as_os_str() == "-" {
            read_games(io::stdin().lock(), options, statistics, sinks).context("standard input")?;
            continue;
        }
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        read_games(BufReader::with_capacity(1 << 16, file), options, statistics, sinks)
            .with_context(|| format!("{}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gamelines(pgn: &str, options: &Options) -> (Vec<String>, Statistics) {
        struct Lines(Vec<String>);
        impl GameSink for Lines {
            fn take(&mut self, game: &Gameline) -> Result<()> {
                let end = game.result.map_or("", GameResult::as_str);
                self.0.push(format!("{} {end}", game.words().collect::<Vec<_>>().join(" ")));
                Ok(())
            }
        }
        let mut lines = Lines(Vec::new());
        let mut statistics = Statistics::default();
        read_games(pgn.as_bytes(), options, &mut statistics, &mut [&mut lines])
            .expect("memory does not fail");
        (lines.0, statistics)
    }

    #[test]
    fn results_come_from_text_then_tag() {
        let rows = [
            ("[Result \"0-1\"]\n\n1. e4 1-0", "e4 1-0", 1),
            ("[Result \"0-1\"]\n\n1. e4", "e4 0-1", 0),
            ("1. e4 1/2-1/2", "e4 1/2-1/2", 0),
        ];
        for (pgn, line, disagreements) in rows {
            let (lines, statistics) = gamelines(pgn, &Options::default());
            assert_eq!((lines, statistics.disagreements), (vec![line.to_owned()], disagreements));
        }
    }

    #[test]
    fn bad_games_are_skipped_with_a_reason() {
        let rows = [
            ("1. e4 *", "unfinished"),
            ("1. e5 1-0", "illegal move"),
            ("1. e4 -- 1-0", "null move"),
            ("1. xyz 1-0", "unreadable word"),
            ("[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O 1-0", "set-up position"),
            ("[Event \"x\"]\n\n1-0", "no moves"),
            ("[Variant \"Atomic\"]\n\n1. e4 1-0", "variant"),
        ];
        for (pgn, reason) in rows {
            let (lines, statistics) = gamelines(pgn, &Options::default());
            assert_eq!(lines, Vec::<String>::new());
            assert_eq!(statistics.skipped.get(reason), Some(&1), "{pgn}");
        }
        let keep = Options { keep_setup: true, ..Options::default() };
        let (lines, _) = gamelines("[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O 1-0", &keep);
        assert_eq!(lines, ["O-O 1-0"]);
    }
}
