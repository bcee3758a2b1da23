// SPDX-License-Identifier: GPL-3.0-or-later
//! The UCI protocol (spec chess 8).

use std::time::{Duration, Instant};

use chess_search::{Clock, Found, Line};
use shakmaty::{Chess, Move};

use crate::play::engine::{Choice, Engine};
use crate::play::searching::{Allowance, Waiting};
use crate::play::why;
use crate::protocol::Output;
use chess_games::game::{Game, read_fen};
use chess_games::notation::{read_move, to_coordinates};

fn is_word_of_go(word: &str) -> bool {
    let all =
        "searchmoves ponder wtime btime winc binc movestogo depth nodes mate movetime infinite";
    all.split(' ').any(|own| own == word)
}

/// What the words after `go` allow the side to move.
pub(crate) fn read_go(words: &[&str], game: &Game) -> Allowance {
    let Allowance { mut limits, mut waiting, mut only } = Allowance::default();
    let (mut left, mut increment, mut moves_to_go) = (None, Duration::ZERO, None);
    let [own_time, own_increment] = game.turn().fold_wb(["wtime", "winc"], ["btime", "binc"]);
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        // Clocks that have run out may be negative.
        let mut number = || -> Option<u64> {
            let next = words.next_if(|w| !is_word_of_go(w))?;
            next.parse::<i64>().ok().map(|n| u64::try_from(n).unwrap_or(0))
        };
        match word {
            "searchmoves" => {
                while let Some(word) = words.next_if(|w| !is_word_of_go(w)) {
                    only.extend(game.read_move(word));
                }
            }
            "infinite" => waiting = Waiting::UntilStop,
            "ponder" => waiting = Waiting::UntilPonderHit,
            "depth" => limits.depth = number().and_then(|n| usize::try_from(n).ok()),
            "nodes" => limits.nodes = number(),
            "mate" => limits.mate = number().and_then(|n| u32::try_from(n).ok()),
            "movetime" => limits.move_time = number().map(Duration::from_millis),
            "movestogo" => moves_to_go = number().and_then(|n| u32::try_from(n).ok()),
            _ if word == own_time => left = number().map(Duration::from_millis),
            _ if word == own_increment => {
                increment = Duration::from_millis(number().unwrap_or(0));
            }
            _ => {}
        }
    }
    limits.clock = left.map(|left| Clock { left, increment, moves_to_go });
    Allowance { limits, waiting, only }
}

/// The dialogue's state.
pub(crate) struct Uci {
    engine: Engine,
    name: String,
    out: Output,
    debug: bool,
    /// The answer that waits for `stop` or `ponderhit`.
    pending: Option<String>,
    start: Option<String>,
    /// Why the last position could not be set.
    no_position: Option<String>,
    /// The move chosen last, and how many were played before it.
    last: Option<(usize, Move)>,
}

impl Uci {
    pub(crate) const fn new(engine: Engine, name: String, out: Output) -> Self {
        Self {
            engine,
            name,
            out,
            debug: false,
            pending: None,
            start: None,
            no_position: None,
            last: None,
        }
    }

    fn say(&mut self, line: impl AsRef<str>) {
        (self.out)(line.as_ref());
    }

    fn note(&mut self, text: impl std::fmt::Display) {
        self.say(format!("info string {text}"));
    }

