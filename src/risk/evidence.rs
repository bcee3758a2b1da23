// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the lines of a scored document: its scores, the rows that apply, and the numbers that
//! their conditions captured (spec tools 1.5, 1.6).

use super::decide::{LossMatrix, Scores};
use super::expression::{self, Values};
use super::parse::{Specification, SyntaxError};
use crate::model::settings::Locale;
use crate::token::pattern::{Expression, Syntax};
use dbacl_numeric::parse::strtod;

/// Groups of a condition whose text is read as a number.
const GROUPS: usize = 8;

/// What was found in a line, for the trace of `-D`.
#[derive(Debug, PartialEq)]
pub(crate) enum Observation<'a> {
    /// A condition matched; the numbers of its groups up to the first that took no part.
    Match {
        /// The condition as written.
        condition: &'a [u8],
        /// The captured numbers.
        values: &'a [f64],
    },
    /// A score line was read; these are the scores now.
    Scores(&'a Scores),
}

/// Why no decision is possible for the document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The score line's last group is not complete.
    #[error("scores in wrong format")]
    Format,
    /// A score line names other categories, or more of them.
    #[error("scores don't match risk specification")]
    Mismatch,
}

/// Why the loss matrix cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoLosses {
    /// A loss is not a number, which is what negative ones become. Indices of the true category and
    /// of the decision.
    Negative(usize, usize),
    /// The formulas of this row cannot be read.
    Syntax(usize, SyntaxError),
}

/// What the lines of a document so far contained.
#[derive(Debug)]
pub(crate) struct CapturedRows<'s> {
    specification: &'s Specification,
    conditions: Vec<RowState>,
    scores: Scores,
    has_scores: bool,
}

#[derive(Debug)]
struct RowState {
    /// `None` for the empty condition and for one that does not compile.
    condition: Option<Expression>,
    applies: bool,
    captured: [f64; GROUPS],
}

impl<'s> CapturedRows<'s> {
    /// Compiles the conditions of `specification`. One that cannot be compiled never applies;
    /// `refuse` hears of it.
    pub(crate) fn new(
        specification: &'s Specification,
        locale: Locale,
        mut refuse: impl FnMut(&[u8]),
    ) -> Self {
        let state = |row: &super::parse::Row| {
            let text = row.condition.as_slice();
            let condition = Expression::new(text, Syntax::Extended, locale).ok();
            let (condition, applies) = (condition.filter(|_| !text.is_empty()), text.is_empty());
            if condition.is_none() && !applies {
                refuse(text);
            }
            RowState { condition, applies, captured: [0.0; GROUPS] }
        };
        Self {
            specification,
            conditions: specification.rows.iter().map(state).collect(),
            scores: Scores::zero(specification.categories.len()),
            has_scores: false,
        }
    }

