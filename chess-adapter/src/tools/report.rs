// SPDX-License-Identifier: GPL-3.0-or-later
//! A game as one HTML page without scripts: a board per move, the likeliest moves, the evidence for
//! the one played.

use std::fmt::Write as _;

use anyhow::Result;
use dbacl_numeric::elementary::log2;
use shakmaty::{Board, File, KnownOutcome, Move, Piece, Position as _, Rank, Square};

use crate::play::choose::{self, Scored};
use crate::play::engine::{Engine, Trouble};
use crate::play::why;
use chess_games::pgn::RawGame;
use chess_games::prepare::Gameline;

/// Completions shown per move.
const SHOWN: usize = 5;

const STYLE: &str = "\
body{font:15px/1.4 sans-serif;margin:1.5em auto;max-width:60em;padding:0 \
1em;color:#222;background:#fff}\
section{display:flex;flex-wrap:wrap;gap:1.5em;border-top:1px solid #ccc;padding:1em 0}\
h2{flex-basis:100%;margin:0;font-size:1.1em}\
.b{border-collapse:collapse;height:max-content}.b \
td{width:1.6em;height:1.6em;text-align:center;font-size:1.25em;padding:0;line-height:1}\
.b .d{background:#b58863}.b .l{background:#f0d9b5}.b .m{outline:3px solid #2a7;outline-offset:-3px}\
.t{border-collapse:collapse;height:max-content}.t td,.t th{padding:.1em .6em;text-align:left}.t \
.n{text-align:right}\
.p{font-weight:bold}.bar{display:inline-block;height:.7em;background:#47a;vertical-align:middle}";

/// The text with what HTML would read as markup replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn tag(raw: &RawGame, name: &str) -> String {
    raw.tag(name).map(|v| escape(&String::from_utf8_lossy(v))).unwrap_or_default()
}

/// Writes the page: the engine's voices judge every move of the game. Moves of a colour without a
/// model stand without judgement.
pub fn page(engine: &mut Engine, raw: &RawGame, game: &Gameline) -> Result<String> {
    let title = format!("{} – {} {}", tag(raw, "White"), tag(raw, "Black"), tag(raw, "Date"));
    let mut body = String::new();
    let mut judged = Judged::default();
    engine.set_position(game.start.clone());
    for (word, &m) in game.words.iter().zip(&game.moves) {
        let number = engine.game.position().fullmoves();
        let dots = engine.game.turn().fold_wb(".", "...");
        let _ = write!(body, "<section><h2>{number}{dots} {}</h2>", escape(word));
        let judgement = match engine.rank(None) {
            Ok(ranking) => judge(engine, &ranking, m, &mut judged)?,
            Err(Trouble::Failed(error)) => return Err(error),
            Err(_) => String::from("<p>no model for this colour</p>"),
        };
        engine.game.play(m);
        body.push_str(&board(engine.game.position().board(), m));
        body.push_str(&judgement);
        body.push_str("</section>\n");
    }
    let summary = judged.summary();
    let result = game.result.map_or("*", KnownOutcome::as_str);
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta \
         charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body><h1>{title}</h1><p>{} {}. {result}. {summary}</p>\n{body}</body></html>\n",
        tag(raw, "Event"),
        tag(raw, "Site"),
    ))
}

#[derive(Default)]
struct Judged {
    moves: u32,
    first: u32,
    bits: f64,
}

impl Judged {
    fn summary(&self) -> String {
        if self.moves == 0 {
            return String::new();
        }
        let moves = f64::from(self.moves);
        format!(
            "{} moves judged; the classifier's first choice was played in {:.0} %; mean surprise \
             {:.1} bits.",
            self.moves,
            100.0 * f64::from(self.first) / moves,
            self.bits / moves
        )
    }
}

/// The likeliest completions with the one played, and the evidence for it.
fn judge(
    engine: &mut Engine,
    ranking: &[Scored],
    played: Move,
    judged: &mut Judged,
) -> Result<String> {
    let shares = choose::shares(ranking, engine.settings().temperature);
    let Some(place) = ranking.iter().position(|s| s.completion.m == played) else {
        return Ok(String::new());
    };
    let surprise = log2(1.0 / shares[place].max(f64::MIN_POSITIVE));
    judged.moves += 1;
    judged.first += u32::from(place == 0);
    judged.bits += surprise;
    let mut out =
        String::from("<table class=\"t\"><tr><th></th><th>move</th><th>share</th><th></th></tr>");
    let shown = (0..ranking.len()).filter(|&i| i < SHOWN || i == place);
    for i in shown {
        let class = if i == place { " class=\"p\"" } else { "" };
        let _ = write!(
            out,
            "<tr{class}><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{:.1} %</td><td><span \
             class=\"bar\" style=\"width:{:.1}em\"></span></td></tr>",
            i + 1,
            escape(&ranking[i].completion.word),
            100.0 * shares[i],
            8.0 * shares[i]
        );
    }
    let _ =
        write!(out, "<tr><td></td><td colspan=\"3\">surprise {surprise:.1} bits</td></tr></table>");
    let explained = why::explain(engine, &ranking[place].completion.word)?;
    out.push_str("<table class=\"t\"><tr>");
    for word in &explained.words {
        let _ = write!(out, "<th class=\"n\">{}</th>", escape(word));
    }
    out.push_str("<th>bits for (+) and against (-)</th></tr>");
    let sum = ("the sum: the logarithm of the share".to_owned(), explained.totals);
    for (text, bits) in explained.rows.iter().chain([&sum]) {
        out.push_str("<tr>");
        for &bits in bits {
            let _ = write!(out, "<td class=\"n\">{}</td>", why::signed(bits));
        }
        let _ = write!(out, "<td>{}</td></tr>", escape(text));
    }
    out.push_str("</table>");
    Ok(out)
}

fn board(board: &Board, last: Move) -> String {
    let mut out = String::from("<table class=\"b\">");
    for rank in Rank::ALL.into_iter().rev() {
        out.push_str("<tr>");
        for file in File::ALL {
            let square = Square::from_coords(file, rank);
            let shade = if square.is_dark() { "d" } else { "l" };
            let moved = if last.to() == square || last.from() == Some(square) { " m" } else { "" };
            let _ = write!(out, "<td class=\"{shade}{moved}\">");
            if let Some(piece) = board.piece_at(square) {
                out.push(sign(piece));
            }
            out.push_str("</td>");
        }
        out.push_str("</tr>");
    }
    out.push_str("</table>");
    out
}

/// The chess sign of a piece; Unicode names the outlined ones white, and begins with the kings.
fn sign(piece: Piece) -> char {
    let place = 6 - piece.role as u32 + piece.color.fold_wb(0, 6);
    char::from_u32(u32::from('\u{2654}') + place).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_games::game::Game;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<b a='x'>&\"\n"), "&lt;b a=&#39;x&#39;&gt;&amp;&quot; ");
    }

    #[test]
    fn boards_have_64_squares() {
        let e4 = Game::default().read_move("e4").expect("legal");
        let table = board(&Board::default(), e4);
        assert!(table.contains('♔') && table.contains('♟'), "{table}");
        assert_eq!(table.matches("<td").count(), 64);
        assert_eq!(table.matches(" m\"").count(), 2);
    }
}
