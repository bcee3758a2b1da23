// SPDX-License-Identifier: GPL-3.0-or-later
//! How the screen is divided.

use ratatui::layout::Rect;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Areas {
    /// What is shown.
    pub title: Rect,
    /// The messages.
    pub list: Rect,
    /// The highlighted message, if there is room.
    pub preview: Option<Rect>,
    /// What happened, or the line being typed.
    pub notice: Rect,
    /// The keys.
    pub help: Rect,
}

/// Least width for a preview beside the list, and least height for one below it.
const WIDE: u16 = 132;
const HIGH: u16 = 14;

/// Divides the screen.
pub(super) fn areas(area: Rect, has_preview: bool) -> Areas {
    let row = |y: u16| Rect { y: area.y + y, height: 1, ..area }.intersection(area);
    let height = area.height;
    let body = Rect { y: area.y + 1, height: height.saturating_sub(3), ..area }.intersection(area);
    let (mut list, mut preview) = (body, None);
    if has_preview && area.width >= WIDE {
        list.width = body.width / 2;
        preview = Some(Rect { x: body.x + list.width, width: body.width - list.width, ..body });
    } else if has_preview && height >= HIGH {
        list.height = body.height * 2 / 5;
        let rest = body.height - list.height;
        preview = Some(Rect { y: body.y + list.height, height: rest, ..body });
    }
    Areas {
        title: row(0),
        list,
        preview,
        notice: row(height.saturating_sub(2).max(1)),
        help: row(height.saturating_sub(1).max(2)),
    }
}
