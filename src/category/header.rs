// SPDX-License-Identifier: GPL-3.0-or-later
//! The text header of a category file: printing and parsing.

use super::layout::{HEADER_END, LINE_LIMIT, MAGIC, UNICODE_MAGIC};
use crate::model::medium::MEDIA;
use crate::model::moments::Moments;
use crate::model::settings::{ModelOptions, Scheme};
use dbacl_numeric::cformat;
use dbacl_numeric::parse;

/// The numbers of a category file's header.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// Whether only the reference measure was learned (`-r`).
    pub reference_only: bool,
    /// Divergence from the reference measure, nats.
    pub divergence: f64,
    /// log Z of the highest order, nats.
    pub log_partition: f64,
    /// Highest order of the features, at least 1.
    pub max_order: u8,
    /// Whether features count independently of their order.
    pub multinomial: bool,
    /// Bits of the table's size.
    pub bits: u8,
    /// Occurrences learned, those that found no room included.
    pub features: u64,
    /// Features in the table.
    pub unique_features: u32,
    /// Documents learned.
    pub documents: u32,
    /// Document statistics.
    pub moments: Moments,
    /// Negative log mass by medium, nats. Not read back.
    pub log_masses: [f64; MEDIA],
    /// The option word.
    pub options: ModelOptions,
    /// The tokenizing scheme; `None` where a file says 0.
    pub scheme: Option<Scheme>,
}

/// Why bytes are not a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The first line is not that of a category file of this version.
    Foreign,
    /// The line of the header with this number in messages of dbacl 1.14.1 cannot be read, or has
    /// an impossible value.
    Line(u8),
    /// The digram table is cut short.
    Digrams,
    /// The slots are cut short.
    Slots,
}

/// The largest absolute value of the log-partition, nats, that a category can have: 7 orders of
/// features whose weights are at most 65535/32. A damaged value such as 1e30 would win or lose
/// every comparison.
const MAX_LOG_PARTITION: f64 = 7.0 * 2048.0;

/// A parsed header: the numbers, the stored expressions, and where the binary part begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedHeader {
    /// The numbers.
    pub header: Header,
    /// Texts of the `# regex` lines, `EXPRESSION||DIGITS`.
    pub patterns: Vec<Vec<u8>>,
    /// Offset of the digram table, bytes.
    pub length: usize,
}

