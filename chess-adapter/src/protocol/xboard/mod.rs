// SPDX-License-Identifier: GPL-3.0-or-later
//! The XBoard protocol, version 2 (spec chess 7): parses lines into commands, and answers commands
//! with replies.

mod command;
mod editor;
mod reply;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use chess_search::{Clock, Found};
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, FromSetup, Position};

use crate::play::choose;
use crate::play::engine::{Choice, Engine, Source, Trouble};
use crate::play::searching::{Allowance, Waiting};
use crate::play::settings::NAMES;
use crate::play::why;
use chess_games::game::{End, read_fen};
use chess_games::notation;

pub use command::{Command, TimeControl};
use editor::Editor;
pub use reply::Reply;
use reply::search_line;

/// The dialogue's state.
#[expect(clippy::struct_excessive_bools, reason = "the protocol has that many switches")]
pub struct Xboard {
    engine: Engine,
    name: String,
    side: Option<Color>,
    over: Option<Over>,
    no_position: bool,
    post: bool,
    san: bool,
    debug: bool,
    analyzing: bool,
    editor: Option<Editor>,
    depth: Option<usize>,
    /// The clock, or the time for each move; `None` if the interface set neither.
    control: Option<TimeControl>,
    move_time: Option<Duration>,
    /// The engine's clock, as the interface last sent it.
    time_left: Option<Duration>,
    live: Option<Live>,
    told: Vec<String>,
    opponent: String,
    log: Option<PathBuf>,
    followup: Option<Command>,
    quitting: bool,
}

/// A function that receives replies while a command is still being answered.
pub type Live = Box<dyn FnMut(&Reply)>;

/// The reason for the end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Rules(End),
    Declared,
}

impl Xboard {
    /// A new dialogue, with the start position; the engine has Black.
    pub fn new(engine: Engine, name: String, log: Option<PathBuf>) -> Self {
        Self {
            engine,
            name,
            side: Some(Color::Black),
            over: None,
            no_position: false,
            post: false,
            san: false,
            debug: false,
            analyzing: false,
            editor: None,
            depth: None,
            control: None,
            move_time: None,
            time_left: None,
            live: None,
            told: Vec::new(),
            opponent: String::from("?"),
            log,
            followup: None,
            quitting: false,
        }
    }

    /// Makes a search report its results while it runs, instead of with the answer.
    pub fn tell_live(&mut self, live: Live) {
        self.live = Some(live);
    }

    /// What the interface allows for the next move.
    fn allowance(&self) -> Allowance {
        let mut allowed = Allowance::depth(self.depth);
        allowed.limits.move_time = self.move_time;
        if let Some(control) = self.control {
            let played = u32::try_from(self.engine.game().plies() / 2).unwrap_or(0);
            let moves_to_go = (control.moves > 0).then(|| control.moves - played % control.moves);
            allowed.limits.clock = Some(Clock {
                left: self.time_left.unwrap_or(control.base),
                increment: control.increment,
                moves_to_go,
            });
        }
        allowed
    }

    /// Chooses a move; what a search finds meanwhile goes to the interface.
    fn choose(&mut self, allowed: &Allowance, replies: &mut Vec<Reply>) -> Result<Choice, Trouble> {
        let mut live = self.live.take();
        let (post, san) = (self.post || self.analyzing, self.san);
        let position = self.engine.game().position().clone();
        let spelling = self.engine.game().spelling();
        let multi = self.engine.settings().multi_pv;
        let mut progress = |found: &Found| {
            for line in found.lines.iter().take(multi).filter(|_| post) {
                let reply = Reply::Thinking(search_line(found, line, &position, san, spelling));
                match &mut live {
                    Some(live) => live(&reply),
                    None => replies.push(reply),
                }
            }
        };
        let choice = self.engine.choose_within(None, allowed, &mut progress);
        self.live = live;
        choice
    }

    /// Reads a line in the dialogue's state.
    pub fn parse(&self, line: &str) -> Command {
        Command::parse(line, self.editor.is_some())
    }

    /// Whether notes may go to the interface.
    pub const fn may_note(&self) -> bool {
        self.debug
    }

    /// Whether the dialogue is over.
    pub const fn is_quitting(&self) -> bool {
        self.quitting
    }

    /// What the dialogue has to do of itself after the replies were written.
    pub const fn take_followup(&mut self) -> Option<Command> {
        self.followup.take()
    }

