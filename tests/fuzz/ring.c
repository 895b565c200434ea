/*
 * A chunk of a ring, scribbled over by a hostile program, read by the drainer. The
 * input is the chunk: its head and its records.
 */
#include "fuzz.h"

#include "base/fs.h"
#include "calls/calls-hash.h"
#include "record/record.h"
#include "sonde/shm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char ring[64], bundle[80];

static void write_file(const char *name, const void *bytes, size_t n)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", ring, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_all(fd, bytes, n))
		abort();
	close(fd);
}

static void clean_up(void)
{
	fs_remove_tree(AT_FDCWD, bundle);
	fs_remove_tree(AT_FDCWD, ring);
}

static void start(void)
{
	struct sonde_control control = { .magic = SONDE_CONTROL_MAGIC,
		.version = SONDE_SHM_VERSION,
		.clock = SONDE_CLOCK_MONOTONIC,
		.segments_made = 1 };
	snprintf(ring, sizeof(ring), "%s/sonde-fuzz-XXXXXX", fuzz_temp());
	if (!mkdtemp(ring))
		abort();
	snprintf(bundle, sizeof(bundle), "%s.run", ring);
	atexit(clean_up);
	write_file("control", &control, sizeof(control));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static char segment[SONDE_SEGMENT_HEAD_BYTES + SONDE_CHUNK_BYTES];
	struct sonde_segment head = { .magic = SONDE_SEGMENT_MAGIC,
		.version = SONDE_SHM_VERSION,
		.kind = SONDE_SEGMENT_RING,
		.calls_hash = CALLS_HASH,
		.process = 1,
		.pid = 1,
		.chunk_count = 1,
		.owner = { 42 } };
	struct record_result result = RECORD_RESULT_INIT;
	if (!ring[0])
		start();
	memset(segment, 0, sizeof(segment));
	memcpy(segment, &head, sizeof(head));
	memcpy(segment + SONDE_SEGMENT_HEAD_BYTES, bytes, n < SONDE_CHUNK_BYTES ? n : SONDE_CHUNK_BYTES);
	write_file("1.0", segment, sizeof(segment));
	fs_remove_tree(AT_FDCWD, bundle);
	if (record_import_ring(ring, bundle, &result, NULL))
		abort();
	record_result_release(&result);
	return 0;
}
