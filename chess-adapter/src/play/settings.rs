// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of play: one table for the command line and both protocols.

use anyhow::{Context as _, Result, bail};

use crate::play::choose::Rule;
use crate::play::searching::SearchMode;
use chess_games::encode::Encoding;

/// The values of all options of play.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the protocols")]
pub struct Settings {
    /// Which completions are preferred.
    pub rule: Rule,
    /// The encoding of gamelines for a single category. `None` means full for Black and shifted for
    /// White.
    pub encoding: Option<Encoding>,
    /// Draw by score instead of taking the best.
    pub random_play: bool,
    /// Seed of the draws, 0 for the clock.
    pub seed: u64,
    /// Divides score differences in draws; 0 takes the best.
    pub temperature: f64,
    /// Play a mate when there is one.
    pub mate_keyword: bool,
    /// Leave out moves that draw at once, unless behind. `None` takes the setting of the model
    /// folder.
    pub avoid_draws: Option<bool>,
    /// Words sent to the classifier, 0 for all.
    pub window: usize,
    /// Lines shown.
    pub multi_pv: usize,
    /// Take moves from the book.
    pub own_book: bool,
    /// The book's path.
    pub book_file: String,
    /// Folder of endgame tables.
    pub syzygy_path: String,
    /// Folder of style categories, which decide once in a game which voice plays.
    pub style_path: String,
    /// Resign when material is down by so many pawns; 0 for never.
    pub resign_material: u32,
    /// ... for so many own moves.
    pub resign_moves: u32,
    /// Offer and accept draws after so many half-moves without capture or pawn move; 0 for never.
    pub draw_after: u32,
    /// White's model: a folder or a category.
    pub white_model: String,
    /// Black's model: a folder or a category.
    pub black_model: String,
    /// Which voice of a model folder plays; empty for its preset.
    pub voice: String,
    /// Ignore the interface's `random`.
    pub deterministic: bool,
    /// Whether to look ahead.
    pub search: SearchMode,
    /// The classifier chooses among the moves that are at most so many centipawns worse than the
    /// best.
    pub search_margin: u32,
    /// Value of a bit of the classifier's odds in a search, in centipawns, if there is no margin.
    pub search_odds: f64,
    /// Play as strongly as `elo` says.
    pub limit_strength: bool,
    /// The rating to be played at, if the strength is limited.
    pub elo: u32,
    /// Megabytes of the search's table.
    pub hash: usize,
    /// Number of processors that the interface allows; only one is used.
    pub threads: usize,
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
            book_file: String::new(),
            syzygy_path: String::new(),
            style_path: String::new(),
            resign_material: 0,
            resign_moves: 3,
            draw_after: 0,
            white_model: String::new(),
            black_model: String::new(),
            voice: String::new(),
            deterministic: false,
            search: SearchMode::Auto,
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

/// The kind of an option, with its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// On or off.
    Check(bool),
    /// A number in a range.
    Spin(i64, i64, i64),
    /// One of these words.
    Combo(&'static str, &'static [&'static str]),
    /// Free text.
    Text(String),
    /// A file's path.
    File(String),
    /// A folder's path.
    Path(String),
}

const RULES: &[&str] = &["basic", "captures", "tactical"];
const AUTOMATIC: &[&str] = &["auto", "on", "off"];
const ENCODINGS: &[&str] = &["auto", "half", "full", "shifted"];

/// The name and the value of an option that is written as `NAME=VALUE`.
///
/// # Errors
///
/// There is no `=`.
pub fn name_and_value(pair: &str) -> Result<(&str, &str)> {
    pair.split_once('=').with_context(|| format!("no NAME=VALUE: {pair}"))
}

/// The options' names, in the order they are announced.
pub const NAMES: &[&str] = &[
    "RandomPlay",
    "Temperature",
    "Seed",
    "Rule",
    "Encoding",
    "Voice",
    "WhiteModel",
    "BlackModel",
    "MateKeyword",
    "AvoidDraws",
    "Window",
    "MultiPV",
    "OwnBook",
    "BookFile",
    "SyzygyPath",
    "StylePath",
    "ResignMaterial",
    "ResignMoves",
    "DrawAfter",
    "Play",
    "UCI_LimitStrength",
    "UCI_Elo",
    "Hash",
    "Threads",
    "Ponder",
    "Move Overhead",
];

/// Names that are accepted but not announced: `Play` says the same in one word.
const OLD_NAMES: &[&str] = &["Search", "SearchMargin", "SearchOdds"];

const MANNERS: &[&str] = &["auto", "human", "strong"];

fn number<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// Ratings, and the temperatures at which draws by the odds have that strength (docs/lab/chess.md).
const RATINGS: [(f64, f64); 5] =
    [(620.0, 1.88), (1_040.0, 1.44), (1_440.0, 1.0), (1_800.0, 0.5), (1_850.0, 0.0)];

impl Settings {
    /// The temperature of draws that makes the engine as strong as it shall be, if its strength is
    /// limited.
    pub fn rated_temperature(&self) -> Option<f64> {
        let elo = f64::from(self.elo);
        let pair = RATINGS.windows(2).find(|pair| elo <= pair[1].0);
        let temperature = pair.map_or(0.0, |pair| {
            let share = (elo - pair[0].0) / (pair[1].0 - pair[0].0);
            pair[0].1 + share * (pair[1].1 - pair[0].1)
        });
        self.limit_strength.then_some(temperature)
    }

    /// The option's kind and value.
    pub fn get(&self, name: &str) -> Option<Value> {
        Some(match name {
            "RandomPlay" => Value::Check(self.random_play),
            "Temperature" => Value::Text(self.temperature.to_string()),
            "Seed" => Value::Spin(number(self.seed), 0, i64::from(i32::MAX)),
            "Rule" => Value::Combo(self.rule.as_str(), RULES),
            "Encoding" => Value::Combo(self.encoding.map_or("auto", Encoding::as_str), ENCODINGS),
            "Voice" => Value::Text(self.voice.clone()),
            "WhiteModel" => Value::Text(self.white_model.clone()),
            "BlackModel" => Value::Text(self.black_model.clone()),
            "MateKeyword" => Value::Check(self.mate_keyword),
            "AvoidDraws" => Value::Combo(
                self.avoid_draws.map_or("auto", |on| if on { "on" } else { "off" }),
                AUTOMATIC,
            ),
            "Window" => Value::Spin(number(self.window), 0, 1000),
            "MultiPV" => Value::Spin(number(self.multi_pv), 1, 250),
            "OwnBook" => Value::Check(self.own_book),
            "BookFile" => Value::File(self.book_file.clone()),
            "SyzygyPath" => Value::Path(self.syzygy_path.clone()),
            "StylePath" => Value::Path(self.style_path.clone()),
            "ResignMaterial" => Value::Spin(i64::from(self.resign_material), 0, 100),
            "ResignMoves" => Value::Spin(i64::from(self.resign_moves), 1, 100),
            "DrawAfter" => Value::Spin(i64::from(self.draw_after), 0, 100),
            "Play" => Value::Combo(self.search.manner(), MANNERS),
            "Search" => Value::Text(self.search.text()),
            "SearchMargin" => Value::Spin(i64::from(self.search_margin), 0, 1000),
            "SearchOdds" => Value::Text(self.search_odds.to_string()),
            "UCI_LimitStrength" => Value::Check(self.limit_strength),
            "UCI_Elo" => Value::Spin(i64::from(self.elo), 800, 2_000),
            "Hash" => Value::Spin(number(self.hash), 1, 65_536),
            "Threads" => Value::Spin(number(self.threads), 1, 1024),
            "Ponder" => Value::Check(self.ponder),
            "Move Overhead" => Value::Spin(i64::from(self.move_overhead), 0, 10_000),
            _ => return None,
        })
    }

    /// Sets an option; names are matched without regard to case and spaces, `value` as the
    /// protocols write it.
    ///
    /// # Errors
    ///
    /// The name is unknown, or the value is not of the option's kind; nothing is changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let bare = |name: &str| name.replace(' ', "").to_ascii_lowercase();
        let name = NAMES
            .iter()
            .chain(OLD_NAMES)
            .find(|n| bare(n) == bare(name))
            .context("unknown option")?;
        let kind = self.get(name).context("unknown option")?;
        let value = value.trim();
        let on = || match value.to_ascii_lowercase().as_str() {
            "1" | "true" | "on" => Ok(true),
            "0" | "false" | "off" => Ok(false),
            _ => bail!("neither on nor off: {value:?}"),
        };
        let spin = || -> Result<i64> {
            let Value::Spin(_, low, high) = kind else { bail!("no number") };
            let n: i64 = value.parse().with_context(|| format!("no number: {value:?}"))?;
            if n < low || n > high {
                bail!("not between {low} and {high}: {n}");
            }
            Ok(n)
        };
        let size = || -> Result<usize> { Ok(usize::try_from(spin()?)?) };
        let real = || -> Result<f64> {
            let x: f64 = value.parse().with_context(|| format!("no number: {value:?}"))?;
            if x.is_finite() && x >= 0.0 { Ok(x) } else { bail!("not a number from 0: {value:?}") }
        };
        let text = || match value {
            "<empty>" => String::new(),
            text => text.to_owned(),
        };
        match *name {
            "RandomPlay" => self.random_play = on()?,
            "Temperature" => self.temperature = real()?,
            "Seed" => self.seed = u64::try_from(spin()?)?,
            "Rule" => {
                self.rule = match value.to_ascii_lowercase().as_str() {
                    "basic" => Rule::Basic,
                    "captures" => Rule::Captures,
                    "tactical" => Rule::Tactical,
                    _ => bail!("no rule {value:?}"),
                }
            }
            "Encoding" => {
                self.encoding = match value.to_ascii_lowercase().as_str() {
                    "auto" => None,
                    "half" => Some(Encoding::Half),
                    "full" => Some(Encoding::Full),
                    "shifted" => Some(Encoding::Shifted),
                    _ => bail!("no encoding {value:?}"),
                }
            }
            "Voice" => self.voice = text(),
            "WhiteModel" => self.white_model = text(),
            "BlackModel" => self.black_model = text(),
            "MateKeyword" => self.mate_keyword = on()?,
            "AvoidDraws" if value.eq_ignore_ascii_case("auto") => self.avoid_draws = None,
            "AvoidDraws" => self.avoid_draws = Some(on()?),
            "Window" => self.window = size()?,
            "MultiPV" => self.multi_pv = size()?,
            "OwnBook" => self.own_book = on()?,
            "BookFile" => self.book_file = text(),
            "SyzygyPath" => self.syzygy_path = text(),
            "StylePath" => self.style_path = text(),
            "ResignMaterial" => self.resign_material = u32::try_from(spin()?)?,
            "ResignMoves" => self.resign_moves = u32::try_from(spin()?)?,
            "DrawAfter" => self.draw_after = u32::try_from(spin()?)?,
            "Play" => self.search = SearchMode::of_manner(value)?,
            "Search" => self.search = SearchMode::parse(value)?,
            "SearchMargin" => self.search_margin = u32::try_from(spin()?)?,
            "SearchOdds" => self.search_odds = real()?,
            "UCI_LimitStrength" => self.limit_strength = on()?,
            "UCI_Elo" => self.elo = u32::try_from(spin()?)?,
            "Hash" => self.hash = size()?,
            "Threads" => self.threads = size()?,
            "Ponder" => self.ponder = on()?,
            "Move Overhead" => self.move_overhead = u32::try_from(spin()?)?,
            _ => bail!("unknown option"),
        }
        Ok(())
    }
}

impl Value {
    /// As a `feature option` of the XBoard protocol, without the name.
    pub fn xboard(&self) -> String {
        match self {
            Self::Check(on) => format!("-check {}", u8::from(*on)),
            Self::Spin(value, low, high) => format!("-spin {value} {low} {high}"),
            Self::Combo(value, choices) => {
                let marked: Vec<String> = choices
                    .iter()
                    .map(|c| if c == value { format!("*{c}") } else { (*c).to_owned() })
                    .collect();
                format!("-combo {}", marked.join(" /// "))
            }
            Self::Text(text) => format!("-string {text}"),
            Self::File(text) => format!("-file {text}"),
            Self::Path(text) => format!("-path {text}"),
        }
    }

