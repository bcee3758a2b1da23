// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads games from PGN files, and hands the wanted ones on.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use shakmaty::KnownOutcome;

use super::{Gameline, Options, Statistics, TrainingSet, Unfinished};
use crate::cannot::Cannot;
use crate::pgn::{Games, RawGame};

/// Takes one legal, wanted game, and the same as it stands in the file.
pub type Take<'a> = &'a mut dyn FnMut(&Gameline, &RawGame) -> Result<()>;

/// Reads all games of one input and hands the wanted ones on.
///
/// # Errors
///
/// The input cannot be read, or a game cannot be taken.
pub fn read_games<R: BufRead>(
    input: R,
    options: &Options,
    statistics: &mut Statistics,
    take: Take<'_>,
) -> Result<()> {
    for raw in Games::new(input) {
        let raw = raw?;
        statistics.read += 1;
        let game = match Gameline::replay(&raw, options.spelling(), options.keep_setup) {
            Ok(game) if game.result.is_some() || options.unfinished == Unfinished::Draw => game,
            Ok(_) => {
                statistics.skip("unfinished", &raw);
                continue;
            }
            Err(reason) => {
                statistics.skip(reason, &raw);
                continue;
            }
        };
        let tag = raw.tag("Result").and_then(|tag| KnownOutcome::from_ascii(tag).ok());
        if tag.is_some() && game.result.is_some() && tag != game.result {
            statistics.disagreements += 1;
        }
        statistics.written += 1;
        for (set, count) in TrainingSet::ALL.iter().zip(&mut statistics.sets) {
            *count += u64::from(set.takes(game.result));
        }
        take(&game, &raw)?;
    }
    Ok(())
}

/// Reads all inputs, standard input if there is none or for `-`; says what became of the games.
///
/// # Errors
///
/// An input cannot be read, or a game cannot be taken.
pub fn read_files(inputs: &[PathBuf], options: &Options, take: Take<'_>) -> Result<Statistics> {
    let (standard, mut statistics) = ([PathBuf::from("-")], Statistics::default());
    for path in if inputs.is_empty() { &standard } else { inputs } {
        if path.as_os_str() == "-" {
            let input = io::stdin().lock();
            read_games(input, options, &mut statistics, take).context("standard input")?;
            continue;
        }
        let file = File::open(path).with_context(|| Cannot::Read(path.into()))?;
        read_games(BufReader::with_capacity(1 << 16, file), options, &mut statistics, take)
            .with_context(|| path.display().to_string())?;
    }
    Ok(statistics)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gamelines(pgn: &str, options: &Options) -> (Vec<String>, Statistics) {
        let (mut lines, mut statistics) = (Vec::new(), Statistics::default());
        let read = read_games(pgn.as_bytes(), options, &mut statistics, &mut |game, _| {
            let end = game.result.map_or("", KnownOutcome::as_str);
            lines.push(format!("{} {end}", game.words.join(" ")));
            Ok(())
        });
        read.expect("memory does not fail");
        (lines, statistics)
    }

    #[test]
    fn results_come_from_text_then_tag() {
        let rows = [
            ("[Result \"0-1\"]\n\n1. e4 1-0", "e4 1-0", 1),
            ("[Result \"0-1\"]\n\n1. e4", "e4 0-1", 0),
            ("1. e4 1/2-1/2", "e4 1/2-1/2", 0),
        ];
        for (pgn, line, disagreements) in rows {
            let (lines, statistics) = gamelines(pgn, &Options::default());
            assert_eq!((lines, statistics.disagreements), (vec![line.to_owned()], disagreements));
        }
    }

    #[test]
    fn bad_games_are_skipped_with_a_reason() {
        let rows = [
            ("1. e4 *", "unfinished"),
            ("1. e5 1-0", "illegal move"),
            ("1. e4 -- 1-0", "null move"),
            ("1. xyz 1-0", "unreadable word"),
            ("[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O 1-0", "set-up position"),
            ("[Event \"x\"]\n\n1-0", "no moves"),
            ("[Variant \"Atomic\"]\n\n1. e4 1-0", "variant"),
        ];
        for (pgn, reason) in rows {
            let (lines, statistics) = gamelines(pgn, &Options::default());
            assert_eq!(lines, Vec::<String>::new());
            assert_eq!(statistics.skipped.get(reason), Some(&1), "{pgn}");
        }
        let keep = Options { keep_setup: true, ..Options::default() };
        let (lines, _) = gamelines("[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O 1-0", &keep);
        assert_eq!(lines, ["O-O 1-0"]);
    }
}
