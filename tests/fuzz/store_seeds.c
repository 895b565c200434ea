/*
 * Write the seeds of the corpus store_table: small tables of every shape, whole and damaged.
 *
 *   store_seeds DIRECTORY
 *
 * Run it after a change of the format; inputs that the fuzzer found stay as they are.
 */
#include "base/buf.h"
#include "base/fs.h"
#include "store/table-read.h"
#include "store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state = 1;

static uint64_t next_random(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 11;
}

static void die(const char *what)
{
	fprintf(stderr, "store_seeds: %s\n", what);
	exit(1);
}

/* Rows of any table: every column rising, random, rare or all null, as the shape says. */
static int64_t number_of(unsigned shape, unsigned c, size_t i)
{
	switch ((shape + c) % 5) {
	case 0:
		return (int64_t)i * 1000 + (int64_t)(next_random() % 900);
	case 1:
		return (int64_t)next_random() >> next_random() % 50;
	case 2:
		return next_random() % 5 ? STORE_NULL : (int64_t)(next_random() % 7);
	case 3:
		return i % 2 ? INT64_MAX : INT64_MIN + 1;
	default:
		return STORE_NULL;
	}
}

static void add_row(struct store_writer *w, const struct store_schema *schema, unsigned shape, size_t i)
{
	static const char words[] = "/usr/lib/python3/site-packages/numpy/core/multiarray.so";
	struct store_text texts[STORE_COLUMNS_MAX];
	char row[8 * STORE_COLUMNS_MAX];

	for (unsigned c = 0; c < schema->count; c++) {
		int64_t number = number_of(shape, c, i);
		double real = number == STORE_NULL ? STORE_NULL_REAL : (double)number / 7;
		const struct store_text *text = number == STORE_NULL ? NULL : &texts[c];

		texts[c] = (struct store_text){ .data = words, .bytes = (uint64_t)number % sizeof(words) };
		if (schema->columns[c].kind == STORE_TEXT)
			memcpy(row + c * 8, &text, 8);
		else
			memcpy(row + c * 8, schema->columns[c].kind == STORE_REAL ? (void *)&real : (void *)&number, 8);
	}
	if (store_writer_add(w, row, NULL) < 0)
		die("cannot add a row");
}

static void make_table(int dirfd, const struct store_schema *schema, unsigned shape, size_t blocks, size_t rows,
		struct buf *out)
{
	struct store_writer *w;
	char name[64];

	if (store_writer_open(&w, dirfd, schema, NULL) < 0)
		die("cannot make a table");
	for (size_t b = 0; b < blocks; b++) {
		for (size_t i = 0; i < rows; i++)
			add_row(w, schema, shape, b * rows + i);
		store_writer_flush(w, NULL);
	}
	store_writer_close(w, NULL);
	snprintf(name, sizeof(name), "%s.tbl", schema->name);
	buf_reset(out);
	buf_addc(out, 0); /* what the target reads first; see there */
	if (fs_read_file(dirfd, name, 1 << 20, out, NULL) < 0 || unlinkat(dirfd, name, 0) < 0)
		die("cannot read a table");
}

static void save(int dirfd, const char *name, unsigned shape, const char *how, const char *bytes, size_t n)
{
	char path[128];

	snprintf(path, sizeof(path), "%s-%u-%s", name, shape, how);
	if (fs_replace_file(dirfd, path, bytes, n, NULL) < 0)
		die("cannot write a seed");
}

static void save_variants(int dirfd, const char *name, unsigned shape, struct buf *seed)
{
	save(dirfd, name, shape, "whole", seed->data, seed->len);
	save(dirfd, name, shape, "cut", seed->data, 1 + (seed->len - 1) * 2 / 3);
	save(dirfd, name, shape, "no-index", seed->data, seed->len - 10);
	seed->data[1 + seed->len / 2] ^= 0x10;
	save(dirfd, name, shape, "flipped", seed->data, seed->len);
	seed->data[0] = 1;
	save(dirfd, name, shape, "flipped-sealed", seed->data, seed->len);
}

int main(int argc, char **argv)
{
	static const struct store_schema *const schemas[] = { &store_io_schema, &store_step_schema, &store_span_schema,
		&store_string_schema };
	int dirfd = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
	struct buf seed = BUF_INIT;

	if (dirfd < 0)
		die("usage: store_seeds DIRECTORY");
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		for (unsigned shape = 0; shape < 2; shape++) {
			make_table(dirfd, schemas[i], shape, 1 + 2 * shape, 3 + 40 * (1 - shape), &seed);
			save_variants(dirfd, schemas[i]->name, shape, &seed);
		}
	}
	make_table(dirfd, &store_mark_schema, 9, 0, 0, &seed);
	save(dirfd, "mark", 9, "empty", seed.data, seed.len);
	save(dirfd, "mark", 9, "head-cut", seed.data, 40);
	buf_release(&seed);
	close(dirfd);
	return 0;
}