    /// As the rest of a UCI `option` line, without the name.
    pub fn uci(&self) -> String {
        match self {
            Self::Check(on) => format!("type check default {on}"),
            Self::Spin(value, low, high) => {
                format!("type spin default {value} min {low} max {high}")
            }
            Self::Combo(value, choices) => {
                let vars: Vec<String> = choices.iter().map(|c| format!(" var {c}")).collect();
                format!("type combo default {value}{}", vars.concat())
            }
            Self::Text(text) | Self::File(text) | Self::Path(text) => {
                format!("type string default {}", if text.is_empty() { "<empty>" } else { text })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_takes_its_own_value() {
        let mut settings = Settings::default();
        for name in NAMES {
            let value = settings.get(name).unwrap_or_else(|| panic!("{name}"));
            let text = match &value {
                Value::Check(on) => on.to_string(),
                Value::Spin(n, ..) => n.to_string(),
                Value::Combo(word, _) => (*word).to_owned(),
                Value::Text(t) | Value::File(t) | Value::Path(t) => t.clone(),
            };
            settings.set(&name.to_uppercase(), &text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(settings.get(name), Some(value));
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn a_lower_rating_has_a_higher_temperature() {
        let mut settings = Settings::default();
        assert_eq!(settings.rated_temperature(), None);
        settings.set("UCI_LimitStrength", "true").expect("an option");
        for (elo, temperature) in [("2000", 0.0), ("1800", 0.5), ("1440", 1.0), ("1240", 1.22)] {
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
            ("Foo", "1"),
        ];
        for (name, value) in rows {
            assert!(settings.set(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(settings, Settings::default());
    }
}
