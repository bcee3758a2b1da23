# SPDX-License-Identifier: GPL-3.0-or-later
# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_chess_adapter_global_optspecs
    string join \n h/help V/version
end

function __fish_chess_adapter_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_chess_adapter_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_chess_adapter_using_subcommand
    set -l cmd (__fish_chess_adapter_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -s h -l help -d 'Print help'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -s V -l version -d 'Print version'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "prepare" -d 'PGN files to training text'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "learn" -d 'PGN files to a folder of models, ready to play'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "play" -d 'Play in a chess interface that speaks XBoard or UCI'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "evaluate" -d 'Measure the share of master moves found'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "match" -d 'Play games against a random mover, itself or a UCI engine'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "why" -d 'Explain a move by the classifier\'s own evidence'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "style" -d 'Learn to tell players\' styles apart'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "book" -d 'PGN files to an opening book'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "report" -d 'A game as one HTML page: boards, likeliest moves, evidence'
complete -c chess-adapter -n "__fish_chess_adapter_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand prepare" -s o -l output -d 'Folder for the text files' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand prepare" -l encodings -d 'Also write these encodings' -r -f -a "half\t'One word a half-move: `e4 c5 Nf3`'
full\t'White\'s move and Black\'s reply: `e4_c5 Nf3_`. Complete when Black chooses'
shifted\t'Black\'s move and White\'s reply: `^_e4 c5_Nf3`. Complete when White chooses'"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand prepare" -l unfinished -d 'What unfinished games become' -r -f -a "skip\t'Left out'
draw\t'Both Draw sets take them, as the essay has it'"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand prepare" -l keep-setup -d 'Take games from set-up positions too'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand prepare" -l no-check-marks -d 'Leave out + and #'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand prepare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -s o -l output -d 'The model folder' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l preset -d 'Which models to learn' -r -f -a "odds\t'The odds of each move among all legal ones'
essay\t'The essay\'s: pairs of half-moves; sevens of full moves of won games, and of won and drawn ones; carrot and stick'"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l unfinished -d 'What unfinished games become' -r -f -a "skip\t'Left out'
draw\t'Both Draw sets take them, as the essay has it'"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l positions -d 'Learn at most N positions, drawn from all of all games; 0 for all' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l search-words -d 'Half-moves that the second stage of the odds looks ahead; 0 for no second stage' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l seed -d 'Seed of the draw' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -s j -l jobs -d 'Learn so many categories at once' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l dbacl -d 'The classifier; default: dbacl beside this program, then on the search path' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l dbacl-args -d 'Option for the classifier, such as -m; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l keep-setup -d 'Take games from set-up positions too'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l no-check-marks -d 'Leave out + and #'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l all -d 'Learn all positions'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -l keep-text -d 'Keep the training text in DIR/text'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand learn" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l white -d 'White\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l black -d 'Black\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l voice -d 'Which voice of the model folder plays; default: its preset\'s' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l encoding -d 'How the gamelines of a category are encoded: half, full, shifted or auto' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l temperature -d 'Divide differences of scores by T in probabilities and draws; 0 takes the best move' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l window -d 'Send only the last N words to the classifier' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l set -d 'Set any option by its protocol name' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l dbacl -d 'The classifier; default: dbacl beside this program, then on the search path' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l dbacl-args -d 'Option for the classifier, such as -m; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l play -d 'How to play: human, as the games learned; strong, looking ahead; auto, looking ahead where the interface limits it' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l rule -d 'Which completions are preferred: basic, captures or tactical' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l essay -d 'Play as that engine of the essay' -r -f -a "basic\t''
1\t''
2\t''
3\t''
4\t''
final\t''"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l seed -d 'Seed of the draws' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l book -d 'Take moves from this opening book, ours or Polyglot' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l search -d 'Look ahead: so many half-moves, or so long (as 500ms or 0.5s), on, off, or auto' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l syzygy -d 'Folder of Syzygy endgame tables' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l style -d 'Folder of style categories: play by the opponent\'s style (preset essay)' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l protocol -d 'Which protocol to speak' -r -f -a "auto\t'The protocol that the first line names'
xboard\t'XBoard\'s'
uci\t'UCI'"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l name -d 'The engine\'s name in the interface' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l log -d 'Append finished games to this PGN file' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l watch -d 'Write files to watch: PREFIX.current.pgn, .gameline, .scores, .scores.cap, .emove' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l no-check-marks -d 'Gamelines have no + and #'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l random -d 'Draw moves by their probability'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l deterministic -d 'Ignore the interface\'s command to play at random'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l no-mate-keyword -d 'Do not play mates at once'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -l avoid-draws -d 'Leave out moves that draw at once, unless behind'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand play" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l white -d 'White\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l black -d 'Black\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l voice -d 'Which voice of the model folder plays; default: its preset\'s' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l encoding -d 'How the gamelines of a category are encoded: half, full, shifted or auto' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l temperature -d 'Divide differences of scores by T in probabilities and draws; 0 takes the best move' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l window -d 'Send only the last N words to the classifier' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l set -d 'Set any option by its protocol name' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l dbacl -d 'The classifier; default: dbacl beside this program, then on the search path' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l dbacl-args -d 'Option for the classifier, such as -m; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l positions -d 'Positions, one a line: gameline, tab, the move played' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l no-check-marks -d 'Gamelines have no + and #'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l all-voices -d 'Judge every voice of the model folder'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -l json -d 'Print JSON'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand evaluate" -s h -l help -d 'Print help'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l white -d 'White\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l black -d 'Black\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l voice -d 'Which voice of the model folder plays; default: its preset\'s' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l encoding -d 'How the gamelines of a category are encoded: half, full, shifted or auto' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l temperature -d 'Divide differences of scores by T in probabilities and draws; 0 takes the best move' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l window -d 'Send only the last N words to the classifier' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l set -d 'Set any option by its protocol name' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l dbacl -d 'The classifier; default: dbacl beside this program, then on the search path' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l dbacl-args -d 'Option for the classifier, such as -m; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l play -d 'How to play: human, as the games learned; strong, looking ahead; auto, looking ahead where the interface limits it' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l rule -d 'Which completions are preferred: basic, captures or tactical' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l essay -d 'Play as that engine of the essay' -r -f -a "basic\t''
1\t''
2\t''
3\t''
4\t''
final\t''"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l seed -d 'Seed of the draws' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l book -d 'Take moves from this opening book, ours or Polyglot' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l search -d 'Look ahead: so many half-moves, or so long (as 500ms or 0.5s), on, off, or auto' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l syzygy -d 'Folder of Syzygy endgame tables' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l style -d 'Folder of style categories: play by the opponent\'s style (preset essay)' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l games -d 'Number of games' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l opponent -d 'random, self, or the command of a UCI engine' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l opponent-set -d 'Option of the opponent; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l opponent-go -d 'What the opponent is told after go; default: depth 1 without a clock' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l go -d 'What our engine is told after go, such as "movetime 500"' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l clock -d 'Clocks beside other limits, seconds for the game and after each move, such as 10+0.1' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l openings -d 'Gamelines to begin with, one a line; each is played with both colours' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l opening-plies -d 'Half-moves taken from each of these' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l match-seed -d 'Seed of the random mover' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l side -d 'Which colour the engine has' -r -f -a "white\t'White in every game'
black\t'Black in every game'
both\t'White in the first game, Black in the second, and so on'"
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l limit -d 'Stop games after so many half-moves' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l pgn -d 'Write the games to this PGN file' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l no-check-marks -d 'Gamelines have no + and #'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l random -d 'Draw moves by their probability'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l deterministic -d 'Ignore the interface\'s command to play at random'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l no-mate-keyword -d 'Do not play mates at once'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l avoid-draws -d 'Leave out moves that draw at once, unless behind'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l progress -d 'Say how the match stands after each game'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -l json -d 'Print JSON'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand match" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l white -d 'White\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l black -d 'Black\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l voice -d 'Which voice of the model folder plays; default: its preset\'s' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l encoding -d 'How the gamelines of a category are encoded: half, full, shifted or auto' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l temperature -d 'Divide differences of scores by T in probabilities and draws; 0 takes the best move' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l window -d 'Send only the last N words to the classifier' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l set -d 'Set any option by its protocol name' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l dbacl -d 'The classifier; default: dbacl beside this program, then on the search path' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l dbacl-args -d 'Option for the classifier, such as -m; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l moves -d 'The moves played before, as one argument' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l move -d 'The move to explain; default: the best one' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -l no-check-marks -d 'Gamelines have no + and #'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand why" -s h -l help -d 'Print help'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -s o -l output -d 'Folder for the three categories' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -l attacking -d 'An attacking player\'s name, or a part of it; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -l positional -d 'A positional player\'s name; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -l mixed -d 'The name of a player of mixed style; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -l test-every -d 'Keep every N-th game back and judge it after ten moves' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -l dbacl -d 'The classifier; default: dbacl beside this program, then on the search path' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -l dbacl-args -d 'Option for the classifier, such as -m; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand style" -s h -l help -d 'Print help'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand book" -s o -l output -d 'Where to write; standard output if missing' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand book" -l plies -d 'Half-moves counted of each game' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand book" -l min-count -d 'Moves seen less often are left out' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand book" -l depth -d 'Depth of the tree' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand book" -l polyglot -d 'Write a Polyglot file'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand book" -l tree -d 'Print the book as a tree'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand book" -s h -l help -d 'Print help'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l white -d 'White\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l black -d 'Black\'s model: a folder or a category' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l voice -d 'Which voice of the model folder plays; default: its preset\'s' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l encoding -d 'How the gamelines of a category are encoded: half, full, shifted or auto' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l temperature -d 'Divide differences of scores by T in probabilities and draws; 0 takes the best move' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l window -d 'Send only the last N words to the classifier' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l set -d 'Set any option by its protocol name' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l dbacl -d 'The classifier; default: dbacl beside this program, then on the search path' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l dbacl-args -d 'Option for the classifier, such as -m; may repeat' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l pgn -d 'The PGN file' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l game -d 'Which game of the file, from 1' -r
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -s o -l output -d 'Where to write; standard output if missing' -r -F
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -l no-check-marks -d 'Gamelines have no + and #'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand report" -s h -l help -d 'Print help'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "prepare" -d 'PGN files to training text'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "learn" -d 'PGN files to a folder of models, ready to play'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "play" -d 'Play in a chess interface that speaks XBoard or UCI'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "evaluate" -d 'Measure the share of master moves found'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "match" -d 'Play games against a random mover, itself or a UCI engine'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "why" -d 'Explain a move by the classifier\'s own evidence'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "style" -d 'Learn to tell players\' styles apart'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "book" -d 'PGN files to an opening book'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "report" -d 'A game as one HTML page: boards, likeliest moves, evidence'
complete -c chess-adapter -n "__fish_chess_adapter_using_subcommand help; and not __fish_seen_subcommand_from prepare learn play evaluate match why style book report help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
