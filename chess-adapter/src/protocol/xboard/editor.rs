// SPDX-License-Identifier: GPL-3.0-or-later
//! The editor of positions that interfaces use which do not know `setboard`.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, FromSetup, Piece, PositionError, Setup, Square,
};

/// A board that is being edited, and the colour of the pieces that are put on it.
#[derive(Clone, Debug)]
pub(super) struct Editor {
    board: Board,
    color: Color,
}

impl Editor {
    /// Begins with this board, and with white pieces.
    pub(super) const fn new(board: Board) -> Self {
        Self { board, color: Color::White }
    }

    /// Does what a line says. Returns the board once the editor is left.
    pub(super) fn line(&mut self, line: &str) -> Option<Board> {
        match line.as_bytes() {
            b"#" => self.board = Board::empty(),
            b"c" => self.color = self.color.other(),
            b"." => return Some(self.board.clone()),
            [piece, file, rank] => {
                if let Ok(square) = Square::from_ascii(&[*file, *rank]) {
                    self.put(*piece, square);
                }
            }
            _ => {}
        }
        None
    }

    /// Puts a piece on a square; `x` empties it.
    fn put(&mut self, piece: u8, square: Square) {
        if matches!(piece, b'x' | b'X') {
            self.board.discard_piece_at(square);
        } else if let Some(piece) = Piece::from_char(char::from(piece.to_ascii_uppercase())) {
            self.board.set_piece_at(square, Piece { color: self.color, ..piece });
        }
    }
}

/// The position with this board. Kings and rooks that stand on their first squares may castle.
/// `None` if no game can have this position.
pub(super) fn position_of(board: Board, turn: Color) -> Option<Chess> {
    let castling_rights = Bitboard::CORNERS;
    let setup = Setup { board, turn, castling_rights, ..Setup::empty() };
    Chess::from_setup(setup, CastlingMode::Standard)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}
