// SPDX-License-Identifier: GPL-3.0-or-later
//! An evaluation of 838 parameters, each of which may be perturbed, and parameters learned from
//! games.
//!
//! The parameters are the values of five pieces, that of a check, and thirteen tables of 64
//! squares: one for each piece of each colour, and one for kings in the end. A perturbed parameter
//! is 20 or 40 per cent more or less than its base. So a configuration is 838 levels, and its word
//! for the classifier is the parameter's number with the letter of the level.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chess_search::Evaluate;
use shakmaty::{Chess, Color, Position as _, Role, Square};

use crate::play::bayes::stage::{Outcome, Stage};
use crate::play::bayes::weights::{Weights, feature};
use crate::random::Random;

/// Number of parameters.
pub const COUNT: usize = 838;

/// The value of a parameter at each level, per cent of its base.
const PER_CENT: [i32; 5] = [60, 80, 100, 120, 140];

/// Their number.
const LEVELS: f64 = 5.0;

/// Words of a game: one a parameter.
const WORDS: f64 = 838.0;

/// Games played with the same drawn levels, one with each colour. They often end alike, so that
/// together they say hardly more than one.
const GAMES_OF_A_DRAW: f64 = 2.0;

/// The level that leaves a parameter as it is.
const UNCHANGED: u8 = 2;

/// Number of the parameter for giving check, behind the values of the pieces.
const CHECK: usize = 5;
/// Number of the first parameter of the tables.
const TABLES: usize = 6;
/// Squares of a table.
const SQUARES: usize = 64;
/// Where the table of kings in the end begins.
const END_KINGS: usize = TABLES + 2 * ROLES.len() * SQUARES;

const ROLES: [Role; 6] =
    [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];

/// Centipawns of pieces and of giving check.
const VALUES: [i32; TABLES] = [100, 300, 300, 500, 900, 30];

const fn role_index(role: Role) -> usize {
    role as usize - 1
}

fn table(color: Color, role: Role) -> usize {
    TABLES + (usize::from(color.is_black()) * ROLES.len() + role_index(role)) * SQUARES
}

/// Centipawns of a white piece on a square, before perturbation.
fn on_square(role: Role, is_end: bool, square: Square) -> i32 {
    let number = |n: u32| i32::try_from(n).unwrap_or(0);
    let (file, rank) = (number(square.file().to_u32()), number(square.rank().to_u32()));
    // Twice the distance from the board's middle lines.
    let (aside, beyond) = ((2 * file - 7).abs(), (2 * rank - 7).abs());
    let away = aside + beyond;
    match role {
        Role::Pawn => {
            let centre = if aside == 1 && (3..=4).contains(&rank) { 15 } else { 0 };
            [0, 0, 3, 8, 16, 30, 50, 0][usize::try_from(rank).unwrap_or(0)] + centre
        }
        Role::Knight => 25 - 5 * away,
        Role::Bishop => 15 - 2 * away,
        Role::Rook => 7 - aside + if rank == 6 { 15 } else { 0 },
        Role::Queen => 6 - away / 2,
        Role::King if is_end => 35 - 5 * away,
        Role::King => match (rank, aside) {
            (0, 5 | 7) => 25,
            (0, _) => 5,
            _ => -12 * rank,
        },
    }
}

/// The parameters before perturbation.
fn base() -> Vec<i32> {
    let mut all = vec![0; COUNT];
    all[..TABLES].copy_from_slice(&VALUES);
    for square in Square::ALL {
        for color in Color::ALL {
            let seen = color.fold_wb(square, square.flip_vertical());
            for role in ROLES {
                all[table(color, role) + usize::from(square)] = on_square(role, false, seen);
            }
        }
        all[END_KINGS + usize::from(square)] = on_square(Role::King, true, square);
    }
    all
}

/// A name of a parameter that people understand.
pub fn name(parameter: usize) -> String {
    let piece = |role: usize| ["pawn", "knight", "bishop", "rook", "queen", "king"][role];
    let square = |number: usize| Square::new(u32::try_from(number % SQUARES).unwrap_or(0));
    match parameter {
        0..CHECK => format!("{}'s value", piece(parameter)),
        CHECK => "check".to_owned(),
        END_KINGS.. => format!("king on {} in the end", square(parameter - END_KINGS)),
        _ => {
            let number = (parameter - TABLES) / SQUARES;
            let color = if number < ROLES.len() { "white" } else { "black" };
            let square = square(parameter - TABLES);
            format!("{color} {} on {square}", piece(number % ROLES.len()))
        }
    }
}

