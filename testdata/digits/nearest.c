/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints what crates/dbacl-numeric/examples/functions.rs prints, with results of the library MPFR:
 * the double-precision numbers nearest to the true values. It takes some minutes.
 *
 *   cc -O2 nearest.c -lmpfr -lgmp && ./a.out | diff - expected
 */
#include <inttypes.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The generator splitmix64: the same arguments on every machine. */
static uint64_t state;

static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number below 1 with 53 random bits. */
static double unit(void) { return (double)(next() >> 11) * 0x1p-53; }

/* A number from 2^-64 on, with so many exponents. */
static double magnitude(uint64_t exponents) {
    uint64_t exponent = 1023 - 64 + next() % exponents;
    uint64_t bits = exponent << 52 | next() >> 12;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double magnitudes(uint64_t at) { (void)at; return magnitude(128); }
static double fractions(uint64_t at) { (void)at; return magnitude(64); }
static double near_one(uint64_t at) { (void)at; return 0.5 + 1.5 * unit(); }
static double whole(uint64_t at) { return (double)(at + 1); }
static double wide(uint64_t at) { (void)at; return -745.0 + 1454.0 * unit(); }
static double small(uint64_t at) { (void)at; return -1.0 + 2.0 * unit(); }
static double grid(uint64_t at) { return ((double)at - 23848.0) / 32.0; }
static double powers(uint64_t at) { (void)at; return -1020.0 + 2040.0 * unit(); }

static const struct {
    const char *name;
    int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    double (*argument)(uint64_t);
    uint64_t calls;
} rows[] = {
    {"log of magnitudes", mpfr_log, magnitudes, 10000000},
    {"log of 0.5 to 2", mpfr_log, near_one, 10000000},
    {"log of whole numbers", mpfr_log, whole, 10000000},
    {"exp of -745 to 709", mpfr_exp, wide, 10000000},
    {"exp of -1 to 1", mpfr_exp, small, 10000000},
    {"exp of all k:32", mpfr_exp, grid, 23848 + 22700},
    {"log1p of 0 to 1", mpfr_log1p, fractions, 10000000},
    {"exp2 of -1020 to 1020", mpfr_exp2, powers, 10000000},
    {"log2 of magnitudes", mpfr_log2, magnitudes, 10000000},
};

int main(void) {
    mpfr_t x, y;
    mpfr_init2(x, 53);
    mpfr_init2(y, 53);
    /* The range of double precision, so that results near its lower end are rounded once. */
    mpfr_set_emin(-1073);
    mpfr_set_emax(1024);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t hash = 0xcbf29ce484222325u;
        state = 20261122;
        for (uint64_t at = 0; at < rows[i].calls; at++) {
            mpfr_set_d(x, rows[i].argument(at), MPFR_RNDN);
            int ternary = rows[i].function(y, x, MPFR_RNDN);
            mpfr_subnormalize(y, ternary, MPFR_RNDN);
            double nearest = mpfr_get_d(y, MPFR_RNDN);
            uint64_t bits;
            memcpy(&bits, &nearest, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
            hash ^= hash >> 29;
        }
        printf("%s\t%" PRIu64 "\t%016" PRIx64 "\n", rows[i].name, rows[i].calls, hash);
        fflush(stdout);
    }
    return 0;
}
