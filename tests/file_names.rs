// SPDX-License-Identifier: GPL-3.0-or-later
//! Names of files that are not UTF-8, for every file that a program is given.

use dbacl_testing::Scratch;

/// A line for each command: the status that it ends with, and the command. `$x` are two bytes that
/// no UTF-8 has.
const COMMANDS: &str = r#"
0 echo "the cat sat on the mat" >$x.text; echo "the dog ate my homework" >$x.other
0 dbacl -l $x.cat -o $x.counts $x.text
0 dbacl -l $x.two $x.other
1 dbacl -c $x.cat -c $x.two $x.text
0 dbacl -l $x.more -o $x.counts $x.text
0 dbacl -c $x.cat -c $x.two -vna $x.text >$x.scores || true
0 printf 'categories { "%s", "%s" }\nprior { 1, 1 }\n' $x.cat $x.two >$x.risk
0 printf 'loss_matrix { "%s" "" [ 0, 1 ]\n"%s" "" [ 1, 0 ] }\n' $x.cat $x.two >>$x.risk
0 bayesol -c $x.risk $x.scores; test $? != 64
0 hypex $x.cat $x.two
0 mkdir $x.ham $x.spam
0 for n in 0 1 2 3 4 5 6 7; do printf 'Subject: lunch %s\n\nSee you %s.\n' $n $n >$x.ham/$x$n; done
0 for n in 1 2 3 4 5 6 7 8; do printf 'Subject: prize %s\n\nClaim %s.\n' $n $n >$x.spam/$x$n; done
0 dbacl --mail-learn $x.f ham=$x.ham spam="$x.spam/*"
0 dbacl --mail-verdict $x.f $x.ham/${x}1
0 dbacl --mail-filter $x.f $x.ham/${x}1
0 dbacl --mail-correct $x.f spam $x.ham/${x}1
0 dbacl --mail-forget $x.f spam $x.ham/${x}1
0 dbacl --check $x.f
0 for n in 1 2 3; do echo "From x@y Mon Jan  1 00:00:00 2024"; cat $x.ham/$x$n; done >$x.box
1 mailinspect -c $x.cat $x.box
0 mailcross prepare 2 && mailcross add $x.c $x.box && mailcross learn && mailcross run
0 for n in 1 2 3 4 5 6; do printf 'a\tthe cat %s\nb\tsome dog %s\n' $n $n; done >$x.tsv
0 cut -f 2 $x.tsv >$x.lines
0 dbacl-text train $x.tsv -o $x.model --unlabelled $x.lines
0 dbacl-text train $x.tsv -o $x.model --keep
0 for v in test card features; do dbacl-text $v $x.model $x.tsv || exit; done
0 dbacl-text update $x.model $x.tsv -o $x.updated && dbacl-text forget $x.updated $x.tsv
0 dbacl-text merge $x.model $x.model -o $x.merged
0 dbacl-text quantize $x.model -o $x.small && dbacl-text info $x.small
0 dbacl-text predict $x.model $x.lines && dbacl-text predict $x.model --files $x.text $x.other
0 dbacl-text explain $x.model $x.text
0 sed 's/^/__label__/' $x.tsv | tr '\t' ' ' >$x.marked
0 dbacl-text fasttext supervised -input $x.marked -output $x.fast
0 dbacl-text fasttext predict $x.fast.bin $x.lines
0 mkdir $x.both && cp -r $x.ham $x.spam $x.both
0 dbacl-eval $x.both --html $x.html --verdicts $x.json && test -s $x.html && test -s $x.json
0 dbacl-eval $x.ham=$x.ham s=$x.spam --test s=$x.spam
0 for n in 1 2 3 4; do printf "a $x.ham/$x$n\nb $x.spam/$x$n\n"; done >$x.index
0 dbacl-eval --index $x.index
0 printf '#!/bin/sh\ntest $1 != filter || cat >/dev/null; echo a\n' >$x.run; chmod +x $x.run
0 dbacl-eval $x.tsv --filter ./$x.run
0 printf '[Result "1-0"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n' >$x.pgn
0 chess-adapter prepare -o $x.games $x.pgn && chess-adapter book --min-count 1 -o $x.book $x.pgn
0 chess-adapter learn -o $x.chess --positions 0 $x.pgn && chess-adapter tables -o $x.tables KQK
0 chess-adapter play $x.chess --book $x.book --tables $x.tables --log $x.log </dev/null
0 chess-adapter play --white $x.chess --black $x.chess --learn-from-play $x.learned </dev/null
0 chess-adapter report --pgn $x.pgn $x.chess -o $x.page && test -s $x.page
0 chess-adapter match $x.chess --games 1 --pgn $x.played && test -s $x.played
66 chess-adapter play $x.chess --style $x.style </dev/null
0 echo "filter = 1" >$x.toml
64 dbacl-imap learn --config $x.toml
64 dbacl-server --config $x.toml
0 for file in $x.ham/*; do echo "$file"; done >$x.names
0 dbacl-server --default "$PWD/$x.f" --judge <$x.names | grep -c '' | grep -qx 8
"#;

#[test]
fn a_line_end_in_a_name_makes_no_second_message() {
    let place = Scratch::new();
    let lines = "a\ndbacl:error: b";
    for (program, args) in [
        ("dbacl", vec!["-c", lines]),
        ("dbacl", vec!["--mail-verdict", lines]),
        ("dbacl-text", vec!["predict", lines]),
        ("chess-adapter", vec!["prepare", "-o", "games", lines]),
    ] {
        let mut command = place.command(program);
        let errors = command.args(args).output().expect("it starts").stderr;
        let errors = String::from_utf8_lossy(&errors);
        assert!(errors.contains("a^Jdbacl:error: b"), "{program}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{program}: {errors}");
    }
}

#[test]
fn names_that_are_not_utf8_work_everywhere() {
    let place = Scratch::new();
    for line in COMMANDS.lines().filter(|line| !line.is_empty()) {
        let (status, command) = line.split_once(' ').expect("a status");
        let setting = "x=$(printf '\\377\\376'); export MAILCROSS_DIR=$PWD/mailcross";
        let done = place.sh(&format!("{setting}\n{command}"));
        assert_eq!(done.status.to_string(), status, "{command}: {}", done.stderr);
    }
}