    fn features(&self) -> Vec<Reply> {
        let mut lines = vec![
            "done=0".to_owned(),
            format!(
                "myname=\"{}\" ping=1 setboard=1 playother=1 san=1 usermove=1 time=1 draw=1",
                self.name
            ),
            "sigint=0 sigterm=0 reuse=1 analyze=1 colors=0 ics=0 name=1 pause=0 nps=0".to_owned(),
            "debug=1 memory=0 smp=0 exclude=0 highlight=0 variants=\"normal\"".to_owned(),
        ];
        let options = NAMES.iter().filter_map(|name| {
            let value = self.engine.settings().get(name)?;
            // Some drivers keep only the first word of a name.
            Some(format!("option=\"{} {}\"", name.replace(' ', ""), value.xboard()))
        });
        lines.extend(options);
        lines.into_iter().map(Reply::Feature).collect()
    }

    fn spell(&self, choice: &Choice) -> String {
        if self.san {
            choice.completion.word.clone()
        } else {
            notation::to_coordinates(choice.completion.m)
        }
    }

    fn note(text: &str) -> Reply {
        Reply::Note(text.to_owned())
    }

    /// Tells the user once.
    fn tell(&mut self, replies: &mut Vec<Reply>, reply: Reply) {
        let text = reply.to_string();
        if !self.told.contains(&text) {
            self.told.push(text);
            replies.push(reply);
        }
    }

    /// Models that cannot be loaded are told once each.
    fn load(&mut self, replies: &mut Vec<Reply>) {
        for complaint in self.engine.load() {
            self.tell(replies, Reply::TellUserError(complaint));
        }
    }

    fn trouble(&mut self, replies: &mut Vec<Reply>, trouble: Trouble) {
        match trouble {
            Trouble::NoMove => {}
            Trouble::NoModel(color) => {
                replies.push(Reply::TellUserError(format!("no model for {color}: cannot move")));
                self.side = None;
            }
            Trouble::Failed(error) => {
                replies.push(Reply::TellUser(format!("{}: {error:#}", self.name)));
                self.side = None;
            }
        }
    }

    fn start_game(&mut self, start: Chess) {
        self.engine.set_position(start);
        self.over = None;
        self.no_position = false;
    }

    /// Starts from a position whose earlier moves are unknown.
    fn start_without_history(&mut self, start: Chess, replies: &mut Vec<Reply>) {
        self.start_game(start);
        replies.push(Self::note("no history: the models have only the new moves to go by"));
    }

