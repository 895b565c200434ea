/*
 * support: what unit tests share: cmocka's includes in their order, a seeded
 * source of random values, and allocations that fail on command.
 *
 * A randomised test starts with random_init(), which takes another seed each run
 * and prints it; SONDE_TEST_SEED=<seed> repeats that run.
 */
#ifndef SONDE_TEST_SUPPORT_H
#define SONDE_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

void random_init(void);
uint64_t random_u64(void);
size_t random_below(size_t n); /* 0 .. n-1 */
void random_bytes(void *place, size_t n);

/* The allocation after `good` more ones fails, and all after it, until alloc_fail_never. */
void alloc_fail_after(size_t good);
void alloc_fail_never(void);
bool alloc_has_failed(void); /* since alloc_fail_after */

/* Does body abort (an assertion)? It runs in a child, silently. */
bool aborts(void (*body)(void));

#endif
