// SPDX-License-Identifier: GPL-3.0-or-later
//! A program's settings, read from a file in TOML.

use dbacl_files::reading::read_small_text;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Reads the settings in the file at `path`. Without `path`, the file at `usual` is read if it
/// exists; otherwise all settings have their defaults.
///
/// # Errors
/// The file cannot be read, is not TOML, or has unknown settings or wrong values.
pub fn read<T>(path: Option<&Path>, usual: Option<PathBuf>) -> Result<T, String>
where
    T: DeserializeOwned + Default,
{
    let Some(chosen) = path.map(Path::to_path_buf).or(usual) else {
        return Ok(T::default());
    };
    match read_small_text(&chosen) {
        Ok(text) => parse(&text, &chosen),
        Err(error) if path.is_none() && error.kind() == ErrorKind::NotFound => Ok(T::default()),
        Err(error) => Err(format!("{}: {error}", chosen.display())),
    }
}

/// What is expected of a value: the name of its type, and words that users know.
const KINDS: [(&str, &str); 7] = [
    ("usize", "a whole number"),
    ("u64", "a whole number"),
    ("u32", "a whole number"),
    ("u16", "a whole number"),
    ("f64", "a number"),
    ("a sequence", "a list"),
    ("a boolean", "true or false"),
];

/// Reads the settings in `text`. Errors name `path`.
///
/// # Errors
/// It is not TOML, or has unknown settings or wrong values.
pub fn parse<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let number = text[..at.min(text.len())].matches('\n').count();
        let mut what = error.message().lines().next().unwrap_or("no configuration").to_owned();
        for (own, usual) in KINDS {
            what = what.replace(&format!("expected {own}"), &format!("expected {usual}"));
        }
        let name = text.lines().nth(number).and_then(|line| line.split_once('='));
        if let Some((name, _)) = name.filter(|_| what.contains("expected ") && !what.contains('`'))
        {
            what = format!("{}: {what}", name.trim());
        }
        format!("{}: line {}: {what}", path.display(), number + 1)
    })
}

/// The settings as a file has them, but for those that are as usual.
///
/// # Errors
///
/// A setting that is not text.
pub fn text<T: Serialize + Default>(settings: &T) -> Result<String, toml::ser::Error> {
    let usual = toml::Table::try_from(T::default())?;
    let mut own = toml::Table::try_from(settings)?;
    own.retain(|name, value| usual.get(name) != Some(value));
    toml::to_string(&own)
}
