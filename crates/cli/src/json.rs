// SPDX-License-Identifier: GPL-3.0-or-later
//! JSON as the programs print it. It is written straight to a text, without a tree of values.

use std::fmt::Write;

/// A JSON text under construction. Commas are set as needed.
#[derive(Debug, Default)]
pub struct Json {
    text: String,
    needs_comma: bool,
}

impl Json {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object on a line of its own; `fill` writes its members.
    pub fn line(fill: impl FnOnce(&mut Self)) -> String {
        let mut json = Self::new();
        json.object(fill);
        json.text + "\n"
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }

    fn separate(&mut self) {
        if self.needs_comma {
            self.text.push(',');
        }
        self.needs_comma = true;
    }

    /// An object; `fill` writes its members.
    pub fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.enclose('{', '}', fill);
    }

    /// An array; `fill` writes its items.
    pub fn array(&mut self, fill: impl FnOnce(&mut Self)) {
        self.enclose('[', ']', fill);
    }

    fn enclose(&mut self, open: char, close: char, fill: impl FnOnce(&mut Self)) {
        self.separate();
        self.text.push(open);
        self.needs_comma = false;
        fill(self);
        self.text.push(close);
        self.needs_comma = true;
    }

    /// The name of the member that the next call writes.
    pub fn key(&mut self, name: &str) -> &mut Self {
        self.string(name);
        self.text.push(':');
        self.needs_comma = false;
        self
    }

    /// A string.
    pub fn string(&mut self, value: &str) {
        self.separate();
        self.text.push('"');
        for character in value.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\0'..='\x1f' | '\x7f' => {
                    // writing to a String cannot fail
                    let _ = write!(self.text, "\\u{:04x}", u32::from(character));
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }

    /// A number at full precision. JSON has no infinities: they become the strings `inf` and
    /// `-inf`, and what is not a number becomes null.
    pub fn number(&mut self, value: f64) {
        if value.is_finite() {
            self.separate();
            let _ = write!(self.text, "{value:?}");
        } else if value.is_nan() {
            self.separate();
            self.text.push_str("null");
        } else {
            self.string(if value > 0.0 { "inf" } else { "-inf" });
        }
    }

    /// Members that are numbers.
    pub fn members<const N: usize>(&mut self, members: [(&str, f64); N]) {
        for (name, value) in members {
            self.key(name).number(value);
        }
    }

    /// An array of an object for each of `items`; `fill` writes its members.
    pub fn objects<I: IntoIterator>(&mut self, items: I, fill: impl Fn(&mut Self, I::Item)) {
        self.array(|json| {
            items.into_iter().for_each(|item| json.object(|json| fill(json, item)));
        });
    }

    /// A value that is JSON already.
    pub fn raw(&mut self, json: &str) {
        self.separate();
        self.text.push_str(json);
    }

    /// A whole number.
    pub fn integer(&mut self, value: impl Into<i128>) {
        self.separate();
        let _ = write!(self.text, "{}", value.into());
    }

    /// An array of numbers.
    pub fn numbers(&mut self, values: &[f64]) {
        self.array(|json| {
            for &value in values {
                json.number(value);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_json() {
        let mut json = Json::new();
        json.object(|json| {
            json.key("a").string("x\"\\\n\u{1}é");
            json.key("b").numbers(&[1.0, -0.5, 1e300, f64::INFINITY, f64::NAN]);
            json.key("c").array(|json| {
                json.object(|_| {});
                json.integer(7_u8);
            });
        });
        assert_eq!(
            json.into_text(),
            "{\"a\":\"x\\\"\\\\\\n\\u0001é\",\"b\":[1.0,-0.5,1e300,\"inf\",null],\"c\":[{},7]}"
        );
    }
}
