// SPDX-License-Identifier: GPL-3.0-or-later
//! Evaluates the formulas of a row, which are losses (spec tools 1.5).
//!
//! Arithmetic is on logarithms: every sub-formula yields the natural logarithm of its value. So
//! `log(x)` of an x below 1 and a difference below 0 are not-a-numbers, which is how negative
//! losses are found. From loosest to tightest the operators are `+ - * / ^`, each on a level of its
//! own: `5+1-3` is `5+(1-3)` and `a*b/c` is `a*(b/c)`. All group to the left but `^`.
//!
//! Operators and open brackets stand on a stack in the heap, so that nesting has no limit.

use super::lexer::{Lexeme, Lexer, SyntaxError, Token};
use dbacl_numeric::elementary::{exp, log};
use dbacl_numeric::parse::strtod;

/// What formulas can refer to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Values {
    /// Numbers captured by a condition, for `$1` to `$9`.
    pub submatches: [f64; 9],
    /// Complexity of the row's category.
    pub complexity: f64,
}

/// The result of reading a row. A row that ends in an error still has the columns before it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Logarithm of each column's value, in order.
    pub columns: Vec<f64>,
    /// Why reading ended before the end of the text.
    pub error: Option<SyntaxError>,
    /// Whether a captured number was used.
    pub uses_submatch: bool,
}

/// Evaluates `text`, formulas separated by commas. Without `values` there is nothing that `$k`
/// could refer to, and it is a syntax error. `relaxed` is as in [`Lexer::of_formulas`].
pub(crate) fn evaluate(text: &[u8], values: Option<&Values>, relaxed: bool) -> Row {
    let lexer = Lexer::of_formulas(text, relaxed);
    let mut reader = Reader { lexer, values, uses_submatch: false };
    let mut columns = Vec::new();
    let error = loop {
        match reader.formula() {
            Err(error) => break Some(error),
            Ok((column, next)) => {
                columns.push(column);
                match next.token {
                    Token::Other(b',') => {}
                    Token::End => break None,
                    _ => break Some(SyntaxError::before(next)),
                }
            }
        }
    };
    Row { columns, error, uses_submatch: reader.uses_submatch }
}

/// The operators, from loosest to tightest.
const OPERATORS: &[u8] = b"+-*/^";

/// The logarithm of the operation on the numbers whose logarithms are `a` and `b`.
fn apply(operator: u8, a: f64, b: f64) -> f64 {
    match operator {
        b'+' => log(exp(a) + exp(b)),
        b'-' => log(exp(a) - exp(b)),
        b'*' => a + b,
        b'/' => a - b,
        _ => a * exp(b),
    }
}

/// An operator that waits for its right-hand side, or a bracket that waits to be closed.
#[derive(Clone, Copy)]
enum Waiting {
    Operator(u8, f64),
    /// The bracket, of a function if there is one.
    Bracket(Option<fn(f64) -> f64>),
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    values: Option<&'a Values>,
    uses_submatch: bool,
}

impl<'a> Reader<'a> {
    /// Reads one formula as far as it goes; returns its logarithm and the token after it.
    fn formula(&mut self) -> Result<(f64, Lexeme<'a>), SyntaxError> {
        let mut waiting: Vec<Waiting> = Vec::new();
        loop {
            let mut value = self.operand(&mut waiting)?;
            // after an operand: closing brackets, then an operator or the end
            let next = loop {
                let next = self.lexer.next_token();
                if next.token != Token::Other(b')') {
                    break next;
                }
                value = apply_operators(&mut waiting, value, 0);
                match waiting.pop() {
                    Some(Waiting::Bracket(Some(function))) => value = function(value),
                    Some(_) => {}
                    None => return Ok((value, next)),
                }
            };
            let level = match next.token {
                Token::Other(byte) => OPERATORS.iter().position(|&operator| operator == byte),
                _ => None,
            };
            if let Some(level) = level {
                let operator = OPERATORS[level];
                // Powers group to the right: one that waits is not applied before the next.
                value = apply_operators(&mut waiting, value, level + usize::from(operator == b'^'));
                waiting.push(Waiting::Operator(operator, value));
                continue;
            }
            value = apply_operators(&mut waiting, value, 0);
            let is_whole = waiting.is_empty();
            return if is_whole { Ok((value, next)) } else { Err(SyntaxError::before(next)) };
        }
    }

