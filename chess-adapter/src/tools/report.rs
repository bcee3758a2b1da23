// SPDX-License-Identifier: GPL-3.0-or-later
//! A game as one HTML page without scripts: a board per move, the likeliest moves, the evidence for
//! the one played.

use anyhow::Result;
use chess_odds::Tally;
use dbacl::html as frame;
use dbacl_numeric::elementary::log2;
use maud::{Markup, PreEscaped, html};
use shakmaty::{Board, File, KnownOutcome, Move, Piece, Position as _, Rank, Square};

use crate::play::choose::{self, Scored};
use crate::play::engine::{Engine, Trouble};
use crate::play::why;
use chess_games::pgn::RawGame;
use chess_games::prepare::Gameline;

/// Completions shown per move.
const SHOWN: usize = 5;

const STYLE: &str = "\
section{display:flex;flex-wrap:wrap;gap:1.5em;border-top:1px solid var(--line);padding:1em 0}
h2{flex-basis:100%;margin:0}
table{border-collapse:collapse;height:max-content}
.b td{width:1.6em;height:1.6em;text-align:center;font-size:1.25em;padding:0;line-height:1}
.b td{color:#222;background:#f0d9b5}.b .d{background:#b58863}
.b .m{outline:3px solid #2a7;outline-offset:-3px}
.t td,.t th{padding:.1em .6em;text-align:left}.t .n{text-align:right}.t .p{font-weight:bold}
.bar{display:inline-block;height:.7em;background:#47a;vertical-align:middle}
";

/// Writes the page: the engine's voices judge every move of the game. Moves of a colour without a
/// model stand without judgement.
pub(crate) fn page(engine: &mut Engine, raw: &RawGame, game: &Gameline) -> Result<String> {
    let tag = |name| raw.tag(name).map(String::from_utf8_lossy).unwrap_or_default();
    let text = |text: &str| PreEscaped(frame::escape(text));
    let title = format!("{} – {} {}", tag("White"), tag("Black"), tag("Date"));
    let (mut sections, mut judged) = (Vec::new(), Tally::default());
    engine.set_position(game.start.clone());
    for (word, &m) in game.words.iter().zip(&game.moves) {
        let number = engine.game.position().fullmoves();
        let dots = engine.game.turn().fold_wb(".", "...");
        let judgement = match engine.rank() {
            Ok(ranking) => judge(engine, &ranking, m, &mut judged)?,
            Err(error) if error.is::<Trouble>() => html! { p { "no model for this colour" } },
            Err(error) => return Err(error),
        };
        engine.game.play(m);
        let board = board(engine.game.position().board(), m);
        sections.push(html! { section { h2 { (number) (dots) " " (word) } (board) (judgement) } });
    }
    let result = game.result.map_or("*", KnownOutcome::as_str);
    let body = html! {
        h1 { (text(&title)) }
        p { (text(&tag("Event"))) " " (text(&tag("Site"))) ". " (result) ". " (summary(&judged)) }
        @for section in sections { (section) }
    };
    Ok(frame::page(&title, STYLE, &body.into_string()))
}

fn summary(judged: &Tally) -> String {
    if judged.groups == 0 {
        return String::new();
    }
    format!(
        "{} moves: the classifier's first choice was played in {:.0} %; mean surprise {:.1} bits.",
        judged.groups,
        judged.percent(judged.first),
        judged.mean_bits()
    )
}

/// The likeliest completions with the one played, and the evidence for it.
fn judge(
    engine: &mut Engine,
    ranking: &[Scored],
    played: Move,
    judged: &mut Tally,
) -> Result<Markup> {
    let shares = choose::shares(ranking, engine.settings().temperature);
    let Some(place) = ranking.iter().position(|s| s.completion.m == played) else {
        return Ok(Markup::default());
    };
    let surprise = log2(1.0 / shares[place].max(f64::MIN_POSITIVE));
    judged.add(&shares, place);
    let why = why::explain(engine, &ranking[place].completion.word)?;
    Ok(html! {
        table.t {
            tr { th {} th { "move" } th { "share" } th {} }
            @for i in (0..ranking.len()).filter(|&i| i < SHOWN || i == place) {
                tr.p[i == place] {
                    td.n { (i + 1) }
                    td { (ranking[i].completion.word) }
                    td.n { (format!("{:.1} %", 100.0 * shares[i])) }
                    td { span.bar style=(format!("width:{:.1}em", 8.0 * shares[i])) {} }
                }
            }
            tr { td {} td colspan="3" { (format!("surprise {surprise:.1} bits")) } }
        }
        pre { (why.join("\n")) }
    })
}

fn board(board: &Board, last: Move) -> Markup {
    let is_moved = |square| last.to() == square || last.from() == Some(square);
    html! {
        table.b {
            @for rank in Rank::ALL.into_iter().rev() {
                tr {
                    @for square in File::ALL.map(|file| Square::from_coords(file, rank)) {
                        td.d[square.is_dark()].m[is_moved(square)] {
                            @if let Some(piece) = board.piece_at(square) { (sign(piece)) }
                        }
                    }
                }
            }
        }
    }
}

/// The chess sign of a piece; Unicode names the outlined ones white, and begins with the kings.
fn sign(piece: Piece) -> char {
    let place = 6 - piece.role as u32 + piece.color.fold_wb(0, 6);
    char::from_u32(u32::from('\u{2654}') + place).unwrap_or(' ')
}
