// SPDX-License-Identifier: GPL-3.0-or-later
//! A hostile IMAP server: dialogues with changed bytes end in faults, and teach nothing that nobody
//! has said. `DBACL_IMAP_ROUNDS` is how many are tried (2,000).

use dbacl_fuzz::{changed, imap_lessons, imap_server, seeds};
use dbacl_numeric::random::SplitMix64;

#[test]
fn hostile_servers_end_in_faults() {
    let seeds = seeds("imap_server");
    for seed in &seeds {
        imap_server(seed);
    }
    // The dialogues mean something: two of them teach.
    let lessons: usize = seeds.iter().map(|seed| imap_lessons(seed)).sum();
    assert!(lessons >= 2, "{lessons} lessons");
    let rounds = std::env::var("DBACL_IMAP_ROUNDS");
    let rounds = rounds.map_or(2000, |text| text.parse().expect("a number"));
    let mut random = SplitMix64::new(1);
    for _ in 0..rounds {
        let data = changed(&seeds, 6, &mut random);
        let start = std::time::Instant::now();
        imap_server(&data);
        assert!(start.elapsed().as_secs() < 60, "{}", data.escape_ascii());
    }
}
