// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of play: one table for the command line and both protocols.

use anyhow::{Context as _, Result, anyhow, bail};
use clap::ValueEnum as _;
use shakmaty::ByColor;
use std::path::PathBuf;

use crate::play::choose::Rule;
use crate::play::searching::SearchMode;
use crate::play::style::Aim;
use chess_games::encode::Encoding;
use chess_tables::openings::Weight;

/// The values of all options of play.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub rule: Rule,
    /// The encoding of gamelines for a single category. `None` means full for Black and shifted for
    /// White.
    pub encoding: Option<Encoding>,
    /// Draw by score instead of taking the best.
    pub random_play: bool,
    /// Seed of the draws, 0 for the clock.
    pub seed: u32,
    /// Divides score differences in draws; 0 takes the best.
    pub temperature: f64,
    pub mate_keyword: bool,
    /// Leave out moves that draw at once, unless behind. `None` takes the setting of the model
    /// folder.
    pub avoid_draws: Option<bool>,
    /// Words sent to the classifier, 0 for all.
    pub window: u32,
    pub multi_pv: u32,
    pub own_book: bool,
    pub book_file: PathBuf,
    /// The move of a game from which on the book is asked.
    pub book_from: u32,
    /// Out of the book, clusters of positions that are at most so many moves apart suggest; 0 for
    /// none.
    pub book_clusters: u32,
    /// Whether the book only adds to the values of its moves in the search, instead of choosing
    /// the move itself.
    pub book_in_search: bool,
    pub book_weight: Weight,
    /// Folder of tables made by the verb `tables`.
    pub tables_path: PathBuf,
    pub syzygy_path: PathBuf,
    /// Folder of learned values, by which the search evaluates.
    pub worth_path: PathBuf,
    /// What games are played for.
    pub aim: Aim,
    /// Folder of style categories, which decide once in a game what it is played for.
    pub style_path: PathBuf,
    /// Resign when material is down by so many pawns; 0 for never.
    pub resign_material: u32,
    /// ... for so many own moves.
    pub resign_moves: u32,
    /// Offer and accept draws after so many half-moves without capture or pawn move; 0 for never.
    pub draw_after: u32,
    /// Each colour's model: a folder or a category.
    pub models: ByColor<PathBuf>,
    /// Which voice of a model folder plays; empty for its preset.
    pub voice: String,
    /// Ignore the interface's `random`.
    pub deterministic: bool,
    pub search: SearchMode,
    /// The classifier chooses among the moves that are at most so many centipawns worse than the
    /// best.
    pub search_margin: u32,
    /// Value of a bit of the classifier's odds in a search, in centipawns, if there is no margin.
    pub search_odds: f64,
    pub limit_strength: bool,
    pub elo: u32,
    /// Megabytes of the search's table.
    pub hash: u32,
    /// Number of processors that the interface allows; only one is used.
    pub threads: u32,
    /// Whether the interface may let the engine think in the opponent's time.
    pub ponder: bool,
    /// Milliseconds between chess-adapter's answer and the moment when the clock stops.
    pub move_overhead: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rule: Rule::Basic,
            encoding: None,
            random_play: false,
            seed: 0,
            temperature: 1.0,
            mate_keyword: true,
            avoid_draws: None,
            window: 0,
            multi_pv: 1,
            own_book: false,
            book_file: PathBuf::new(),
            book_from: 1,
            book_clusters: 0,
            book_in_search: false,
            book_weight: Weight::Bit(30.0),
            tables_path: PathBuf::new(),
            syzygy_path: PathBuf::new(),
            worth_path: PathBuf::new(),
            aim: Aim::default(),
            style_path: PathBuf::new(),
            resign_material: 0,
            resign_moves: 3,
            draw_after: 0,
            models: ByColor::default(),
            voice: String::new(),
            deterministic: false,
            search: SearchMode::default(),
            search_margin: 0,
            search_odds: 3.0,
            limit_strength: false,
            elo: 1_600,
            hash: 16,
            threads: 1,
            ponder: false,
            move_overhead: 50,
        }
    }
}

