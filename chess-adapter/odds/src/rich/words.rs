// SPDX-License-Identifier: GPL-3.0-or-later
//! The words of a move: exchanges, threats, squares, kings, pawns, pieces, the moves before.

use chess_search::board::{ahead, count, files_beside, pawn_attacks, steps};
use chess_search::cheapest;
use shakmaty::{Bitboard, Board, Chess, Color, Move, Piece, Position, Role, Square, attacks};

use super::board::{file_of, from_centre, openness, pinned, shield, wing};
use super::letters::{
    castling_letter, change, class, file_letter, letter, name, seen, upper, upto, yes,
};
use super::scene::Scene;
use crate::exchange::worth;
use crate::view::{Prospect, View, target};
use crate::words::Words;

/// Squares of the centre.
const CENTRE: u64 = 0x0000_0018_1800_0000;

impl Scene<'_> {
    /// Appends the words for one legal move.
    pub(crate) fn describe(&self, prospect: &Prospect, line: &mut Words) {
        let Prospect { m, after, view } = prospect;
        let m = *m;
        let us = self.us;
        let to = target(m);
        let from = m.from().unwrap_or(to);
        let taken = m.capture().map_or(0, worth);
        let promoted = m.promotion().map_or(0, |role| worth(role) - worth(Role::Pawn));
        let moved = Moved {
            scene: self,
            m,
            from,
            to,
            p: upper(m.role()),
            c: letter(m.capture()),
            net: taken + promoted - view.lost_at(to),
            after,
            view,
            seen_from: name(from, us),
            seen_to: name(to, us),
        };
        moved.exchanges(line);
        moved.threats(line);
        moved.squares(line);
        moved.reach(line);
        moved.kings(line);
        if m.role() == Role::Pawn {
            moved.pawn(line);
        } else {
            moved.piece(line);
        }
        moved.history(line);
    }
}

/// One move with everything its words are made from.
struct Moved<'a> {
    scene: &'a Scene<'a>,
    m: Move,
    from: Square,
    to: Square,
    p: u8,
    c: u8,
    /// Pawns won by the move and the exchange it begins.
    net: i32,
    after: &'a Chess,
    view: &'a View,
    seen_from: [u8; 2],
    seen_to: [u8; 2],
}

