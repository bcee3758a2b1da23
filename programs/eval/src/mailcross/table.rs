// SPDX-License-Identifier: GPL-3.0-or-later
//! Tables of recall and precision from the log of a run (spec tools 3.4).

use std::collections::HashMap;

use dbacl::measures::confusion::Confusion;
use dbacl_numeric::cformat;
use dbacl_numeric::elementary::real;

/// First line of a log.
pub(super) const LOG_TITLE: &str = "# location | true | predicted | from\n";
/// Verdict of a filter that gave none. It is an error, whatever the true category.
pub(super) const NO_VERDICT: &str = "?";

/// One line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogEntry<'a> {
    /// Fold or repetition.
    pub fold: &'a [u8],
    /// The true category.
    pub truth: &'a [u8],
    /// The verdict.
    pub predicted: &'a [u8],
}

/// The entries of a log with their whole lines; comments and empty lines are skipped.
pub(super) fn entries(log: &[u8]) -> impl Iterator<Item = (LogEntry<'_>, &[u8])> {
    log.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"#")).filter_map(|line| {
        let mut fields =
            line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
        let fold = fields.next()?;
        let truth = fields.next()?;
        let predicted = fields.next().unwrap_or(NO_VERDICT.as_bytes());
        Some((LogEntry { fold, truth, predicted }, line))
    })
}

/// Counts of true and predicted categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tables {
    categories: Vec<Vec<u8>>,
    counts: Confusion,
    /// Messages of known categories without a verdict.
    undecided: usize,
}

impl Tables {
    /// Counts a log for these categories, in their order.
    pub(super) fn count(log: &[u8], categories: Vec<Vec<u8>>) -> Self {
        let (mut counts, mut undecided) = (Confusion::new(categories.len()), 0);
        let names = categories.iter().enumerate();
        let index: HashMap<&[u8], usize> = names.map(|(at, name)| (name.as_slice(), at)).collect();
        for (entry, _) in entries(log) {
            let [truth, predicted] =
                [entry.truth, entry.predicted].map(|name| index.get(name).copied());
            counts.add(truth, predicted);
            let is_undecided = truth.is_some() && entry.predicted == NO_VERDICT.as_bytes();
            undecided += usize::from(is_undecided);
        }
        Self { categories, counts, undecided }
    }

    /// Both tables and the total, as text. Shares of nothing are `n/a`.
    pub(super) fn print(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(
            b"Where do misclassifications go?\n(numbers on diagonal represent \"recall\")\n\n",
        );
        out.extend_from_slice(b"  true     | but predicted as...\n");
        self.heading(&mut out);
        for (truth, name) in self.categories.iter().enumerate() {
            row_label(&mut out, name);
            let counts = self.counts.row(truth);
            for &count in &counts[..self.categories.len()] {
                share(&mut out, count, counts.iter().sum(), 10);
            }
            out.push(b'\n');
        }
        out.extend_from_slice(
            b"\nWhat is really in each category after prediction?\n\
              (numbers on diagonal represent \"precision\")\n\n",
        );
        out.extend_from_slice(b"category   | contains mixture of...\n");
        self.heading(&mut out);
        for (predicted, name) in self.categories.iter().enumerate() {
            row_label(&mut out, name);
            for counts in self.counts.rows() {
                share(&mut out, counts[predicted], self.counts.called(predicted), 10);
            }
            out.push(b'\n');
        }
        out.extend_from_slice(b"\nTotal correct classifications: ");
        let own = |counts: &[usize]| counts[..self.categories.len()].iter().sum::<usize>();
        let all = self.counts.rows().map(own).sum::<usize>() + self.undecided;
        share(&mut out, self.counts.right(), all, 10);
        out.extend_from_slice(b"\n\n");
        out
    }

    fn heading(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"    *      | ");
        for name in &self.categories {
            cformat::text(out, name, 10);
        }
        out.push(b'\n');
    }
}

fn row_label(out: &mut Vec<u8>, name: &[u8]) {
    cformat::text_left(out, name, 10);
    out.extend_from_slice(b" | ");
}

/// `part` of `whole` in percent, in a field of `width` bytes.
fn share(out: &mut Vec<u8>, part: usize, whole: usize, width: usize) {
    if whole == 0 {
        return cformat::text(out, b"n/a", width);
    }
    cformat::fixed(out, 100.0 * real(part) / real(whole), width - 1, 2);
    out.push(b'%');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(log: &str, categories: &[&str]) -> String {
        let categories = categories.iter().map(|name| name.as_bytes().to_vec()).collect();
        String::from_utf8(Tables::count(log.as_bytes(), categories).print()).expect("text")
    }

    #[test]
    fn shares_are_of_rows_and_of_columns() {
        let log = "# title\n0 a a x\n0 a b x\n\n1 b b x\n0 a a x\n1 c a x\n";
        let text = print(log, &["a", "b"]);
        for line in [
            "    *      |          a         b",
            "a          |     66.67%    33.33%",
            "b          |      0.00%   100.00%",
            // of three messages called a, one is of an unknown category
            "a          |     66.67%     0.00%",
            "b          |     50.00%    50.00%",
            "Total correct classifications:     75.00%",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn missing_verdicts_are_errors() {
        let text = print("0 a a x\n0 a ? x\n", &["a"]);
        assert!(text.contains("a          |     50.00%"), "{text}");
        assert!(text.ends_with("Total correct classifications:     50.00%\n\n"), "{text}");
        assert!(print("", &["a"]).contains("a          |        n/a"));
    }

    #[test]
    fn entries_are_split_at_blanks() {
        let log = b"# x\n0 good junk a@b Mon  5\n\n3 good\n";
        let all: Vec<_> = entries(log).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].0.predicted, b"junk");
        assert_eq!(all[0].1, b"0 good junk a@b Mon  5");
        assert_eq!(all[1].0.predicted, b"?");
    }
}
