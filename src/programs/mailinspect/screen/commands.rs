// SPDX-License-Identifier: GPL-3.0-or-later
//! The commands of the function keys, from `.mailinspectrc`.

/// Function keys that can have a command.
pub(super) const KEYS: usize = 10;

/// Commands by function key, F1 first. Lines are `F<n> COMMAND`; others are ignored, and of several
/// for one key the last counts.
pub(super) fn parse(text: &str) -> [Option<String>; KEYS] {
    let mut commands = [const { None }; KEYS];
    for line in text.lines() {
        let Some((key, command)) = line.split_once(char::is_whitespace) else { continue };
        let number = key.strip_prefix('F').and_then(|number| number.parse::<usize>().ok());
        let command = command.trim();
        if let Some(number @ 1..=KEYS) = number
            && !command.is_empty()
        {
            commands[number - 1] = Some(command.to_owned());
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_function_keys_count() {
        let commands =
            parse("# keys\nF1 cat >>spam\nF10\t less -R \nF11 x\nF0 x\nF2\nf3 x\nF4x y\nF1 last\n");
        let found: Vec<(usize, &str)> = commands
            .iter()
            .enumerate()
            .filter_map(|(at, command)| Some((at + 1, command.as_deref()?)))
            .collect();
        assert_eq!(found, [(1, "last"), (10, "less -R")]);
    }
}
