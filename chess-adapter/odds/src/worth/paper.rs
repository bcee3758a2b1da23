// SPDX-License-Identifier: GPL-3.0-or-later
//! The heuristics of `BayesChess` (Fernández and Salmerón 2008): 838 parameters for each of three
//! stages of a game: values of five pieces, a check, twelve pieces on 64 squares, and the king in
//! the ending.

use chess_search::{Evaluate, pieces_left};
use dbacl_numeric::random::SplitMix64;
use shakmaty::{Board, Chess, Color, Position as _, Role, Square};

use super::Values;
use super::fit::Term;

/// Parameters of a stage.
pub const PARAMETERS: usize = 838;
/// The stages.
pub const STAGES: [&str; 3] = ["opening", "middle", "end"];
/// What a perturbed parameter is multiplied by.
pub const FACTORS: [f32; 5] = [0.6, 0.8, 1.0, 1.2, 1.4];

const CHECK: u16 = 5;
/// The first parameter of pieces on squares; those before are worth more.
pub const SQUARES: usize = 6;
const KING_AT_END: usize = 774;
/// What 0 is perturbed as.
const INSTEAD_OF_ZERO: f32 = 15.0;

/// Values of all parameters, by stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Heuristic {
    /// By stage and parameter, centipawns.
    pub stages: [Vec<f32>; 3],
    /// Whether the middle game passes into the ending little by little, as pieces are exchanged.
    pub is_soft: bool,
}

/// The number of a piece on a square, as White sees it or as the paper counts.
const fn on_square(color: Color, role: Role, square: Square) -> usize {
    SQUARES + 384 * (color.is_black() as usize) + 64 * (role as usize - 1) + square.to_usize()
}

const fn at_end(color: Color, square: Square) -> usize {
    let seen = if color.is_white() { square } else { square.flip_vertical() };
    KING_AT_END + seen.to_usize()
}

/// What a white piece is worth on a square beside its value, centipawns; no role: the king in the
/// ending.
fn bonus(role: Option<Role>, square: Square) -> i8 {
    let (file, rank) = (square.file() as usize, square.rank() as usize);
    // Rings around the middle: 0 at the edge, 3 in the middle.
    let ring = file.min(rank).min(7 - file).min(7 - rank);
    match role {
        Some(Role::Pawn) => {
            let is_central = (3..=4).contains(&file) && (2..=3).contains(&rank);
            [0, 0, 0, 2, 5, 8, 15, 0][rank] + if is_central { 10 } else { 0 }
        }
        Some(Role::Knight) if rank == 0 && (file == 1 || file == 6) => -30,
        Some(Role::Knight) => [-10, 0, 5, 10][ring],
        Some(Role::Bishop) => [-5, 0, 5, 5][ring],
        Some(Role::Rook) => [0, 0, 0, 0, 0, 0, 10, 0][rank],
        Some(Role::Queen) => [-5, 0, 2, 2][ring],
        Some(Role::King) if rank == 0 => [15, 15, 15, 0, 0, 0, 15, 15][file],
        Some(Role::King) => [0, -10, -20, -30, -40, -40, -40, -40][rank],
        None => [-15, 0, 8, 15][ring],
    }
}

impl Default for Heuristic {
    /// The base of the paper, the same in all stages.
    fn default() -> Self {
        let mut stage = vec![0.0; PARAMETERS];
        stage[..SQUARES].copy_from_slice(&[100.0, 300.0, 300.0, 500.0, 900.0, 30.0]);
        for square in Square::ALL {
            for color in Color::ALL {
                let seen = color.fold_wb(square, square.flip_vertical());
                for role in Role::ALL {
                    stage[on_square(color, role, square)] = bonus(Some(role), seen).into();
                }
            }
            stage[at_end(Color::White, square)] = bonus(None, square).into();
        }
        Self { stages: std::array::from_fn(|_| stage.clone()), is_soft: false }
    }
}

/// The stage of a game: the ending has no queens or fewer than ten men, the opening ten moves.
fn stage_of(position: &Chess) -> usize {
    let board = position.board();
    if board.queens().is_empty() || board.occupied().count() < 10 {
        2
    } else {
        usize::from(position.fullmoves().get() > 10)
    }
}

/// The share of the middle game, by the pieces left.
pub fn share_of(board: &Board) -> f32 {
    f32::from(i16::try_from(pieces_left(board)).unwrap_or(0)) / 24.0
}

/// The terms of a position, White's positive. A number is that of the middle game, and of the
/// ending. Men of Black count as White's on the mirrored square if the colours are the same.
pub(crate) fn terms(position: &Chess, are_same: bool, mut add: impl FnMut(Term)) {
    let board = position.board();
    for color in Color::ALL {
        let times = color.fold_wb(1.0, -1.0);
        let named = if are_same { Color::White } else { color };
        for square in board.by_color(color) {
            let role = board.role_at(square).expect("a man stands there");
            let seen = if named == color { square } else { square.flip_vertical() };
            let number = |n: usize| u16::try_from(n).unwrap_or(0);
            let middle = number(on_square(named, role, seen));
            let end = if role == Role::King { number(at_end(color, square)) } else { middle };
            add(Term { middle, end, times });
            if role != Role::King {
                let value = number(role as usize - 1);
                add(Term { middle: value, end: value, times });
            }
        }
    }
    if position.is_check() {
        let times = position.turn().fold_wb(-1.0, 1.0);
        add(Term { middle: CHECK, end: CHECK, times });
    }
}

