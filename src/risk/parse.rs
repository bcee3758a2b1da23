// SPDX-License-Identifier: GPL-3.0-or-later
//! Parses a specification file into categories, priors and rows (spec tools 1.3, 1.4).

use super::expression;
pub(crate) use super::lexer::SyntaxError;
use super::lexer::{Lexeme, Lexer, Token};
use dbacl_numeric::elementary::log;
use dbacl_numeric::parse::strtod;

/// Most categories, and most priors, that are kept.
pub(crate) const MAX_CATEGORIES: usize = 255;

/// A risk specification.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Specification {
    /// Names of the categories, letters and digits, in the order of the file.
    pub categories: Vec<String>,
    /// Logarithms of the prior weights, which need not sum to one.
    pub log_priors: Vec<f64>,
    /// Rows of the loss matrix, in the order of the file.
    pub rows: Vec<Row>,
    /// Whether it was read by relaxed rules, which then hold for its formulas as well.
    pub relaxed: bool,
}

/// One row of the loss matrix: what each decision costs when the category is the true one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Index of the true category.
    pub category: usize,
    /// Regular expression that a line must match for the row to apply; empty: it always applies.
    pub condition: Vec<u8>,
    /// Formulas as written between the brackets; read when the row is used.
    pub formulas: Vec<u8>,
    /// Byte offset of the formulas in the file.
    pub offset: usize,
    /// Byte offset of the condition's opening quote in the file.
    pub condition_offset: usize,
}

/// Something odd that does not end the reading. Its text is a whole line or two.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Notice {
    /// A category beyond [`MAX_CATEGORIES`].
    #[error("warning: maximum reached, category ignored")]
    CategoryIgnored,
    /// A prior beyond [`MAX_CATEGORIES`].
    #[error("warning: maximum reached, prior weight ignored")]
    PriorIgnored,
    /// A row, dropped, for a name that is not a category; the error stands at its formulas.
    #[error("error: encountered unknown category\n{0}")]
    UnknownCategory(SyntaxError),
}

/// Why a specification that can be read cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    /// There are no categories.
    #[error("you need at least one category")]
    NoCategory,
    /// There are more or fewer priors than categories.
    #[error("prior doesn't match number of categories")]
    PriorCount,
    /// A category has no row at all.
    #[error("missing loss_matrix entry for category {0}")]
    NoRow(String),
    /// A category has no row with the empty expression, which applies to every document.
    #[error("missing loss_matrix entry for category {0} (need \"\" case)")]
    NoDefaultRow(String),
}

/// Reads a specification. `notices` is called for each oddity that does not end the reading.
///
/// A file of bare formulas is read too, and gives an empty specification. `relaxed` is as in
/// [`Lexer::of_specification`].
///
/// # Errors
/// The first token that does not fit.
pub(crate) fn parse(
    text: &[u8],
    relaxed: bool,
    notices: &mut dyn FnMut(Notice),
) -> Result<Specification, SyntaxError> {
    let mut lexer = Lexer::of_specification(text, relaxed);
    if lexer.next_token().token != Token::Keyword(b"categories") {
        return match expression::evaluate(text, None, relaxed).error {
            Some(error) => Err(error),
            None => Ok(Specification::default()),
        };
    }
    let specification = Specification { relaxed, ..Specification::default() };
    let mut parser = Parser { lexer, specification, notices };
    parser.categories()?;
    parser.prior()?;
    parser.loss_matrix()?;
    parser.expect(Token::End)?;
    Ok(parser.specification)
}

struct Parser<'a, 'n> {
    lexer: Lexer<'a>,
    specification: Specification,
    notices: &'n mut dyn FnMut(Notice),
}

impl Parser<'_, '_> {
    fn expect(&mut self, token: Token<'_>) -> Result<(), SyntaxError> {
        let found = self.lexer.next_token();
        if found.token == token { Ok(()) } else { Err(SyntaxError::before(found)) }
    }

