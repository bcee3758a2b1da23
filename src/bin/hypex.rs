// SPDX-License-Identifier: GPL-3.0-or-later
//! Divergences and Chernoff information of dumped models.

use dbacl_cli::terminal::Shown;

fn main() {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    let posixly_correct = std::env::var_os("POSIXLY_CORRECT").is_some();
    dbacl::cli::last_resort::install("hypex");
    let mut stdout = Shown::new(std::io::stdout().lock());
    let mut stderr = Shown::new(std::io::stderr().lock());
    dbacl::cli::hypex::run(&program, args, posixly_correct, &mut stdout, &mut stderr);
}