    /// Answers a command.
    pub fn handle(&mut self, command: Command) -> Vec<Reply> {
        let mut replies = Vec::new();
        match command {
            Command::Xboard | Command::Nothing | Command::Rejected(_) => {}
            Command::Protover(version) => {
                if version >= 2 {
                    replies = self.features();
                    self.followup = Some(Command::Load);
                }
            }
            Command::Load => {
                self.load(&mut replies);
                replies.push(Reply::Feature("done=1".to_owned()));
            }
            Command::Accepted(feature) => match feature.as_str() {
                "san" => self.san = true,
                "debug" => self.debug = true,
                _ => {}
            },
            Command::New => {
                self.engine.new_game();
                self.start_game(Chess::default());
                self.side = Some(Color::Black);
                self.depth = None;
                self.time_left = None;
                self.engine.randomised = self.engine.settings().random_play;
                self.analysis(&mut replies);
            }
            Command::Variant(variant) => {
                if variant != "normal" {
                    replies.push(Reply::Error {
                        what: "unsupported variant",
                        line: format!("variant {variant}"),
                    });
                }
            }
            Command::Quit => self.quitting = true,
            Command::Random => {
                if !self.engine.settings().deterministic {
                    self.engine.randomised = !self.engine.randomised;
                }
            }
            Command::Force => self.side = None,
            Command::Go => {
                self.analyzing = false;
                self.side = Some(self.engine.game().turn());
                self.move_now(&mut replies);
            }
            Command::PlayOther => self.side = Some(self.engine.game().turn().other()),
            Command::Turn(color) => self.set_turn(color),
            Command::Move(word) => self.user_move(word, &mut replies),
            Command::Ping(n) => replies.push(Reply::Pong(n)),
            Command::Depth(depth) => self.depth = depth.or(self.depth),
            Command::Level(control) => {
                (self.control, self.move_time, self.time_left) = (Some(control), None, None);
            }
            Command::MoveTime(time) => (self.move_time, self.control) = (Some(time), None),
            Command::ClockTime(centiseconds) => {
                self.time_left = Some(Duration::from_millis(centiseconds.saturating_mul(10)));
            }
            Command::Draw => {
                if self.engine.is_drawish() {
                    replies.push(Reply::OfferDraw);
                }
            }
            Command::Result(text) => self.result(&text, &mut replies),
            Command::SetBoard(fen) => match read_fen(&fen) {
                Ok(position) => {
                    self.start_without_history(position, &mut replies);
                    self.analysis(&mut replies);
                }
                Err(_) => self.no_such_position(&mut replies),
            },
            Command::Edit => {
                let board = self.engine.game().position().board().clone();
                self.editor = Some(Editor::new(board));
            }
            Command::EditLine(line) => self.edit(&line, &mut replies),
            Command::Hint => {
                if self.over.is_none()
                    && !self.no_position
                    && let Ok(choice) = self.engine.choose_best()
                {
                    replies.push(Reply::Hint(self.spell(&choice)));
                }
            }
            Command::Book => self.book(&mut replies),
            Command::Undo => self.take_back(1, "undo", &mut replies),
            Command::Remove => self.take_back(2, "remove", &mut replies),
            Command::Post(on) => self.post = on,
            Command::Analyze => {
                self.side = None;
                self.analyzing = true;
                self.analysis(&mut replies);
            }
            Command::ExitAnalysis => self.analyzing = false,
            Command::Status => {
                let moves = self.engine.game().position().legal_moves().len();
                match self.analyzing {
                    true => {
                        replies.push(Reply::Status(moves));
                        // A search that the question ended goes on.
                        if self.engine.searches() {
                            self.analysis(&mut replies);
                        }
                    }
                    false => {
                        replies.push(Reply::Error {
                            what: "command not legal now",
                            line: ".".to_owned(),
                        });
                    }
                }
            }
            Command::Name(name) => self.opponent = name,
            Command::TablePath(kind, path) => {
                if kind.eq_ignore_ascii_case("syzygy") {
                    let _ = self.engine.set_option("SyzygyPath", &path);
                    self.load(&mut replies);
                }
            }
            Command::SetOption { name, value, line } => match self.engine.set_option(&name, &value)
            {
                Ok(()) => self.load(&mut replies),
                Err(_) => replies.push(Reply::Error { what: "unknown option", line }),
            },
            Command::Why(word) => match why::explain(&mut self.engine, &word) {
                Ok(why) => replies.extend(why.lines().into_iter().map(Reply::Note)),
                Err(error) => replies.push(Self::note(&format!("why: {error:#}"))),
            },
            Command::Unknown(line) => replies.push(Reply::Error { what: "unknown command", line }),
        }
        replies
    }

    fn no_such_position(&mut self, replies: &mut Vec<Reply>) {
        self.no_position = true;
        self.over = None;
        replies.push(Reply::TellUserError("Illegal position".to_owned()));
    }

    fn user_move(&mut self, word: String, replies: &mut Vec<Reply>) {
        let refuse = |reason, word| Reply::Illegal { reason, word };
        if self.no_position {
            replies.push(refuse("no position", word));
            return;
        }
        // A draw that nobody claims: an interface that goes on in force mode knows what it does.
        if let Some(Over::Rules(end)) = self.over
            && self.side.is_none()
            && !end.is_inevitable()
        {
            self.over = None;
        }
        if self.over.is_some() {
            replies.push(refuse("game over", word));
            return;
        }
        match notation::read_move(self.engine.game().position(), word.as_bytes()) {
            Err(error) => {
                let reason = if error == notation::WordError::Ambiguous { "ambiguous" } else { "" };
                replies.push(refuse(reason, word));
            }
            Ok(m) => {
                self.engine.play(m);
                if self.has_ended(replies) {
                    return;
                }
                self.analysis(replies);
                if self.side == Some(self.engine.game().turn()) {
                    self.move_now(replies);
                }
            }
        }
    }

    /// Says the result if the game is over by the rules. In force mode only what nobody needs to
    /// claim ends a game.
    fn has_ended(&mut self, replies: &mut Vec<Reply>) -> bool {
        let end = self.engine.end().filter(|end| self.side.is_some() || end.is_inevitable());
        let Some(end) = end else { return false };
        self.over = Some(Over::Rules(end));
        if !self.analyzing {
            replies.push(Reply::Result(end));
        }
        true
    }

