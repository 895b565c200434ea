/*
 * Files and their paths.
 *
 * A file is 32 bytes in an array sorted by id. Paths are built on request and interned: many files are the same path
 * opened again. A small table caches the files requested last.
 */
#include "base/cleanup.h"
#include "base/vec.h"
#include "model/model-private.h"
#include "model/run-model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_absolute(const struct store_text *t)
{
	return t->bytes > 0 && t->data[0] == '/';
}

static bool is_nothing(const char *part, size_t n)
{
	return n == 0 || (n == 1 && part[0] == '.');
}

/* Append the components of a path; out[start..] is the path so far. */
static void add_parts(struct buf *out, size_t start, const struct store_text *t)
{
	const char *at = t->data, *end = at + t->bytes;

	while (at < end) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t n = (size_t)((slash ? slash : end) - at);

		if (!is_nothing(at, n)) {
			if (out->len > start && out->data[out->len - 1] != '/')
				buf_addc(out, '/');
			buf_add(out, at, n);
		}
		at += n + 1;
	}
}

void model_path_join(struct buf *out, const struct store_text *base, const struct store_text *name)
{
	size_t start = out->len;

	if (is_absolute(name))
		base = NULL;
	if (is_absolute(base ? base : name))
		buf_addc(out, '/');
	if (base)
		add_parts(out, start, base);
	add_parts(out, start, name);
	if (out->len == start)
		buf_addc(out, '.');
}

#define PATHS_BYTES_MAX ((uint64_t)512 << 20) /* total of all paths: only hostile tables need more */

/* Loading. */

static int add_block(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	struct model_files *f = arg;
	const int64_t *ids = batch->columns[STORE_FILE_file].ints;
	const int64_t *bases = batch->columns[STORE_FILE_base].ints;
	const int64_t *names = batch->columns[STORE_FILE_name].ints;
	size_t left = MODEL_ROWS_MAX - f->count, n = batch->rows < left ? batch->rows : left;

	(void)worker, (void)block;
	if (!VEC_GROW(f->files, f->cap, f->count + n, VEC_MAX))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++, f->count++)
		f->files[f->count] = (struct model_file){ .id = ids[i],
			.base = bases[i],
			.name = names[i],
			.order = (uint32_t)f->count };
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct model_file *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

int model_files_load(struct model_run *run, struct sonde_err *err)
{
	struct store_scan_opts opts = { .threads = 1 };
	struct store_table *t = model_table(run, STORE_TABLE_FILE);
	int rc = t ? store_scan(t, &opts, add_block, &run->files, err) : 0;

	if (rc < 0)
		return err_sys(err, -rc, "cannot read the table 'file'");
	/* If several rows have the same id, the last one wins. */
	struct model_files *f = &run->files;
	size_t kept = 0;
	if (f->count)
		qsort(f->files, f->count, sizeof(*f->files), by_id);
	for (size_t i = 0; i < f->count; i++) {
		if (kept && f->files[kept - 1].id == f->files[i].id)
			kept--;
		f->files[kept++] = f->files[i];
	}
	f->count = kept;
	return 0;
}

void model_files_release(struct model_files *f)
{
	free(f->files);
	map_release(&f->paths);
	map_release(&f->known);
	*f = (struct model_files){ .count = 0 };
}

/* Paths. */

static struct model_file *find(const struct model_files *f, int64_t id)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->files[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->count && f->files[low].id == id ? &f->files[low] : NULL;
}

/* The number of a path, or MODEL_PATH_NONE if the limit is reached. */
static uint32_t intern(struct model_files *f, const struct buf *text)
{
	bool is_new;

	if (buf_error(text) || f->path_bytes + text->len > PATHS_BYTES_MAX)
		return MODEL_PATH_NONE;
	uint64_t *number = map_put(&f->paths, text->data, text->len, &is_new);
	if (!number)
		return MODEL_PATH_NONE;
	if (is_new) {
		*number = f->paths.count;
		f->path_bytes += text->len;
	}
	return (uint32_t)*number;
}