impl Evaluate for Heuristic {
    fn evaluate(&self, position: &Chess) -> i32 {
        let (stage, share) = match self.is_soft {
            true => (1, share_of(position.board())),
            false => (stage_of(position), 1.0),
        };
        let [.., end_values] = &self.stages;
        let (mut middle, mut end) = (0.0, 0.0);
        terms(position, false, |term| {
            let number = if stage == 2 { term.end } else { term.middle };
            middle += term.times * self.stages[stage][usize::from(number)];
            end += term.times * end_values[usize::from(term.end)];
        });
        #[expect(clippy::cast_possible_truncation, reason = "some thousands")]
        let value = (share * middle + (1.0 - share) * end) as i32;
        position.turn().fold_wb(value, -value)
    }
}

/// What is chosen for each parameter of each stage, as a place in [`FACTORS`].
pub type Levels = [Vec<u8>; 3];

impl Heuristic {
    /// A parameter at a level.
    pub fn at(&self, stage: usize, parameter: usize, level: usize) -> f32 {
        match self.stages[stage][parameter] {
            0.0 => INSTEAD_OF_ZERO * (FACTORS[level] - 1.0),
            value => value * FACTORS[level],
        }
    }

    /// All parameters at these levels.
    #[must_use]
    pub fn with(&self, levels: &Levels) -> Self {
        let stage = |stage: usize| {
            let own = levels[stage].iter().enumerate();
            own.map(|(parameter, &level)| self.at(stage, parameter, level.into())).collect()
        };
        Self { stages: std::array::from_fn(stage), ..*self }
    }

    /// Levels drawn at random.
    pub fn drawn(random: &mut SplitMix64) -> Levels {
        let mut level = || u8::try_from(random.below(FACTORS.len())).unwrap_or(0);
        std::array::from_fn(|_| (0..PARAMETERS).map(|_| level()).collect())
    }

    /// The values of the middle game and of the ending, for a fit.
    pub fn values(&self) -> Values {
        (0..PARAMETERS).map(|number| [self.stages[1][number], self.stages[2][number]]).collect()
    }

    /// A heuristic of fitted values, which are those of White's men.
    pub fn of_values(values: &[[f32; 2]]) -> Self {
        let stage = |part: usize| {
            let mut stage: Vec<f32> = values.iter().map(|value| value[part]).collect();
            for role in Role::ALL {
                for square in Square::ALL {
                    let own = stage[on_square(Color::White, role, square.flip_vertical())];
                    stage[on_square(Color::Black, role, square)] = own;
                }
            }
            stage
        };
        Self { stages: [stage(0), stage(0), stage(1)], is_soft: true }
    }
}

/// The name of a parameter: `pawn`, `check`, `wNf3`, or `Kf3` for the king in the ending.
pub fn name(parameter: usize) -> String {
    const VALUES: [&str; SQUARES] = ["pawn", "knight", "bishop", "rook", "queen", "check"];
    if let Some(name) = VALUES.get(parameter) {
        return (*name).to_owned();
    }
    let square = Square::ALL[(parameter - SQUARES) % 64];
    let piece = (parameter - SQUARES) / 64;
    match Role::ALL.get(piece % 6) {
        Some(role) if piece < 12 => {
            format!("{}{}{square}", if piece < 6 { 'w' } else { 'b' }, role.upper_char())
        }
        _ => format!("K{square}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_games::game::read_fen;
    use std::collections::BTreeSet;

    #[test]
    fn the_base_counts_men_and_squares() {
        for (fen, value) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0),
            // A knight and two pawns more, and their squares.
            ("r4rk1/pp3ppp/2n2q2/8/2P5/2N2N2/PP2QPPP/R4RK1 w - - 0 20", 405),
            ("r4rk1/pp2qppp/2n2n2/2p5/8/2N2Q2/PP3PPP/R4RK1 b - - 0 20", 405),
            // In the ending the king belongs in the middle.
            ("8/8/8/3k4/8/8/8/K7 w - - 0 1", -30),
        ] {
            let position = read_fen(fen).expect("a good FEN");
            assert_eq!(Heuristic::default().evaluate(&position), value, "{fen}");
        }
    }

    #[test]
    fn names_are_those_of_the_parameters() {
        let names: BTreeSet<String> = (0..PARAMETERS).map(name).collect();
        assert_eq!(names.len(), PARAMETERS);
        for (number, wanted) in [(0, "pawn"), (5, "check"), (6, "wPa1"), (837, "Kh8")] {
            assert_eq!(name(number), wanted);
        }
        let square = on_square(Color::Black, Role::Knight, Square::F6);
        assert_eq!(name(square), "bNf6");
    }

    #[test]
    fn perturbed_values_are_those_of_their_levels() {
        let base = Heuristic::default();
        let mut levels = Heuristic::drawn(&mut SplitMix64::new(3));
        levels[1][0] = 4;
        levels[1][6] = 0;
        let changed = base.with(&levels);
        assert_eq!(changed.stages[1][0], 140.0);
        assert!((changed.stages[1][6] + 6.0).abs() < 1e-3);
        let unchanged: Levels = std::array::from_fn(|_| vec![2; PARAMETERS]);
        assert_eq!(base.with(&unchanged), base);
    }
}
