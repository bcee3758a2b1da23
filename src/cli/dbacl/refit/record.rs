// SPDX-License-Identifier: GPL-3.0-or-later
//! Labelled documents as lines of JSON: `{"label": "ham", "text": "..."}`, other members ignored; and
//! groups of texts of which one was chosen, as JSON or as lines.

/// The members `label` and `text` of a JSON object.
///
/// # Errors
/// What is wrong with the line, for people.
pub fn label_and_text(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
    let mut scan = Scan { bytes: line, at: 0 };
    let (mut label, mut text) = (None, None);
    scan.expect(b'{')?;
    if !scan.takes(b'}') {
        loop {
            let name = scan.string()?;
            scan.expect(b':')?;
            match name.as_slice() {
                b"label" => label = Some(scan.string()?),
                b"text" => text = Some(scan.string()?),
                _ => scan.skip_value()?,
            }
            if !scan.takes(b',') {
                scan.expect(b'}')?;
                break;
            }
        }
    }
    scan.blanks();
    if scan.at < line.len() {
        return Err(scan.fault("text behind the object"));
    }
    Ok((label.ok_or("no label")?, text.ok_or("no text")?))
}

/// A line of a file of choices.
#[derive(Debug, PartialEq, Eq)]
pub enum GroupLine<'a> {
    /// A text of the group that is being read: `+TEXT` for the chosen one, `-TEXT` for another.
    Text {
        /// Whether it was chosen.
        chosen: bool,
        /// The text.
        text: &'a [u8],
    },
    /// An empty line: the group ends.
    End,
    /// A whole group: `{"choices": ["text", ...], "chosen": 2}`, counted from 0; other members are
    /// ignored.
    Whole {
        /// The texts.
        choices: Vec<String>,
        /// The number of the chosen one.
        chosen: usize,
    },
}

/// Reads a line of a file of choices, without its end.
///
/// # Errors
/// What is wrong with the line, for people.
pub fn group_line(line: &[u8]) -> Result<GroupLine<'_>, String> {
    match line.trim_ascii_start().first() {
        None => Ok(GroupLine::End),
        Some(b'{') => whole_group(line),
        _ => match line {
            [mark @ (b'+' | b'-'), text @ ..] => {
                Ok(GroupLine::Text { chosen: *mark == b'+', text })
            }
            _ => Err("a text begins with + or -, a group of JSON with {".into()),
        },
    }
}