/* A name that is not a path is used unchanged. */
static void write_path(struct buf *out, const struct store_text *base, const struct store_text *name, bool has_base)
{
	if (base || has_base || (name->bytes && name->data[0] == '/'))
		model_path_join(out, base, name);
	else
		buf_add(out, name->data, name->bytes);
}

static uint32_t compose(struct model_run *run, const struct model_file *file, uint32_t base)
{
	CLEANUP(buf_release) struct buf text = { .data = buf_empty, .max = MODEL_PATH_BYTES_MAX };
	struct store_text above = model_path(run, base);
	struct model_files *f = &run->files;
	const struct store_text *name = model_name(run, file->name);
	int64_t key[2] = { base, file->name };

	if (!name)
		return MODEL_PATH_NONE;
	if (!base && file->base != STORE_NULL)
		key[0] = -1; /* the base is lost */
	uint64_t *number = map_put(&f->known, key, sizeof(key), NULL);
	if (!number)
		return MODEL_PATH_NONE;
	if (*number == 0) {
		write_path(&text, base ? &above : NULL, name, file->base != STORE_NULL);
		*number = intern(f, &text);
	}
	return (uint32_t)*number;
}

/* Go up from the file to the first one that is built, has no base or a lost one; then build the paths downwards. */
static uint32_t resolve(struct model_run *run, struct model_file *file)
{
	struct model_file *chain[MODEL_PATH_DEPTH_MAX];
	size_t depth = 0;
	uint32_t path = 0;

	while (file && !path) {
		if (depth == MODEL_PATH_DEPTH_MAX) {
			chain[0]->path = MODEL_PATH_NONE;
			return MODEL_PATH_NONE;
		}
		chain[depth++] = file;
		file = file->base == STORE_NULL ? NULL : find(&run->files, file->base);
		path = file ? file->path : 0;
	}
	while (depth > 0 && path != MODEL_PATH_NONE) {
		path = compose(run, chain[--depth], path);
		chain[depth]->path = path;
	}
	return path;
}

uint32_t model_file_number(struct model_run *run, int64_t id)
{
	struct model_files *f = &run->files;
	size_t slot = ((uint64_t)id * 0x9e3779b97f4a7c15u) >> 54;

	if (id == STORE_NULL || !f->count)
		return 0;
	if (f->cache[slot].path && f->cache[slot].id == id)
		return f->cache[slot].path == MODEL_PATH_NONE ? 0 : f->cache[slot].path;
	struct model_file *file = find(f, id);
	f->cache[slot].id = id;
	f->cache[slot].path = !file ? MODEL_PATH_NONE : file->path ? file->path : resolve(run, file);
	return f->cache[slot].path == MODEL_PATH_NONE ? 0 : f->cache[slot].path;
}

struct store_text model_path(const struct model_run *run, uint32_t number)
{
	struct store_text path = { .data = NULL };

	if (number && number <= run->files.paths.count)
		path.data = map_key(&run->files.paths, number - 1, &path.bytes);
	return path;
}

uint32_t model_path_count(const struct model_run *run)
{
	return (uint32_t)run->files.paths.count;
}

struct store_text model_file_path(struct model_run *run, int64_t file)
{
	return model_path(run, model_file_number(run, file));
}

int model_paths_load(struct model_run *run, struct sonde_err *err)
{
	int rc = model_load(run, MODEL_FILES, err);

	for (size_t i = 0; rc == 0 && i < run->files.count; i++)
		if (!run->files.files[i].path)
			run->files.files[i].path = resolve(run, &run->files.files[i]);
	return rc;
}

uint32_t model_known_number(const struct model_run *run, int64_t id)
{
	const struct model_file *file = id == STORE_NULL ? NULL : find(&run->files, id);

	return file && file->path != MODEL_PATH_NONE ? file->path : 0;
}
