/*
 * fuzz: what every fuzz target defines. libFuzzer calls it with made-up inputs,
 * replay.c with the files of a corpus.
 */
#ifndef SONDE_TEST_FUZZ_H
#define SONDE_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Must return 0 for every input; a crash, a sanitizer's report or a failed assertion is a finding. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