/// The kind of an option, and where its value is.
enum Kind {
    Check(fn(&mut Settings) -> &mut bool),
    /// A number in a range.
    Spin(fn(&mut Settings) -> &mut u32, u32, u32),
    /// A number from 0, written as text.
    Real(fn(&mut Settings) -> &mut f64),
    Text(fn(&mut Settings) -> &mut String),
    /// The path of a file or a folder; which of them, in XBoard's words.
    Path(&'static str, fn(&mut Settings) -> &mut PathBuf),
    /// One of these words.
    Word(&'static [&'static str], fn(&Settings) -> String, fn(&mut Settings, &str) -> Result<()>),
}

/// Puts what was read in its place, unless it could not be read.
fn put<T>(place: &mut T, read: Result<T>) -> Result<()> {
    *place = read?;
    Ok(())
}

/// The value that UCI spells `<empty>`.
fn unless_empty(value: &str) -> &str {
    if value == "<empty>" { "" } else { value }
}

/// Reads a word, which `auto` is not.
fn unless_auto<T>(word: &str, read: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    if word.eq_ignore_ascii_case("auto") { Ok(None) } else { read().map(Some) }
}

/// Reads one of the words of a type.
fn one_of<T: clap::ValueEnum>(kind: &str, word: &str) -> Result<T> {
    T::from_str(word, true).map_err(|_| anyhow!("no {kind} {word:?}"))
}

/// The options, in the order in which they are announced.
const OPTIONS: &[(&str, Kind)] = &[
    ("RandomPlay", Kind::Check(|s| &mut s.random_play)),
    ("Temperature", Kind::Real(|s| &mut s.temperature)),
    ("Seed", Kind::Spin(|s| &mut s.seed, 0, i32::MAX.cast_unsigned())),
    (
        "Rule",
        Kind::Word(
            &["basic", "captures", "tactical"],
            |s| s.rule.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned()),
            |s, word| put(&mut s.rule, one_of("rule", word)),
        ),
    ),
    (
        "Encoding",
        Kind::Word(
            &["auto", "half", "full", "shifted"],
            |s| s.encoding.map_or("auto", Encoding::as_str).to_owned(),
            |s, word| put(&mut s.encoding, unless_auto(word, || one_of("encoding", word))),
        ),
    ),
    ("Voice", Kind::Text(|s| &mut s.voice)),
    ("WhiteModel", Kind::Path("string", |s| &mut s.models.white)),
    ("BlackModel", Kind::Path("string", |s| &mut s.models.black)),
    ("MateKeyword", Kind::Check(|s| &mut s.mate_keyword)),
    (
        "AvoidDraws",
        Kind::Word(
            &["auto", "on", "off"],
            |s| s.avoid_draws.map_or("auto", |on| if on { "on" } else { "off" }).to_owned(),
            |s, word| put(&mut s.avoid_draws, unless_auto(word, || is_on(word))),
        ),
    ),
    ("Window", Kind::Spin(|s| &mut s.window, 0, 1000)),
    ("MultiPV", Kind::Spin(|s| &mut s.multi_pv, 1, 250)),
    ("OwnBook", Kind::Check(|s| &mut s.own_book)),
    ("BookFile", Kind::Path("file", |s| &mut s.book_file)),
    ("BookFrom", Kind::Spin(|s| &mut s.book_from, 1, 1000)),
    ("BookClusters", Kind::Spin(|s| &mut s.book_clusters, 0, 10)),
    ("BookInSearch", Kind::Check(|s| &mut s.book_in_search)),
    ("TablesPath", Kind::Path("path", |s| &mut s.tables_path)),
    ("SyzygyPath", Kind::Path("path", |s| &mut s.syzygy_path)),
    ("WorthPath", Kind::Path("path", |s| &mut s.worth_path)),
    (
        "Aim",
        Kind::Word(
            &["either", "win", "hold"],
            |s| s.aim.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned()),
            |s, word| put(&mut s.aim, one_of("aim", word)),
        ),
    ),
    ("StylePath", Kind::Path("path", |s| &mut s.style_path)),
    ("ResignMaterial", Kind::Spin(|s| &mut s.resign_material, 0, 100)),
    ("ResignMoves", Kind::Spin(|s| &mut s.resign_moves, 1, 100)),
    ("DrawAfter", Kind::Spin(|s| &mut s.draw_after, 0, 100)),
    (
        "Play",
        Kind::Word(
            &["human", "strong", "auto"],
            |s| s.search.manner().to_owned(),
            |s, word| put(&mut s.search, SearchMode::of_manner(word)),
        ),
    ),
    ("UCI_LimitStrength", Kind::Check(|s| &mut s.limit_strength)),
    ("UCI_Elo", Kind::Spin(|s| &mut s.elo, 800, 2_000)),
    ("Hash", Kind::Spin(|s| &mut s.hash, 1, 65_536)),
    ("Threads", Kind::Spin(|s| &mut s.threads, 1, 1024)),
    ("Ponder", Kind::Check(|s| &mut s.ponder)),
    ("Move Overhead", Kind::Spin(|s| &mut s.move_overhead, 0, 10_000)),
];

