// SPDX-License-Identifier: GPL-3.0-or-later
//! Groups of texts of which one was chosen, as JSON or as lines.

/// A line of a file of choices.
#[derive(Debug, PartialEq, Eq)]
pub enum GroupLine<'a> {
    /// A text of the group that is being read: `+TEXT` for the chosen one, `-TEXT` for another.
    Text {
        /// Whether it was chosen.
        chosen: bool,
        text: &'a [u8],
    },
    /// An empty line: the group ends.
    End,
    /// A whole group: `{"choices": ["text", ...], "chosen": 2}`, counted from 0; other members are
    /// ignored.
    Whole {
        choices: Vec<String>,
        /// The number of the chosen one.
        chosen: usize,
    },
}

/// Reads a line of a file of choices, without its end.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