/// A level for each parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(Vec<u8>);

impl Default for Levels {
    fn default() -> Self {
        Self(vec![UNCHANGED; COUNT])
    }
}

impl Levels {
    /// Draws a level for each parameter; all levels are equally likely.
    pub fn drawn(random: &mut Random) -> Self {
        let draw = |_| u8::try_from(random.below(PER_CENT.len())).unwrap_or(UNCHANGED);
        Self((0..COUNT).map(draw).collect())
    }

    /// A letter from `a` (less by 40 per cent) to `e` for each parameter.
    pub fn text(&self) -> String {
        self.0.iter().map(|level| char::from(b'a' + level)).collect()
    }

    /// Reads what [`Self::text`] writes.
    ///
    /// # Errors
    ///
    /// The text is something else.
    pub fn parse(text: &str) -> Result<Self> {
        let level = |letter: u8| letter.checked_sub(b'a').filter(|level| *level < 5);
        let levels: Option<Vec<u8>> = text.bytes().map(level).collect();
        match levels {
            Some(levels) if levels.len() == COUNT => Ok(Self(levels)),
            _ => bail!("not {COUNT} levels from a to e"),
        }
    }

    /// The classifier's words, separated by spaces.
    pub fn words(&self) -> String {
        let words: Vec<String> = (0..COUNT).map(|at| word(at, self.0[at])).collect();
        words.join(" ")
    }

    /// The parameters' values, centipawns.
    pub fn values(&self) -> Vec<i32> {
        let perturbed = |(value, &level): (i32, &u8)| value * PER_CENT[usize::from(level)] / 100;
        base().into_iter().zip(&self.0).map(perturbed).collect()
    }

    /// The per cent of its base that a parameter has.
    pub fn per_cent(&self, parameter: usize) -> i32 {
        PER_CENT[usize::from(self.0[parameter])]
    }
}

fn word(parameter: usize, level: u8) -> String {
    format!("{parameter}{}", char::from(b'a' + level))
}

/// What parameters are chosen for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Goal {
    /// Those that are likeliest in games won.
    #[default]
    Win,
    /// Those that are least likely in games lost.
    NotLose,
}

impl Goal {
    /// The name in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::NotLose => "not-lose",
        }
    }
}

/// Learned parameters, by stage, for both goals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned([[Levels; 2]; 3]);

impl Learned {
    /// Chooses the levels that are likeliest in games won, and those that are least likely in games
    /// lost, from the categories in `folder`. Parameters are taken to be independent of each other
    /// given stage and outcome, so each is chosen alone. A stage without games keeps its
    /// parameters.
    ///
    /// A level other than the unchanged one has to be better than that by `caution` standard
    /// errors; with 0 the best level is taken, as BayesChess does.
    ///
    /// # Errors
    ///
    /// A category cannot be read, or there is none.
    pub fn open(folder: &Path, caution: f64) -> Result<Self> {
        let mut learned = Self(std::array::from_fn(|_| [Levels::default(), Levels::default()]));
        let mut is_any = false;
        for stage in Stage::ALL {
            for (goal, outcome, sign) in [(0, Outcome::Win, 1.0), (1, Outcome::Loss, -1.0)] {
                let weights = Weights::open(folder, stage, outcome)?;
                if !weights.is_some() {
                    continue;
                }
                is_any = true;
                // The standard error is that of the difference of two logarithms of shares, each of
                // a fifth of the draws of levels; a game has one word for each parameter.
                let games = f64::from(weights.occurrences().max(1)) / WORDS;
                let draws = games / GAMES_OF_A_DRAW / LEVELS;
                let lead = caution * (2.0 / draws).sqrt();
                for (at, level) in learned.0[stage as usize][goal].0.iter_mut().enumerate() {
                    let weight = |level| sign * weights.of(feature(&word(at, level)));
                    *level = likeliest(|level| {
                        weight(level) + if level == UNCHANGED { lead } else { 0.0 }
                    });
                }
            }
        }
        if is_any { Ok(learned) } else { bail!("no category in {}", folder.display()) }
    }

    /// The levels for a stage.
    pub const fn levels(&self, stage: Stage, goal: Goal) -> &Levels {
        let [win, not_lose] = &self.0[stage as usize];
        match goal {
            Goal::Win => win,
            Goal::NotLose => not_lose,
        }
    }
}

