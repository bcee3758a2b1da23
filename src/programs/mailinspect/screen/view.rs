// SPDX-License-Identifier: GPL-3.0-or-later
//! Draws the screen.

use std::borrow::Cow;
use std::fmt::Write;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style as Look};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::state::State;
use crate::filter::decode::encoded_words;
use crate::programs::mailinspect::mail::evidence::{self, WordEvidence};
use crate::programs::mailinspect::mail::index::Entry;
use crate::programs::mailinspect::mail::judge::SCORINGS;
use crate::programs::mailinspect::mail::select::content;
use dbacl_numeric::cformat;

const KEYS: &str = "q: quit o: scoring z: rev. sort /: search tT: tag uU: untag sS: send to shell \
                    p: summary c: category";

const MORE: &str = " h: more keys";

const HELP: &str = " q               quit
 j k, arrows     next, previous message; also ctrl-N, ctrl-P
 space ctrl-B    next, previous page; also ctrl-F, page keys
 1 G             first, last message; also home, end
 return v        show the message in $PAGER
 o p z           next scoring; next style; reverse the order
 / ?             list only messages that match, do not match, an
                 extended regular expression; an empty one lists all
 t u  T U        tag, untag this message; all messages listed
 s S             pipe this message, each tagged one, to a command
 F1 to F10       as S, with a command from ~/.mailinspectrc
 w               append the tagged messages to an mbox
 c               load another category and score again
 e  J K          preview on or off; scroll it

 In the preview each word is coloured by what it adds to the score:
 green for the category, red against it, bold from 10 bits on.

 Any key goes on.";

pub(super) fn draw(frame: &mut Frame<'_>, state: &State) {
    let areas = state.areas();
    let bar = Look::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(title(state)).style(bar), areas.title);
    if state.has_help {
        let rows = areas.preview.map_or(areas.list, |preview| preview.union(areas.list));
        frame.render_widget(Paragraph::new(HELP), rows);
    } else {
        list(frame, state, areas.list);
        if let Some(area) = areas.preview {
            preview(frame, state, area);
        }
    }
    let more = if usize::from(areas.help.width) > KEYS.len() + MORE.len() { MORE } else { "" };
    frame.render_widget(Paragraph::new(format!("{KEYS}{more}")).style(bar), areas.help);
    notice(frame, state, areas.notice);
}

fn title(state: &State) -> String {
    let name = state.mailbox.trim_end_matches('/');
    let title = |name: &str| {
        let mut text = format!(
            "mailinspect {} {} msgs sorted({}{}) by category {}",
            printable(name.as_bytes(), state.is_utf8),
            state.entries.len(),
            SCORINGS[state.scoring],
            if state.is_reversed { ", reversed" } else { "" },
            printable(state.category.as_bytes(), state.is_utf8),
        );
        if let Some((read, size)) = state.progress {
            let percent = (read.saturating_mul(100)).checked_div(size).unwrap_or(100).min(100);
            // writing to a String cannot fail
            let _ = write!(text, "  reading: {percent}%");
        }
        text
    };
    let full = title(name);
    // Of a name that is too long, what is after its last slash says most.
    if full.chars().count() <= usize::from(state.area.width) {
        full
    } else {
        title(name.rsplit('/').next().unwrap_or_default())
    }
}

fn notice(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let Some((purpose, prompt)) = &state.prompt else {
        frame.render_widget(Paragraph::new(state.notice.as_str()), area);
        return;
    };
    let (before, behind) = prompt.parts();
    let label = purpose.label();
    // Show the end of a line that is longer than the screen.
    let width = |text: &str| Line::raw(text).width();
    let room = usize::from(area.width).saturating_sub(1);
    let used = width(label) + width(before);
    let skipped = used.saturating_sub(room);
    let line = Paragraph::new(format!("{label}{before}{behind}"));
    let offset = u16::try_from(skipped).unwrap_or(u16::MAX);
    frame.render_widget(line.scroll((0, offset)), area);
    let x = u16::try_from(used - skipped).unwrap_or(0);
    frame.set_cursor_position(Position { x: area.x + x, y: area.y });
}

/// Widths of the bar, and of date and sender in the list.
const BAR: usize = 6;
const DATE: usize = 11;
const SENDER: usize = 20;