    fn move_now(&mut self, replies: &mut Vec<Reply>) {
        if self.no_position || matches!(self.over, Some(Over::Declared)) {
            return;
        }
        if let Some(Over::Rules(end)) = self.over
            && !end.is_inevitable()
        {
            return;
        }
        if let Some(end) = self.engine.end().filter(|end| end.is_inevitable()) {
            self.over = Some(Over::Rules(end));
            replies.push(Reply::Result(end));
            return;
        }
        self.load(replies);
        if self.engine.is_resigning() {
            self.over = Some(Over::Declared);
            replies.push(Reply::Resign);
            return;
        }
        let started = Instant::now();
        let allowed = self.allowance();
        let choice = match self.choose(&allowed, replies) {
            Ok(choice) => choice,
            Err(trouble) => return self.trouble(replies, trouble),
        };
        if choice.found.is_some() && self.engine.interrupts.is_abandoned() {
            return; // the interface has something else in mind
        }
        for note in self.engine.news() {
            self.tell(replies, Reply::TellUser(note));
        }
        if let Err(error) = self.engine.write_watch_files(&choice) {
            self.tell(replies, Reply::TellUser(format!("{error:#}")));
        }
        if self.post {
            replies.push(self.thinking(&choice, started));
        }
        replies.push(Reply::Move(self.spell(&choice)));
        self.engine.play(choice.completion.m);
        if !self.has_ended(replies) && self.engine.is_drawish() {
            replies.push(Reply::OfferDraw);
        }
    }

    fn thinking(&self, choice: &Choice, started: Instant) -> Reply {
        let centiseconds = started.elapsed().as_millis() / 10;
        let temperature = self.engine.settings().temperature;
        let shares = choose::shares(&choice.ranking, temperature);
        let shown = self.engine.settings().multi_pv.max(3);
        let best: Vec<String> = choice
            .ranking
            .iter()
            .zip(&shares)
            .take(shown)
            .map(|(s, share)| format!("{} {:.0}%", s.completion.word, share * 100.0))
            .collect();
        let text = match choice.source {
            Source::Book => format!("(book move {})", choice.completion.word),
            Source::Mate => format!("(mate {})", choice.completion.word),
            Source::Classifier => format!("({})", best.join(", ")),
            Source::Search => {
                let found = choice.found.as_ref();
                let line = found.and_then(|found| {
                    let played = Some(&choice.completion.m);
                    Some((found, found.lines.iter().find(|l| l.moves.first() == played)?))
                });
                if let Some((found, line)) = line {
                    let game = self.engine.game();
                    let text = search_line(found, line, game.position(), self.san, game.spelling());
                    return Reply::Thinking(format!("{text} ({})", best.join(", ")));
                }
                format!("({})", best.join(", "))
            }
        };
        Reply::Thinking(format!(
            "{} 0 {centiseconds} {} {text}",
            choice.depth,
            choice.ranking.len()
        ))
    }

    /// In analysis, what the engine thinks of the position.
    fn analysis(&mut self, replies: &mut Vec<Reply>) {
        if !self.analyzing || self.no_position || self.engine.end().is_some_and(End::is_inevitable)
        {
            return;
        }
        self.load(replies);
        let started = Instant::now();
        let allowed = Allowance { waiting: Waiting::UntilNextLine, ..Allowance::default() };
        let randomised = std::mem::take(&mut self.engine.randomised);
        let choice = self.choose(&allowed, replies);
        self.engine.randomised = randomised;
        match choice {
            Ok(choice) => replies.push(self.thinking(&choice, started)),
            Err(Trouble::NoModel(color)) => {
                self.tell(replies, Reply::TellUserError(format!("no model for {color}")));
            }
            Err(trouble) => self.trouble(replies, trouble),
        }
    }

    fn take_back(&mut self, half_moves: usize, name: &str, replies: &mut Vec<Reply>) {
        if self.engine.undo(half_moves) {
            self.over = None;
            self.analysis(replies);
        } else {
            replies.push(Reply::Error { what: "command not legal now", line: name.to_owned() });
        }
    }

