// SPDX-License-Identifier: GPL-3.0-or-later
//! Explanations of the words of descriptions, for pages that show them.

use shakmaty::{Color, Position as _, Square};

use crate::view::Prospect;

/// The kinds of rich words: the two letters that a word begins with, and what the rest of it says.
/// `n` or a digit stands for pawn units, capital letters for pieces, `-` for nothing.
pub(crate) const RICH: &[(&str, &str)] = &[
    ("xa", "piece, captured piece, pawns won by the captures that the move begins"),
    ("xb", "piece, captured piece, pawns won, whether the opponent has just moved to that square"),
    ("xc", "captured piece, pawns won, material balance"),
    ("xd", "piece, own guards and opposing attackers of the new square, captured piece"),
    ("xe", "piece, cheapest attacker of the new square, whether it is guarded, captured piece"),
    ("xf", "piece, what it stood to lose before the move and after it, captured piece"),
    ("xs", "exchange of equal, dearer or cheaper pieces, by material balance and stage"),
    ("ha", "most valuable own piece that hangs, before and after; captured piece"),
    ("hb", "most valuable own piece that hangs, whether it moved; pawns won"),
    ("hc", "the two most valuable own pieces that hang after the move, pawns won"),
    ("hd", "what was taken less what can be lost, by stage"),
    ("he", "what was taken less what can be lost, what the move answers, whether it checks"),
    ("ta", "piece, opposing piece that it attacks, what capturing that wins, known before"),
    ("tb", "the most that a capture could win before the move and after it, piece"),
    ("tc", "number of captures that win something before and after the move, pawns won"),
    ("tn", "opposing piece newly attacked and worth capturing, and what is at stake"),
    ("tz", "piece that attacks nothing from its new square"),
    ("da", "piece, own piece that it guards from now on, what that stood and stands to lose"),
    ("dl", "piece, own piece that it no longer guards, whether that is attacked or worse off"),
    ("ck", "piece, kind of check (+ direct, d discovered, 2 double, - none), loss, replies"),
    ("cl", "kind of check, what stands to be lost, number of replies, stage"),
    ("ic", "how a check is met (k king moves, x capture, b block), piece, pawns won"),
    ("xr", "piece, first opposing piece on its line, the piece behind that"),
    ("pi", "piece, own pieces released from pins and newly pinned"),
    ("pj", "piece, opposing piece newly pinned, whether a pin was given up"),
    ("sa", "stage, piece, new square as the mover sees it"),
    ("sb", "piece, old square, new square"),
    ("sc", "stage, piece, old square"),
    ("sd", "piece, new square, wings of the opposing and the own king"),
    ("se", "piece, new square, captured piece"),
    ("sk", "piece, stage, files and ranks from the opposing king"),
    ("so", "piece, stage, files and ranks from the own king"),
    ("sg", "piece, stage, steps nearer to the opposing and to the own king"),
    ("sm", "colour, time, piece, old square, new square"),
    ("sz", "piece, stage, steps towards the centre, distance from it"),
    ("ma", "piece, stage, change of the number of squares that it reaches"),
    ("mb", "piece, safe squares that it reached before and reaches after the move"),
    ("mc", "change of the number of squares that all own pieces reach"),
    ("md", "change of the number of squares that all opposing pieces reach"),
    ("me", "stage, change of the number of squares that the own side attacks"),
    ("mz", "piece, stage, change of the number of central squares that it reaches"),
    ("ka", "piece, own pieces that look at the opposing king before and after, stage"),
    ("kb", "piece, change of the number of pawns before the own king, stage"),
    ("kd", "piece, opposing pieces that look at the own king before and after"),
    ("kc", "king's move: stage, queens on the board, towards the centre, castling, capture"),
    ("kf", "king's move: stage, steps towards the other king, capture"),
    ("kg", "king's move: stage, steps towards the nearest pawn, distance from it"),
    ("kr", "piece, castling rights before and after the move, castling"),
    ("ks", "castling: side, stage, wing of the opposing king"),
    ("pa", "pawn's move: new square, stage, captured piece"),
    ("pb", "pawn: passed, isolated, doubled, supported, attacked by a pawn"),
    ("pc", "pawn: opposed, side by side with another, supported, rank, captured piece"),
    ("pd", "passed pawn: rank, blocked, what it stands to lose, stage"),
    ("pe", "passed pawn: rank, how much nearer the own king is than the other, stage"),
    ("pf", "pawn: rank, files from the own and from the opposing king, stage"),
    ("pg", "pawn that captures or meets another: square, supported, captured piece"),
    ("ph", "pawn: file, whether it goes two squares, stage"),
    ("pk", "pawn: promotion, pawns won"),
    ("fa", "rook or queen: how open its old and its new file is, stage"),
    ("fb", "rook or queen: rank, how open its new file is, captured piece"),
    ("fc", "rook or queen: rooks and queens on its new file, how open that is"),
    ("fd", "rook or queen: whether a passed pawn stands on its new file, stage"),
    ("na", "knight or bishop: rank, guarded by a pawn, can be chased by a pawn"),
    ("nb", "piece, whether a pawn can chase it next move or attacked it before, stage"),
    ("nc", "piece that stands before an own pawn: file, rank, stage"),
    ("od", "piece, whether it comes from home, pieces not yet developed, stage"),
    ("la", "opponent's last piece, piece, how far from where that went"),
    ("lb", "opponent's last piece and its square, piece and its new square"),
    ("lc", "opponent's last piece and what it took, piece and what it takes, pawns won"),
    ("ld", "opponent's last piece, piece, whether that attacked it and what was at stake"),
    ("le", "piece that goes where the opponent's last piece came from, that piece, pawns won"),
    ("lf", "what the opponent's last move threatened before and after ours, captured piece"),
    ("oa", "own last piece, piece, same piece again, back again, captured piece, stage"),
    ("ob", "own last piece and its square, piece, old square, new square"),
    ("oc", "own last piece and square, opponent's last piece and square, piece, new square"),
];

