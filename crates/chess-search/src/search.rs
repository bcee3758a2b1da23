// SPDX-License-Identifier: GPL-3.0-or-later
//! Searches game trees by iterative deepening, principal variation search and quiescence search.

use std::time::{Duration, Instant};

use shakmaty::zobrist::Zobrist64;
use shakmaty::{
    Bitboard, Chess, Color, EnPassantMode, Move, MoveList, Position, Role, Square, attacks,
};

use crate::exchange::{exchange_value, piece_value};
use crate::limits::Limits;
use crate::moves::PackedMove;
use crate::table::{Bound, Table};
use crate::{Evaluate, MATE, MATE_SEEN, MAX_PLY, Value};

/// A number greater than every value.
const INFINITE: i32 = MATE + 1;
/// The clock is read once in so many nodes.
const POLL: u64 = 512;
/// Beyond this many centipawns a game is decided, and advice on moves is ignored.
const DECIDED: i32 = 600;
/// The value of a position that is won by the tables, in centipawns: more than any evaluation, less
/// than a mate that was seen.
const WON: i32 = 20_000;
/// Half-moves at the root of which a book is asked.
const ADVISED: usize = 4;

/// Endgame tables.
pub trait Endgames {
    /// The greatest number of men on the board, kings included, for which there is a table.
    fn most_men(&self) -> usize;

    /// The result of the position for the side to move; `None` if there is no table for it.
    fn probe(&self, position: &Chess) -> Option<Ending>;
}

/// The result of a position if both sides play perfectly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move mates in so many half-moves.
    Mates(u8),
    /// The side to move is mated in so many half-moves.
    IsMated(u8),
    /// Nobody mates.
    Draw,
    /// The side to move wins; the number of moves is unknown.
    Won,
    /// The side to move loses; the number of moves is unknown.
    Lost,
}

/// Advice on positions, as from an opening book. It is added to the values that the search finds.
pub trait Advice {
    /// Centipawns for the side that has just moved into the position with this key (Polyglot's); 0
    /// if it is not known.
    fn after_move(&self, position: &Chess, key: u64, ply: usize) -> i32;
}

/// A position to be searched, and how.
pub struct Request<'a> {
    /// The position.
    pub position: &'a Chess,
    /// Keys of the earlier positions that can be repeated.
    pub history: &'a [u64],
    /// The limits of the search.
    pub limits: Limits,
    /// The moves to choose from, likeliest first; empty for all in any order.
    pub moves: &'a [Move],
    /// Centipawns that are added to the values of these moves, in the same order, when moves are
    /// compared; missing numbers count as 0. The values in the answer do not include them. Once the
    /// best move is worth six pawns either way they no longer count.
    pub bonus: &'a [i32],
    /// Moves up to this many centipawns below the best one get exact values, too.
    pub margin: i32,
    /// Number of best moves that get exact values.
    pub lines: usize,
    /// Ends the search when it becomes true.
    pub stop: &'a (dyn Fn() -> bool + 'a),
    /// While this is true, the time limits do not run; they start when it becomes false.
    pub pondering: &'a (dyn Fn() -> bool + 'a),
    /// Advice of a book.
    pub advice: Option<&'a dyn Advice>,
    /// Endgame tables.
    pub endgames: Option<&'a dyn Endgames>,
}

impl<'a> Request<'a> {
    /// A question without advice, tables or signals.
    pub fn new(position: &'a Chess, limits: Limits) -> Self {
        Self {
            position,
            history: &[],
            limits,
            moves: &[],
            bonus: &[],
            margin: 0,
            lines: 1,
            stop: &|| false,
            pondering: &|| false,
            advice: None,
            endgames: None,
        }
    }
}

/// A move, its value and what is expected to follow.
#[derive(Clone, Debug)]
pub struct Line {
    /// The move and what follows.
    pub moves: Vec<Move>,
    /// The value for the side that plays it.
    pub value: Value,
}

/// The result of a search, final or so far.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The best moves with exact values, best first.
    pub lines: Vec<Line>,
    /// The depth, in half-moves, that was searched completely.
    pub depth: usize,
    /// Half-moves of the longest line.
    pub selective_depth: usize,
    /// Number of positions that were searched.
    pub nodes: u64,
    /// Time since the question.
    pub time: Duration,
}