    fn set_turn(&mut self, color: Color) {
        if self.engine.game().plies() == 0 && self.engine.game().turn() != color {
            let mut setup = self.engine.game().start().to_setup(EnPassantMode::Legal);
            setup.turn = color;
            setup.ep_square = None;
            if let Ok(position) = Chess::from_setup(setup, CastlingMode::Standard) {
                self.engine.set_position(position);
            }
        }
        self.side = Some(color.other());
    }

    fn result(&mut self, text: &str, replies: &mut Vec<Reply>) {
        self.over = Some(Over::Declared);
        let Some(path) = &self.log else { return };
        let (result, comment) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let comment = comment.trim().trim_start_matches('{').trim_end_matches('}');
        let ours = self.side.unwrap_or(Color::Black);
        let names = |color| if color == ours { self.name.as_str() } else { self.opponent.as_str() };
        let pgn =
            self.engine.game().to_pgn(names(Color::White), names(Color::Black), result, comment);
        let written = std::fs::OpenOptions::new().create(true).append(true).open(path).and_then(
            |mut file| {
                // A game is written by one call, because several engines may share the file.
                std::io::Write::write_all(&mut file, format!("{pgn}\n").as_bytes())
            },
        );
        if let Err(error) = written {
            let complaint = format!("cannot write {}: {error}", path.display());
            self.tell(replies, Reply::TellUserError(complaint));
        }
    }

    fn book(&mut self, replies: &mut Vec<Reply>) {
        self.load(replies);
        let position = self.engine.game().position().clone();
        let moves = self.engine.book_moves();
        let total: f64 = moves.iter().map(|b| b.weight).sum();
        for book_move in &moves {
            let word = notation::to_word(&position, book_move.m, self.engine.game().spelling());
            let share = 100.0 * book_move.weight / total.max(1.0);
            let count = book_move
                .count
                .map_or_else(String::new, |c| format!(" +{} ={} -{}", c.wins, c.draws, c.losses));
            replies.push(Reply::BookLine(format!(" {word} {share:.0}%{count}")));
        }
        if moves.is_empty()
            && !self.no_position
            && let Ok(ranking) = self.engine.rank(None)
        {
            let shares = choose::shares(&ranking, self.engine.settings().temperature);
            for (scored, share) in ranking.iter().zip(shares).take(10) {
                let line = format!(" {} {:.0}%", scored.completion.word, share * 100.0);
                replies.push(Reply::BookLine(line));
            }
        }
        replies.push(Reply::BookLine(String::new()));
    }

    fn edit(&mut self, line: &str, replies: &mut Vec<Reply>) {
        let edited = self.editor.as_mut().and_then(|editor| editor.line(line));
        let Some(board) = edited else { return };
        self.editor = None;
        match editor::position_of(board, self.engine.game().turn()) {
            Some(position) => self.start_without_history(position, replies),
            None => self.no_such_position(replies),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::engine::tests::engine;
    use crate::play::settings::Settings;
    use chess_odds::random::Random;

    #[test]
    fn no_dialogue_panics() {
        let words = [
            "xboard",
            "protover 2",
            "accepted san",
            "new",
            "random",
            "force",
            "go",
            "playother",
            "white",
            "black",
            "usermove e4",
            "e5",
            "Nf3",
            "g8f6",
            "ping 1",
            "sd 2",
            "draw",
            "result *",
            "setboard",
            "edit",
            "#",
            "c",
            ".",
            "Ke1",
            "ke8",
            "xa1",
            "Pz9",
            "hint",
            "bk",
            "undo",
            "remove",
            "post",
            "analyze",
            "exit",
            "option Rule=x",
            "option Seed=3",
            "why",
            "why e4",
            "name \u{e9}",
            "setboard 4k3/8/8/8/8/8/8/4K2R w K - 0 1",
            "usermove",
            "variant x",
            "egtpath syzygy /x",
            "\u{0}",
            "usermove \u{fffd}",
            "option",
            "option =",
        ];
        for seed in 0..40 {
            let mut random = Random::from_seed(seed);
            let mut dialogue = Xboard::new(engine(&["e5"], Settings::default()), "x".into(), None);
            for _ in 0..120 {
                let mut command = Some(dialogue.parse(words[random.below(words.len())]));
                while let Some(now) = command {
                    for reply in dialogue.handle(now) {
                        assert!(!reply.to_string().contains('\n'));
                    }
                    command = dialogue.take_followup();
                }
            }
        }
    }
}
