/*
 * fuzz: what every fuzz target defines. libFuzzer calls it with made-up inputs,
 * replay.c with the files of a corpus.
 */
#ifndef SONDE_TEST_FUZZ_H
#define SONDE_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Must return 0 for every input; a crash, a sanitizer's report or a failed assertion is a finding. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Where temporary directories are made: in memory where that works, since a target makes some for every input. */
static inline const char *fuzz_temp(void)
{
	return access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
}

#endif