fn list(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let number = state.scoring;
    let (low, high) = state
        .list
        .iter()
        .map(|&entry| f64::from(state.entries[entry].measures.scores[number]))
        .filter(|score| score.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), score| {
            (low.min(score), high.max(score))
        });
    let rows = state.list.iter().enumerate().skip(state.top).take(usize::from(area.height));
    for (row, (place, &at)) in (area.y..).zip(rows) {
        let entry = &state.entries[at];
        let score = f64::from(entry.measures.scores[number]);
        let mut text = vec![if state.tags[at] { b'T' } else { b' ' }, b' '];
        cformat::fixed(&mut text, score, 8, 1);
        let mut line = String::from_utf8_lossy(&text).into_owned();
        line.push(' ');
        if area.width >= 60 {
            line.push_str(&bar((score - low) / (high - low), state.is_utf8));
            line.push(' ');
        }
        line.push_str(&description(entry, state));
        let look = if place == state.cursor {
            Look::new().add_modifier(Modifier::REVERSED)
        } else if state.tags[at] {
            Look::new().add_modifier(Modifier::BOLD)
        } else {
            Look::new()
        };
        let area = Rect { y: row, height: 1, ..area };
        frame.render_widget(Paragraph::new(line).style(look), area);
    }
    if state.list.is_empty() && state.progress.is_none() {
        frame.render_widget(Paragraph::new("  no messages"), area);
    }
}

/// A bar of [`BAR`] columns for a share from 0 to 1.
fn bar(share: f64, is_utf8: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0..=48; NaN becomes 0
    let eighths = (share.clamp(0.0, 1.0) * 48.0).round() as usize;
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut bar =
        if is_utf8 { "█".repeat(full) + EIGHTHS[rest] } else { "#".repeat(eighths.div_ceil(8)) };
    let width = if is_utf8 { full + usize::from(rest > 0) } else { eighths.div_ceil(8) };
    bar.extend(std::iter::repeat_n(' ', BAR - width));
    bar
}

fn description(entry: &Entry, state: &State) -> String {
    let utf8 = state.is_utf8;
    if !state.is_summary {
        return printable(content(&entry.from_line), utf8).into_owned();
    }
    let sender = column(&sender(&header(&entry.from, 5), utf8), SENDER);
    let subject = header(&entry.subject, 8);
    format!("{} {sender} {}", column(&date(entry), DATE), printable(&subject, utf8))
}

/// The value of a header line, decoded; `skip` is the length of its name and colon.
fn header(line: &[u8], skip: usize) -> Vec<u8> {
    let mut line = content(line).to_vec();
    encoded_words(&mut line);
    line.get(skip..).unwrap_or_default().trim_ascii().to_vec()
}

/// A sender's name, or the address if there is none.
fn sender(from: &[u8], utf8: bool) -> String {
    let text = printable(from, utf8);
    let name = text.split('<').next().unwrap_or_default().trim().trim_matches('"');
    if name.is_empty() { text.trim_matches(['<', '>']).to_owned() } else { name.to_owned() }
}

/// Day, month and year of a `Date:` line: `14 Jan 2004`.
fn date(entry: &Entry) -> String {
    let text = String::from_utf8_lossy(content(&entry.date)).into_owned();
    let value = text.get(5..).unwrap_or_default();
    let value = value.split_once(',').map_or(value, |(_, rest)| rest);
    let words: Vec<&str> = value.split_whitespace().take(3).collect();
    printable(words.join(" ").as_bytes(), false).into_owned()
}

/// `text` in exactly `width` columns.
fn column(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for character in text.chars() {
        let columns = Span::raw(character.to_string()).width();
        if used + columns > width {
            break;
        }
        out.push(character);
        used += columns;
    }
    out.extend(std::iter::repeat_n(' ', width - used));
    out
}

/// Text from a message as it may go to a terminal: no control characters, which could move the
/// cursor or change what is seen; only ASCII where the terminal takes no UTF-8.
fn printable(text: &[u8], is_utf8: bool) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(text);
    let is_plain = |character: char| match character {
        ' '..='~' => true,
        character if character.is_ascii() || character.is_control() => false,
        // marks of writing direction
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        _ => is_utf8,
    };
    if text.chars().all(is_plain) {
        return text;
    }
    let shown = text.chars().map(|character| match character {
        '\t' | '\n' | '\r' => ' ',
        character if is_plain(character) => character,
        _ => '?',
    });
    Cow::Owned(shown.collect())
}

