# SPDX-License-Identifier: GPL-3.0-or-later
# Made from the option table by tests/interface.rs.
complete -c hypex -s s -l step -x -d 'distance of the places computed, between 0 and 1; default 0.1'
complete -c hypex -s v -l verbose -d 'print progress and a check of the dumps'
complete -c hypex -s h -l hash-size -x -d 'accepted and ignored'
complete -c hypex -s H -l max-hash-size -x -d 'accepted and ignored'
complete -c hypex -l help -d 'print this help'
complete -c hypex -s V -l version -d 'print the version'