    /// Does what a line says; unknown words are skipped until one is known. `false` once the
    /// dialogue is over.
    pub(crate) fn answer(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let rest = &words[at + 1..];
            match *word {
                "uci" => self.introduce(),
                "debug" => self.debug = rest.first() != Some(&"off"),
                "isready" => {
                    self.load();
                    self.say("readyok");
                }
                "setoption" => {
                    self.answer_pending();
                    self.set_option(rest);
                }
                "ucinewgame" => {
                    self.answer_pending();
                    self.end_game();
                    (self.start, self.no_position) = (None, None);
                    self.engine.new_game();
                }
                "position" => self.position(rest),
                "go" => self.go(rest),
                "stop" | "ponderhit" => self.answer_pending(),
                "quit" => {
                    self.end_game();
                    return false;
                }
                "register" => {}
                _ => continue,
            }
            break;
        }
        true
    }

    /// The protocol says neither how a game ends nor what is played after the last `go`.
    fn end_game(&mut self) {
        let Some((plies, last)) = self.last.take() else { return };
        let own = self.name.as_str();
        let names = if plies.is_multiple_of(2) { [own, "?"] } else { ["?", own] };
        let is_last = self.engine.game.plies() == plies;
        self.engine.end_game(is_last.then_some(last), names, None);
    }

    fn introduce(&mut self) {
        self.say(format!("id name {} {}", self.name, env!("CARGO_PKG_VERSION")));
        self.say("id author the dbacl authors");
        for option in self.engine.settings().for_uci() {
            self.say(format!("option name {option}"));
        }
        self.say("uciok");
    }

    fn load(&mut self) {
        for complaint in self.engine.load() {
            self.note(complaint);
        }
    }

    fn set_option(&mut self, words: &[&str]) {
        let words = words.strip_prefix(&["name"]).unwrap_or(words);
        let at = words.iter().position(|w| *w == "value").unwrap_or(words.len());
        let name = words[..at].join(" ");
        let value = words.get(at + 1..).unwrap_or_default().join(" ");
        if let Err(error) = self.engine.set_option(&name, &value)
            && self.debug
        {
            self.note(format!("{name}: {error:#}"));
        }
    }

    /// Sets the position; if it only continues the known game, the new moves alone are played.
    fn position(&mut self, words: &[&str]) {
        let at = words.iter().position(|w| *w == "moves").unwrap_or(words.len());
        let moves = words.get(at + 1..).unwrap_or_default();
        let fen = match words.first() {
            Some(&"fen") => Some(words[1..at.max(1)].join(" ")),
            _ => None,
        };
        self.no_position = None;
        let known = self.engine.game.moves();
        let continues = self.start == fen
            && known.len() <= moves.len()
            && known.iter().zip(moves).all(|(m, word)| to_coordinates(*m) == *word);
        let new = if continues {
            &moves[known.len()..]
        } else {
            let start = match fen.as_deref().map_or_else(|| Ok(Chess::default()), read_fen) {
                Ok(position) => position,
                Err(error) => {
                    let why = format!("{error:#}");
                    self.note(&why);
                    self.no_position = Some(why);
                    return;
                }
            };
            self.engine.set_position(start);
            self.start = fen;
            moves
        };
        for word in new {
            let Ok(m) = read_move(self.engine.game.position(), word.as_bytes()) else {
                return self.note(format!("illegal move {word}"));
            };
            self.engine.game.play(m);
        }
    }

    fn answer_pending(&mut self) {
        if let Some(best) = self.pending.take() {
            self.say(format!("bestmove {best}"));
        }
    }

    fn go(&mut self, words: &[&str]) {
        // An answer that is still held back belongs to an earlier `go`, which this one ends.
        self.answer_pending();
        if let Some(why) = &self.no_position {
            self.note(format!("no position to move in: {why}"));
            return self.say("bestmove 0000");
        }
        self.load();
        let allowed = read_go(words, &self.engine.game);
        let started = Instant::now();
        let multi = self.engine.settings().multi_pv as usize;
        let mut told = 0;
        let Self { engine, out, .. } = self;
        let mut progress = |found: &Found| {
            told = found.nodes;
            for (k, line) in found.lines.iter().take(multi).enumerate() {
                out(&search_line(found, line, (multi > 1).then_some(k + 1)));
            }
        };
        let best = match engine.choose(&allowed, &mut progress) {
            Ok(choice) => {
                self.engine.write_watch_files(&choice);
                self.last = Some((self.engine.game.plies(), choice.completion.m));
                let best = to_coordinates(choice.completion.m);
                let lines = match choice.found {
                    Some(_) => chosen_line(&choice, told).into_iter().collect(),
                    None => ranking_lines(&choice, &best, multi, started),
                };
                for line in lines {
                    self.say(line);
                }
                if let Some(why) = why::in_one_line(&mut self.engine, &choice) {
                    self.note(why);
                }
                match choice.expected_reply() {
                    Some(reply) => format!("{best} ponder {}", to_coordinates(reply)),
                    None => best,
                }
            }
            Err(error) => match self.engine.game.completions().first() {
                // The protocol wants a move; a null move would lose at once.
                Some(first) => {
                    self.note(format!("{error:#}"));
                    to_coordinates(first.m)
                }
                None => "0000".to_owned(),
            },
        };
        for note in self.engine.news() {
            self.note(note);
        }
        self.pending = Some(best);
        if allowed.waiting == Waiting::No {
            self.answer_pending();
        }
    }
}