    /// `{ entry, ... }`
    fn list(
        &mut self,
        mut take: impl FnMut(&mut Self, Lexeme<'_>) -> Result<(), SyntaxError>,
    ) -> Result<(), SyntaxError> {
        self.expect(Token::Other(b'{'))?;
        loop {
            let entry = self.lexer.next_token();
            take(self, entry)?;
            let behind = self.lexer.next_token();
            match behind.token {
                Token::Other(b',') => {}
                Token::Other(b'}') => return Ok(()),
                _ => return Err(SyntaxError::before(behind)),
            }
        }
    }

    /// `{ name, ... }`
    fn categories(&mut self) -> Result<(), SyntaxError> {
        self.list(|parser, found| {
            let Token::Name(name) = found.token else { return Err(SyntaxError::before(found)) };
            let categories = &mut parser.specification.categories;
            if categories.len() < MAX_CATEGORIES {
                categories.push(String::from_utf8_lossy(name).into_owned());
            } else {
                (parser.notices)(Notice::CategoryIgnored);
            }
            Ok(())
        })
    }

    /// `prior { number, ... }`
    fn prior(&mut self) -> Result<(), SyntaxError> {
        self.expect(Token::Keyword(b"prior"))?;
        self.list(|parser, found| {
            let Token::Number(text) = found.token else { return Err(SyntaxError::before(found)) };
            let priors = &mut parser.specification.log_priors;
            if priors.len() < MAX_CATEGORIES {
                priors.push(log(strtod(text).0));
            } else {
                (parser.notices)(Notice::PriorIgnored);
            }
            Ok(())
        })
    }

    /// `loss_matrix { "regex" name [row] ... }`
    fn loss_matrix(&mut self) -> Result<(), SyntaxError> {
        self.expect(Token::Keyword(b"loss_matrix"))?;
        self.expect(Token::Other(b'{'))?;
        let mut any = false;
        loop {
            let first = self.lexer.next_token();
            let condition = match first.token {
                Token::Regex(condition) => condition,
                Token::Other(b'}') if any => return Ok(()),
                _ => return Err(SyntaxError::before(first)),
            };
            let second = self.lexer.next_token();
            let Token::Name(name) = second.token else { return Err(SyntaxError::before(second)) };
            let third = self.lexer.next_token();
            let Token::Row(formulas) = third.token else { return Err(SyntaxError::before(third)) };
            any = true;
            match self.specification.index_of(name) {
                Some(category) => self.specification.rows.push(Row {
                    category,
                    condition: condition.to_vec(),
                    formulas: formulas.to_vec(),
                    offset: third.offset + 1,
                    condition_offset: first.offset,
                }),
                None => (self.notices)(Notice::UnknownCategory(SyntaxError::before(third))),
            }
        }
    }
}

impl Specification {
    /// Index of the first category called `name`.
    pub(crate) fn index_of(&self, name: &[u8]) -> Option<usize> {
        self.categories.iter().position(|category| category.as_bytes() == name)
    }

