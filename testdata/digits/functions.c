/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a C library's elementary functions return, to the bit, for fixed arguments.
 *
 *   functions                     one line a function: its name, arguments, and a hash of the results
 *   functions save FOLDER         the same; FOLDER keeps the results, to be compared elsewhere
 *   functions compare FOLDER      the same; and how many results differ from those in FOLDER
 *
 * With -DRIGHT and the library MPFR each line ends with the number of results that are not the
 * double-precision number nearest to the true value. Compile without optimisations that change
 * results: -O2 -fno-builtin -ffp-contract=off.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#include <mpfr.h>
#endif

/* The generator splitmix64: the same arguments on every machine. */
static uint64_t state;

static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number below 1 with 53 random bits; exact on every machine. */
static double unit(void) { return (double)(next() >> 11) * 0x1p-53; }

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Arguments: the number of the call, and random ones. */
static double magnitudes(uint64_t at) {
    (void)at;
    uint64_t exponent = 1023 - 64 + next() % 128;
    return from_bits(exponent << 52 | next() >> 12);
}
static double near_one(uint64_t at) { (void)at; return 0.5 + 1.5 * unit(); }
static double whole(uint64_t at) { return (double)(at + 1); }
static double wide(uint64_t at) { (void)at; return -745.0 + 1454.0 * unit(); }
static double small(uint64_t at) { (void)at; return -1.0 + 2.0 * unit(); }
/* All arguments at which the fit tabulates exponentials: multiples of 1/32. */
static double grid(uint64_t at) { return ((double)at - 23848.0) / 32.0; }
static double fractions(uint64_t at) {
    (void)at;
    uint64_t exponent = 1023 - 64 + next() % 64;
    return from_bits(exponent << 52 | next() >> 12);
}
static double powers(uint64_t at) { (void)at; return -1020.0 + 2040.0 * unit(); }

struct task {
    const char *name;
    double (*function)(double);
    double (*argument)(uint64_t);
    uint64_t calls;
#ifdef RIGHT
    int (*right)(mpfr_t, const mpfr_t, mpfr_rnd_t);
#define ROW(name, function, argument, calls) {name, function, argument, calls, mpfr_##function}
#else
#define ROW(name, function, argument, calls) {name, function, argument, calls}
#endif
};

static const struct task tasks[] = {
    ROW("log of magnitudes", log, magnitudes, 10000000),
    ROW("log of 0.5 to 2", log, near_one, 10000000),
    ROW("log of whole numbers", log, whole, 10000000),
    ROW("exp of -745 to 709", exp, wide, 10000000),
    ROW("exp of -1 to 1", exp, small, 10000000),
    ROW("exp of all k:32", exp, grid, 23848 + 22700),
    ROW("log1p of 0 to 1", log1p, fractions, 10000000),
    ROW("exp2 of -1020 to 1020", exp2, powers, 10000000),
    ROW("log2 of magnitudes", log2, magnitudes, 10000000),
};

static FILE *results_file(const char *folder, const char *name, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *c = strrchr(path, '/') + 1; *c; c++)
        if (*c == ' ' || *c == ':') *c = '-';
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(2);
    }
    return file;
}

int main(int count, char **words) {
    int saves = count == 3 && !strcmp(words[1], "save");
    int compares = count == 3 && !strcmp(words[1], "compare");
    if (count != 1 && !saves && !compares) {
        fprintf(stderr, "usage: functions [save FOLDER | compare FOLDER]\n");
        return 2;
    }
#ifdef RIGHT
    /* The range of double precision, so that results near its lower end are rounded once. */
    mpfr_set_emin(-1073);
    mpfr_set_emax(1024);
#endif
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const struct task *task = &tasks[i];
        FILE *file = NULL;
        if (saves || compares) file = results_file(words[2], task->name, saves ? "wb" : "rb");
        uint64_t hash = 0xcbf29ce484222325u, differing = 0;
#ifdef RIGHT
        uint64_t wrong = 0;
        mpfr_t exact, truth;
        mpfr_init2(exact, 53);
        mpfr_init2(truth, 53);
#endif
        state = 20261122;
        for (uint64_t at = 0; at < task->calls; at++) {
            volatile double x = task->argument(at);
            volatile double y = task->function(x);
            double result = y;
            uint64_t bits;
            memcpy(&bits, &result, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
            hash ^= hash >> 29;
            unsigned char bytes[8];
            for (int byte = 0; byte < 8; byte++) bytes[byte] = (unsigned char)(bits >> 8 * byte);
            if (saves && fwrite(bytes, 8, 1, file) != 1) return 2;
            if (compares) {
                unsigned char other[8];
                if (fread(other, 8, 1, file) != 1) return 2;
                differing += memcmp(bytes, other, 8) != 0;
            }
#ifdef RIGHT
            mpfr_set_d(exact, x, MPFR_RNDN);
            int ternary = task->right(truth, exact, MPFR_RNDN);
            mpfr_subnormalize(truth, ternary, MPFR_RNDN);
            wrong += mpfr_get_d(truth, MPFR_RNDN) != result;
#endif
        }
        printf("%s\t%" PRIu64 "\t%016" PRIx64, task->name, task->calls, hash);
        if (compares) printf("\t%" PRIu64, differing);
#ifdef RIGHT
        printf("\t%" PRIu64, wrong);
#endif
        printf("\n");
        fflush(stdout);
        if (file) fclose(file);
    }
    return 0;
}