/// Bits from which a word is coloured, and from which it stands out: features weigh tens of bits.
const SEEN: f64 = 1.0;
const STRONG: f64 = 10.0;

/// How a word of this weight looks.
fn tint(bits: f64, has_colour: bool) -> Look {
    let look = Look::new();
    if bits.abs() < SEEN || bits.is_nan() {
        return look;
    }
    let look = match (bits > 0.0, has_colour) {
        (true, true) => look.fg(Color::Green),
        (false, true) => look.fg(Color::Red),
        (true, false) => look,
        (false, false) => look.add_modifier(Modifier::UNDERLINED),
    };
    if bits.abs() >= STRONG || (bits > 0.0 && !has_colour) {
        look.add_modifier(Modifier::BOLD)
    } else {
        look
    }
}

/// Words named at the top of the preview, each way.
const NAMED: usize = 12;

fn preview(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let beside = area.x > 0;
    let block = Block::new().borders(if beside { Borders::LEFT } else { Borders::TOP });
    let block = if state.is_utf8 {
        block
    } else {
        block.border_set(ratatui::symbols::border::Set {
            vertical_left: "|",
            horizontal_top: "-",
            ..ratatui::symbols::border::PLAIN
        })
    };
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let Some((about, found)) = &state.evidence else { return };
    if state.current() != Some(*about) {
        return;
    }
    let mut lines = summary(found, state);
    let rows = usize::from(inner.height);
    lines.extend(found.lines.iter().skip(state.scroll).take(rows).map(|line| tinted(line, state)));
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The strongest words, each way, with their bits.
fn summary<'a>(found: &'a WordEvidence, state: &State) -> Vec<Line<'a>> {
    let total: f64 = found.terms.iter().map(|term| term.bits).sum();
    let cut = if found.is_cut { ", beginning only" } else { "" };
    let head = format!("evidence for {}: {total:+.1} bits{cut}", state.category);
    let mut lines = vec![Line::raw(printable(head.as_bytes(), state.is_utf8).into_owned())];
    for (label, sign) in [("    for:", 1.0), ("against:", -1.0)] {
        let mut spans = vec![Span::raw(label)];
        for term in found.terms.iter().filter(|term| term.bits * sign > 0.0).take(NAMED) {
            let word = printable(&term.text, state.is_utf8).into_owned();
            spans.push(Span::raw(" "));
            spans.push(Span::styled(word, tint(sign * STRONG, state.has_colour)));
            spans.push(Span::raw(format!(" {:+.1}", term.bits)));
        }
        lines.push(Line::from(spans));
    }
    lines
}

