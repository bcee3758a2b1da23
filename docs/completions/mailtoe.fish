# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
complete -c mailtoe -l seed -x -d 'make \'add\' and \'prepare\' choose the same way again'
complete -c mailtoe -l jobs -x -d 'ask the filter about so many messages at a time (mailcross); default: one for each processor with the built-in filter, else 1'
complete -c mailtoe -l help -d 'print this help'
complete -c mailtoe -s V -l version -d 'print the version'
complete -c mailtoe -n __fish_use_subcommand -a 'prepare add learn run summarize plot review truth clean testsuite'