/// Options that are accepted but not announced, as is `Search`: `Play` says the same in one word.
const OLD_OPTIONS: &[(&str, Kind)] = &[
    (
        "BookWeight",
        Kind::Word(
            &[],
            |s| s.book_weight.to_string(),
            |s, word| put(&mut s.book_weight, word.parse()),
        ),
    ),
    ("SearchMargin", Kind::Spin(|s| &mut s.search_margin, 0, 1000)),
    ("SearchOdds", Kind::Real(|s| &mut s.search_odds)),
];

fn is_on(value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" => Ok(true),
        "0" | "false" | "off" => Ok(false),
        _ => bail!("neither on nor off: {value:?}"),
    }
}

/// The name and the value of an option that is written as `NAME=VALUE`.
pub(crate) fn name_and_value(pair: &str) -> Result<(&str, &str)> {
    pair.split_once('=').with_context(|| format!("no NAME=VALUE: {pair}"))
}

/// Ratings, and the temperatures at which draws by the odds have that strength (docs/lab/chess.md).
const RATINGS: [(f64, f64); 5] =
    [(700.0, 1.88), (1_110.0, 1.44), (1_440.0, 1.0), (1_845.0, 0.5), (1_910.0, 0.0)];

impl Settings {
    /// The temperature of draws that makes the engine as strong as it shall be, if its strength is
    /// limited.
    pub(crate) fn rated_temperature(&self) -> Option<f64> {
        let elo = f64::from(self.elo);
        let pair = RATINGS.windows(2).find(|pair| elo <= pair[1].0);
        let temperature = pair.map_or(0.0, |pair| {
            let share = (elo - pair[0].0) / (pair[1].0 - pair[0].0);
            pair[0].1 + share * (pair[1].1 - pair[0].1)
        });
        self.limit_strength.then_some(temperature)
    }