/// The kinds of the words that tell what came before a move and what stands around it: a capital
/// letter or a digit; the rest is a hash, which says nothing to people.
pub(crate) const CONTEXT: &[(&str, &str)] = &[
    ("A", "the move in this very position"),
    ("B", "the move with all pawns"),
    ("C", "the move with the own pawns"),
    ("D", "the move after the last two half-moves"),
    ("E", "the move after the last three half-moves"),
    ("F", "the move after the last four half-moves"),
    ("G", "the move at this half-move of the game"),
    ("H", "the piece, what it takes and the eight squares around it afterwards"),
    ("I", "the piece and the eight squares around it before"),
    ("J", "attackers and guards of the new square, by piece"),
    ("K", "attackers and guards of the old square, by piece"),
    ("L", "what the piece attacks afterwards, guarded or not"),
    ("M", "the move with the pawns of the files around its target"),
    ("N", "the piece on its new square, what it takes, and the pawns of the file"),
    ("O", "the piece and the first pieces that it sees from its new square"),
    ("P", "where another piece stands as seen from the new square"),
    ("Q", "where another piece stands as seen from the old square"),
    ("R", "whether the opponent can mate at once"),
    ("S", "how many checks the opponent can give"),
    ("T", "how often in a row the move could have been played and was not"),
    ("U", "how often in a row such a move could have been played and was not"),
    ("V", "whether the position occurred before"),
    ("W", "the move after the last half-move"),
    ("X", "material won by captures after this move, and the best that another keeps"),
    ("Y", "material won by captures after this move, against passing"),
    ("Z", "how much less captures win after this move than after the best; the gain"),
    ("1", "what the move threatens to win next, and what it keeps less than the best"),
    ("2", "what the move threatens to win next, what it wins, and what the best wins"),
];

/// The kind of a word, and what words of that kind say.
pub(crate) fn find(word: &str) -> Option<(&'static str, &'static str)> {
    RICH.iter().chain(CONTEXT).copied().find(|(kind, _)| word.starts_with(kind))
}

/// What stands to be lost after a move, and what it threatens, in plain words for the kinds of
/// words that tell of it: the kinds are shown as one.
pub(crate) fn plainly(kind: &'static str, prospect: &Prospect) -> Option<(&'static str, String)> {
    let Prospect { after, view, .. } = prospect;
    let (board, them) = (after.board(), after.turn());
    let dearest = |side: Color, value: &dyn Fn(Square) -> i32| {
        let man = board.by_color(side).into_iter().max_by_key(|&square| value(square))?;
        let role = format!("{:?}", board.role_at(man)?).to_lowercase();
        (value(man) > 0).then(|| format!("the {role} on {man}"))
    };
    match kind {
        "ha" | "hb" | "hc" | "hd" | "he" | "xf" => {
            let lost = dearest(them.other(), &|square| view.lost_at(square));
            let text = lost.map(|man| format!("the opponent could take {man}"));
            Some(("h", text.unwrap_or_else(|| "no man stands to be lost".to_owned())))
        }
        "ta" | "tb" | "tc" | "tn" => {
            let won = dearest(them, &|square| view.won_at(square));
            let text = won.map(|man| format!("it threatens to take {man}"));
            Some(("t", text.unwrap_or_else(|| "it threatens to take nothing".to_owned())))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_fen;
    use shakmaty::uci::UciMove;

    #[test]
    fn what_can_be_taken_is_said_plainly() {
        for (fen, m, lost, threat) in [
            (
                "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
                "f3e5",
                "the opponent could take the knight on e5",
                "it threatens to take nothing",
            ),
            (
                "4k3/8/8/3n4/8/8/8/R3K3 w - - 0 1",
                "a1d1",
                "no man stands to be lost",
                "it threatens to take the knight on d5",
            ),
        ] {
            let position = read_fen(fen).expect("a good FEN");
            let m: UciMove = m.parse().expect("a move");
            let prospect = Prospect::new(&position, m.to_move(&position).expect("legal"));
            let said =
                ["ha", "tn", "xa"].map(|kind| plainly(kind, &prospect).map(|(_, text)| text));
            assert_eq!(said, [Some(lost.to_owned()), Some(threat.to_owned()), None], "{fen}");
        }
    }
    use crate::testing::{described, games};

    #[test]
    fn every_word_is_explained() {
        let games = games(12, 100);
        let mut seen = std::collections::BTreeSet::new();
        for place in (0..12).flat_map(|number| games.of_game(number)) {
            let replayed = games.replay(place);
            for word in described(replayed.turn()).iter().flat_map(|(_, words)| words) {
                let kind = find(word).unwrap_or_else(|| panic!("{word} has no meaning"));
                seen.insert(kind.0);
            }
        }
        assert!(seen.len() > 65 + CONTEXT.len() - 1, "{seen:?}");
    }
}