    /// Takes in one line, newline included; what follows a NUL byte is not seen.
    ///
    /// # Errors
    /// If it is a score line that does not fit the specification.
    pub(crate) fn line(
        &mut self,
        line: &[u8],
        observe: &mut dyn FnMut(Observation<'_>),
    ) -> Result<(), Unreadable> {
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        if line.starts_with(b"# score") {
            self.score_line(line)?;
            self.has_scores = true;
            observe(Observation::Scores(&self.scores));
        } else {
            self.document_line(line, observe);
        }
        Ok(())
    }

    /// Takes in the lines that dbacl 1.14.1 adds to the end of each file: an empty one if the
    /// last line had its newline or there was none, then two of CR and LF.
    pub(crate) fn end_of_file(&mut self, complete: bool, observe: &mut dyn FnMut(Observation<'_>)) {
        if complete {
            self.document_line(b"", observe);
        }
        self.document_line(b"\r\n", observe);
        self.document_line(b"\r\n", observe);
    }

    /// Takes in one line of a document that has no score lines.
    pub(crate) fn document_line(&mut self, line: &[u8], observe: &mut dyn FnMut(Observation<'_>)) {
        for category in 0..self.specification.categories.len() {
            for row in self.specification.rows_of(category) {
                let state = &mut self.conditions[row];
                let mut groups = [None; GROUPS + 1];
                let Some(condition) = &mut state.condition else { continue };
                if !condition.captures(line, 0, true, &mut groups) {
                    continue;
                }
                state.applies = true;
                for (value, group) in state.captured.iter_mut().zip(groups) {
                    let text = group.and_then(|(start, _)| line.get(start..)).unwrap_or_default();
                    *value = strtod(text).0;
                }
                let taken = groups[..GROUPS].iter().take_while(|group| group.is_some()).count();
                observe(Observation::Match {
                    condition: &self.specification.rows[row].condition,
                    values: &state.captured[..taken],
                });
            }
        }
    }

    /// `# scores NAME CROSS_ENTROPY * COMPLEXITY ...`
    fn score_line(&mut self, line: &[u8]) -> Result<(), Unreadable> {
        let is_mark = |byte: &u8| matches!(byte, b' ' | b'\n' | b'#');
        let start = line.iter().position(|byte| !is_mark(byte)).unwrap_or(line.len());
        let length = line[start..].iter().position(is_mark).unwrap_or(line.len() - start);
        let mut fields = line[start + length..]
            .split(|byte| matches!(byte, b' ' | b'\n'))
            .filter(|field| !field.is_empty());
        let mut groups = 0;
        while let Some(name) = fields.next() {
            let category = self.specification.index_of(name).ok_or(Unreadable::Mismatch)?;
            groups += 1;
            if groups > self.specification.categories.len() {
                return Err(Unreadable::Mismatch);
            }
            let (Some(cross_entropy), Some(_times), Some(complexity)) =
                (fields.next(), fields.next(), fields.next())
            else {
                return Err(Unreadable::Format);
            };
            self.scores.cross_entropy[category] = strtod(cross_entropy).0;
            self.scores.complexity[category] = strtod(complexity).0;
        }
        Ok(())
    }

    /// Takes scores that come from elsewhere.
    pub(crate) fn set_scores(&mut self, scores: Scores) {
        self.scores = scores;
        self.has_scores = true;
    }

    /// The scores, once a score line was read.
    pub(crate) fn scores(&self) -> Option<&Scores> {
        self.has_scores.then_some(&self.scores)
    }

    /// The row in use for `category`: the first that applies.
    pub(crate) fn row_of(&self, category: usize) -> Option<usize> {
        self.specification.rows_of(category).find(|&row| self.conditions[row].applies)
    }

    /// What the formulas of `category` can refer to.
    ///
    /// Compatibility: captured numbers are always those of the category's first row, even if
    /// another one is in use; 0 if it never matched, where the original read memory that was never
    /// written.
    pub(crate) fn values_of(&self, category: usize) -> Values {
        let mut submatches = [0.0; 9];
        if let Some(first) = self.specification.rows_of(category).next() {
            submatches[..GROUPS].copy_from_slice(&self.conditions[first].captured);
        }
        Values { submatches, complexity: self.scores.complexity[category] }
    }

    /// Evaluates the rows in use, category by category; `using` is called with each row first.
    ///
    /// # Errors
    /// The first loss that is not a number, or row that cannot be read.
    pub(crate) fn losses(&self, using: &mut dyn FnMut(usize)) -> Result<LossMatrix, NoLosses> {
        let count = self.specification.categories.len();
        let relaxed = self.specification.relaxed;
        let mut losses = LossMatrix::ones(count);
        for category in 0..count {
            let Some(row) = self.row_of(category) else { continue };
            using(row);
            let formulas = &self.specification.rows[row].formulas;
            let result = expression::evaluate(formulas, Some(&self.values_of(category)), relaxed);
            let columns = &result.columns[..result.columns.len().min(count)];
            if let Some(decision) = columns.iter().position(|column| column.is_nan()) {
                return Err(NoLosses::Negative(category, decision));
            }
            if let Some(error) = result.error {
                return Err(NoLosses::Syntax(row, error));
            }
            losses.set_row(category, columns);
        }
        Ok(losses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn specification(rows: &str) -> Specification {
        let text = format!("categories {{ a, b }} prior {{ 1, 1 }} loss_matrix {{ {rows} }}");
        parse(text.as_bytes(), false, &mut |_| {}).expect("a good specification")
    }

    fn evidence(specification: &Specification) -> CapturedRows<'_> {
        CapturedRows::new(specification, Locale::C, |_| panic!("good conditions"))
    }

    const PLAIN: &str = "\"\" a [0, 1] \"\" b [1, 0]";

    #[test]
    fn score_lines_are_groups_of_four() {
        let specification = specification(PLAIN);
        for (line, expected) in [
            ("# scores a 5.20 * 412.0 b 5.31 * 41 \n", Ok([(5.2, 412.0), (5.31, 41.0)])),
            ("# scores b 1 * 2 a 3 * 4\n", Ok([(3.0, 4.0), (1.0, 2.0)])),
            ("# scores a 1 * 2 a 3 * 4", Ok([(3.0, 4.0), (0.0, 0.0)])),
            ("# scores b 1 x 2", Ok([(0.0, 0.0), (1.0, 2.0)])),
            ("# scores", Ok([(0.0, 0.0), (0.0, 0.0)])),
            ("# scoresheet a 1 * 2", Ok([(1.0, 2.0), (0.0, 0.0)])),
            ("# score#sheet 1 * 2", Err(Unreadable::Mismatch)),
            ("# scores a 1 * 2 c 3 * 4", Err(Unreadable::Mismatch)),
            ("# scores a 1 * 2 b 3 * 4 a 5 * 6", Err(Unreadable::Mismatch)),
            ("# scores a 1 * 2 b 3 *\n", Err(Unreadable::Format)),
            ("# scores a 12.5 b 3.5\n", Ok([(12.5, 3.5), (0.0, 0.0)])),
            ("# scores a 1 *\t2 b 3\n", Err(Unreadable::Mismatch)),
            ("# scores a 1 * 2\0 b 3\n", Ok([(1.0, 2.0), (0.0, 0.0)])),
        ] {
            let mut evidence = evidence(&specification);
            let found = evidence.line(line.as_bytes(), &mut |_| {}).map(|()| {
                let scores = evidence.scores().expect("scores");
                [0, 1].map(|i| (scores.cross_entropy[i], scores.complexity[i]))
            });
            assert_eq!(found, expected, "{line:?}");
        }
        let mut evidence = evidence(&specification);
        evidence.line(b" # scores a 1 * 2\n", &mut |_| {}).expect("no score line");
        assert_eq!(evidence.scores(), None);
    }

    #[test]
    fn first_row_that_matched_is_used() {
        let specification =
            specification("\"x\" a [1] \"y\" a [2] \"\" a [3] \"z\" a [4] \"\" b [5]");
        for (lines, expected) in
            [(&["n"][..], 2), (&["y"], 1), (&["y", "x"], 0), (&["x", "y"], 0), (&["z"], 2)]
        {
            let mut evidence = evidence(&specification);
            for line in lines {
                evidence.line(line.as_bytes(), &mut |_| {}).expect("a plain line");
            }
            assert_eq!(evidence.row_of(0), Some(expected), "{lines:?}");
            assert_eq!(evidence.row_of(1), Some(4));
        }
    }

    #[test]
    fn captured_numbers_are_read_past_their_group() {
        let rows = "\"x =(.)[^=]*=?(.?)\" a [$1, $2] \"\" a [3] \"\" b [5]";
        let (specification, condition) = (specification(rows), b"x =(.)[^=]*=?(.?)");
        let mut evidence = evidence(&specification);
        let mut trace = Vec::new();
        let mut observe = |observation: Observation<'_>| match observation {
            Observation::Match { condition, values } => {
                trace.push((condition.to_vec(), values.to_vec()));
            }
            Observation::Scores(_) => {}
        };
        evidence.line(b"x =12 = 0x10\n", &mut observe).expect("a plain line");
        evidence.line(b"none =3", &mut observe).expect("a plain line");
        assert_eq!(evidence.values_of(0).submatches[..3], [12.0, 16.0, 0.0]);
        evidence.line(b"x =word", &mut observe).expect("a plain line");
        assert_eq!(evidence.values_of(0).submatches[..3], [0.0, 0.0, 0.0]);
        let expected = [vec![12.0, 16.0], vec![0.0, 0.0]].map(|own| (condition.to_vec(), own));
        assert_eq!(trace, expected);
    }

    #[test]
    fn captured_numbers_are_those_of_the_first_row() {
        let specification = specification("\"x\" a [1] \"y\" a [$1] \"\" a [3] \"\" b [5]");
        let mut evidence = evidence(&specification);
        evidence.line(b"y =7", &mut |_| {}).expect("a plain line");
        assert_eq!(evidence.row_of(0), Some(1));
        assert_eq!(evidence.values_of(0).submatches, [0.0; 9]);
    }

    #[test]
    fn losses_are_filled_from_the_left() {
        for (rows, expected) in [
            (PLAIN, Ok([[f64::NEG_INFINITY, 0.0], [0.0, f64::NEG_INFINITY]])),
            ("\"\" a [1] \"\" b [2, 1, 1-2]", Ok([[0.0, 0.0], [2.0_f64.ln(), 0.0]])),
            ("\"\" a [1, 1-2] \"\" b [1]", Err(NoLosses::Negative(0, 1))),
            ("\"\" a [1, 2] \"\" b [log(0.5) x]", Err(NoLosses::Negative(1, 0))),
        ] {
            let specification = specification(rows);
            let found = evidence(&specification).losses(&mut |_| {});
            let found = found.map(|losses| [0, 1].map(|i| [losses.row(i)[0], losses.row(i)[1]]));
            assert_eq!(found, expected, "{rows}");
        }
        let specification = specification("\"\" a [1] \"\" b []");
        let error = evidence(&specification).losses(&mut |_| {}).expect_err("an empty row");
        assert!(matches!(error, NoLosses::Syntax(1, _)));
    }

    #[test]
    fn files_end_with_pseudo_lines() {
        let specification = specification("\"\r\" a [1] \"\" a [3] \"\" b [5]");
        let mut evidence = evidence(&specification);
        let mut matches = 0;
        evidence.end_of_file(true, &mut |_| matches += 1);
        assert_eq!(matches, 2);
        assert_eq!(evidence.row_of(0), Some(0));
    }
}