impl Found {
    /// Positions a second.
    pub fn nodes_per_second(&self) -> u64 {
        let micros = u64::try_from(self.time.as_micros()).unwrap_or(u64::MAX).max(1);
        self.nodes.saturating_mul(1_000_000) / micros
    }
}

/// Searches positions, and keeps its tables from one question to the next.
pub struct Searcher {
    table: Table,
    evaluation: Box<dyn Evaluate>,
    order: Order,
    /// By how many half-moves late quiet moves are searched less deeply, indexed by depth and
    /// number of the move.
    reductions: Vec<[i32; 64]>,
}

/// Statistics of earlier cutoffs, which order the moves.
struct Order {
    killers: [[PackedMove; 2]; MAX_PLY + 1],
    /// By side, origin and target.
    history: Vec<[[i32; 64]; 64]>,
    /// Answers by the move before: its role and target.
    answers: [[PackedMove; 64]; 6],
}

impl Order {
    fn new() -> Self {
        Self {
            killers: [[PackedMove::default(); 2]; MAX_PLY + 1],
            history: vec![[[0; 64]; 64]; 2],
            answers: [[PackedMove::default(); 64]; 6],
        }
    }

    fn history(&self, side: Color, m: Move) -> i32 {
        let from = m.from().unwrap_or(m.to());
        self.history[usize::from(side.is_black())][usize::from(from)][usize::from(m.to())]
    }

    fn learn(&mut self, side: Color, m: Move, bonus: i32) {
        const MOST: i32 = 8_000;
        let from = m.from().unwrap_or(m.to());
        let entry =
            &mut self.history[usize::from(side.is_black())][usize::from(from)][usize::from(m.to())];
        *entry += bonus - *entry * bonus.abs() / MOST;
    }
}

impl Searcher {
    /// A searcher with a transposition table of at most so many megabytes.
    pub fn new(megabytes: usize, evaluation: Box<dyn Evaluate>) -> Self {
        let reductions = (0..64u8)
            .map(|depth| {
                std::array::from_fn(|number| {
                    let number = f64::from(u8::try_from(number).unwrap_or(0)).max(1.0);
                    let less = 0.6 + f64::from(depth.max(1)).ln() * number.ln() / 2.3;
                    #[expect(clippy::cast_possible_truncation, reason = "below ten")]
                    let less = less as i32;
                    less
                })
            })
            .collect();
        Self { table: Table::new(megabytes), evaluation, order: Order::new(), reductions }
    }

    /// Changes the size of the transposition table, in megabytes, and empties it.
    pub fn resize(&mut self, megabytes: usize) {
        self.table = Table::new(megabytes);
    }

    /// Empties all tables, for a new game.
    pub fn clear(&mut self) {
        self.table.clear();
        self.order = Order::new();
    }

    /// Replaces the evaluation, and forgets the values of the old one.
    pub fn set_evaluation(&mut self, evaluation: Box<dyn Evaluate>) {
        self.evaluation = evaluation;
        self.clear();
    }

    /// Answers a question; after each depth `progress` is called with the answer so far.
    ///
    /// The answer has at least one line if there is a legal move among those asked for.
    pub fn search(&mut self, request: &Request, progress: &mut dyn FnMut(&Found)) -> Found {
        let started = Instant::now();
        self.table.begin();
        for side in &mut self.order.history {
            for row in side.iter_mut().flatten() {
                *row /= 4;
            }
        }
        self.order.killers = [[PackedMove::default(); 2]; MAX_PLY + 1];
        let key = key_of(request.position);
        let mut keys = request.history.to_vec();
        keys.push(key);
        let (soft, hard) = request.limits.budget();
        let mut run = Run {
            searcher: self,
            request,
            keys,
            nodes: 0,
            selective: 0,
            stopped: false,
            begun: started,
            was_pondering: (request.pondering)(),
            hard,
            share_left: 1.0,
            lines: vec![Vec::new(); MAX_PLY + 2],
        };
        run.answer(soft, started, progress)
    }
}

fn key_of(position: &Chess) -> u64 {
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).into()
}

