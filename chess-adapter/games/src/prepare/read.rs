// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads games from PGN files, and hands the wanted ones on.

use std::io::{self, BufRead};
use std::path::PathBuf;

use anyhow::{Context as _, Error, Result};
use shakmaty::Outcome;

use super::open::{open, plain};
use super::{Gameline, Options, Statistics, TrainingSet, Unfinished};
use crate::gameline::Unusable;
use crate::pgn::{Games, RawGame};
use crate::signs;

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
                statistics.skip(unfinished(&raw), &raw);
                continue;
            }
            Err(reason) => {
                statistics.skip(reason, &raw);
                continue;
            }
        };
        let tag = raw.tag("Result").and_then(signs::read_result).and_then(Outcome::known);
        statistics.ignore(&game.remarks);
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

fn unfinished(raw: &RawGame) -> Unusable {
    match raw.tag("Result").map(<[u8]>::trim_ascii) {
        Some(tag) if raw.terminator.is_none() && !matches!(tag, b"" | b"?" | b"*" | b"-") => {
            let word = String::from_utf8_lossy(tag).into_owned();
            Unusable { reason: "unreadable result", word: Some(word) }
        }
        _ => "unfinished".into(),
    }
}

/// Reads all inputs, standard input if there is none or for `-`, with a line of progress on a
/// terminal; says what became of the games.
///
/// # Errors
///
/// An input cannot be read, or a game cannot be taken.
pub fn read_files(inputs: &[PathBuf], options: &Options, take: Take<'_>) -> Result<Statistics> {
    let (standard, mut statistics) = ([PathBuf::from("-")], Statistics::default());
    let mut read = || {
        for path in if inputs.is_empty() { &standard } else { inputs } {
            let (input, name): (Box<dyn BufRead>, _) = if path.as_os_str() == "-" {
                (
                    Box::new(plain(io::stdin().lock()).context("standard input")?),
                    "standard input".to_owned(),
                )
            } else {
                (Box::new(open(path)?), path.display().to_string())
            };
            read_games(input, options, &mut statistics, take).context(name)?;
        }
        Ok::<_, Error>(())
    };
    dbacl_cli::progress::watch("reading games", || None, &mut read)?;
    Ok(statistics)
}

