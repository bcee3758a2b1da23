// SPDX-License-Identifier: GPL-3.0-or-later
//! The model that plays where none is named: the one that comes with the program, or else the
//! user's own, which is learned at the first start.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use chess_games::prepare::{Options, Statistics, read_games};
use chess_odds::{Games, fit};
use dbacl::parallel;
use dbacl_cli::folders;
use dbacl_files::atomic_file::make_folder;

use super::learn;
use crate::play::models::{MANIFEST, Manifest, ODDS, Side};

/// The games that come with the program.
const GAMES: &[u8] = include_bytes!("../../testdata/masters.pgn");
/// Positions that are learned of them.
const POSITIONS: usize = 60_000;

/// A model that is there.
pub(crate) fn known() -> Option<PathBuf> {
    let places = folders::of_models().map(|folder| folder.join("chess")).chain(own());
    places.into_iter().find(|folder| folder.join(MANIFEST).is_file())
}

fn own() -> Option<PathBuf> {
    Some(folders::of_user("XDG_DATA_HOME", ".local/share")?.join("dbacl/models/chess"))
}

/// Learns the user's own model; `advanced` is called now and then.
pub(crate) fn learn(advanced: &dyn Fn()) -> Result<PathBuf> {
    let folder =
        own().context("no model is named, and there is no folder for one: HOME is empty")?;
    dbacl_cli::arguments::say(
        "chess-adapter",
        &format!(
            "no model is named: learning one from 1,500 games, which takes about a minute, into {}",
            folder.display()
        ),
    );
    let wanted = fit::Options {
        positions: POSITIONS,
        seed: 1,
        threads: parallel::processors(),
        depth: learn::DEPTH,
    };
    learn_into(&folder, &wanted, advanced)?;
    Ok(folder)
}

fn learn_into(folder: &Path, wanted: &fit::Options, advanced: &dyn Fn()) -> Result<()> {
    let (mut games, mut statistics) = (Games::default(), Statistics::default());
    read_games(GAMES, &Options::default(), &mut statistics, &mut |game, _| {
        games.push(game.start.clone(), &game.moves);
        Ok(())
    })?;
    make_folder(folder).with_context(|| Cannot::Write(folder.into()))?;
    learn::learn_odds(folder, &games, wanted, advanced)?;
    let sides = [Side::default(), Side::default()];
    Manifest::new(ODDS, statistics.written, true, sides).write(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_games::game::Game;
    use dbacl_testing::Scratch;
    use std::cell::Cell;

    #[test]
    fn a_model_is_learned_from_the_games_that_come_with_the_program() {
        let (place, advanced) = (Scratch::new(), Cell::new(0));
        let folder = place.path("data/chess");
        let wanted = fit::Options { positions: 300, seed: 1, threads: 1, depth: 0 };
        learn_into(&folder, &wanted, &|| advanced.set(advanced.get() + 1)).expect("learned");
        assert!(advanced.get() > 0);
        let manifest = Manifest::read(&folder).expect("whole");
        assert_eq!((manifest.games, manifest.spelling()), (1_500, Game::default().spelling()));
        assert!(folder.join(ODDS).is_file());
    }
}
