# SPDX-License-Identifier: GPL-3.0-or-later
# Scores → a row of a table: (1-AUC) %, recall at 0.1 % and 1 % false positives, false positives, misses and
# errors in %, with 95 % bootstrap intervals for the first and the last (1,000 resamplings of the documents).
#
# Input: lines "SCORE SPAM", the highest score first; SPAM is 0 or 1; scores above 0 are verdicts "spam".
# Variables: name, the row's first field; documents without a score may be missing.

# Statistics of the documents, of which document i is there times[i] times.
function measure(    i, j, here, others, above, caught, wrong, s, h, fp, fn) {
    above = caught = wrong = s = h = fp = fn = 0
    for (i = 1; i <= n; i = j) {
        here = others = 0
        for (j = i; j <= n && score[j] == score[i]; j++)
            if (spam[j]) here += times[j]; else others += times[j]
        wrong += here * (above + others / 2)
        above += others
        caught += here
        if (score[i] > 0) fp += others; else fn += here
        rank_above[i] = above
        rank_caught[i] = caught
        last[i] = 1
    }
    s = caught
    h = above
    area = 100 * wrong / s / h
    false_positives = 100 * fp / h
    misses = 100 * fn / s
    errors = 100 * (fp + fn) / (s + h)
    r1 = r2 = 0
    for (i in last) {
        if (rank_above[i] <= 0.001 * h && rank_caught[i] > r1) r1 = rank_caught[i]
        if (rank_above[i] <= 0.01 * h && rank_caught[i] > r2) r2 = rank_caught[i]
    }
    r1 *= 100 / s
    r2 *= 100 / s
}

function sorted(list, count,    i, j, value) {
    for (i = 2; i <= count; i++) {
        value = list[i]
        for (j = i - 1; j > 0 && list[j] > value; j--) list[j + 1] = list[j]
        list[j + 1] = value
    }
}

# The same pseudo-random numbers with every awk.
function below(limit) {
    seed = (seed * 16807) % 2147483647
    return int(seed / 2147483647 * limit)
}

{ n++; score[n] = $1; spam[n] = $2; times[n] = 1 }

END {
    seed = 1
    measure()
    figures = sprintf("%6.2f %6.2f %5.2f %5.2f %5.2f", r1, r2, false_positives, misses, errors)
    whole = area
    rounds = 1000
    for (round = 1; round <= rounds; round++) {
        for (i = 1; i <= n; i++) times[i] = 0
        for (i = 1; i <= n; i++) times[1 + below(n)]++
        measure()
        areas[round] = area
        shares[round] = errors
    }
    sorted(areas, rounds)
    sorted(shares, rounds)
    low = int(rounds * 0.025)
    high = rounds - low
    printf "%-34s %7.4f (%.3f-%.3f) %s (%.2f-%.2f)\n", name, whole, areas[low], areas[high], figures,
        shares[low], shares[high]
}