fn search_line(found: &Found, line: &Line, number: Option<usize>) -> String {
    let score = match line.value.mate_in() {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", line.value.centipawns()),
    };
    let number = number.map_or_else(String::new, |k| format!("multipv {k} "));
    let moves: Vec<String> = line.moves.iter().map(|m| to_coordinates(*m)).collect();
    format!(
        "info depth {} seldepth {} {number}score {score} nodes {} nps {} time {} pv {}",
        found.depth,
        found.selective_depth,
        found.nodes,
        found.nodes_per_second(),
        found.time.as_millis(),
        moves.join(" ")
    )
}

/// The line of the chosen move, if it is not the search's first, or if positions were searched
/// after the last line, which counted so many.
fn chosen_line(choice: &Choice, told: u64) -> Option<String> {
    let (found, line) = choice.line()?;
    let is_first = found.lines[0].moves.first() == line.moves.first();
    (!is_first || found.nodes > told).then(|| search_line(found, line, None))
}

/// The classifier's first choices, without a search.
fn ranking_lines(choice: &Choice, best: &str, multi: usize, started: Instant) -> Vec<String> {
    let time = started.elapsed().as_millis();
    let nodes = choice.ranking.len();
    let ranked = choice.ranking.iter().map(|s| to_coordinates(s.completion.m));
    let others = ranked.filter(|m| m != best);
    let lines = std::iter::once(best.to_owned()).chain(others).take(multi).enumerate();
    let line = |(k, m): (usize, String)| {
        let number = if multi > 1 { format!("multipv {} ", k + 1) } else { String::new() };
        format!("info depth 1 {number}nodes {nodes} time {time} score cp 0 pv {m}")
    };
    lines.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_search::Limits;

    #[test]
    fn the_words_of_go_are_limits_for_the_side_to_move() {
        let clock = |left, increment, moves_to_go| Limits {
            clock: Some(Clock {
                left: Duration::from_millis(left),
                increment: Duration::from_millis(increment),
                moves_to_go,
            }),
            ..Limits::default()
        };
        let ponder = "ponder wtime -5 btime 900 binc 10 movestogo 3 movetime nodes 7";
        let nodes = |limits| Limits { nodes: Some(7), ..limits };
        let rows = [
            ("btime x", "e4", Limits::default(), Waiting::No),
            ("btime 5 depth 3 infinite", "", Limits::depth(3), Waiting::UntilStop),
            (ponder, "", nodes(clock(0, 0, Some(3))), Waiting::UntilPonderHit),
            (ponder, "e4", nodes(clock(900, 10, Some(3))), Waiting::UntilPonderHit),
            ("searchmoves a7a6 e7e9 c7c5 nodes 7", "e4", nodes(Limits::default()), Waiting::No),
        ];
        for (line, played, limits, waiting) in rows {
            let words: Vec<&str> = line.split(' ').collect();
            let mut game = Game::default();
            game.play_words(played).expect("legal");
            let only = ["a6", "c5"].map(|word| game.read_move(word));
            let only =
                only.into_iter().flatten().filter(|_| line.contains("searchmoves")).collect();
            assert_eq!(read_go(&words, &game), Allowance { limits, waiting, only }, "{line}");
        }
    }
}
