// SPDX-License-Identifier: GPL-3.0-or-later
//! Iterative deepening: each depth is searched with what the search of the last one found.

use std::time::{Duration, Instant};

use shakmaty::{Move, Position};

use crate::moves::{PackedMove, after_move};
use crate::request::{Ending, Found, Line, Request};
use crate::searcher::Searcher;
use crate::tree::{Child, INFINITE, Run, key_of};
use crate::{MATE, MATE_SEEN, MAX_PLY, Value};

/// Beyond this many centipawns a game is decided, and bonuses are ignored.
const DECIDED: i32 = 600;

impl Searcher {
    /// Searches the position of `request`; after each depth `progress` is called with the answer so
    /// far.
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
            lines: vec![Vec::new(); MAX_PLY + 2],
        };
        run.answer(soft, started, progress)
    }
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
        let key = key_of(position);
        let chosen: Vec<Move> = match request.moves {
            [] => legal.iter().copied().collect(),
            moves => moves.iter().copied().filter(|m| legal.contains(m)).collect(),
        };
        let mut roots: Vec<Root> = chosen
            .into_iter()
            .enumerate()
            .map(|(number, m)| Root {
                m,
                bonus: request.bonus.get(number).copied().unwrap_or(0) + request.advised(key, m),
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
            self.root(&mut roots, depth);
            if roots.iter().any(|r| r.exact) {
                let mut exact: Vec<&Root> = roots.iter().filter(|r| r.exact).collect();
                exact.sort_by_key(|r| std::cmp::Reverse(r.value));
                found.lines = exact.iter().map(|r| self.line(r)).collect();
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

    /// The line of a root move that has an exact value. A mate is shown as one only if the line
    /// leads to it, move by move; otherwise the value is the highest or lowest that is not a mate.
    fn line(&self, root: &Root) -> Line {
        let (value, mut moves) = (root.told_value(), root.line.clone());
        let is_mate = Value(value).mate_in().is_some();
        if is_mate {
            self.follow_tables(&mut moves);
        }
        let is_shown = !is_mate || self.leads_to_mate(&moves, value);
        let value = if is_shown { value } else { value.clamp(-MATE_SEEN, MATE_SEEN) };
        Line { moves, value: Value(value) }
    }

    /// Goes on with a line to the mate that tables of distances say it leads to.
    fn follow_tables(&self, line: &mut Vec<Move>) {
        let mut position = self.request.position.clone();
        for &m in &*line {
            if !position.is_legal(m) {
                return;
            }
            position.play_unchecked(m);
        }
        loop {
            let next = match (self.request.endgames)(&position) {
                Some(Ending::Mates(plies)) => Ending::IsMated(plies.saturating_sub(1)),
                Some(Ending::IsMated(plies)) => Ending::Mates(plies.saturating_sub(1)),
                _ => return,
            };
            let leads_there =
                |&m: &Move| (self.request.endgames)(&after_move(&position, m)) == Some(next);
            let Some(m) = position.legal_moves().into_iter().find(leads_there) else { return };
            line.push(m);
            position.play_unchecked(m);
        }
    }

    /// Whether the moves end with a mate at the distance that the value says.
    fn leads_to_mate(&self, moves: &[Move], value: i32) -> bool {
        let mut position = self.request.position.clone();
        for &m in moves {
            if !position.is_legal(m) {
                return false;
            }
            position.play_unchecked(m);
        }
        let distance = usize::try_from(MATE - value.abs()).unwrap_or(0);
        position.is_checkmate() && moves.len() == distance && (distance % 2 == 1) == (value > 0)
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
            // A deeper search cannot find a nearer mate than one within this depth. `best` is the
            // value of a line that was followed to the mate, not a bound.
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

    /// Searches one depth at the root. Moves whose value is close to the best get exact values.
    fn root(&mut self, roots: &mut [Root], depth: usize) {
        let position = self.request.position;
        let key = key_of(position);
        let depth = i32::try_from(depth).unwrap_or(0);
        let wanted = self.request.lines.max(1);
        let mut values: Vec<i32> = Vec::new();
        for number in 0..roots.len() {
            let m = roots[number].m;
            let bonus = roots[number].bonus;
            let before = self.nodes;
            let best = values.first().copied().unwrap_or(-INFINITE);
            // Below this, a value need not be exact.
            let floor = match values.len() {
                n if n < wanted => -INFINITE,
                _ if best.abs() > MATE_SEEN => values[wanted - 1],
                _ => values[wanted - 1].min(best - self.request.margin),
            };
            let (after, key) = self.enter(position, key, m);
            let child = Child { position: &after, key, ply: 1, last: Some(m), bonus };
            let mut value;
            if number == 0 || floor == -INFINITE {
                // Replies to this move are neither looked up nor recorded.
                let child = Child { last: None, ..child };
                value = self.aspire(&child, depth, roots[number].value, number == 0);
            } else {
                value = self.value_after(&child, depth - 1, floor, floor + 1);
                if value > floor && !self.stopped {
                    value = self.value_after(&child, depth - 1, floor, INFINITE);
                }
            }
            self.keys.pop();
            let root = &mut roots[number];
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
}