fn key_after(position: &Chess, key: u64, m: Move, after: &Chess) -> u64 {
    position
        .update_zobrist_hash(Zobrist64::from(key), m, EnPassantMode::Legal)
        .map_or_else(|| key_of(after), u64::from)
}

/// The position with the other side to move; `None` in check.
fn passed(position: &Chess) -> Option<Chess> {
    position.clone().swap_turn().ok()
}

/// The position after a move, and the parameters of its search.
#[derive(Clone, Copy)]
struct Child<'p> {
    position: &'p Chess,
    /// Its key.
    key: u64,
    /// Half-moves from the root.
    ply: usize,
    /// The move, if the best replies to it are to be looked up and recorded.
    last: Option<Move>,
    /// The bonus that is added to the move's value, in centipawns.
    advice: i32,
}

/// A move at the root with its value so far.
struct Root {
    m: Move,
    /// The bonus that is added to the value.
    bonus: i32,
    /// The value, the bonus included.
    value: i32,
    exact: bool,
    line: Vec<Move>,
    nodes: u64,
}

impl Root {
    /// The value without the bonus; a mate stays one.
    const fn told_value(&self) -> i32 {
        if self.value.abs() > MATE_SEEN { self.value } else { self.value - self.bonus }
    }
}

struct Run<'a, 'b> {
    searcher: &'a mut Searcher,
    request: &'a Request<'b>,
    /// Keys of the positions up to the current one.
    keys: Vec<u64>,
    nodes: u64,
    selective: usize,
    stopped: bool,
    begun: Instant,
    was_pondering: bool,
    hard: Option<Duration>,
    /// The share of the time that was left when the depth began.
    share_left: f64,
    /// The best line from each ply on.
    lines: Vec<Vec<Move>>,
}

impl Run<'_, '_> {
    fn answer(
        &mut self,
        soft: Option<Duration>,
        started: Instant,
        progress: &mut dyn FnMut(&Found),
    ) -> Found {
        let request = self.request;
        let position = request.position;
        let legal = position.legal_moves();
        let chosen: Vec<Move> = match request.moves {
            [] => legal.iter().copied().collect(),
            moves => moves.iter().copied().filter(|m| legal.contains(m)).collect(),
        };
        let mut roots: Vec<Root> = chosen
            .into_iter()
            .enumerate()
            .map(|(number, m)| Root {
                m,
                bonus: request.bonus.get(number).copied().unwrap_or(0),
                value: -INFINITE,
                exact: false,
                line: vec![m],
                nodes: 0,
            })
            .collect();
        let mut found = Found::default();
        if let Some(first) = roots.first() {
            found.lines.push(Line { moves: vec![first.m], value: Value(0) });
        }
        let deepest = request.limits.depth.unwrap_or(MAX_PLY - 8).clamp(1, MAX_PLY - 8);
        for depth in 1..=deepest {
            if roots.is_empty() {
                break;
            }
            self.share_left = match (self.hard, self.was_pondering) {
                (Some(hard), false) => {
                    (1.0 - self.begun.elapsed().as_secs_f64() / hard.as_secs_f64()).clamp(0.0, 1.0)
                }
                _ => 1.0,
            };
            self.root(&mut roots, depth);
            if roots.iter().any(|r| r.exact) {
                let mut exact: Vec<&Root> = roots.iter().filter(|r| r.exact).collect();
                exact.sort_by_key(|r| std::cmp::Reverse(r.value));
                let line = |r: &&Root| Line { moves: r.line.clone(), value: Value(r.told_value()) };
                found.lines = exact.iter().map(line).collect();
            }
            found.nodes = self.nodes;
            found.selective_depth = self.selective;
            found.time = started.elapsed();
            if self.stopped {
                break;
            }
            found.depth = depth;
            progress(&found);
            let best = found.lines[0].value;
            if best.0.abs() > DECIDED {
                for root in &mut roots {
                    root.value = root.told_value();
                    root.bonus = 0;
                }
            }
            if let (Some(wanted), Some(moves)) = (request.limits.mate, best.mate_in())
                && moves > 0
                && moves.unsigned_abs() <= wanted
            {
                break;
            }
            if self.has_time_passed(soft, &roots, best, depth) {
                break;
            }
        }
        // While pondering or analysing, the answer is given only when the signal comes.
        found
    }