    /// Sets an option; names are matched without regard to case and spaces, `value` as the
    /// protocols write it. An unknown name or a bad value changes nothing.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let bare = |name: &str| name.replace(' ', "").to_ascii_lowercase();
        if bare(name) == "search" {
            return put(&mut self.search, SearchMode::parse(value.trim()));
        }
        let mut options = OPTIONS.iter().chain(OLD_OPTIONS);
        let option = options.find(|(known, _)| bare(known) == bare(name));
        let value = value.trim();
        match &option.context("unknown option")?.1 {
            Kind::Check(at) => *at(self) = is_on(value)?,
            Kind::Spin(at, low, high) => {
                let n: u32 = value.parse().with_context(|| format!("no number: {value:?}"))?;
                if n < *low || n > *high {
                    bail!("not between {low} and {high}: {n}");
                }
                *at(self) = n;
            }
            Kind::Real(at) => {
                let x: f64 = value.parse().with_context(|| format!("no number: {value:?}"))?;
                if !x.is_finite() || x < 0.0 {
                    bail!("not a number from 0: {value:?}");
                }
                *at(self) = x;
            }
            Kind::Text(at) => unless_empty(value).clone_into(at(self)),
            Kind::Path(_, at) => *at(self) = unless_empty(value).into(),
            Kind::Word(_, _, set) => set(self, value)?,
        }
        Ok(())
    }

    /// The value of an option, as it is written.
    fn value(&self, kind: &Kind) -> String {
        // Places are lent for writing.
        let mut own = self.clone();
        match kind {
            Kind::Check(at) => at(&mut own).to_string(),
            Kind::Spin(at, ..) => at(&mut own).to_string(),
            Kind::Real(at) => at(&mut own).to_string(),
            Kind::Text(at) => std::mem::take(at(&mut own)),
            Kind::Path(_, at) => at(&mut own).display().to_string(),
            Kind::Word(_, word, _) => word(self),
        }
    }

    /// The options as the UCI protocol announces them, from the name on.
    pub(crate) fn for_uci(&self) -> Vec<String> {
        let line = |(name, kind): &(&str, Kind)| {
            let (kind, value, range) = match (kind, self.value(kind)) {
                (Kind::Check(_), value) => ("check", value, String::new()),
                (Kind::Spin(_, low, high), value) => {
                    ("spin", value, format!(" min {low} max {high}"))
                }
                (Kind::Word(words, ..), value) => {
                    let words = words.iter().map(|word| format!(" var {word}"));
                    ("combo", value, words.collect())
                }
                (_, value) if value.is_empty() => ("string", "<empty>".to_owned(), String::new()),
                (_, value) => ("string", value, String::new()),
            };
            format!("{name} type {kind} default {value}{range}")
        };
        OPTIONS.iter().map(line).collect()
    }

    /// The options as the XBoard protocol announces them. Some drivers keep only the first word of
    /// a name.
    pub(crate) fn for_xboard(&self) -> Vec<String> {
        let line = |(name, kind): &(&str, Kind)| {
            let value = self.value(kind);
            let value = match kind {
                Kind::Check(_) => format!("check {}", u8::from(value == "true")),
                Kind::Spin(_, low, high) => format!("spin {value} {low} {high}"),
                Kind::Real(_) | Kind::Text(_) => format!("string {value}"),
                Kind::Path(kind, _) => format!("{kind} {value}"),
                Kind::Word(words, ..) => {
                    let mark =
                        |word: &&str| format!("{}{word}", if *word == value { "*" } else { "" });
                    let words: Vec<String> = words.iter().map(mark).collect();
                    format!("combo {}", words.join(" /// "))
                }
            };
            format!("{} -{value}", name.replace(' ', ""))
        };
        OPTIONS.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_takes_its_own_value() {
        let mut settings = Settings::default();
        for (name, kind) in OPTIONS.iter().chain(OLD_OPTIONS) {
            let value = settings.value(kind);
            settings.set(&name.to_uppercase(), &value).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(settings.value(kind), value);
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn a_lower_rating_has_a_higher_temperature() {
        let mut settings = Settings::default();
        assert_eq!(settings.rated_temperature(), None);
        settings.set("UCI_LimitStrength", "true").expect("an option");
        for (elo, temperature) in [("2000", 0.0), ("1845", 0.5), ("1440", 1.0), ("1275", 1.22)] {
            settings.set("uci_elo", elo).expect("a rating");
            let found = settings.rated_temperature().expect("limited");
            assert!((found - temperature).abs() < 1e-9, "{elo} {found}");
        }
        assert!(settings.set("UCI_Elo", "700").is_err());
    }

    #[test]
    fn bad_values_change_nothing() {
        let mut settings = Settings::default();
        let rows = [
            ("Rule", "x"),
            ("RandomPlay", "maybe"),
            ("Seed", "-1"),
            ("Temperature", "nan"),
            ("MultiPV", "0"),
            ("BookWeight", "-1"),
            ("Foo", "1"),
        ];
        for (name, value) in rows {
            assert!(settings.set(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(settings, Settings::default());
    }
}