    /// Indices of the rows of `category`, in the order of the file.
    pub(crate) fn rows_of(&self, category: usize) -> impl Iterator<Item = usize> + '_ {
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(_, row)| row.category == category).map(|(index, _)| index)
    }

    /// Checks what must hold before a document is read.
    ///
    /// # Errors
    /// The first requirement that is not met, in dbacl 1.14.1's order.
    pub(crate) fn check(&self) -> Result<(), Unusable> {
        if self.categories.is_empty() {
            return Err(Unusable::NoCategory);
        }
        if self.log_priors.len() != self.categories.len() {
            return Err(Unusable::PriorCount);
        }
        for (category, name) in self.categories.iter().enumerate() {
            let mut rows = self.rows_of(category).peekable();
            if rows.peek().is_none() {
                return Err(Unusable::NoRow(name.clone()));
            }
            if !rows.any(|row| self.rows[row].condition.is_empty()) {
                return Err(Unusable::NoDefaultRow(name.clone()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "categories { a, b }\nprior { 1, 0.5 }\nloss_matrix {\n\
                        \"x\" a [ 1, 2 ]\n\"\" a [ 0, 1 ]\n\"\" b [ 1, 0 ]\n}\n";

    fn read(text: &str) -> (Result<Specification, String>, Vec<String>) {
        let mut notices = Vec::new();
        let result = parse(text.as_bytes(), false, &mut |notice| notices.push(notice.to_string()));
        (result.map_err(|error| error.to_string()), notices)
    }

    #[test]
    fn three_sections_make_a_specification() {
        let (result, notices) = read(GOOD);
        let specification = result.expect("a good specification");
        assert!(notices.is_empty());
        assert_eq!(specification.categories, ["a", "b"]);
        assert_eq!(specification.log_priors, [0.0, 0.5_f64.ln()]);
        assert_eq!(specification.rows.len(), 3);
        assert_eq!(specification.rows[0].condition, b"x");
        assert_eq!(specification.rows[0].formulas, b" 1, 2 ");
        assert_eq!(specification.rows_of(0).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(specification.check(), Ok(()));
    }

    #[test]
    fn errors_name_line_and_token() {
        for (text, expected) in [
            ("", "line 1 before ''"),
            ("\n\n", "line 3 before ''"),
            ("prior { 1 }", "line 1 before 'prior'"),
            ("categories a", "line 1 before 'a'"),
            ("categories { }", "line 1 before '}'"),
            ("categories { a, }", "line 1 before '}'"),
            ("categories { a b }", "line 1 before 'b'"),
            ("categories { log }", "line 1 before 'log'"),
            ("categories { inf }", "line 1 before 'inf'"),
            ("categories { my_mail }", "line 1 before '_'"),
            ("categories { not-spam }", "line 1 before '-'"),
            ("categories { a }\r\n", "line 1 before '\r'"),
            ("categories { a }\nloss_matrix", "line 2 before 'loss_matrix'"),
            ("categories { a } prior { -1 }", "line 1 before '-'"),
            ("categories { a } prior { 1e5 }", "line 1 before 'e5'"),
            ("categories { a } prior { 1 } loss_matrix { }", "line 1 before '}'"),
            ("categories { a } prior { 1 } loss_matrix { \"\" a }", "line 1 before '}'"),
            ("categories { a } prior { 1 } loss_matrix { \"\" \"\" }", "line 1 before '\"\"'"),
            ("categories { a } prior { 1 } loss_matrix { \"\" a [1] } x", "line 1 before 'x'"),
            ("categories { a } # no", "line 1 before '#'"),
            ("1, $1", "line 1 before '$1'"),
        ] {
            let (result, _) = read(text);
            assert_eq!(result, Err(format!("parse error at {expected}")), "{text:?}");
        }
    }

    #[test]
    fn rows_of_unknown_categories_are_reported_and_dropped() {
        let text = GOOD.replace("\"x\" a", "\"x\" c");
        let (result, notices) = read(&text);
        assert_eq!(result.expect("readable").rows.len(), 2);
        assert_eq!(
            notices,
            ["error: encountered unknown category\nparse error at line 4 before '[ 1, 2 ]'"]
        );
    }

    #[test]
    fn names_and_priors_beyond_the_maximum_are_dropped() {
        let names: Vec<String> = (0..257).map(|i| format!("c{i}")).collect();
        let priors = ["1"; 256];
        let text = format!(
            "categories {{ {} }} prior {{ {} }} loss_matrix {{ \"\" c0 [1] }}",
            names.join(","),
            priors.join(",")
        );
        let (result, notices) = read(&text);
        let specification = result.expect("readable");
        assert_eq!((specification.categories.len(), specification.log_priors.len()), (255, 255));
        assert_eq!(notices.len(), 3);
        assert_eq!(notices[2], "warning: maximum reached, prior weight ignored");
    }

    #[test]
    fn unusable_specifications_are_refused() {
        for (text, expected) in [
            ("1, 2".to_owned(), "you need at least one category"),
            (GOOD.replace("0.5", "0.5, 1"), "prior doesn't match number of categories"),
            (GOOD.replace("\"\" b", "\"\" a"), "missing loss_matrix entry for category b"),
            (
                GOOD.replace("\"\" a", "\"y\" a"),
                "missing loss_matrix entry for category a (need \"\" case)",
            ),
            (GOOD.replace("{ a, b }", "{ a, a }").replace("\"\" b", "\"\" a"), {
                "missing loss_matrix entry for category a"
            }),
        ] {
            let error = read(&text).0.expect("readable").check().expect_err("unusable");
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }
}