impl Header {
    /// The beginning of the first line: that of dbacl 1.14.1, or, if dbacl 1.14.1 would read text
    /// in another way than these settings ask for, one that it refuses.
    pub(crate) fn magic(&self) -> &'static [u8] {
        let scheme = self.scheme.unwrap_or(Scheme::Alpha);
        if self.options.read_unicode(scheme) { UNICODE_MAGIC } else { MAGIC }
    }

    /// Writes the header lines 1 to 6: everything before the expressions (spec model 9.1).
    pub(crate) fn write_numbers(&self, out: &mut Vec<u8>, name: &[u8]) {
        let float = |out: &mut Vec<u8>, label: &str, value: f64| {
            out.extend_from_slice(label.as_bytes());
            cformat::fixed(out, value, 0, 6);
        };
        // dbacl 1.14.1 prints its counts as signed numbers of 32 bits.
        let integer = |out: &mut Vec<u8>, label: &str, value: u64| {
            out.extend_from_slice(label.as_bytes());
            #[allow(clippy::cast_possible_truncation)] // counts have 32 bits
            cformat::decimal(out, i64::from(value as i32), 0);
        };
        out.extend_from_slice(self.magic());
        out.push(b' ');
        out.extend_from_slice(name);
        out.extend_from_slice(if self.reference_only { b" (ref)\n" } else { b" \n" });
        float(out, "# entropy ", self.divergence);
        float(out, " logZ ", self.log_partition);
        integer(out, " max_order ", self.max_order.into());
        let kind: &[u8] = if self.multinomial { b"multinomial" } else { b"hierarchical" };
        out.extend_from_slice(b" type ");
        out.extend_from_slice(kind);
        integer(out, "\n# hash_size ", self.bits.into());
        integer(out, " features ", self.features);
        integer(out, " unique_features ", self.unique_features.into());
        integer(out, " documents ", self.documents.into());
        float(out, "\n# shannon ", self.moments.shannon);
        float(out, " shannon_s2 ", self.moments.shannon_variance);
        float(out, "\n# alpha ", self.moments.alpha);
        float(out, " beta ", self.moments.beta);
        float(out, " mu ", self.moments.mu);
        float(out, " s2 ", self.moments.variance);
        out.extend_from_slice(b"\n# medialp ");
        for mass in self.log_masses {
            cformat::fixed(out, mass, 0, 6);
            out.push(b' ');
        }
        out.push(b'\n');
    }

    /// Writes the lines after the numbers: expressions, options and the end mark.
    pub(crate) fn write_settings(&self, out: &mut Vec<u8>, patterns: &[Vec<u8>]) {
        for pattern in patterns {
            out.extend_from_slice(b"# regex ");
            out.extend_from_slice(pattern);
            out.push(b'\n');
        }
        let scheme = self.scheme.unwrap_or(Scheme::Alpha);
        let line = format!(
            "# options {} {} 0 ({})\n",
            self.options.bits().cast_signed(),
            scheme as u8,
            self.options.names(scheme)
        );
        out.extend_from_slice(line.as_bytes());
        out.extend_from_slice(HEADER_END);
    }

    /// The whole header, with these expressions.
    pub(crate) fn text(&self, name: &[u8], patterns: &[Vec<u8>]) -> Vec<u8> {
        let mut text = Vec::new();
        self.write_numbers(&mut text, name);
        self.write_settings(&mut text, patterns);
        text
    }

    /// Reads a header from the beginning of `bytes`.
    ///
    /// # Errors
    /// The line that cannot be read. Sizes are checked for plausibility, not against the file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<ParsedHeader, Fault> {
        let mut lines = Lines { bytes, at: 0 };
        let first = lines.next().unwrap_or_default();
        if ![MAGIC, UNICODE_MAGIC].iter().any(|magic| first.starts_with(magic)) {
            return Err(Fault::Foreign);
        }
        let mut header = Self {
            reference_only: first.strip_suffix(b"\n").unwrap_or(first).ends_with(b" (ref)"),
            ..Self::default()
        };
        lines.numbers(2, |scan| {
            header.divergence = scan.text("# entropy").float()?;
            header.log_partition = scan.text(" logZ").float()?;
            let max_order = u8::try_from(scan.text(" max_order").integer()?).ok();
            header.max_order = max_order.filter(|order| (1..8).contains(order))?;
            header.multinomial = scan.text(" type").word()?.starts_with(b"m");
            // Written so that a NaN fails, too.
            (header.log_partition.abs() <= MAX_LOG_PARTITION).then_some(())
        })?;
        lines.numbers(3, |scan| {
            let bits = u8::try_from(scan.text("# hash_size").integer()?).ok();
            header.bits = bits.filter(|&bits| bits <= 30)?;
            header.features = wrap(scan.text(" features").integer()?).into();
            header.unique_features = wrap(scan.text(" unique_features").integer()?);
            header.documents = wrap(scan.text(" documents").integer()?);
            Some(())
        })?;
        let moments = &mut header.moments;
        lines.numbers(8, |scan| {
            moments.shannon = scan.text("# shannon").float()?;
            moments.shannon_variance = scan.text(" shannon_s2").float()?;
            Some(())
        })?;
        lines.numbers(10, |scan| {
            moments.alpha = scan.text("# alpha").float()?;
            moments.beta = scan.text(" beta").float()?;
            moments.mu = scan.text(" mu").float()?;
            moments.variance = scan.text(" s2").float()?;
            Some(())
        })?;
        let mut patterns = Vec::new();
        for line in lines.by_ref() {
            if line.starts_with(HEADER_END) {
                break;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            if let Some(pattern) = text.strip_prefix(b"# regex ") {
                patterns.push(pattern.to_vec());
            } else if let Some(options) = text.strip_prefix(b"# options ") {
                let mut scan = Scan(options);
                if let (Some(bits), Some(scheme), Some(_), Some(_)) =
                    (scan.integer(), scan.integer(), scan.integer(), scan.text(" (").word())
                {
                    header.options = ModelOptions::from_bits(wrap(bits));
                    header.scheme = Scheme::by_number(scheme);
                }
            }
        }
        // A first line that does not suit the settings is invalid.
        if !first.starts_with(header.magic()) {
            return Err(Fault::Foreign);
        }
        Ok(ParsedHeader { header, patterns, length: lines.at })
    }
}

/// The low 32 bits: numbers are printed signed and counted unsigned.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // wrapping is the format
const fn wrap(number: i64) -> u32 {
    number as u32
}

/// Lines with their ends, in pieces of at most [`LINE_LIMIT`] bytes.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let window = &rest[..rest.len().min(LINE_LIMIT)];
        let end = window.iter().position(|&byte| byte == b'\n').map_or(window.len(), |at| at + 1);
        self.at += end;
        (end > 0).then_some(&window[..end])
    }
}