    /// Whether no further depth is to be begun.
    fn has_time_passed(
        &mut self,
        soft: Option<Duration>,
        roots: &[Root],
        best: Value,
        depth: usize,
    ) -> bool {
        let limits = &self.request.limits;
        if limits.is_endless() || (self.request.pondering)() {
            return false;
        }
        if limits.clock.is_some() || limits.move_time.is_some() {
            // A deeper search cannot find a nearer mate than one within this depth.
            let is_settled = best
                .mate_in()
                .is_some_and(|n| n.unsigned_abs() as usize * 2 <= depth + 1 && depth > 4);
            if roots.len() == 1 && depth >= 6 && limits.clock.is_some() || is_settled {
                return true;
            }
        }
        let Some(soft) = soft else { return false };
        let spent = self.begun.elapsed();
        if limits.move_time.is_some() {
            return spent >= soft;
        }
        // If the best move took most of the nodes, it is not likely to change.
        let total: u64 = roots.iter().map(|r| r.nodes).sum();
        let share = roots.first().map_or(0, |r| r.nodes) * 100 / total.max(1);
        let part = if share > 80 { soft / 3 } else { soft * 3 / 5 };
        spent >= part
    }

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

    fn count_node(&mut self, ply: usize) {
        self.nodes += 1;
        self.selective = self.selective.max(ply);
        self.poll();
        if self.request.limits.nodes.is_some_and(|most| self.nodes >= most) {
            self.stopped = true;
        }
    }

    /// Searches one depth at the root. Moves whose value is close to the best get exact values.
    fn root(&mut self, roots: &mut [Root], depth: usize) {
        let position = self.request.position;
        let key = key_of(position);
        let depth = i32::try_from(depth).unwrap_or(0);
        let wanted = self.request.lines.max(1);
        let mut values: Vec<i32> = Vec::new();
        for number in 0..roots.len() {
            let m = roots[number].m;
            let mut after = position.clone();
            after.play_unchecked(m);
            let after_key = key_after(position, key, m, &after);
            let advice = self.advice(&after, after_key, 1) + roots[number].bonus;
            let before = self.nodes;
            let best = values.first().copied().unwrap_or(-INFINITE);
            // Below this, a value need not be exact.
            let floor = match values.len() {
                n if n < wanted => -INFINITE,
                _ if best.abs() > MATE_SEEN => values[wanted - 1],
                _ => values[wanted - 1].min(best - self.request.margin),
            };
            self.keys.push(after_key);
            let child = Child { position: &after, key: after_key, ply: 1, last: Some(m), advice };
            let mut value;
            if number == 0 || floor == -INFINITE {
                // Replies to this move are neither looked up nor recorded.
                let child = Child { last: None, ..child };
                value = self.aspire(&child, depth, roots[number].value, number == 0);
            } else {
                value = self.value_after(&child, depth - 1, floor, floor + 1);
                if value > floor && !self.stopped {
                    value = self.value_after(&child, depth - 1, floor, INFINITE + advice);
                }
            }
            self.keys.pop();
            let root = &mut roots[number];
            // The quickest mate is best, whatever its bonus.
            if (value - root.bonus).abs() > MATE_SEEN {
                value -= root.bonus;
            }
            root.nodes += self.nodes - before;
            if self.stopped && number > 0 {
                // The values found so far at this depth count; the other moves follow in their old
                // order.
                for later in &mut roots[number..] {
                    later.exact = false;
                }
                break;
            }
            if self.stopped && depth > 1 {
                return;
            }
            root.exact = value > floor;
            root.value = value;
            if root.exact {
                root.line = std::iter::once(m).chain(self.lines[1].iter().copied()).collect();
                let place = values.partition_point(|&v| v >= value);
                values.insert(place, value);
            }
        }
        // Stable: moves without exact values keep the order that they came in.
        roots.sort_by_key(|r| std::cmp::Reverse(if r.exact { r.value } else { -INFINITE }));
        let best = roots[0].value;
        for root in &mut *roots {
            // A later move may have moved the floor past an earlier one.
            root.exact &= root.value >= best - self.request.margin || wanted > 1;
        }
    }