    /// Reads opening brackets and functions, then a number, `$k` or `complexity`.
    fn operand(&mut self, waiting: &mut Vec<Waiting>) -> Result<f64, SyntaxError> {
        loop {
            let lexeme = self.lexer.next_token();
            match (lexeme.token, self.values) {
                (Token::Number(text), _) => return Ok(log(strtod(text).0)),
                (Token::Submatch(digit), Some(values)) => {
                    self.uses_submatch = true;
                    // $0 is read as $1
                    let index = usize::from(digit.max(1) - 1);
                    return Ok(log(values.submatches[index]));
                }
                (Token::Keyword(b"complexity"), values) => {
                    return Ok(log(values.map_or(0.0, |values| values.complexity)));
                }
                (Token::Other(b'('), _) => waiting.push(Waiting::Bracket(None)),
                (Token::Keyword(word @ (b"exp" | b"log")), _) => {
                    let bracket = self.lexer.next_token();
                    if bracket.token != Token::Other(b'(') {
                        return Err(SyntaxError::before(bracket));
                    }
                    waiting.push(Waiting::Bracket(Some(if word == b"log" { log } else { exp })));
                }
                _ => return Err(SyntaxError::before(lexeme)),
            }
        }
    }
}

/// Applies waiting operators of this level or tighter to `value`, from the top of the stack.
fn apply_operators(waiting: &mut Vec<Waiting>, mut value: f64, level: usize) -> f64 {
    while let Some(&Waiting::Operator(operator, left)) = waiting.last() {
        if OPERATORS[..level].contains(&operator) {
            break;
        }
        value = apply(operator, left, value);
        waiting.pop();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: Values =
        Values { submatches: [4.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0], complexity: 412.0 };

    #[test]
    fn formulas_have_the_values_of_their_logarithms() {
        for (text, expected) in [
            ("5", 5.0),
            ("5+1-3", f64::NAN),
            ("(5+1)-3", 3.0),
            ("9-1-2", 6.0),
            ("2*3/4", 1.5),
            ("8/4/2", 1.0),
            ("2^3^2", 512.0),
            ("(2^3)^2", 64.0),
            ("2*3^2", 18.0),
            ("1+2*3", 7.0),
            ("3*2+1", 7.0),
            ("7-2*3", 1.0),
            ("2*7-3", 11.0),
            ("exp(2)", 7.38905609893065),
            ("log(exp(3))", 3.0),
            ("log(exp(2)*exp(3))", 5.0),
            ("log(0.5)", f64::NAN),
            ("1-2", f64::NAN),
            ("inf-inf", f64::NAN),
            ("0*inf", f64::NAN),
            ("0^0", f64::NAN),
            ("inf", f64::INFINITY),
            ("0", 0.0),
            ("$1", 4.0),
            ("$0", 4.0),
            ("$2", 7.0),
            ("$9", 9.0),
            ("complexity/2", 206.0),
            ("((($2)))", 7.0),
            ("exp((1+1)*1)", 7.38905609893065),
        ] {
            let row = evaluate(text.as_bytes(), Some(&VALUES), false);
            assert_eq!(row.error, None, "{text}");
            let found = row.columns[0].exp();
            let near = (found - expected).abs() <= 1e-12 * expected || found == expected;
            assert!(near || found.is_nan() && expected.is_nan(), "{text} = {found}");
        }
    }

    #[test]
    fn rows_are_lists() {
        for (text, columns, error) in [
            ("1, 2, 3", 3, None),
            (" 1 ", 1, None),
            ("", 0, Some("parse error at line 1 before ''")),
            (" ", 0, Some("parse error at line 1 before ''")),
            ("1,", 1, Some("parse error at line 1 before ''")),
            ("1,,2", 1, Some("parse error at line 1 before ','")),
            ("1 2", 1, Some("parse error at line 1 before '2'")),
            ("1,\n 2 +", 1, Some("parse error at line 2 before ''")),
            ("(1, 2)", 0, Some("parse error at line 1 before ','")),
            ("1)", 1, Some("parse error at line 1 before ')'")),
            ("-1", 0, Some("parse error at line 1 before '-'")),
            ("1e5", 1, Some("parse error at line 1 before 'e5'")),
            ("exp 2", 0, Some("parse error at line 1 before '2'")),
            ("$12", 1, Some("parse error at line 1 before '2'")),
            ("\"a\"", 0, Some("parse error at line 1 before '\"a\"'")),
            ("1, name", 1, Some("parse error at line 1 before 'name'")),
        ] {
            let row = evaluate(text.as_bytes(), Some(&VALUES), false);
            assert_eq!(row.columns.len(), columns, "{text}");
            assert_eq!(row.error.map(|error| error.to_string()).as_deref(), error, "{text}");
        }
    }

    #[test]
    fn submatches_need_values() {
        assert!(evaluate(b"$1", None, false).error.is_some());
        assert!(evaluate(b"1", None, false).error.is_none());
        assert!(evaluate(b"$1", Some(&VALUES), false).uses_submatch);
        assert!(!evaluate(b"1", Some(&VALUES), false).uses_submatch);
    }

    #[test]
    fn deep_nesting_is_no_problem() {
        let depth = 200_000;
        let text = format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(evaluate(text.as_bytes(), None, false).columns, [0.0]);
        let powers = "1^".repeat(depth) + "1";
        assert_eq!(evaluate(powers.as_bytes(), None, false).columns, [0.0]);
        assert!(evaluate("(".repeat(depth).as_bytes(), None, false).error.is_some());
    }
}