/// A line of the message, its words coloured.
fn tinted<'a>(line: &'a evidence::Line, state: &State) -> Line<'a> {
    let mut spans = Vec::new();
    let mut from = 0;
    for word in &line.words {
        if word.at.start < from {
            continue;
        }
        spans.push(Span::raw(printable(&line.text[from..word.at.start], state.is_utf8)));
        let text = printable(&line.text[word.at.clone()], state.is_utf8);
        spans.push(Span::styled(text, tint(word.bits, state.has_colour)));
        from = word.at.end;
    }
    spans.push(Span::raw(printable(&line.text[from..], state.is_utf8)));
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::super::keys;
    use super::super::state::tests::state_of;
    use super::*;
    use crate::programs::mailinspect::mail::evidence::{Term, Word};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn screen(state: &mut State, width: u16, height: u16) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        state.resize(Rect::new(0, 0, width, height));
        terminal.draw(|frame| draw(frame, state)).expect("memory");
        terminal
    }

    fn rows(terminal: &Terminal<TestBackend>) -> Vec<String> {
        let buffer = terminal.backend().buffer();
        let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..buffer.area.height).map(|y| row(y).trim_end().to_owned()).collect()
    }

    fn found() -> WordEvidence {
        let word = |at, bits| Word { at, bits };
        let line = evidence::Line {
            text: b"red, blue and\x1b[2Jgray".to_vec(),
            words: vec![word(0..3, 12.0), word(5..9, -3.0), word(10..13, 0.1)],
        };
        let term = |text: &str, bits| Term { text: text.as_bytes().to_vec(), count: 1, bits };
        let terms = vec![term("red", 12.0), term("blue", -3.0), term("and", 0.1)];
        WordEvidence { lines: vec![line], terms, is_cut: false }
    }

    #[test]
    fn the_screen_has_title_list_preview_and_keys() {
        let mut state = state_of(&[3.0, 1.0, 2.0]);
        state.is_utf8 = false;
        state.has_preview = true;
        state.tags[2] = true;
        state.evidence = Some((1, found()));
        let terminal = screen(&mut state, 80, 16);
        let rows = rows(&terminal);
        assert_eq!(
            rows,
            [
                "mailinspect box 3 msgs sorted(message cost) by category sample",
                "       1.0        14 Jan 2004 B. Blue              subject 1",
                "T      2.0 ###    14 Jan 2004 B. Blue              subject 2",
                "       3.0 ###### 14 Jan 2004 B. Blue              subject 0",
                "",
                "",
                &"-".repeat(80),
                "evidence for sample: +9.1 bits",
                "    for: red +12.0 and +0.1",
                "against: blue -3.0",
                "red, blue and?[2Jgray",
                "",
                "",
                "",
                "",
                &KEYS[..80],
            ]
        );
    }

    #[test]
    fn words_are_coloured_by_their_weight() {
        for (has_colour, expected) in [
            (
                true,
                [
                    (Color::Green, Modifier::BOLD),
                    (Color::Red, Modifier::empty()),
                    (Color::Reset, Modifier::empty()),
                ],
            ),
            (
                false,
                [
                    (Color::Reset, Modifier::BOLD),
                    (Color::Reset, Modifier::UNDERLINED),
                    (Color::Reset, Modifier::empty()),
                ],
            ),
        ] {
            let mut state = state_of(&[1.0]);
            state.has_preview = true;
            state.has_colour = has_colour;
            state.evidence = Some((0, found()));
            let terminal = screen(&mut state, 80, 16);
            let buffer = terminal.backend().buffer();
            for (x, (colour, modifier)) in [0, 5, 10].into_iter().zip(expected) {
                let cell = &buffer[(x, 10)];
                assert_eq!((cell.fg, cell.modifier), (colour, modifier), "{x} {has_colour}");
            }
        }
    }

    #[test]
    fn any_size_and_any_state_can_be_drawn() {
        for (width, height) in [(0, 0), (1, 1), (2, 3), (20, 5), (59, 14), (80, 24), (200, 50)] {
            for pressed in ["", "h", "/abc", "zto", "Ge", "J"] {
                let mut state = state_of(&[f32::NAN, f32::INFINITY, -1.0, -1.0]);
                state.has_preview = true;
                state.evidence = Some((2, found()));
                state.entries[2].subject = "Subject: \u{65e5}\u{672c}\t\u{202e}x\n".into();
                screen(&mut state, width, height);
                for key in keys(pressed) {
                    state.key(key);
                }
                screen(&mut state, width, height);
            }
        }
    }

    #[test]
    fn a_prompt_shows_its_end_and_the_cursor() {
        let mut state = state_of(&[1.0]);
        for key in keys("s0123456789012345678901234567890123456789<left>") {
            state.key(key);
        }
        let mut terminal = screen(&mut state, 40, 8);
        assert!(rows(&terminal)[6].ends_with("3456789"), "{:?}", rows(&terminal));
        terminal.backend_mut().assert_cursor_position(Position { x: 39, y: 6 });
    }

    #[test]
    fn names_and_dates_are_shortened() {
        for (from, expected) in [
            ("Bob Baker <bob@x>", "Bob Baker"),
            ("\"Baker, Bob\" <bob@x>", "Baker, Bob"),
            ("<bob@x>", "bob@x"),
            ("bob@x", "bob@x"),
            ("", ""),
        ] {
            assert_eq!(sender(from.as_bytes(), true), expected);
        }
        for (line, expected) in [
            ("Date: Wed, 14 Jan 2004 10:00:00 +0100\n", "14 Jan 2004"),
            ("Date: 14 Jan 2004 10:00\n", "14 Jan 2004"),
            ("Date:\n", ""),
            ("", ""),
        ] {
            let entry = Entry { date: line.into(), ..Entry::default() };
            assert_eq!(date(&entry), expected);
        }
        assert_eq!(column("\u{65e5}\u{672c}x", 4), "\u{65e5}\u{672c}");
        assert_eq!(column("\u{65e5}\u{672c}x", 3), "\u{65e5} ");
    }
}
