// SPDX-License-Identifier: GPL-3.0-or-later
//! The verb `tables`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use chess_games::cannot::Cannot;
use chess_games::files::{replace_file, write_result};
use chess_games::game::{Game, read_fen};
use chess_games::notation::{Spelling, to_word};
use chess_search::Ending;
use dbacl_cli::progress;
use dbacl_files::atomic_file::Disk;
use shakmaty::Position as _;

use crate::mates::{Counts, Distances, Men, Table};
use crate::syzygy;

/// One value in so many is checked by the rules of chess.
const STEP: usize = 1_009;

/// Which endgame tables to make, or what to show of them.
#[derive(Debug, clap::Args)]
pub struct TablesArgs {
    /// Endings such as KQK or KRKP; default: all of three and four men
    endings: Vec<String>,
    /// Folder of the tables
    #[arg(short, long, value_name = "DIR", required_unless_present = "show")]
    output: Option<PathBuf>,
    /// Print the value of a position and the best line
    #[arg(long, value_name = "FEN", conflicts_with_all = ["endings", "syzygy"])]
    show: Option<String>,
    /// Compare every value with the Syzygy tables of a folder
    #[arg(long, value_name = "DIR")]
    syzygy: Option<PathBuf>,
}

impl TablesArgs {
    /// Does what they say.
    ///
    /// # Errors
    ///
    /// An ending or a position cannot be read, a file cannot be written, or a value is wrong.
    pub fn run(&self) -> Result<ExitCode> {
        let distances =
            self.output.as_deref().map_or_else(Distances::default, Distances::of_folder);
        match &self.show {
            Some(fen) => show(fen, &distances)?,
            None => self.make(&distances)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn make(&self, distances: &Distances) -> Result<()> {
        let folder = self.output.as_deref().unwrap_or(".".as_ref());
        dbacl_files::atomic_file::make_folder(folder)
            .with_context(|| Cannot::Write(folder.into()))?;
        let syzygy = self.syzygy.as_deref().map(syzygy::Tables::open).transpose()?;
        let mut wanted: Vec<Men> =
            self.endings.iter().map(|name| Men::parse(name)).collect::<Result<_>>()?;
        if wanted.is_empty() {
            wanted = Men::all();
        }
        let all: usize = Men::in_order(&wanted).iter().map(Vec::len).sum();
        let (done, wrong) = (AtomicU64::new(0), AtomicU64::new(0));
        let begun = Instant::now();
        let made = |table: &Table| {
            let Counts { won, drawn, lost, longest } = table.counts();
            let checked = table.check(distances, STEP, syzygy.as_ref())?;
            replace_file(&Disk, &table.men.file(folder), &table.to_bytes()?)?;
            wrong.fetch_add(checked.wrong, Relaxed);
            done.fetch_add(1, Relaxed);
            let (men, moves) = (&table.men, longest.div_ceil(2));
            progress::give_way();
            let text = format!(
                "{men}: won {won}, drawn {drawn}, lost {lost}; longest mate {moves} moves; {} \
                 values checked, {} by Syzygy's; {} wrong; after {:.1} s\n",
                checked.followed,
                checked.compared,
                checked.wrong,
                begun.elapsed().as_secs_f64()
            );
            write_result(None, text.as_bytes())
        };
        let part = || Some((done.load(Relaxed), all as u64));
        progress::watch("making endgame tables", part, || distances.make(&wanted, &made))?;
        match wrong.into_inner() {
            0 => Ok(()),
            wrong => bail!("{wrong} values are wrong"),
        }
    }
}

/// Prints the value of a position and the best line.
fn show(fen: &str, distances: &Distances) -> Result<()> {
    let start = read_fen(fen)?;
    let men = Men::on(start.board()).context("not a position of three or four men")?;
    let make = || distances.make(&[men], &|_| Ok(()));
    progress::watch("making endgame tables", || None, make)?;
    let mut game = Game::new(start, Spelling::default());
    let choices = |game: &Game| distances.choices(game.position(), &game.position().legal_moves());
    let first = choices(&game)?.context("the game is over, or somebody may castle")?;
    let (own, other) = game.turn().fold_wb(("White", "Black"), ("Black", "White"));
    let value = match first.ending() {
        Ending::Mates(plies) => format!("{own} mates in {} moves", plies.div_ceil(2)),
        Ending::IsMated(plies) => format!("{other} mates in {} moves", plies.div_ceil(2)),
        _ => {
            let words = first.moves.iter().map(|&m| to_word(game.position(), m, game.spelling()));
            let words = words.collect::<Vec<String>>().join(", ");
            return write_result(None, format!("a draw, with {words}\n").as_bytes());
        }
    };
    while let Some(best) = choices(&game)? {
        game.play(best.moves[0]);
    }
    write_result(None, format!("{value}\n{}\n", game.gameline()).as_bytes())
}
