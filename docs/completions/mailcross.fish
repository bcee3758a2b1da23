# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
complete -c mailcross -l seed -x -d 'make \'add\' and \'prepare\' choose the same way again'
complete -c mailcross -l jobs -x -d 'ask the filter about so many messages at a time (mailcross); default: one for each processor with the built-in filter, else 1'
complete -c mailcross -l help -d 'print this help'
complete -c mailcross -s V -l version -d 'print the version'
complete -c mailcross -n __fish_use_subcommand -a 'prepare add learn run summarize plot review truth clean testsuite'
