// SPDX-License-Identifier: GPL-3.0-or-later
//! Searches a position to a depth: principal variation search, and quiescence search at its leaves.

use std::time::{Duration, Instant};

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, MoveList, Position, Role};

use crate::checks::Checks;
use crate::exchange::{exchange_value, piece_value};
use crate::moves::{PackedMove, after_move};
use crate::ordering::{BAD, FIRST, KILLER, bring_best, capture_score};
use crate::request::{Ending, Request};
use crate::searcher::Searcher;
use crate::table::Bound;
use crate::terms::{FULL, pieces_left};
use crate::{MATE, MATE_SEEN, MAX_PLY};

/// A number greater than every value.
pub(crate) const INFINITE: i32 = MATE + 1;
/// The clock is read once in so many nodes.
const POLL: u64 = 512;

/// The value of a position that is won by the tables, in centipawns: more than any evaluation, less
/// than a mate that was seen.
const WON: i32 = 20_000;

/// The key under which repetitions are counted, as [`Request::history`] has it, and books are kept:
/// Polyglot's.
pub fn key_of(position: &Chess) -> u64 {
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).into()
}

/// The position after a move, and the parameters of its search.
#[derive(Clone, Copy)]
pub(crate) struct Child<'p> {
    pub position: &'p Chess,
    /// Its key.
    pub key: u64,
    /// Half-moves from the root.
    pub ply: usize,
    /// The move, if the best replies to it are to be looked up and recorded.
    pub last: Option<Move>,
    /// The bonus that is added to the move's value, in centipawns.
    pub bonus: i32,
}

/// A search that is under way.
pub(crate) struct Run<'a, 'b> {
    pub searcher: &'a mut Searcher,
    pub request: &'a Request<'b>,
    /// Keys of the positions up to the current one.
    pub keys: Vec<u64>,
    pub nodes: u64,
    pub selective: usize,
    pub stopped: bool,
    pub begun: Instant,
    pub was_pondering: bool,
    pub hard: Option<Duration>,
    /// The best line from each ply on.
    pub lines: Vec<Vec<Move>>,
}

impl Run<'_, '_> {
    fn poll(&mut self) {
        if !self.nodes.is_multiple_of(POLL) {
            return;
        }
        if (self.request.stop)() {
            self.stopped = true;
        }
        if self.was_pondering {
            if (self.request.pondering)() {
                return;
            }
            self.was_pondering = false;
            self.begun = Instant::now();
        }
        if self.hard.is_some_and(|hard| self.begun.elapsed() >= hard) {
            self.stopped = true;
        }
    }

    /// Counts a node. Returns its value, for the side to move, if nothing is to be searched there.
    fn enter_node(&mut self, position: &Chess, ply: usize, checked: bool) -> Option<i32> {
        self.lines[ply].clear();
        self.nodes += 1;
        self.selective = self.selective.max(ply);
        self.poll();
        if self.request.limits.nodes.is_some_and(|most| self.nodes >= most) {
            self.stopped = true;
        }
        if self.stopped {
            return Some(0);
        }
        if self.is_draw(position) {
            // Mate on the hundredth half-move is mate.
            let mated = position.halfmoves() >= 100 && checked && position.legal_moves().is_empty();
            return Some(if mated { mated_at(ply) } else { self.drawn(ply) });
        }
        (ply >= MAX_PLY - 2).then(|| self.evaluate(position, ply))
    }

    /// The value of a draw for the side to move.
    const fn drawn(&self, ply: usize) -> i32 {
        if ply.is_multiple_of(2) { -self.request.contempt } else { self.request.contempt }
    }

    /// What a position is worth without looking ahead.
    fn evaluate(&self, position: &Chess, ply: usize) -> i32 {
        let value = self.searcher.evaluation.evaluate(position);
        if self.request.contempt == 0 {
            return value;
        }
        value - self.drawn(ply) * pieces_left(position.board()) / FULL
    }

    /// The position after a move, and its key, which counts as occurred until it is popped.
    pub(crate) fn enter(&mut self, position: &Chess, key: u64, m: Move) -> (Chess, u64) {
        let after = after_move(position, m);
        let known = position.update_zobrist_hash(Zobrist64::from(key), m, EnPassantMode::Legal);
        let key = known.map_or_else(|| key_of(&after), u64::from);
        self.keys.push(key);
        (after, key)
    }

