/*
 * import: any bytes read as a trace of one format, into a run that is removed again. It is made, or there was nothing
 * to make it of; nothing else may happen.
 */
#ifndef SONDE_TEST_FUZZ_IMPORT_H
#define SONDE_TEST_FUZZ_IMPORT_H

#include "fuzz.h"

#include "base/fs.h"
#include "exchange/exchange.h"
#include "exchange/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline const struct exchange_format *fuzz_format(const char *name)
{
	for (size_t i = 1; exchange_reader_names[i]; i++)
		if (strcmp(exchange_reader_names[i], name) == 0)
			return exchange_readers[i];
	abort();
}

static inline void fuzz_import(const char *name, const uint8_t *data, size_t n)
{
	char dir[64], path[64];
	const char *paths[] = { path };
	const struct exchange_format *format = fuzz_format(name);
	struct import_options options = { .paths = paths, .path_count = 1, .dir = dir };
	struct import_result result;
	struct sonde_err err = SONDE_ERR_INIT;
	char *head = malloc(n + 1);
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;

	snprintf(dir, sizeof(dir), "%s/sonde-fuzz-XXXXXX", fuzz_temp());
	if (!head || fd < 0 || !mkdtemp(dir) || fs_write_all(fd, data, n) < 0)
		abort();
	memcpy(head, data, n);
	head[n] = '\0';
	if (n)
		format->is_mine(head, n);
	free(head);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = import_run(format, &options, &result, &err);
	if (rc != 0 && rc != -ENODATA) {
		fprintf(stderr, "import: %s\n", err.text);
		abort();
	}
	import_result_release(&result);
	fs_remove_tree(AT_FDCWD, dir);
	close(fd);
}

#endif