impl<'a> Lines<'a> {
    /// Reads the next line, which messages call by this number.
    fn numbers(
        &mut self,
        number: u8,
        read: impl FnOnce(&mut Scan<'a>) -> Option<()>,
    ) -> Result<(), Fault> {
        read(&mut Scan(self.next().unwrap_or_default())).ok_or(Fault::Line(number))
    }
}

/// Reads a line as C's `scanf` does: blanks match any white space, other text itself.
struct Scan<'a>(&'a [u8]);

impl<'a> Scan<'a> {
    fn skip_blanks(&mut self) {
        let blanks = self.0.iter().take_while(|&&byte| crate::token::class::is_space(byte));
        self.0 = &self.0[blanks.count()..];
    }

    /// Passes over `text`; what follows a mismatch reads as nothing.
    fn text(&mut self, text: &str) -> &mut Self {
        for &expected in text.as_bytes() {
            if expected == b' ' {
                self.skip_blanks();
            } else if self.0.first() == Some(&expected) {
                self.0 = &self.0[1..];
            } else {
                self.0 = &[];
            }
        }
        self
    }

    fn float(&mut self) -> Option<f64> {
        self.skip_blanks();
        let (value, length) = parse::strtod(self.0);
        self.0 = &self.0[length..];
        (length > 0).then_some(value)
    }

    fn integer(&mut self) -> Option<i64> {
        self.skip_blanks();
        let (value, length) = parse::strtol(self.0, 10);
        self.0 = &self.0[length..];
        (length > 0).then_some(value)
    }

    fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let length =
            self.0.iter().take_while(|&&byte| !crate::token::class::is_space(byte)).count();
        let (word, rest) = self.0.split_at(length);
        self.0 = rest;
        (length > 0).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings::ModelOption;

    fn example() -> Header {
        Header {
            divergence: 20.449,
            log_partition: -1.5,
            max_order: 3,
            bits: 15,
            features: 678,
            unique_features: 282,
            moments: Moments { alpha: f64::INFINITY, ..Moments::default() },
            log_masses: [2.772589; MEDIA],
            options: ModelOptions::default()
                .with(ModelOption::Text)
                .with(ModelOption::MailTHeaders),
            scheme: Some(Scheme::Cef),
            ..Header::default()
        }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let header = example();
        let patterns = vec![b"([a-z]+)||123456789".to_vec()];
        let mut text = header.text(b"dir/name", &patterns);
        let length = text.len();
        text.extend_from_slice(b"\x00\x01binary");
        let parsed = Header::parse(&text).unwrap();
        assert_eq!(parsed.length, length);
        assert_eq!(parsed.patterns, patterns);
        assert_eq!(parsed.header, Header { log_masses: [0.0; MEDIA], ..header });
    }

    #[test]
    fn what_dbacl_1_14_1_would_misread_begins_with_another_line() {
        let mut header = example();
        let written = |header: &Header| header.text(b"x", &[]);
        assert!(written(&header).starts_with(MAGIC));
        header.options.insert(ModelOption::MailUnicode);
        let text = written(&header);
        assert!(text.starts_with(b"# dbacl 1.15 dlw unicode category x \n"));
        assert_eq!(Header::parse(&text).unwrap().header.options, header.options);
        // Each first line is refused with the settings of the other.
        for (one, other) in [(UNICODE_MAGIC, MAGIC), (MAGIC, UNICODE_MAGIC)] {
            let settings = if one == MAGIC { written(&example()) } else { text.clone() };
            let false_line = [other, settings.strip_prefix(one).unwrap()].concat();
            assert_eq!(Header::parse(&false_line).unwrap_err(), Fault::Foreign);
        }
    }

    #[test]
    fn faults_carry_the_number_of_their_line() {
        let text = String::from_utf8(example().text(b"x", &[])).unwrap();
        for (from, to, fault) in [
            ("1.14.1", "1.14", Fault::Foreign),
            ("max_order 3", "max_order x", Fault::Line(2)),
            ("max_order 3", "max_order 8", Fault::Line(2)),
            ("logZ -1.500000", "logZ -1e30", Fault::Line(2)),
            ("logZ -1.500000", "logZ 20000", Fault::Line(2)),
            ("logZ -1.500000", "logZ nan", Fault::Line(2)),
            ("logZ -1.500000", "logZ -inf", Fault::Line(2)),
            ("hash_size 15", "hash_size 40", Fault::Line(3)),
            ("# shannon", "# shannan", Fault::Line(8)),
            ("beta", "bete", Fault::Line(10)),
        ] {
            let damaged = text.replacen(from, to, 1);
            assert_eq!(Header::parse(damaged.as_bytes()), Err(fault), "{from} -> {to}");
        }
    }
}
