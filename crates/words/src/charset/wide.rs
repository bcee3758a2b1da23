// SPDX-License-Identifier: GPL-3.0-or-later
//! UTF-16 and UTF-32 whose byte order is to be found out, to UTF-16, big-endian.

/// Bytes by which the order is decided where there is no mark.
const SAMPLE: usize = 64;

/// The order of the bytes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The highest byte comes first.
    Big,
    /// The lowest byte comes first.
    Little,
}

/// The order by the mark that a text in UTF-16 begins with, or else the one in which most zero
/// bytes are the high ones. Without any it is big-endian (RFC 2781, 4.3).
fn order_of(sample: &[u8]) -> (Order, usize) {
    match sample {
        [0xFE, 0xFF, ..] => return (Order::Big, 2),
        [0xFF, 0xFE, ..] => return (Order::Little, 2),
        _ => {}
    }
    let zeros = |first: usize| sample.iter().skip(first).step_by(2).filter(|&&it| it == 0).count();
    (if zeros(1) > zeros(0) { Order::Little } else { Order::Big }, 0)
}

/// UTF-16 with a mark, or without one.
#[derive(Debug, Default)]
pub(crate) struct Utf16 {
    order: Option<Order>,
    /// Bytes before the order is known; then the first byte of a unit.
    held: Vec<u8>,
}

impl Utf16 {
    /// Appends what `bytes` stand for; with `is_last` the text ends.
    pub(crate) fn write_utf16(&mut self, bytes: &[u8], is_last: bool, output: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        if self.order.is_none() && self.held.len() < SAMPLE && !is_last {
            return;
        }
        let order = *self.order.get_or_insert_with(|| {
            let (order, mark) = order_of(&self.held[..self.held.len().min(SAMPLE)]);
            self.held.drain(..mark);
            order
        });
        let (units, rest) = self.held.as_chunks::<2>();
        for &[first, second] in units {
            let is_big = order == Order::Big;
            let unit = if is_big { [first, second] } else { [second, first] };
            output.extend_from_slice(&unit);
        }
        let rest = rest.to_vec();
        if is_last && !rest.is_empty() {
            output.extend_from_slice(&[0xFF, 0xFD]);
        }
        self.held = if is_last { Vec::new() } else { rest };
    }
}

/// UTF-32.
#[derive(Debug, Default)]
pub(crate) struct Utf32 {
    /// `None` where the first character says it: a mark, or whatever is a character in one order.
    order: Option<Order>,
    held: Vec<u8>,
}

impl Utf32 {
    /// Text whose order is known, or is to be found out.
    pub(crate) const fn new(order: Option<Order>) -> Self {
        Self { order, held: Vec::new() }
    }

    /// Appends what `bytes` stand for; with `is_last` the text ends.
    pub(crate) fn write_utf16(&mut self, bytes: &[u8], is_last: bool, output: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        let (units, rest) = self.held.as_chunks::<4>();
        for &unit in units {
            let is_little = char::from_u32(u32::from_be_bytes(unit)).is_none();
            let found = if is_little { Order::Little } else { Order::Big };
            let number = match *self.order.get_or_insert(found) {
                Order::Big => u32::from_be_bytes(unit),
                Order::Little => u32::from_le_bytes(unit),
            };
            if number == 0xFEFF {
                continue;
            }
            let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
            for unit in character.encode_utf16(&mut [0; 2]) {
                output.extend_from_slice(&unit.to_be_bytes());
            }
        }
        let rest = rest.to_vec();
        if is_last && !rest.is_empty() {
            output.extend_from_slice(&[0xFF, 0xFD]);
        }
        self.held = if is_last { Vec::new() } else { rest };
    }
}