    /// The first move of a depth: a narrow window around the last depth's value, widened until the
    /// value lies within.
    fn aspire(&mut self, child: &Child<'_>, depth: i32, guess: i32, narrow: bool) -> i32 {
        let mut width = 25;
        let (mut low, mut high) = (-INFINITE, INFINITE);
        if narrow && depth >= 5 && guess.abs() < MATE_SEEN {
            (low, high) = (guess - width, guess + width);
        }
        loop {
            let value = self.value_after(child, depth - 1, low, high);
            if self.stopped {
                return value;
            }
            if value <= low && low > -INFINITE {
                low = if width > 400 { -INFINITE } else { value - width };
            } else if value >= high && high < INFINITE {
                high = if width > 400 { INFINITE } else { value + width };
            } else {
                return value;
            }
            width *= 3;
        }
    }

    /// The value of the move that leads to `child`, for the side that makes it, with the advice on
    /// it. It is exact between `low` and `high`.
    fn value_after(&mut self, child: &Child<'_>, depth: i32, low: i32, high: i32) -> i32 {
        let &Child { position, key, ply, last, advice } = child;
        advice - self.node(position, key, depth, advice - high, advice - low, ply, last, true)
    }

    /// What the book adds for the side that has just moved.
    fn advice(&self, after: &Chess, key: u64, ply: usize) -> i32 {
        let Some(advice) = self.request.advice.filter(|_| ply <= ADVISED) else { return 0 };
        let value = f64::from(advice.after_move(after, key, ply));
        let nearness = f64::from(u8::try_from(ply).unwrap_or(1)).max(1.0);
        #[expect(clippy::cast_possible_truncation, reason = "a few hundred centipawns at most")]
        let value = (value * self.share_left / nearness) as i32;
        value.clamp(-200, 200)
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
    #[expect(clippy::too_many_arguments, reason = "all of them change from node to node")]
    fn node(
        &mut self,
        position: &Chess,
        key: u64,
        depth: i32,
        alpha: i32,
        beta: i32,
        ply: usize,
        last: Option<Move>,
        may_pass: bool,
    ) -> i32 {
        self.lines[ply].clear();
        let (mut alpha, mut beta) = (alpha, beta);
        let is_pv = beta - alpha > 1;
        let checked = position.is_check();
        let mut depth = if checked { depth + 1 } else { depth };
        if depth <= 0 {
            return self.quiet(position, key, alpha, beta, ply, 0);
        }
        self.count_node(ply);
        if self.stopped {
            return 0;
        }
        if self.is_draw(position) {
            // Mate on the hundredth half-move is mate.
            let mated = position.halfmoves() >= 100 && checked && position.legal_moves().is_empty();
            return if mated { mated_at(ply) } else { 0 };
        }
        if ply >= MAX_PLY - 2 {
            return self.searcher.evaluation.evaluate(position);
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
            let decides = match entry.bound {
                Bound::Exact => true,
                Bound::Lower => value >= beta,
                Bound::Upper => value <= alpha,
                Bound::None => false,
            };
            if decides && position.halfmoves() < 90 {
                return value;
            }
        }
        // If no good first move is known, the depth is reduced, which costs less and finds one.
        if depth >= 4 && best_known == PackedMove::default() {
            depth -= 1;
        }
        let mut estimate =
            if checked { -INFINITE } else { self.searcher.evaluation.evaluate(position) };
        if let Some(entry) = known
            && !checked
        {
            let value = entry.value(ply);
            let tells = match entry.bound {
                Bound::Exact => true,
                Bound::Lower => value > estimate,
                Bound::Upper => value < estimate,
                Bound::None => false,
            };
            if tells && value.abs() < MATE_SEEN {
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
                let value = self.quiet(position, key, alpha, beta, ply, 0);
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
                && let Some(after) = passed(position)
            {
                let less = 3 + depth / 4 + ((estimate - beta) / 200).min(2);
                let after_key = key_of(&after);
                self.keys.push(after_key);
                let value = -self.node(
                    &after,
                    after_key,
                    depth - less,
                    -beta,
                    -beta + 1,
                    ply + 1,
                    None,
                    false,
                );
                self.keys.pop();
                if self.stopped {
                    return 0;
                }
                if value >= beta {
                    return if value > MATE_SEEN { beta } else { value };
                }
            }
        }
        let moves = position.legal_moves();
        if moves.is_empty() {
            return if checked { mated_at(ply) } else { 0 };
        }
        let mut scores = self.scores(position, &moves, best_known, ply, last);
        let mut moves = moves;
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
            let mut after = position.clone();
            after.play_unchecked(m);
            let after_key = key_after(position, key, m, &after);
            let gives_check = after.is_check();
            let advice = self.advice(&after, after_key, ply + 1);
            self.keys.push(after_key);
            let child =
                Child { position: &after, key: after_key, ply: ply + 1, last: Some(m), advice };
            let mut value;
            if number == 0 {
                value = self.value_after(&child, depth - 1, alpha, beta);
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
                value = self.value_after(&child, depth - 1 - less, alpha, alpha + 1);
                if value > alpha && less > 0 {
                    value = self.value_after(&child, depth - 1, alpha, alpha + 1);
                }
                if value > alpha && value < beta && is_pv {
                    value = self.value_after(&child, depth - 1, alpha, beta);
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
                    self.learn(side, m, &quiets, depth, ply, last);
                }
                break;
            }
            if quiet {
                quiets.push(m);
            }
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best > old_alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        self.searcher.table.put(key, best_move, best, depth, bound, ply);
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
        let tables = self.request.endgames?;
        if position.board().occupied().count() > tables.most_men() {
            return None;
        }
        let ending = tables.probe(position)?;
        let ply = i32::try_from(ply).unwrap_or(0);
        Some(match ending {
            Ending::Draw => 0,
            Ending::Mates(n) => MATE - ply - i32::from(n),
            Ending::IsMated(n) => -MATE + ply + i32::from(n),
            Ending::Won => WON - ply,
            Ending::Lost => ply - WON,
        })
    }

    fn learn(
        &mut self,
        side: Color,
        m: Move,
        quiets: &[Move],
        depth: i32,
        ply: usize,
        last: Option<Move>,
    ) {
        let order = &mut self.searcher.order;
        let packed = PackedMove::from(m);
        let killers = &mut order.killers[ply];
        if killers[0] != packed {
            *killers = [packed, killers[0]];
        }
        if let Some(last) = last {
            order.answers[last.role() as usize - 1][usize::from(last.to())] = packed;
        }
        let bonus = (depth * depth * 16).min(1_600);
        order.learn(side, m, bonus);
        for &other in quiets {
            order.learn(side, other, -bonus);
        }
    }

    /// A score for each move, by which they are ordered.
    fn scores(
        &self,
        position: &Chess,
        moves: &MoveList,
        best: PackedMove,
        ply: usize,
        last: Option<Move>,
    ) -> [i32; 256] {
        let order = &self.searcher.order;
        let side = position.turn();
        let answer = last.map_or(PackedMove::default(), |m| {
            order.answers[m.role() as usize - 1][usize::from(m.to())]
        });
        let mut scores = [0; 256];
        for (score, &m) in scores.iter_mut().zip(moves) {
            let packed = PackedMove::from(m);
            *score = if packed == best {
                FIRST
            } else if m.is_capture() || m.promotion().is_some() {
                capture_score(position, m)
            } else if packed == order.killers[ply][0] {
                KILLER + 2
            } else if packed == order.killers[ply][1] {
                KILLER + 1
            } else if packed == answer {
                KILLER
            } else {
                order.history(side, m)
            };
        }
        scores
    }

    /// Looks at captures, promotions and, at first, checks until the position is quiet.
    fn quiet(
        &mut self,
        position: &Chess,
        key: u64,
        alpha: i32,
        beta: i32,
        ply: usize,
        level: usize,
    ) -> i32 {
        self.lines[ply].clear();
        self.count_node(ply);
        if self.stopped {
            return 0;
        }
        let checked = position.is_check();
        if self.is_draw(position) {
            return 0;
        }
        if ply >= MAX_PLY - 2 {
            return self.searcher.evaluation.evaluate(position);
        }
        if let Some(value) = self.endgame(position, ply) {
            return value;
        }
        let known = self.searcher.table.get(key);
        if let Some(entry) = known
            && beta - alpha == 1
        {
            let value = entry.value(ply);
            match entry.bound {
                Bound::Exact => return value,
                Bound::Lower if value >= beta => return value,
                Bound::Upper if value <= alpha => return value,
                _ => {}
            }
        }
        let mut alpha = alpha;
        let mut best = -INFINITE;
        let mut estimate = -INFINITE;
        if !checked {
            estimate = self.searcher.evaluation.evaluate(position);
            best = estimate;
            if best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }
        let mut moves = position.legal_moves();
        if moves.is_empty() {
            return if checked { mated_at(ply) } else { 0 };
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
        let mut scores = [0; 256];
        for (score, &m) in scores.iter_mut().zip(&moves) {
            *score = if PackedMove::from(m) == best_known {
                FIRST
            } else if m.is_capture() || m.promotion().is_some() {
                capture_score(position, m)
            } else {
                self.searcher.order.history(position.turn(), m)
            };
        }
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
            let mut after = position.clone();
            after.play_unchecked(m);
            let after_key = key_after(position, key, m, &after);
            self.keys.push(after_key);
            let value = -self.quiet(&after, after_key, -beta, -alpha, ply + 1, level + 1);
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
        let bound = if best >= beta {
            Bound::Lower
        } else if best > old_alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        self.searcher.table.put(key, best_move, best, 0, bound, ply);
        best
    }
}

fn mated_at(ply: usize) -> i32 {
    -MATE + i32::try_from(ply).unwrap_or(0)
}

/// The move that the table names comes first, then good captures, killers, quiet moves by history,
/// bad captures.
const FIRST: i32 = 1_000_000;
const GOOD_CAPTURE: i32 = 100_000;
const KILLER: i32 = 50_000;
/// Below this are captures that lose material.
const BAD: i32 = -50_000;

fn capture_score(position: &Chess, m: Move) -> i32 {
    let victim = m.capture().map_or(0, piece_value);
    let taker = piece_value(m.role());
    let promotion = match m.promotion() {
        Some(Role::Queen) => 900,
        Some(_) => return BAD - 1,
        None => 0,
    };
    // A capture of a more valuable piece cannot lose material.
    if (victim < taker || m.role() == Role::King) && exchange_value(position, m) < 0 {
        return 2 * BAD + victim - taker / 100;
    }
    GOOD_CAPTURE + 10 * (victim + promotion) - taker / 10
}

/// Brings the most promising of the moves from `number` on to that place.
fn bring_best(moves: &mut MoveList, scores: &mut [i32; 256], number: usize) {
    let mut best = number;
    for i in number + 1..moves.len() {
        if scores[i] > scores[best] {
            best = i;
        }
    }
    moves.swap(number, best);
    scores.swap(number, best);
}

/// Which quiet moves give check.
struct Checks {
    king: Square,
    diagonal: Bitboard,
    straight: Bitboard,
    knight: Bitboard,
    pawn: Bitboard,
    /// Own pieces that open a line to the king when they leave it.
    openers: Bitboard,
}

impl Checks {
    fn new(position: &Chess) -> Self {
        let board = position.board();
        let (us, them) = (position.turn(), position.turn().other());
        let king = board.king_of(them).unwrap_or(Square::A1);
        let occupied = board.occupied();
        let own = board.by_color(us);
        let mut openers = Bitboard::EMPTY;
        let snipers = own
            & ((attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens())
                | (attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens()));
        for sniper in snipers {
            let between = attacks::between(king, sniper) & occupied;
            if between.count() == 1 {
                openers |= between & own;
            }
        }
        Self {
            king,
            diagonal: attacks::bishop_attacks(king, occupied),
            straight: attacks::rook_attacks(king, occupied),
            knight: attacks::knight_attacks(king),
            pawn: attacks::pawn_attacks(them, king),
            openers,
        }
    }

    fn gives(&self, m: Move) -> bool {
        let (Some(from), to) = (m.from(), m.to()) else { return false };
        let direct = match m.role() {
            Role::Pawn => self.pawn,
            Role::Knight => self.knight,
            Role::Bishop => self.diagonal,
            Role::Rook => self.straight,
            Role::Queen => self.diagonal | self.straight,
            Role::King => Bitboard::EMPTY,
        };
        direct.contains(to)
            || (self.openers.contains(from) && !attacks::aligned(self.king, from, to))
    }
}