    /// The value of the move that leads to `child`, for the side that makes it, with the bonus on
    /// it. It is exact between `low` and `high`.
    pub(crate) fn value_after(
        &mut self,
        child: &Child<'_>,
        depth: i32,
        low: i32,
        high: i32,
    ) -> i32 {
        let low = without_bonus(low, child.bonus);
        let high = without_bonus(high, child.bonus).max(low + 1);
        with_bonus(-self.node(child, depth, -high, -low, true), child.bonus)
    }

    fn is_draw(&self, position: &Chess) -> bool {
        if position.halfmoves() >= 100 || position.is_insufficient_material() {
            return true;
        }
        let key = self.keys.last();
        let reach = usize::try_from(position.halfmoves()).unwrap_or(0);
        self.keys.iter().rev().take(reach + 1).skip(2).step_by(2).any(|k| Some(k) == key)
    }

    /// The value of a position for the side to move, within the window.
    fn node(
        &mut self,
        child: &Child<'_>,
        depth: i32,
        mut alpha: i32,
        mut beta: i32,
        may_pass: bool,
    ) -> i32 {
        let &Child { position, key, ply, .. } = child;
        let is_pv = beta - alpha > 1;
        let checked = position.is_check();
        let mut depth = if checked { depth + 1 } else { depth };
        if depth <= 0 {
            return self.quiet(child, alpha, beta, 0);
        }
        if let Some(value) = self.enter_node(position, ply, checked) {
            return value;
        }
        // No value is better than mate at the next move, or worse than being mated now.
        alpha = alpha.max(mated_at(ply));
        beta = beta.min(-mated_at(ply + 1));
        if alpha >= beta {
            return alpha;
        }
        if let Some(value) = self.endgame(position, ply) {
            return value;
        }
        let known = self.searcher.table.get(key);
        let best_known = known.map_or(PackedMove::default(), |e| e.best);
        if let Some(entry) = known
            && !is_pv
            && i32::from(entry.depth) >= depth
        {
            let value = entry.value(ply);
            if entry.decides(value, alpha, beta) && position.halfmoves() < 90 {
                return value;
            }
        }
        // If no good first move is known, the depth is reduced, which costs less and finds one.
        if depth >= 4 && best_known == PackedMove::default() {
            depth -= 1;
        }
        let mut estimate = if checked { -INFINITE } else { self.evaluate(position, ply) };
        if let Some(entry) = known
            && !checked
        {
            let value = entry.value(ply);
            if entry.decides(value, estimate - 1, estimate + 1) && value.abs() < MATE_SEEN {
                estimate = value;
            }
        }
        let side = position.turn();
        if !is_pv && !checked && beta.abs() < MATE_SEEN {
            // The evaluation is so far above the window that a quiet move is assumed to keep it
            // there.
            if depth <= 6 && estimate - 75 * depth >= beta {
                return estimate;
            }
            // The evaluation is so far below the window that only captures could raise it enough.
            if depth <= 2 && estimate + 220 * depth < alpha {
                let value = self.quiet(child, alpha, beta, 0);
                if value <= alpha {
                    return value;
                }
            }
            // Null move: if the value stays above the window even after passing, a move is assumed
            // to do so, too.
            let pieces = position.us() & !position.board().pawns() & !position.board().kings();
            if may_pass
                && depth >= 3
                && estimate >= beta
                && !pieces.is_empty()
                && let Ok(after) = position.clone().swap_turn()
            {
                let less = 3 + depth / 4 + ((estimate - beta) / 200).min(2);
                let key = key_of(&after);
                self.keys.push(key);
                let passed = Child { position: &after, key, ply: ply + 1, last: None, bonus: 0 };
                let value = -self.node(&passed, depth - less, -beta, -beta + 1, false);
                self.keys.pop();
                if self.stopped {
                    return 0;
                }
                if value >= beta {
                    return if value > MATE_SEEN { beta } else { value };
                }
            }
        }
        let mut moves = position.legal_moves();
        if moves.is_empty() {
            return if checked { mated_at(ply) } else { self.drawn(ply) };
        }
        let mut scores = self.scores(child, &moves, best_known);
        let old_alpha = alpha;
        let mut best = -INFINITE;
        let mut best_move = PackedMove::default();
        let mut quiets: Vec<Move> = Vec::new();
        // Near the leaves moves may be left out, but for checks.
        let checks = (depth <= 4 && !is_pv && !checked).then(|| Checks::new(position));
        for number in 0..moves.len() {
            bring_best(&mut moves, &mut scores, number);
            let m = moves[number];
            let quiet = !m.is_capture() && m.promotion().is_none();
            let score = scores[number];
            if let Some(checks) = &checks
                && best > -MATE_SEEN
                && number > 0
            {
                // Quiet moves that come late, or that cannot reach the window, and captures that
                // lose material.
                let late = usize::try_from(4 + depth * depth * 2).unwrap_or(0);
                let hopeless = match quiet {
                    true => number >= late || (estimate + 90 * depth + 60 <= alpha && depth <= 3),
                    false => score < BAD && depth <= 3,
                };
                if hopeless && !checks.gives(m) {
                    continue;
                }
            }
            let bonus = self.request.advised(key, m);
            let (after, key) = self.enter(position, key, m);
            let gives_check = after.is_check();
            let next = Child { position: &after, key, ply: ply + 1, last: Some(m), bonus };
            let mut value;
            if number == 0 {
                value = self.value_after(&next, depth - 1, alpha, beta);
            } else {
                let mut less = 0;
                if depth >= 3 && number >= 3 && !checked {
                    let d = usize::try_from(depth).unwrap_or(0).min(63);
                    less = self.searcher.reductions[d][number.min(63)];
                    if quiet {
                        less -= self.searcher.order.history(side, m) / 4_000;
                        less -= i32::from(score >= KILLER);
                    } else {
                        less -= if score < BAD { 1 } else { 3 };
                    }
                    less -= i32::from(is_pv) + i32::from(gives_check);
                    less = less.clamp(0, depth - 2);
                }
                value = self.value_after(&next, depth - 1 - less, alpha, alpha + 1);
                if value > alpha && less > 0 {
                    value = self.value_after(&next, depth - 1, alpha, alpha + 1);
                }
                if value > alpha && value < beta && is_pv {
                    value = self.value_after(&next, depth - 1, alpha, beta);
                }
            }
            self.keys.pop();
            if self.stopped {
                return 0;
            }
            if value > best {
                best = value;
                if value > alpha {
                    alpha = value;
                    best_move = m.into();
                    if is_pv {
                        self.keep_line(ply, m);
                    }
                }
            }
            if alpha >= beta {
                if quiet {
                    self.learn(child, m, &quiets, depth);
                }
                break;
            }
            if quiet {
                quiets.push(m);
            }
        }
        self.searcher.table.put(key, best_move, best, depth, bound(best, old_alpha, beta), ply);
        best
    }

