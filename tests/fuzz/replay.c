/*
 * Run a fuzz target over the files of a corpus, as an ordinary test.
 *
 *   replay DIRECTORY...
 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a buffer of its own size, so that reading beyond the input is seen. */
static void run_input(const struct buf *input)
{
	uint8_t *copy = malloc(input->len ? input->len : 1);

	if (!copy)
		abort();
	memcpy(copy, input->data, input->len);
	LLVMFuzzerTestOneInput(copy, input->len);
	free(copy);
}

static int run_file(int dirfd, const char *name)
{
	struct buf input = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	int rc = fs_read_file(dirfd, name, (size_t)16 << 20, &input, &err);

	if (rc == 0)
		run_input(&input);
	else
		fprintf(stderr, "replay: %s\n", err.text);
	buf_release(&input);
	return rc;
}

/* The number of inputs that were run, -1 on failure. */
static int run_directory(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int count = 0;

	if (!dir) {
		perror(path);
		return -1;
	}
	while (count >= 0 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			count = run_file(dirfd(dir), entry->d_name) < 0 ? -1 : count + 1;
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int count = run_directory(argv[i]);

		if (count < 1) {
			fprintf(stderr, "replay: no inputs in '%s'\n", argv[i]);
			return 1;
		}
		printf("%d inputs of '%s' replayed\n", count, argv[i]);
	}
	return 0;
}