/// The level with the highest weight; of equals the one that changes least.
fn likeliest(weight: impl Fn(u8) -> f64) -> u8 {
    let mut best = (UNCHANGED, weight(UNCHANGED));
    for level in [1, 3, 0, 4] {
        let own = weight(level);
        if own > best.1 {
            best = (level, own);
        }
    }
    best.0
}

/// The evaluation with given parameters, for searches that begin in one stage.
pub struct Heuristic {
    /// By colour, role and square: the piece's value and its square's.
    worth: [[[i32; SQUARES]; ROLES.len()]; 2],
    check: i32,
}

impl Heuristic {
    /// The evaluation of a stage.
    pub fn new(levels: &Levels, stage: Stage) -> Self {
        let values = levels.values();
        let mut worth = [[[0; SQUARES]; ROLES.len()]; 2];
        for color in Color::ALL {
            for role in ROLES {
                let own = &mut worth[usize::from(color.is_black())][role_index(role)];
                for square in Square::ALL {
                    let is_end_king = role == Role::King && stage == Stage::End;
                    let at = match is_end_king {
                        // One table for both colours, as each sees the board.
                        true => {
                            let seen = color.fold_wb(square, square.flip_vertical());
                            END_KINGS + usize::from(seen)
                        }
                        false => table(color, role) + usize::from(square),
                    };
                    let piece = if role == Role::King { 0 } else { values[role_index(role)] };
                    own[usize::from(square)] = piece + values[at];
                }
            }
        }
        Self { worth, check: values[CHECK] }
    }
}

impl Evaluate for Heuristic {
    fn evaluate(&self, position: &Chess) -> i32 {
        let board = position.board();
        let mut sum = 0;
        for color in Color::ALL {
            let sign = color.fold_wb(1, -1);
            for role in ROLES {
                let worth = &self.worth[usize::from(color.is_black())][role_index(role)];
                let own = board.by_color(color) & board.by_role(role);
                sum += sign * own.into_iter().map(|square| worth[usize::from(square)]).sum::<i32>();
            }
        }
        let check = if position.is_check() { -self.check } else { 0 };
        position.turn().fold_wb(sum, -sum) + check
    }
}

/// The test position: White has a knight and two pawns more. `bayes show` prints its value.
pub const TEST_POSITION: &str = "r1bq1rk1/pp2bp1p/6p1/8/3N4/2NBP3/PPP2PPP/R2Q1RK1 w - - 0 12";

/// The value of a position for White.
///
/// # Errors
///
/// The text is no position.
pub fn value_for_white(heuristic: &dyn Evaluate, fen: &str) -> Result<i32> {
    let position = crate::text::game::read_fen(fen).context("the test position")?;
    let value = heuristic.evaluate(&position);
    Ok(position.turn().fold_wb(value, -value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_parameters_as_are_counted() {
        assert_eq!(END_KINGS + SQUARES, COUNT);
        assert_eq!(base().len(), COUNT);
        assert_eq!(name(0), "pawn's value");
        assert_eq!(name(5), "check");
        assert_eq!(name(table(Color::Black, Role::Knight) + 45), "black knight on f6");
        assert_eq!(name(COUNT - 1), "king on h8 in the end");
    }

    #[test]
    fn levels_are_written_and_read() {
        let drawn = Levels::drawn(&mut Random::from_seed(5));
        assert_eq!(Levels::parse(&drawn.text()).expect("levels"), drawn);
        assert_eq!(drawn.words().split(' ').count(), COUNT);
        assert!(Levels::parse(&drawn.text()[1..]).is_err());
        assert!(Levels::parse(&drawn.text().replace('a', "f")).is_err());
        assert_eq!(Levels::default().values(), base());
    }

    #[test]
    fn both_colours_are_worth_the_same() {
        let heuristic = Heuristic::new(&Levels::default(), Stage::Middle);
        assert_eq!(heuristic.evaluate(&Chess::default()), 0);
        let value = value_for_white(&heuristic, TEST_POSITION).expect("a position");
        assert!((450..=600).contains(&value), "{value}");
        let end = Heuristic::new(&Levels::default(), Stage::End);
        let mirrored = value_for_white(&end, "4k3/8/8/8/8/8/8/4K3 b - - 0 50").expect("a position");
        assert_eq!(mirrored, 0);
    }

    #[test]
    fn of_equal_levels_the_one_that_changes_least_is_taken() {
        assert_eq!(likeliest(|_| 1.0), UNCHANGED);
        assert_eq!(likeliest(|level| f64::from(u8::from(level != UNCHANGED))), 1);
        assert_eq!(likeliest(f64::from), 4);
    }
}