    fn keep_line(&mut self, ply: usize, m: Move) {
        let (here, below) = self.lines.split_at_mut(ply + 1);
        let line = &mut here[ply];
        line.clear();
        line.push(m);
        line.extend_from_slice(&below[0]);
    }

    fn endgame(&self, position: &Chess, ply: usize) -> Option<i32> {
        let later = i32::try_from(ply).unwrap_or(0);
        Some(match (self.request.endgames)(position)? {
            Ending::Draw => self.drawn(ply),
            Ending::Won => WON - later,
            Ending::Lost => later - WON,
            Ending::Mates(plies) => -mated_at(ply + usize::from(plies)),
            Ending::IsMated(plies) => mated_at(ply + usize::from(plies)),
        })
    }

    fn learn(&mut self, child: &Child<'_>, m: Move, quiets: &[Move], depth: i32) {
        let order = &mut self.searcher.order;
        let (packed, side) = (PackedMove::from(m), child.position.turn());
        let killers = &mut order.killers[child.ply];
        if killers[0] != packed {
            *killers = [packed, killers[0]];
        }
        if let Some(last) = child.last {
            order.answers[last.role() as usize - 1][usize::from(last.to())] = packed;
        }
        let bonus = (depth * depth * 16).min(1_600);
        order.learn(side, m, bonus);
        for &other in quiets {
            order.learn(side, other, -bonus);
        }
    }

    /// A score for each move, by which they are ordered.
    fn scores(&self, child: &Child<'_>, moves: &MoveList, best: PackedMove) -> [i32; 256] {
        let &Child { position, ply, last, .. } = child;
        let order = &self.searcher.order;
        let answer = last.map_or(PackedMove::default(), |m| {
            order.answers[m.role() as usize - 1][usize::from(m.to())]
        });
        scored(position, moves, best, |m| {
            let packed = PackedMove::from(m);
            if packed == order.killers[ply][0] {
                KILLER + 2
            } else if packed == order.killers[ply][1] {
                KILLER + 1
            } else if packed == answer {
                KILLER
            } else {
                order.history(position.turn(), m)
            }
        })
    }

