// SPDX-License-Identifier: GPL-3.0-or-later
//! Power cuts while files are written: nothing becomes unreadable, and what has ended is there.

use dbacl_testing::power::cut;
use dbacl_testing::{Scratch, has_tracer};

/// What is prepared, what changes it, and what shows the change.
const CASES: &[(&str, &str, &str)] = &[
    (
        "echo ball bat >1; echo chip cpu >2; echo ball chip chip >3; dbacl -l a 1; dbacl -l b 2",
        "dbacl -l a 2",
        "dbacl -c a -c b -n 3",
    ),
    (
        "echo ball bat >1; echo chip cpu >2; dbacl -l a -o counts 1",
        "dbacl -l c -o counts 2",
        "dbacl -l d -o counts 1 >&2 && dbacl -c d -n 1 2",
    ),
    (
        "printf 'a\\tball\\nb\\tchip\\na\\tball x\\nb\\tchip y\\n' >1; \
         printf 'b\\tball\\na\\tchip\\nb\\tball x\\na\\tchip y\\n' >2; dbacl-text train 1 -o m -q",
        "dbacl-text train 2 -o m -q",
        "echo ball | dbacl-text predict m",
    ),
    (
        "printf 'a\\tball\\nb\\tchip\\na\\tball x\\nb\\tchip y\\n' >1; \
         printf 'b\\tball\\nb\\tball z\\nb\\tball ball\\n' >2; dbacl-text train 1 -o m -q --keep",
        "dbacl-text update m 2 -q",
        "echo ball | dbacl-text predict m",
    ),
    (
        "printf 'a\\tball\\nb\\tchip\\na\\tball x\\nb\\tchip y\\n' >1; \
         printf 'b\\tball\\nb\\tball z\\nb\\tball ball\\n' >2; cat 1 2 >3; \
         dbacl-text train 3 -o m -q --keep",
        "dbacl-text forget m 2 -q",
        "echo ball | dbacl-text predict m",
    ),
    (
        "printf '[Result \"1-0\"]\\n\\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\\n' >1",
        "chess-adapter learn -o m --positions 0 1 2>/dev/null",
        "chess-adapter report --pgn 1 m 2>/dev/null | cksum",
    ),
    (
        "printf '[Result \"1-0\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n' >1; \
         printf '[Result \"1-0\"]\n\n1. d4 f6 2. c4 g5 3. e4 c6 4. Qh5# 1-0\n' >2; \
         chess-adapter learn -o m --positions 0 1 2>/dev/null",
        "chess-adapter learn -o m --positions 0 2 2>/dev/null",
        "chess-adapter report --pgn 1 m 2>/dev/null | cksum",
    ),
    (
        "mkdir h s; for n in 1 2 3 4 5 6 7 8; do \
         printf 'Subject: lunch\\n\\nnoon %s\\n' $n >h/$n; \
         printf 'Subject: prize\\n\\nclick %s\\n' $n >s/$n; done",
        "dbacl --quiet --mail-learn f ham=h spam=s",
        "dbacl --strict --quiet --mail-verdict f h/1 s/1",
    ),
    (
        "mkdir h s; for n in 1 2 3 4 5 6 7 8; do \
         printf 'Subject: lunch\\n\\nnoon %s\\n' $n >h/$n; \
         printf 'Subject: prize\\n\\nclick %s\\n' $n >s/$n; done; \
         printf 'Subject: lunch\\n\\nprize\\n' >1; dbacl --quiet --mail-learn f ham=h spam=s",
        "dbacl --quiet --mail-correct f spam 1",
        "dbacl --strict --quiet --mail-verdict f --format tsv h/1 1",
    ),
    (
        "mkdir h s; for n in 1 2 3 4 5 6 7 8; do \
         printf 'Subject: lunch\\n\\nnoon %s\\n' $n >h/$n; \
         printf 'Subject: prize\\n\\nclick %s\\n' $n >s/$n; done; \
         printf 'Subject: lunch\\n\\nprize\\n' >1; dbacl --quiet --mail-learn f ham=h spam=s; \
         dbacl --quiet --mail-correct f spam 1",
        "dbacl --quiet --mail-forget f spam 1",
        "dbacl --strict --quiet --mail-verdict f --format tsv h/1 1",
    ),
    (
        // A user's first lesson on a server.
        "mkdir h s u; for n in 1 2 3 4 5 6 7 8; do \
         printf 'Subject: lunch\\n\\nnoon %s\\n' $n >h/$n; \
         printf 'Subject: prize\\n\\nclick %s\\n' $n >s/$n; done; \
         printf 'Subject: lunch\\n\\nprize\\n' >1; dbacl --quiet --mail-learn f ham=h spam=s; \
         printf 'default = \"@/f\"\\nmodels = \"@/u/{user}\"\\n' >c; \
         printf '[listen]\\nspamc = \"@/spamc\"\\n' >>c; \
         sed \"s|@|$PWD|\" c >d",
        "dbacl-server --config d 2>/dev/null & \
         until dbacl-server --config d --teach spam --user ann <1 2>/dev/null; do sleep .1; done; \
         kill $!; wait; rm -f spamc; test -e u/ann/table",
        "sed \"s|@|$PWD|\" c >e; printf 'h/1\\n1\\n' | \
         dbacl-server --config e --judge --user ann 2>/dev/null",
    ),
];

#[test]
fn a_power_cut_loses_nothing_that_was_there_or_has_ended() {
    if !has_tracer("power::a_power_cut") {
        return;
    }
    for (prepare, change, check) in CASES {
        let place = Scratch::new();
        place.sh(prepare).quiet(0);
        assert!(cut(&place, change, check) >= 2, "{change}: few moments");
    }
}
