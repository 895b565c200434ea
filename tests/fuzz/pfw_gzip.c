/*
 * Fuzz target: any bytes read as a gzip file from its beginning, and from every place
 * where a member seems to begin. Bytes that are given out are bounded, and so is time.
 */
#include "fuzz.h"

#include "pfw/gzip-read.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (16u << 20)

static uint64_t read_from(int fd, uint64_t from, size_t room)
{
	enum pfw_gzip_status status;
	struct pfw_gzip *g;
	uint64_t sum = 0;
	size_t all = 0, n;
	char *text = malloc(room);

	if (!text || pfw_gzip_open(&g, fd, from) < 0)
		abort();
	do {
		status = pfw_gzip_read(g, text, room, &n);
		if (n > room)
			abort();
		for (size_t i = 0; i < n; i++)
			sum += (unsigned char)text[i];
		all += n;
	} while ((status == PFW_GZIP_MORE || status == PFW_GZIP_MEMBER) && all < TEXT_BYTES_MAX);
	pfw_gzip_free(g);
	free(text);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("fuzz", 0);
	uint64_t *starts;
	volatile uint64_t sum = 0;
	size_t count;

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	sum += read_from(fd, 0, 100 + n % 5000);
	if (pfw_gzip_scan(fd, n, 1, &starts, &count, NULL) == 0) {
		for (size_t i = 1; i < count && i < 8; i++)
			sum += read_from(fd, starts[i], 4096);
		free(starts);
	}
	close(fd);
	(void)sum;
	return 0;
}
