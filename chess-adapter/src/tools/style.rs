// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns the categories by which styles are recognised, from players' games (spec chess 9.9).

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use chess_games::cannot::Cannot;
use shakmaty::Color;

use super::learn::Lesson;
use crate::play::classifier::ProgramArgs;
use crate::play::style::{Judge, MOVES, STYLES, Style, line};
use chess_games::pgn::RawGame;
use chess_games::prepare::{self, Unfinished, read_files};

/// What to learn styles from, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// PGN files
    #[arg(required = true)]
    pgn: Vec<PathBuf>,
    /// Folder for the three categories
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// An attacking player's name, or a part of it; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    attacking: Vec<String>,
    /// A positional player's name; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    positional: Vec<String>,
    /// The name of a player of mixed style; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    mixed: Vec<String>,
    /// Leave out every N-th game, and classify its players after ten moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    test_every: usize,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Learns the styles; says from how many games, and how many of those kept back were recognised.
pub(crate) fn learn(options: &Options) -> Result<String> {
    let program = &options.program.program();
    dbacl_files::atomic_file::make_folder(&options.output)?;
    let mut lines: [Vec<String>; 3] = Default::default();
    let mut kept: Vec<(Style, String)> = Vec::new();
    let players = [&options.attacking, &options.positional, &options.mixed];
    let mut number = 0usize;
    let all = prepare::Options { unfinished: Unfinished::Draw, ..Default::default() };
    read_files(&options.pgn, &all, &mut |game, raw| {
        for (i, style) in STYLES.into_iter().enumerate() {
            for side in Color::ALL.into_iter().filter(|&side| is_player(raw, side, players[i])) {
                let line = |limit| line(&game.start, &game.moves, &game.words, side, limit);
                number += 1;
                if options.test_every > 0 && number.is_multiple_of(options.test_every) {
                    kept.push((style, line(MOVES)));
                } else {
                    lines[i].push(line(usize::MAX));
                }
            }
        }
        Ok(())
    })?;
    for (lines, Style { name, .. }) in lines.iter().zip(STYLES) {
        if lines.is_empty() {
            bail!("no games by {name} players");
        }
        let lesson = Lesson {
            category: name.to_owned(),
            text: name.to_owned(),
            tokens: "graph",
            order: 2,
            table: 20,
        };
        let text = options.output.join(format!("{}.txt", lesson.text));
        std::fs::write(&text, lines.join("\n") + "\n")
            .with_context(|| Cannot::Write(text.clone()))?;
        let learned = lesson.learn(&options.output, &options.output, program);
        let removed = std::fs::remove_file(&text);
        learned?;
        removed.with_context(|| Cannot::Write(text.clone()))?;
    }
    let mut judge = Judge::open(&options.output, program)?;
    let [attacking, positional, mixed] = lines.map(|lines| lines.len());
    let mut said =
        format!("learned: attacking {attacking}, positional {positional}, mixed {mixed} games");
    if !kept.is_empty() {
        let (count, mut right) = (kept.len(), 0);
        for (style, line) in kept {
            right += u32::from(judge.judge(line)? == style);
        }
        said += &format!("\nright after ten moves in {right} of {count} games kept back");
    }
    Ok(said)
}

fn is_player(raw: &RawGame, side: Color, players: &[String]) -> bool {
    let name = raw.tag(side.fold_wb("White", "Black")).unwrap_or_default();
    let name = String::from_utf8_lossy(name).to_lowercase();
    players.iter().any(|p| name.contains(&p.to_lowercase()))
}