impl Moved<'_> {
    /// How this move answers the opponent's last one, as a letter.
    fn answer(&self) -> u8 {
        match self.scene.last {
            Some(last) if target(last) == self.to && last.is_capture() => b'r',
            Some(last) if target(last) == self.to => b'l',
            Some(last) if last.is_capture() => b'c',
            _ => b'-',
        }
    }

    fn exchanges(&self, line: &mut Words) {
        let Self { scene, p, c, .. } = *self;
        let (us, them) = (scene.us, scene.us.other());
        let net = class(self.net);
        let answer = self.answer();
        let board = self.after.board();
        let before = &scene.view;
        line.word(b"xa", [p, c, net]);
        line.word(b"xb", [p, c, net, answer]);
        line.word(b"xc", [c, net, scene.balance]);
        let ours = board.attacks_to(self.to, us, board.occupied());
        let theirs = board.attacks_to(self.to, them, board.occupied());
        line.word(b"xd", [p, upto(ours.count(), 3), upto(theirs.count(), 3), c]);
        let cheapest = cheapest(board, theirs).map(|(_, role)| role);
        line.word(b"xe", [p, letter(cheapest), yes(!ours.is_empty()), c]);
        let stood = before.lost_at(self.from);
        let stands = self.view.lost_at(self.to);
        line.word(b"xf", [p, class(stood), class(stands), c]);
        let most = before.most_lost;
        let now = self.view.most_lost;
        line.word(b"ha", [class(most), class(now), c]);
        line.word(b"hb", [class(most), class(now), net, yes(stood > 0 && stood == most)]);
        line.word(b"hc", [class(now), class(self.view.second_lost), net]);
        // What was taken less the dearest that can be lost.
        let balance = class(self.m.capture().map_or(0, worth) - now);
        line.word(b"hd", [balance, scene.phase]);
        line.word(b"he", [balance, answer, yes(self.after.is_check())]);
        let own = worth(self.m.role());
        let swap = match self.m.capture() {
            Some(role) if worth(role) == own => b'e',
            Some(role) if worth(role) > own => b'u',
            Some(_) => b'd',
            None => b'-',
        };
        if swap != b'-' {
            line.word(b"xs", [swap, scene.balance, net, scene.phase]);
        }
    }

    fn threats(&self, line: &mut Words) {
        let Self { scene, p, .. } = *self;
        let (us, them) = (scene.us, scene.us.other());
        let board = self.after.board();
        let before = &scene.view;
        let reach = self.view.reach(self.to);
        let reached = before.reach(self.from);
        let mut none = true;
        for square in reach & board.by_color(them) {
            let role = letter(board.role_at(square));
            let won = self.view.won_at(square);
            let was = reached.contains(square);
            line.word(b"ta", [p, role, class(won), yes(was)]);
            if won > 0 && !was {
                line.word(b"tn", [role, class(self.net.min(0)), class(self.view.most_lost)]);
            }
            none = false;
        }
        if none {
            line.word(b"tz", [p]);
        }
        line.word(b"tb", [class(before.most_won), class(self.view.most_won), p]);
        line.word(
            b"tc",
            [upto(before.times_won, 3), upto(self.view.times_won, 4), class(self.net)],
        );
        for square in reach & board.by_color(us) {
            let role = letter(board.role_at(square));
            let was = reached.contains(square);
            let lost = if square == self.to { 0 } else { before.lost_at(square) };
            if !was {
                line.word(b"da", [p, role, class(lost), class(self.view.lost_at(square))]);
            }
        }
        let mut left = reached & scene.before.board().by_color(us) & board.by_color(us) & !reach;
        left.discard(self.to);
        for square in left {
            let role = letter(board.role_at(square));
            let worse = self.view.lost_at(square) > before.lost_at(square);
            line.word(b"dl", [p, role, yes(self.view.their_attacks.contains(square)), yes(worse)]);
        }
        if self.after.is_check() {
            let checkers = self.after.checkers();
            let kind = if checkers.count() > 1 {
                b'2'
            } else if checkers.contains(self.to) {
                b'+'
            } else {
                b'd'
            };
            let replies = self.after.legal_moves().len();
            line.word(b"ck", [p, kind, class(self.net.min(0)), upto(replies, 4)]);
            line.word(b"cl", [kind, class(self.view.most_lost), upto(replies, 2), scene.phase]);
        } else {
            line.word(b"ck", [p, b'-']);
        }
        if scene.before.is_check() {
            let kind = if p == b'K' {
                b'k'
            } else if self.m.is_capture() {
                b'x'
            } else {
                b'b'
            };
            line.word(b"ic", [kind, p, class(self.net), class(self.view.most_lost)]);
        }
        // What stands behind the first piece on a line.
        if matches!(self.m.role(), Role::Bishop | Role::Rook | Role::Queen) {
            let first = reach & board.by_color(them);
            let piece = Piece { color: us, role: self.m.role() };
            let through = attacks::attacks(self.to, piece, board.occupied() & !first);
            for behind in through & !reach & board.by_color(them) {
                let between = attacks::between(self.to, behind) & first;
                let front = between.first().and_then(|s| board.role_at(s));
                line.word(b"xr", [p, letter(front), letter(board.role_at(behind))]);
            }
        }
        if !scene.pinned.is_empty() || !reached.is_empty() {
            let now = pinned(board, board.king_of(us).unwrap_or(self.to), us);
            let theirs = pinned(board, scene.their_king, them);
            let were = scene.theirs_pinned;
            let released = count(scene.pinned & !now);
            let caught = count(now & !scene.pinned);
            if released > 0 || caught > 0 {
                line.word(b"pi", [p, change(released, 2), change(caught, 2)]);
            }
            let (more, less) = (theirs & !were, were & !theirs);
            if !more.is_empty() || !less.is_empty() {
                let role = more.first().and_then(|s| board.role_at(s));
                line.word(b"pj", [p, letter(role), yes(!less.is_empty())]);
            }
        }
    }

    fn squares(&self, line: &mut Words) {
        let Self { scene, p, c, .. } = *self;
        let us = scene.us;
        let [f, r] = self.seen_to;
        let [g, s] = self.seen_from;
        line.word(b"sa", [scene.stage, p, f, r]);
        line.word(b"sb", [p, g, s, f, r]);
        line.word(b"sc", [scene.stage, p, g, s]);
        line.word(b"sd", [p, f, r, wing(scene.their_king), wing(scene.our_king)]);
        line.word(b"se", [p, f, r, c]);
        let (king, own) = (scene.their_king, scene.our_king);
        let apart = |a: Square, b: Square| {
            let [_, up] = from(b, a, us);
            [upto(a.file().distance(b.file()) as usize, 4), change(up, 4)]
        };
        let [x, y] = apart(self.to, king);
        line.word(b"sk", [p, scene.phase, x, y]);
        if p != b'K' {
            let [x, y] = apart(self.to, own);
            line.word(b"so", [p, scene.phase, x, y]);
            let nearer = steps(self.from, king) - steps(self.to, king);
            let homeward = steps(self.from, own) - steps(self.to, own);
            line.word(b"sg", [p, scene.phase, change(nearer, 3), change(homeward, 3)]);
        }
        if scene.plies < 30 {
            let colour = us.fold_wb(b'w', b'b');
            let time = upto(scene.plies / 4, 7);
            line.word(b"sm", [colour, time, p, g, s, f, r]);
        }
        let inward = from_centre(self.from) - from_centre(self.to);
        line.word(
            b"sz",
            [
                p,
                scene.stage,
                change(inward, 3),
                upto(usize::try_from(from_centre(self.to)).unwrap_or(0), 3),
            ],
        );
    }

    fn reach(&self, line: &mut Words) {
        let Self { scene, p, .. } = *self;
        let before = &scene.view;
        let board = self.after.board();
        let was = before.reach(self.from);
        let is = self.view.reach(self.to);
        line.word(b"ma", [p, scene.phase, change((count(is) - count(was)) / 2, 6)]);
        if p != b'P' {
            let free = |reach: Bitboard, board: &Board, pawns: Bitboard| {
                usize::try_from(count(reach & !board.by_color(scene.us) & !pawns)).unwrap_or(0)
            };
            let now = free(is, board, pawn_attacks(board, scene.us.other()));
            let then = free(was, scene.before.board(), scene.pawn_attacks);
            line.word(b"mb", [p, upto(then / 2, 6), upto(now / 2, 6)]);
        }
        line.word(b"mc", [p, change((self.view.our_reach - before.our_reach) / 2, 6)]);
        line.word(b"md", [p, change((self.view.their_reach - before.their_reach) / 2, 6)]);
        let control = count(self.view.our_attacks) - count(before.our_attacks);
        line.word(b"me", [scene.stage, change(control / 2, 5)]);
        let centre = count(is & Bitboard(CENTRE)) - count(was & Bitboard(CENTRE));
        line.word(b"mz", [p, scene.stage, change(centre, 4)]);
    }

    fn kings(&self, line: &mut Words) {
        let Self { scene, p, c, .. } = *self;
        let us = scene.us;
        let board = self.after.board();
        let zone = attacks::king_attacks(scene.their_king);
        let now = self.view.lookers(board, us, zone);
        line.word(b"ka", [p, upto(scene.press, 3), upto(now, 4), scene.phase]);
        let king = board.king_of(us).unwrap_or(self.to);
        let more = shield(board, king, us) - scene.shield;
        line.word(b"kb", [p, change(more, 3), scene.phase]);
        let danger = self.view.lookers(board, us.other(), attacks::king_attacks(king));
        line.word(b"kd", [p, upto(scene.danger, 3), upto(danger, 3)]);
        if p == b'K' {
            let queens = board.queens().count();
            let inward = from_centre(self.from) - from_centre(self.to);
            let closer = steps(self.from, scene.their_king) - steps(self.to, scene.their_king);
            let side = self.m.castling_side().map_or(b'-', castling_letter);
            line.word(b"kc", [scene.stage, upto(queens, 2), change(inward, 2), side, c]);
            line.word(b"kf", [scene.phase, change(closer, 2), c]);
            let pawns = board.pawns();
            let nearest =
                |from: Square| pawns.into_iter().map(|q| steps(q, from)).min().unwrap_or(0);
            line.word(
                b"kg",
                [
                    scene.phase,
                    change(nearest(self.from) - nearest(self.to), 2),
                    upto(usize::try_from(nearest(self.to)).unwrap_or(0), 3),
                ],
            );
        }
        let rights = |position: &Chess| {
            (position.castles().castling_rights()
                & Bitboard::from_rank(seen(Square::A1, us).rank()))
            .count()
        };
        let (had, has) = (rights(scene.before), rights(self.after));
        if had > 0 {
            let side = self.m.castling_side().map_or(b'-', castling_letter);
            line.word(b"kr", [p, upto(had, 2), upto(has, 2), side]);
            if side != b'-' {
                line.word(b"ks", [side, scene.stage, wing(scene.their_king)]);
            }
        }
    }

    fn pawn(&self, line: &mut Words) {
        let Self { scene, c, .. } = *self;
        let (us, them) = (scene.us, scene.us.other());
        let board = self.after.board();
        let [file, rank] = self.seen_to;
        let ours = board.pawns() & board.by_color(us);
        let theirs = board.pawns() & board.by_color(them);
        let front = ahead(self.to, us, false);
        let beside = ahead(self.to, us, true);
        let passed = ((front | beside) & theirs).is_empty();
        let opposed = !(front & theirs).is_empty();
        let neighbours = files_beside(self.to.file());
        let isolated = (neighbours & ours).is_empty();
        let doubled = (file_of(self.to) & ours).count() > 1;
        let supported = !(attacks::pawn_attacks(them, self.to) & ours).is_empty();
        let attacked = !(attacks::pawn_attacks(us, self.to) & theirs).is_empty();
        let phalanx = !(neighbours & Bitboard::from_rank(self.to.rank()) & ours).is_empty();
        line.word(b"pa", [file, rank, scene.stage, c]);
        line.word(b"pb", [yes(passed), yes(isolated), yes(doubled), yes(supported), yes(attacked)]);
        line.word(b"pc", [yes(opposed), yes(phalanx), yes(supported), rank, c]);
        if passed {
            let blocked = seen(self.to, us)
                .offset(8)
                .map(|s| seen(s, us))
                .is_some_and(|s| board.occupied().contains(s));
            let king = steps(self.to, scene.their_king) - steps(self.to, scene.our_king);
            line.word(b"pd", [rank, yes(blocked), class(self.net.min(0)), scene.phase]);
            line.word(b"pe", [rank, change(king, 3), scene.phase]);
        }
        let flank = |king: Square| upto(king.file().distance(self.to.file()) as usize, 3);
        line.word(b"pf", [rank, flank(scene.our_king), flank(scene.their_king), scene.phase]);
        if attacked || c != b'-' {
            line.word(b"pg", [file, rank, yes(supported), c]);
        }
        let double = self.from.rank().distance(self.to.rank()) == 2;
        line.word(b"ph", [file, yes(double), scene.stage]);
        line.word(b"pk", [letter(self.m.promotion()), class(self.net)]);
    }

    fn piece(&self, line: &mut Words) {
        let Self { scene, p, c, .. } = *self;
        let (us, them) = (scene.us, scene.us.other());
        let board = self.after.board();
        let ours = board.pawns() & board.by_color(us);
        let theirs = board.pawns() & board.by_color(them);
        let rank = self.seen_to[1];
        if matches!(self.m.role(), Role::Rook | Role::Queen) {
            let there = openness(board, self.to, us);
            let here = openness(scene.before.board(), self.from, us);
            line.word(b"fa", [p, here, there, scene.phase]);
            line.word(b"fb", [p, rank, there, c]);
            let mates = file_of(self.to) & board.rooks_and_queens() & board.by_color(us);
            line.word(b"fc", [p, upto(mates.count(), 3), there]);
            let runners = file_of(self.to) & board.pawns();
            let runner = runners.into_iter().any(|s| {
                let side = if ours.contains(s) { us } else { them };
                let enemies = if ours.contains(s) { theirs } else { ours };
                ((ahead(s, side, false) | ahead(s, side, true)) & enemies).is_empty()
            });
            line.word(b"fd", [p, yes(runner), scene.phase]);
        }
        if matches!(self.m.role(), Role::Knight | Role::Bishop) {
            let supported = !(attacks::pawn_attacks(them, self.to) & ours).is_empty();
            let chased = !(ahead(self.to, us, true) & theirs).is_empty();
            line.word(b"na", [p, rank, yes(supported), yes(chased)]);
        }
        // A pawn could attack it next move.
        let next = us.fold_wb(theirs.0 >> 8, theirs.0 << 8);
        let next = Bitboard(next) & !board.occupied();
        let pushed = next.intersects(attacks::pawn_attacks(us, self.to));
        line.word(
            b"nb",
            [p, yes(pushed), yes(scene.pawn_attacks.contains(self.from)), scene.phase],
        );
        // It stands before one of our own pawns.
        if let Some(behind) = seen(self.to, us).offset(-8).map(|s| seen(s, us))
            && ours.contains(behind)
        {
            line.word(b"nc", [p, file_letter(behind), rank, scene.stage]);
        }
        let home = self.seen_from[1] == b'1';
        line.word(b"od", [p, yes(home), upto(scene.undeveloped, 4), scene.stage]);
    }

    fn history(&self, line: &mut Words) {
        let Self { scene, p, c, .. } = *self;
        let us = scene.us;
        let [f, r] = self.seen_to;
        let [g, s] = self.seen_from;
        if let Some(last) = scene.last {
            let there = target(last);
            let q = upper(last.role());
            let [x, y] = name(there, us);
            let [file, up] = from(there, self.to, us);
            line.word(b"la", [q, p, change(file, 3), change(up, 3)]);
            line.word(b"lb", [q, x, y, p, f, r]);
            line.word(b"lc", [q, letter(last.capture()), p, c, class(self.net)]);
            let attacked = scene.last_attacks.contains(self.from);
            line.word(
                b"ld",
                [q, p, yes(attacked), class(scene.view.lost_at(self.from)), class(self.net)],
            );
            if last.from() == Some(self.to) {
                line.word(b"le", [p, q, class(self.net)]);
            }
            if !scene.last_attacks.is_empty() {
                let dearest = |squares: Bitboard, view: &View| {
                    squares.into_iter().map(|square| view.lost_at(square)).max().unwrap_or(0)
                };
                let most = dearest(scene.last_attacks, &scene.view);
                let still = scene.last_attacks & self.after.board().by_color(us);
                let now = dearest(still, self.view);
                line.word(b"lf", [class(most), class(now), yes(attacked), c]);
            }
        }
        if let Some(own) = scene.own_last {
            let there = target(own);
            let q = upper(own.role());
            let again = there == self.from;
            let back = again && own.from() == Some(self.to);
            let [x, y] = name(there, us);
            line.word(b"oa", [q, p, yes(again), yes(back), c, scene.phase]);
            line.word(b"ob", [q, x, y, p, g, s, f, r]);
        }
        if let (Some(last), Some(own)) = (scene.last, scene.own_last)
            && scene.plies < 40
        {
            let [x, y] = name(target(last), us);
            let [v, w] = name(target(own), us);
            let (a, b) = (upper(own.role()), upper(last.role()));
            line.word(b"oc", [a, v, w, b, x, y, p, f, r]);
        }
    }
}

/// Files and ranks from a square to another one, as this side sees them.
fn from(a: Square, b: Square, us: Color) -> [i32; 2] {
    let place = |square: Square| (seen(square, us).file() as i32, seen(square, us).rank() as i32);
    let ((x, y), (to_x, to_y)) = (place(a), place(b));
    [to_x - x, to_y - y]
}
