// SPDX-License-Identifier: GPL-3.0-or-later
//! Tables for people.

/// Lines up a table below its heads: the first column to the left, the others to the right.
pub fn aligned(
    heads: impl IntoIterator<Item: Into<String>>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let heads: Vec<String> = heads.into_iter().map(Into::into).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..rows[0].len()).filter_map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate();
        let line: String = cells
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            })
            .collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["long", "1"], ["x", "100"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(["", "b\u{e9}"], rows), "       b\u{e9}\nlong    1\nx     100\n");
    }
}
