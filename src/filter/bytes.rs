// SPDX-License-Identifier: GPL-3.0-or-later
//! Comparing and searching bytes without regard to ASCII case.

/// Whether `line` begins with `prefix`, whatever the case of ASCII letters.
pub(super) fn starts_with_ci(line: &[u8], prefix: &[u8]) -> bool {
    strip_prefix_ci(line, prefix).is_some()
}

/// What follows `prefix` in `line`, if it begins with it, whatever the case of ASCII letters.
pub(super) fn strip_prefix_ci<'a>(line: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Whether `line` ends with `suffix`, whatever the case of ASCII letters.
pub(super) fn ends_with_ci(line: &[u8], suffix: &[u8]) -> bool {
    line.len()
        .checked_sub(suffix.len())
        .is_some_and(|start| line[start..].eq_ignore_ascii_case(suffix))
}

/// Where `needle`, a short word that begins with a letter or digit, occurs first in `line`,
/// whatever the case. Linear in `line`: candidates are the places of the needle's first byte.
pub(super) fn find_ci(line: &[u8], needle: &[u8]) -> Option<usize> {
    let &first = needle.first()?;
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), line)
        .find(|&at| starts_with_ci(&line[at..], needle))
}

/// Where the parameter name `name`, which ends in `=`, occurs first in `line`, whatever the case.
/// Equal signs are rare in headers, so these are the candidates.
pub(super) fn find_parameter(line: &[u8], name: &[u8]) -> Option<usize> {
    debug_assert_eq!(name.last(), Some(&b'='));
    memchr::memchr_iter(b'=', line)
        .find(|&equals| ends_with_ci(&line[..=equals], name))
        .map(|equals| equals + 1 - name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_at_their_first_place() {
        for (line, needle, expected) in [
            ("a Base64 base64", "base64", Some(2)),
            ("bbbase64", "base64", Some(2)),
            ("base6", "base64", None),
            ("", "x", None),
        ] {
            assert_eq!(find_ci(line.as_bytes(), needle.as_bytes()), expected, "{line}");
        }
        for (line, expected) in
            [("x=1; filename=a; name=b", Some(9)), ("NaMe=", Some(0)), ("ame=", None), ("=", None)]
        {
            assert_eq!(find_parameter(line.as_bytes(), b"name="), expected, "{line}");
        }
    }
}
