// SPDX-License-Identifier: GPL-3.0-or-later
//! Folders in which programs look without being asked.

use std::path::PathBuf;

/// The user's folder.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// A folder of the user, by the variable that names it or below [`home`].
pub fn of_user(variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| home().map(|home| home.join(below_home)))
}

/// Folders of models: `$DBACL_MODELS`, and that of the models that come with the program, as
/// installed or beside the folder `target` where it was built.
pub fn of_models() -> impl Iterator<Item = PathBuf> {
    std::env::var_os("DBACL_MODELS").map(PathBuf::from).into_iter().chain(models_of_program())
}

fn models_of_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let mut above = program.ancestors().skip(2);
    let (prefix, sources) = (above.next()?, above.next());
    if prefix.ends_with("target") {
        return Some(sources?.join("models"));
    }
    Some(prefix.join("share/dbacl/models"))
}
