// SPDX-License-Identifier: GPL-3.0-or-later
//! The fields of a message's header, for those who look for one of them.

/// The fields of the header of a message that begins with these bytes: the name of each, as it is
/// written, and what stands behind the colon, unfolded (RFC 5322, 2.2.3). Lines that are no field
/// are passed over.
pub fn header_fields(mail: &[u8]) -> impl Iterator<Item = (&[u8], Vec<u8>)> {
    let lines = mail.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut lines = lines.take_while(|line| !line.is_empty()).peekable();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let mut value = line[colon + 1..].to_vec();
            let goes_on = |line: &&[u8]| line.starts_with(b" ") || line.starts_with(b"\t");
            while let Some(more) = lines.next_if(goes_on) {
                value.extend_from_slice(more);
            }
            return Some((&line[..colon], value));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_unfolded_and_end_with_the_header() {
        let mail = b"no field\nTo: a,\r\n b\n\tc\nSubject:x: y\r\n\r\nFrom: d\n";
        let found: Vec<(&[u8], Vec<u8>)> = header_fields(mail).collect();
        let expected: [(&[u8], Vec<u8>); 2] =
            [(b"To", b" a, b\tc".to_vec()), (b"Subject", b"x: y".to_vec())];
        assert_eq!(found, expected);
        assert_eq!(header_fields(b"").count(), 0);
    }
}
