// SPDX-License-Identifier: GPL-3.0-or-later
//! The interactive mode: a list of messages, with the words that speak for and against each (spec
//! tools 2.4).
//!
//! ```text
//! keys, mouse, size ─┐
//! index thread ──────┼→ State → Effect → terminal: pager, shell, search, category
//! evidence ──────────┘    └→ view
//! ```

mod areas;
mod commands;
mod prompt;
mod state;
mod terminal;
mod view;

pub(super) use terminal::{has_terminal, run};

/// Keys written as text: characters, and names in angle brackets.
#[cfg(test)]
fn keys(text: &str) -> Vec<ratatui::crossterm::event::KeyEvent> {
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first == '<' { rest.find('>').expect("closed") + 1 } else { first.len_utf8() };
        let (key, behind) = rest.split_at(end);
        rest = behind;
        let name = key.trim_matches(['<', '>']);
        let (modifiers, name) = match name.split_once('-') {
            Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
            Some(("meta", name)) => (KeyModifiers::ALT, name),
            _ => (KeyModifiers::NONE, name),
        };
        let code = match name {
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "pagedown" => KeyCode::PageDown,
            "pageup" => KeyCode::PageUp,
            "backspace" => KeyCode::Backspace,
            "delete" => KeyCode::Delete,
            "gt" => KeyCode::Char('>'),
            "lt" => KeyCode::Char('<'),
            "f1" => KeyCode::F(1),
            "f2" => KeyCode::F(2),
            _ => KeyCode::Char(name.chars().next().expect("a key")),
        };
        keys.push(KeyEvent::new(code, modifiers));
    }
    keys
}
