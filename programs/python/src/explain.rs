// SPDX-License-Identifier: GPL-3.0-or-later
//! Explanations of verdicts.

use dbacl::Piece;
use pyo3::prelude::*;

/// Why a text got its verdict: the evidence of its words for and against the category, in bits.
#[pyclass(frozen, module = "dbacl")]
pub struct Explanation {
    pub explanation: dbacl::Explanation,
}

/// A piece, and its evidence if it is a word.
fn shown(piece: &Piece) -> (&str, Option<f64>) {
    match piece {
        Piece::Token(text, bits) => (text, Some(*bits)),
        Piece::Other(text) => (text, None),
    }
}

#[pymethods]
impl Explanation {
    /// The verdict, in a line.
    #[getter]
    fn heading(&self) -> &str {
        &self.explanation.heading
    }

    /// The category that the evidence is for.
    #[getter]
    fn category(&self) -> &str {
        &self.explanation.category
    }

    /// The category that it is against.
    #[getter]
    fn other(&self) -> &str {
        &self.explanation.other
    }

    /// Evidence before any word, bits.
    #[getter]
    const fn prior(&self) -> f64 {
        self.explanation.prior
    }

    /// All evidence, bits: the logarithm to base 2 of the odds.
    #[getter]
    fn total(&self) -> f64 {
        self.explanation.total()
    }

    /// Words with their evidence in bits and how often they occur, the strongest first.
    #[getter]
    fn tokens(&self) -> Vec<(&str, f64, u32)> {
        let tokens = self.explanation.tokens.iter();
        tokens.map(|token| (token.text.as_str(), token.bits, token.count)).collect()
    }

    /// The lines of the text as pieces, with the evidence of each, `None` for what is not a word.
    #[getter]
    fn lines(&self) -> Vec<Vec<(&str, Option<f64>)>> {
        let lines = self.explanation.lines.iter();
        lines.map(|line| line.iter().map(shown).collect()).collect()
    }

    /// An HTML page that needs nothing else.
    fn html(&self) -> String {
        self.explanation.html()
    }

    /// What a notebook shows: the page in a frame of its own.
    fn _repr_html_(&self) -> String {
        let page = self.explanation.html().replace('&', "&amp;").replace('"', "&quot;");
        format!(
            "<iframe sandbox style=\"width:100%;height:30em;border:0\" srcdoc=\"{page}\"></iframe>"
        )
    }

    fn __str__(&self) -> String {
        self.explanation.text()
    }

    fn __repr__(&self) -> String {
        format!("<dbacl.Explanation: {}>", self.explanation.heading)
    }
}