fn whole_group(line: &[u8]) -> Result<GroupLine<'static>, String> {
    let value: serde_json::Value =
        serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    let texts = value.get("choices").and_then(|choices| choices.as_array());
    let texts = texts.ok_or("no list of choices")?;
    let choices: Option<Vec<String>> =
        texts.iter().map(|text| text.as_str().map(str::to_owned)).collect();
    let choices = choices.ok_or("a choice is not a text")?;
    let chosen = value.get("chosen").and_then(serde_json::Value::as_u64);
    let chosen = chosen.ok_or("chosen is not a number")?;
    let chosen = usize::try_from(chosen).ok().filter(|&chosen| chosen < choices.len());
    let chosen = chosen.ok_or("chosen is not the number of a choice, counted from 0")?;
    Ok(GroupLine::Whole { choices, chosen })
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn fault(&self, what: &str) -> String {
        format!("{what} at byte {}", self.at + 1)
    }

    fn blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.takes(byte) {
            return Ok(());
        }
        Err(self.fault(&format!("not JSON: {} is missing", char::from(byte))))
    }

    fn string(&mut self) -> Result<Vec<u8>, String> {
        self.expect(b'"')?;
        let mut text = Vec::new();
        loop {
            let &byte = self.bytes.get(self.at).ok_or_else(|| self.fault("unfinished string"))?;
            self.at += 1;
            match byte {
                b'"' => return Ok(text),
                b'\\' => {
                    let character = self.escape()?;
                    // Zero bytes end lines elsewhere; here they separate words.
                    let character = if character == '\0' { ' ' } else { character };
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                0 => text.push(b' '),
                _ => text.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let &byte = self.bytes.get(self.at).ok_or_else(|| self.fault("unfinished string"))?;
        self.at += 1;
        Ok(match byte {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'"' | b'\\' | b'/' => char::from(byte),
            b'u' => {
                let high = self.hexadecimal()?;
                if (0xd800..0xdc00).contains(&high) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hexadecimal()?;
                    let pair = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
                    char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER)
                } else {
                    char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER)
                }
            }
            _ => return Err(self.fault("unknown escape")),
        })
    }

    fn hexadecimal(&mut self) -> Result<u32, String> {
        let digits = self.bytes.get(self.at..self.at + 4);
        let number = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        number.ok_or_else(|| self.fault("bad escape"))
    }

    /// Passes over a value of any kind; brackets are counted, not nested calls.
    fn skip_value(&mut self) -> Result<(), String> {
        let mut depth = 0u32;
        loop {
            self.blanks();
            match self.bytes.get(self.at) {
                None => return Err(self.fault("unfinished object")),
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b'}' | b']' | b',' | b':') if depth == 0 => {
                    return Err(self.fault("a value is missing"));
                }
                Some(b',' | b':') => self.at += 1,
                Some(_) => {
                    let rest = &self.bytes[self.at..];
                    let ends = |byte: &u8| b",:{}[]\"".contains(byte) || byte.is_ascii_whitespace();
                    self.at += rest.iter().position(ends).unwrap_or(rest.len());
                }
            }
            self.blanks();
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records() {
        for (line, expected) in [
            (r#"{"label":"a","text":"b c"}"#, Ok(("a", "b c"))),
            (r#" { "text" : "x\ny\u00e9\ud83d\ude00\"" , "label":"l" } "#, Ok(("l", "x\nyé😀\""))),
            (r#"{"id":[1,{"a":"}"}],"n":-1.5e3,"t":null,"label":"a","text":""}"#, Ok(("a", ""))),
            (r#"{"label":"a"}"#, Err("no text")),
            (r"{}", Err("no label")),
            (r#"{"label":"a","text":"b"#, Err("unfinished string at byte 23")),
            (r#"{"label":"a","text":"b"} x"#, Err("text behind the object at byte 26")),
            (r#"{"a":,"text":"b"}"#, Err("a value is missing at byte 6")),
            (r#"{"text":"\u12"}"#, Err("bad escape at byte 16")),
            (r"label", Err("not JSON: { is missing at byte 1")),
        ] {
            let found = label_and_text(line.as_bytes());
            let expected = expected
                .map(|(label, text)| (label.as_bytes().to_vec(), text.as_bytes().to_vec()))
                .map_err(str::to_owned);
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn groups_of_choices() {
        let whole = |choices: &[&str], chosen| {
            let choices = choices.iter().map(|&text| text.to_owned()).collect();
            Ok(GroupLine::Whole { choices, chosen })
        };
        for (line, expected) in [
            ("", Ok(GroupLine::End)),
            (" \t", Ok(GroupLine::End)),
            ("+a b", Ok(GroupLine::Text { chosen: true, text: b"a b" })),
            ("-", Ok(GroupLine::Text { chosen: false, text: b"" })),
            (r#"{"choices":["a","b\u00e9"],"id":7,"chosen":1}"#, whole(&["a", "bé"], 1)),
            (r#" {"choices":["a"],"chosen":0}"#, whole(&["a"], 0)),
            (
                r#"{"choices":["a"],"chosen":1}"#,
                Err("chosen is not the number of a choice, counted from 0"),
            ),
            (r#"{"choices":["a"]}"#, Err("chosen is not a number")),
            (r#"{"choices":["a"],"chosen":-1}"#, Err("chosen is not a number")),
            (r#"{"choices":"a","chosen":0}"#, Err("no list of choices")),
            (r#"{"choices":[1],"chosen":0}"#, Err("a choice is not a text")),
            ("a", Err("a text begins with + or -, a group of JSON with {")),
        ] {
            let expected = expected.map_err(str::to_owned);
            assert_eq!(group_line(line.as_bytes()), expected, "{line}");
        }
        let cut = group_line(br#"{"choices":["a""#);
        assert!(cut.is_err_and(|text| text.starts_with("not JSON: ")));
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let line = format!("{{\"a\":{}", "[".repeat(1_000_000));
        assert!(label_and_text(line.as_bytes()).is_err());
    }
}
