// SPDX-License-Identifier: GPL-3.0-or-later
//! Labels: which texts can be one.

/// Bytes of the longest label.
const LONGEST: usize = 200;

/// Why a text is not a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LabelFault {
    /// It is empty.
    #[error("the label is empty")]
    Empty,
    /// It is too long.
    #[error("the label is longer than 200 bytes")]
    TooLong,
    /// It holds a line end, a tab or another control character.
    #[error("the label holds a control character")]
    Control,
    /// It is not UTF-8.
    #[error("the label is not UTF-8")]
    NotUtf8,
}

/// The label that bytes spell.
///
/// # Errors
/// Why they spell none.
pub fn check(bytes: &[u8]) -> Result<&str, LabelFault> {
    let label = std::str::from_utf8(bytes).map_err(|_| LabelFault::NotUtf8)?;
    if label.is_empty() {
        return Err(LabelFault::Empty);
    }
    if label.len() > LONGEST {
        return Err(LabelFault::TooLong);
    }
    if label.chars().any(char::is_control) {
        return Err(LabelFault::Control);
    }
    Ok(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_text_without_control_characters() {
        assert_eq!(check("comp.os ms-windows/\u{e4}".as_bytes()), Ok("comp.os ms-windows/\u{e4}"));
        for (bytes, fault) in [
            (&b""[..], LabelFault::Empty),
            (b"a\tb", LabelFault::Control),
            (b"a\n", LabelFault::Control),
            (b"\xff", LabelFault::NotUtf8),
            (&[b'x'; 201], LabelFault::TooLong),
        ] {
            assert_eq!(check(bytes), Err(fault));
        }
    }
}
