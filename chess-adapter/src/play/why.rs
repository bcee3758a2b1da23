// SPDX-License-Identifier: GPL-3.0-or-later
//! Explains a move by the classifier's evidence for it, compared with the next best move (spec
//! chess 9.14).

use anyhow::{Context as _, Result};

use crate::play::engine::{Engine, Trouble};
use crate::play::models::Evidence;
use crate::text::game::Completion;
use crate::text::notation;

/// Explains the move `word`, or the best move if `word` is empty, in lines of text.
///
/// # Errors
///
/// The move is not legal here, there is no model, or the classifier fails.
pub fn explain(engine: &mut Engine, word: &str) -> Result<Vec<String>> {
    let ranking = engine.rank(None, 0).map_err(|trouble| match trouble {
        Trouble::NoMove => anyhow::anyhow!("no legal move"),
        Trouble::NoModel(color) => anyhow::anyhow!("no model for {color}"),
        Trouble::Failed(error) => error,
    })?;
    let place = if word.is_empty() {
        0
    } else {
        let m = notation::read_move(engine.game().position(), word.as_bytes());
        let m = m.map_err(|e| anyhow::anyhow!("{word}: {}", e.as_str()))?;
        ranking.iter().position(|s| s.completion.m == m).context("not a legal move")?
    };
    let rival = usize::from(place == 0);
    let mut lines = vec![format!(
        "{} is number {} of {}, {:.2} bits",
        ranking[place].completion.word,
        place + 1,
        ranking.len(),
        ranking[place].score
    )];
    let ours = evidence(engine, &ranking[place].completion)?;
    let Some(other) = ranking.get(rival) else { return Ok(lines) };
    let theirs = evidence(engine, &other.completion)?;
    lines.push(format!(
        "compared with {} ({:.2} bits); fewer bits are better",
        other.completion.word, other.score
    ));
    for (a, b) in ours.iter().zip(&theirs) {
        lines.push(format!("{:?}, weight {}", a.document, a.weight));
        let ours = (&ranking[place].completion.word, only(a, b));
        for (name, rows) in [ours, (&other.completion.word, only(b, a))] {
            for (feature, bits) in rows {
                lines.push(format!("  {name:<8} {bits:+8.2}  {feature}"));
            }
        }
    }
    Ok(lines)
}

/// The classifier's evidence for a completion of the game in progress.
///
/// # Errors
///
/// There is no model, or the classifier fails.
pub fn evidence(engine: &mut Engine, completion: &Completion) -> Result<Vec<Evidence>> {
    let game = engine.game().clone();
    engine.voice(game.turn()).context("no model")?.evidence(&game, completion)
}

/// Features that `a` has and `b` has not; bits weighted as in the voice.
fn only(a: &Evidence, b: &Evidence) -> Vec<(String, f64)> {
    let rows = a.features.iter().filter(|row| !b.features.iter().any(|o| o.feature == row.feature));
    rows.map(|row| (row.feature.clone(), row.bits * a.weight)).collect()
}
