// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes endgame tables and writes them to a folder.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use chess_search::endgame::{EndgameTables, KIND, Material, build};

use crate::play::endgames;
use crate::play::files::replace_file;

/// The file of a material's table.
fn file(folder: &Path, material: &Material) -> PathBuf {
    folder.join(format!("{material}.{KIND}"))
}

/// Makes the tables of these materials and of what captures and promotions lead to; `progress` is
/// told what is made, or found in the folder already.
///
/// # Errors
///
/// A name is none, or a file cannot be read or written.
pub fn make(names: &[String], folder: &Path, progress: &mut dyn FnMut(&str)) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut wanted: Vec<Material> = Vec::new();
    for name in names {
        for material in Material::parse(name)?.with_descendants() {
            if !wanted.contains(&material) {
                wanted.push(material);
            }
        }
    }
    let mut tables = EndgameTables::default();
    for (number, material) in wanted.iter().enumerate() {
        let path = file(folder, material);
        let place = format!("{}/{} {material}", number + 1, wanted.len());
        // A damaged or foreign file is replaced.
        if let Ok(table) = endgames::read_table(&path) {
            progress(&format!("{place}: {} is there", path.display()));
            tables.insert(table);
            continue;
        }
        let mut told = 0;
        let table = build(material, &tables, &mut |half_moves| {
            if half_moves >= told + 10 {
                told = half_moves;
                progress(&format!("{place}: mates in {} moves", half_moves.div_ceil(2)));
            }
        });
        replace_file(&path, &table.to_bytes())?;
        let longest = table.longest().into_iter().flatten().max();
        let longest = longest.map_or_else(
            || "no mates".to_owned(),
            |plies| format!("longest mate {} moves", plies.div_ceil(2)),
        );
        progress(&format!("{place}: {longest}, {}", path.display()));
        tables.insert(table);
    }
    Ok(())
}
