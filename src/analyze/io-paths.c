#include "analyze/io-table.h"

#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct io_path {
	int64_t number;
	struct store_text text;
	struct io_sums sums;
	uint64_t patterns[PATTERNS];
	uint64_t files; /* files in a directory */
};

static const struct analyze_column path_columns[] = {
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "errors", NULL, ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "bytes", "BYTES", ANALYZE_BYTES },
	{ "reads", "READS", ANALYZE_COUNT },
	{ "writes", "WRITES", ANALYZE_COUNT },
	{ "opens", "OPENS", ANALYZE_COUNT },
	{ "stats", NULL, ANALYZE_COUNT },
	{ "small", NULL, ANALYZE_COUNT },
	{ "read_bytes", NULL, ANALYZE_BYTES },
	{ "write_bytes", NULL, ANALYZE_BYTES },
	{ "pattern", "PATTERN", ANALYZE_TEXT },
	{ "files", NULL, ANALYZE_COUNT },
	{ "path", "FILE", ANALYZE_TEXT },
};

/* The most frequent access pattern. */
static const char *pattern_word(const uint64_t patterns[PATTERNS])
{
	static const char *const words[PATTERNS] = { NULL, "sequential", "strided", "random" };
	uint64_t all = patterns[PATTERN_SEQUENTIAL] + patterns[PATTERN_STRIDED] + patterns[PATTERN_RANDOM];

	for (int p = PATTERN_SEQUENTIAL; p < PATTERNS; p++)
		if (all && 2 * patterns[p] > all)
			return words[p];
	return all ? "mixed" : NULL;
}

static void add_path(struct analyze_table *t, const struct io_path *p)
{
	const struct io_sums *s = &p->sums;
	const int64_t cells[] = { (int64_t)s->calls, (int64_t)s->errors, s->dur_ns, s->bytes, (int64_t)s->reads,
		(int64_t)s->writes, (int64_t)s->opens, (int64_t)s->stats, (int64_t)s->small, s->read_bytes,
		s->write_bytes };

	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++)
		analyze_cell_int(t, cells[i]);
	analyze_cell_text(t, pattern_word(p->patterns));
	analyze_cell_int(t, p->files ? (int64_t)p->files : STORE_NULL);
	analyze_cell_bytes(t, &p->text);
}

static void add_paths(struct analyze *a, struct analyze_section *s, const char *key, const char *title,
		const struct io_path *paths, size_t count, unsigned flags)
{
	struct analyze_rank *ranks = analyze_ranks(a, count);
	struct analyze_table *t = analyze_table(s, key, title, path_columns,
			sizeof(path_columns) / sizeof(*path_columns), flags);

	for (size_t i = 0; ranks && i < count; i++)
		ranks[i] = (struct analyze_rank){ .weight = paths[i].sums.dur_ns, .index = i };
	analyze_rank(ranks, ranks ? count : 0);
	for (size_t i = 0; ranks && i < analyze_top(a, count); i++)
		add_path(t, &paths[ranks[i].index]);
	if (t)
		t->all_rows = count;
}

static void add_patterns(struct io_path *p, const struct engine_groups *patterns, int64_t number, size_t *at)
{
	for (; *at < patterns->count && engine_key(patterns, *at, 0) <= number; ++*at)
		if (engine_key(patterns, *at, 0) == number)
			p->patterns[engine_key(patterns, *at, 1)] = engine_count(patterns, 0, *at);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = ((const struct io_path *)a)->number, y = ((const struct io_path *)b)->number;

	return (x > y) - (x < y);
}

/* Adds the bytes that copies wrote; a target without other calls is appended. */
static size_t add_targets(struct analyze *a, const struct engine_groups *g, struct io_path *paths, size_t count)
{
	size_t n = count;

	for (size_t i = 0; i < g->count; i++) {
		struct io_path key = { .number = engine_key(g, i, 0) }, *p;

		if (engine_key(g, i, 1) != CALL_KIND_COPY || !key.number)
			continue;
		p = bsearch(&key, paths, count, sizeof(*paths), by_number);
		if (!p) {
			p = &paths[n++];
			*p = key;
			p->text = model_path(a->run, (uint32_t)key.number);
		}
		p->sums.calls += engine_count(g, IO_Q_COUNT, i);
		p->sums.copies += engine_count(g, IO_Q_COUNT, i);
		p->sums.bytes += engine_sum(g, IO_Q_BYTES, i);
		p->sums.write_bytes += engine_sum(g, IO_Q_BYTES, i);
	}
	return n;
}

struct io_path *io_paths_collect(struct analyze *a, const struct analyze_io *io, size_t *count)
{
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, io->by_path);
	const struct engine_groups *patterns = analyze_groups(a, STORE_TABLE_IO, io->by_path_pattern);
	const struct engine_groups *targets = analyze_groups(a, STORE_TABLE_IO, io->by_target);
	struct io_path *paths = arena_alloc(&a->arena, (g->count + targets->count + 1) * sizeof(*paths));
	size_t n = 0, at = 0;

	if (!paths)
		a->result.error = -ENOMEM;
	for (size_t i = 0; paths && i < g->count;) {
		int64_t number = engine_key(g, i, 0);

		i = io_sum_key(g, i, &paths[n].sums);
		paths[n].number = number;
		paths[n].text = model_path(a->run, (uint32_t)number);
		add_patterns(&paths[n], patterns, number, &at);
		n += number != 0 && (paths[n].sums.calls || paths[n].sums.dur_ns);
		memset(&paths[n], 0, sizeof(*paths));
	}
	*count = paths ? add_targets(a, targets, paths, n) : 0;
	return paths;
}

static struct store_text directory_of(struct store_text path)
{
	while (path.bytes && path.data[path.bytes - 1] != '/')
		path.bytes--;
	if (path.bytes > 1)
		path.bytes--;
	return path;
}

static void fold(struct io_path *into, const struct io_path *p)
{
	struct io_sums *s = &into->sums;

	s->calls += p->sums.calls;
	s->errors += p->sums.errors;
	s->small += p->sums.small;
	s->dur_ns += p->sums.dur_ns;
	s->bytes += p->sums.bytes;
	s->reads += p->sums.reads;
	s->writes += p->sums.writes;
	s->opens += p->sums.opens;
	s->stats += p->sums.stats;
	s->read_bytes += p->sums.read_bytes;
	s->write_bytes += p->sums.write_bytes;
	for (int i = 0; i < PATTERNS; i++)
		into->patterns[i] += p->patterns[i];
	into->files++;
}

static void add_directories(struct analyze *a, struct analyze_section *s, const struct io_path *paths, size_t count)
{
	struct io_path *dirs = arena_alloc(&a->arena, (count + 1) * sizeof(*dirs));
	struct map numbers = MAP_INIT;

	for (size_t i = 0; dirs && i < count; i++) {
		struct store_text dir = directory_of(paths[i].text);
		bool is_new;
		uint64_t *number = dir.bytes ? map_put(&numbers, dir.data, dir.bytes, &is_new) : NULL;

		if (!number)
			continue; /* no path (a pipe), or out of memory, which shortens the list */
		if (is_new)
			*number = numbers.count - 1;
		dirs[*number].text = dir;
		fold(&dirs[*number], &paths[i]);
	}
	if (dirs)
		add_paths(a, s, "by_directory", "Directories by time", dirs, numbers.count, ANALYZE_DETAIL);
	map_release(&numbers);
}

void io_paths_add(struct analyze *a, struct analyze_section *s, const struct io_path *paths, size_t count)
{
	add_paths(a, s, "by_file", "Files by time", paths, count, 0);
	add_directories(a, s, paths, count);
}