#[cfg(test)]
mod tests {
    use shakmaty::KnownOutcome;

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
    fn where_no_game_can_be_used_the_files_and_a_reason_are_named() {
        let fault = |pgn: &str| {
            let (_, statistics) = gamelines(pgn, &Options::default());
            statistics
                .check_used(&["a.pgn".into(), "b".into()])
                .err()
                .map(|fault| fault.to_string())
        };
        assert_eq!(fault("1. e4 1-0"), None);
        assert_eq!(fault(""), Some("a.pgn, b: there is no game".into()));
        let told = "a.pgn, b: no game could be used; game 1: illegal move \"Ke7\"";
        assert_eq!(fault("1. e4 e5 2. Ke7 *"), Some(told.into()));
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
    fn games_of_other_programs_are_read() {
        let initial = "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1\"]";
        let set_up = "[SetUp \"0\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]";
        let rows = [
            ("1. e4 = e5 ± 2. Nf3 +/= Nc6 N 3. Bb5 D → a6 1-0", "e4 e5 Nf3 Nc6 Bb5 a6 1-0"),
            ("1. e4± e5∓ 2. Nf3+- Nc6=/+ 3. Bb5⩲ a6!?N 1-0", "e4 e5 Nf3 Nc6 Bb5 a6 1-0"),
            ("1. e4 White e5 resigns 1-0", "e4 e5 1-0"),
            (
                "1. e2-e4 e7–e5 2. Ng1-f3 Nb8-c6 3. Bf1-b5 a7-a6 4. B:c6 d:c6 1-0",
                "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 1-0",
            ),
            ("1.e4 d5 2.ed5 Qd5 1-0", "e4 d5 exd5 Qxd5 1-0"),
            ("1. ♙e4 ♟e5 2. ♘f3 ♞c6 1-0", "e4 e5 Nf3 Nc6 1-0"),
            ("1. e4 e5 2. Sf3 Sc6 3. Lb5 De7 4. O–O 1-0", "e4 e5 Nf3 Nc6 Bb5 Qe7 O-O 1-0"),
            (
                "1. e4 f5 2. exf5 g6 3. fxg6 a6 4. gxh7 a5 5. hxg8(D) 1-0",
                "e4 f5 exf5 g6 fxg6 a6 gxh7 a5 hxg8=Q 1-0",
            ),
            ("1. e4 f5 2. exf5 Крf7 3. Фh5+ g6 4. Кf3 1-0", "e4 f5 exf5 Kf7 Qh5+ g6 Nf3 1-0"),
            ("1. e4 e5 ½–½", "e4 e5 1/2-1/2"),
            ("1. e4 e5 0–1", "e4 e5 0-1"),
            ("[Result \"½-½\"]\n\n1. e4 e5", "e4 e5 1/2-1/2"),
            ("[Result \"1 : 0\"]\n\n1. e4 1:0", "e4 1-0"),
            ("[FEN \"\"]\n\n1. e4 1-0", "e4 1-0"),
            (&format!("{initial}\n\n1. e4 1-0"), "e4 1-0"),
            (&format!("{set_up}\n\n1. e4 1-0"), "e4 1-0"),
            ("[Variant \"Regular\"]\n\n1… e4 1…e5 1-0", "e4 e5 1-0"),
            ("1. e4\n\n{a long\n\nremark}\n\n1... e5 (1... c5\n\n) $3 2. Nf3 1-0", "e4 e5 Nf3 1-0"),
        ];
        for (pgn, line) in rows {
            let (lines, statistics) = gamelines(pgn, &Options::default());
            assert_eq!(lines, [line], "{pgn}: {:?}", statistics.examples);
        }
        for draw in ["1/2", "½", "½-½", "1/2:1/2", "0,5-0,5", "0.5-0.5"] {
            let (lines, _) =
                gamelines(&format!("[Result \"{draw}\"]\n\n1. e4"), &Options::default());
            assert_eq!(lines, ["e4 1/2-1/2"], "{draw}");
        }
        // A knight in Finnish, a rook in English.
        let (lines, _) = gamelines("1. h4 e5 2. Rh3 Rc6 1-0", &Options::default());
        assert_eq!(lines, ["h4 e5 Nh3 Nc6 1-0"]);
    }

    #[test]
    fn what_is_left_out_is_named() {
        let pgn = "1. e4 ± Nf9 1-0\n\n1. e4 ± N 1-0\n\n[Variant \"Atomic\"]\n1. e4 1-0\n";
        let (_, statistics) = gamelines(pgn, &Options::default());
        let mut told = Vec::new();
        statistics.write(&mut told).expect("memory");
        let told = String::from_utf8(told).expect("text");
        for line in [
            "  game 1 (unreadable word \"Nf9\")",
            "  game 3 (variant \"Atomic\") [Variant \"Atomic\"]",
            "ignored 2 words that are not moves, such as ± N",
        ] {
            assert!(told.contains(line), "{told}");
        }
    }

    #[test]
    fn bad_games_are_skipped_with_a_reason() {
        let rows = [
            ("1. e4 *", "unfinished"),
            ("1. e5 1-0", "illegal move"),
            ("1. e4 -- 1-0", "null move"),
            ("1. Xe4 1-0", "unreadable word"),
            ("1. xyz 1-0", "no moves"),
            ("1. e4 Nf e5 1-0", "unreadable word"),
            ("1. e4 d5 2. exd5 e.p. 1-0", "illegal move"),
            ("[Result \"won\"]\n\n1. e4", "unreadable result"),
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