    /// Looks at captures, promotions and, at first, checks until the position is quiet.
    fn quiet(&mut self, child: &Child<'_>, mut alpha: i32, beta: i32, level: usize) -> i32 {
        let &Child { position, key, ply, .. } = child;
        let checked = position.is_check();
        if let Some(value) = self.enter_node(position, ply, checked) {
            return value;
        }
        if let Some(value) = self.endgame(position, ply) {
            return value;
        }
        let known = self.searcher.table.get(key);
        if let Some(entry) = known
            && beta - alpha == 1
        {
            let value = entry.value(ply);
            if entry.decides(value, alpha, beta) {
                return value;
            }
        }
        let mut best = -INFINITE;
        let mut estimate = -INFINITE;
        if !checked {
            estimate = self.evaluate(position, ply);
            best = estimate;
            if best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }
        let mut moves = position.legal_moves();
        if moves.is_empty() {
            return if checked { mated_at(ply) } else { self.drawn(ply) };
        }
        if !checked {
            let checks = (level == 0).then(|| Checks::new(position));
            moves.retain(|m| {
                m.is_capture()
                    || m.promotion() == Some(Role::Queen)
                    || checks.as_ref().is_some_and(|c| c.gives(*m))
            });
        }
        let best_known = known.map_or(PackedMove::default(), |e| e.best);
        let history = |m| self.searcher.order.history(position.turn(), m);
        let mut scores = scored(position, &moves, best_known, history);
        let old_alpha = alpha;
        let mut best_move = PackedMove::default();
        for number in 0..moves.len() {
            bring_best(&mut moves, &mut scores, number);
            let m = moves[number];
            if !checked && best > -MATE_SEEN {
                let won = m.capture().map_or(0, piece_value)
                    + m.promotion().map_or(0, |role| piece_value(role) - 100);
                // The window is not reached even if the piece is captured for nothing.
                if m.is_capture() && estimate + won + 180 <= alpha {
                    best = best.max(estimate + won + 180);
                    continue;
                }
                if scores[number] < BAD || (!m.is_capture() && exchange_value(position, m) < 0) {
                    continue;
                }
            }
            let (after, key) = self.enter(position, key, m);
            let next = Child { position: &after, key, ply: ply + 1, last: Some(m), bonus: 0 };
            let value = -self.quiet(&next, -beta, -alpha, level + 1);
            self.keys.pop();
            if self.stopped {
                return 0;
            }
            if value > best {
                best = value;
                if value > alpha {
                    alpha = value;
                    best_move = m.into();
                    if beta - old_alpha > 1 {
                        self.keep_line(ply, m);
                    }
                    if alpha >= beta {
                        break;
                    }
                }
            }
        }
        self.searcher.table.put(key, best_move, best, 0, bound(best, old_alpha, beta), ply);
        best
    }
}

/// A score for each move, by which they are ordered; `quiet` scores quiet moves.
fn scored(
    position: &Chess,
    moves: &MoveList,
    best: PackedMove,
    quiet: impl Fn(Move) -> i32,
) -> [i32; 256] {
    let mut scores = [0; 256];
    for (score, &m) in scores.iter_mut().zip(moves) {
        *score = if PackedMove::from(m) == best {
            FIRST
        } else if m.is_capture() || m.promotion().is_some() {
            capture_score(position, m)
        } else {
            quiet(m)
        };
    }
    scores
}

/// How a value relates to the true one after a search within a window.
const fn bound(value: i32, alpha: i32, beta: i32) -> Bound {
    if value >= beta {
        Bound::Lower
    } else if value > alpha {
        Bound::Exact
    } else {
        Bound::Upper
    }
}

/// A value with the bonus on its move. A mate stays what it is: the quickest one is best, whatever
/// the bonus.
pub(crate) const fn with_bonus(value: i32, bonus: i32) -> i32 {
    if value.abs() > MATE_SEEN { value } else { value + bonus }
}

/// The reverse, for the bounds of a window. Values other than mates stay within the bounds of
/// mates, so that no bound of a window lies beyond the mates that are possible there.
const fn without_bonus(value: i32, bonus: i32) -> i32 {
    match value - bonus {
        _ if value.abs() > MATE_SEEN => value,
        bare if bare > MATE_SEEN => MATE_SEEN,
        bare if bare < -MATE_SEEN => -MATE_SEEN,
        bare => bare,
    }
}

fn mated_at(ply: usize) -> i32 {
    -MATE + i32::try_from(ply).unwrap_or(0)
}
