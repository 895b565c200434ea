/*
 * The server's cost of a view of a large run, and the bytes of its response.
 *
 *   bench_web [EVENTS [LANES [DIR]]]      default: 10^7 events in 64 threads; DIR: the run is kept there, and
 *                                         used if it already exists
 *
 * Writes a synthetic run (calls of random length, each thread busy three quarters of its time), builds its pyramid,
 * and requests random windows from the whole run down to a microsecond, 2 000 pixels wide and all lanes high, like
 * the page. CPU time of this process, including compression; nothing is asserted.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "model/lanes.h"
#include "serve/http-server-private.h"
#include "serve/run-api.h"
#include "store/run-dir.h"
#include "store/sink.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIXELS 2000
#define VIEWS 300
#define NAMES 24

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void make_run(const char *dir, uint64_t events, unsigned threads)
{
	static const char json[] = "{\"sonde_run\": 1, \"state\": \"complete\", \"name\": \"synthetic\"}";
	struct store_run run = STORE_RUN_INIT;
	struct store_sink sink;
	struct buf text = BUF_INIT;
	int64_t names[NAMES], *at = calloc(threads, sizeof(*at));

	if (!at || store_run_create(&run, dir, "synthetic", NULL) < 0 || store_sink_open(&sink, run.tablesfd, NULL) < 0)
		exit(1);
	for (int i = 0; i < NAMES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%d", i);
		names[i] = store_strings_of(&sink.strings, name);
	}
	for (uint64_t i = 0; i < events; i++) {
		unsigned t = (unsigned)(i % threads);
		int64_t length = 200 + (int64_t)(next_random() % 2000) * (next_random() % 100 ? 1 : 100);
		struct store_span row = store_span_nulls;

		row.ts_ns = at[t] + (int64_t)(next_random() % 800);
		row.dur_ns = length;
		row.process = 1;
		row.pid = 100;
		row.tid = 100 + t;
		row.name = names[next_random() % NAMES];
		row.depth = 0;
		row.is_open = 0;
		at[t] = row.ts_ns + length;
		store_sink_add(&sink, STORE_TABLE_SPAN, &row);
	}
	if (store_sink_close(&sink, NULL) < 0)
		exit(1);
	buf_adds(&text, json);
	store_run_write_json(run.dirfd, &text, NULL);
	buf_release(&text);
	store_run_release(&run);
	free(at);
}

struct question {
	char from[32], to[32], bin[32], lanes[32];
};

static const char *get(const void *arg, const char *name)
{
	const struct question *q = arg;
	const char *const pairs[] = { "from", q->from, "to", q->to, "bin", q->bin, "lanes", q->lanes, NULL };

	for (size_t i = 0; pairs[i]; i += 2)
		if (strcmp(pairs[i], name) == 0)
			return pairs[i + 1];
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Windows with log-uniform widths, at random positions; `room` is the margin on either side, in screens. */
static void ask(struct question *q, int64_t duration_ns, unsigned lanes, double room)
{
	double part = (double)(next_random() >> 11) / 9007199254740992.0;
	double width = 1000 * pow((double)duration_ns / 1000, part);
	int64_t bin = 8, from, to;

	while ((double)bin < width / PIXELS)
		bin *= 2;
	from = (int64_t)((double)(next_random() >> 11) / 9007199254740992.0 * ((double)duration_ns - width) -
			width / 2);
	from = from < 0 ? 0 : from / bin * bin;
	to = from + (int64_t)((1 + 2 * room) * width) / bin * bin + bin;
	snprintf(q->from, sizeof(q->from), "%lld", (long long)from);
	snprintf(q->to, sizeof(q->to), "%lld", (long long)to);
	snprintf(q->bin, sizeof(q->bin), "%lld", (long long)bin);
	snprintf(q->lanes, sizeof(q->lanes), "0-%u", lanes - 1);
}

static void measure(struct run_api *v, unsigned lanes, double room)
{
	static double ms[VIEWS], pack_ms[VIEWS], kib[VIEWS];
	struct question q;
	struct run_api_query query = { .get = get, .arg = &q };

	for (int i = 0; i < VIEWS; i++) {
		CLEANUP(buf_release) struct buf out = BUF_INIT, packed = BUF_INIT;
		int64_t before, between;

		ask(&q, run_api_duration_ns(v), lanes, room);
		before = clock_cpu_ns();
		if (run_api_respond(v, run_api_answer_find("slices"), &query, &out, NULL) < 0)
			exit(1);
		between = clock_cpu_ns();
		http_gzip(&packed, out.data, out.len);
		ms[i] = (double)(clock_cpu_ns() - before) / 1e6;
		pack_ms[i] = (double)(clock_cpu_ns() - between) / 1e6;
		kib[i] = (double)packed.len / 1024;
	}
	qsort(ms, VIEWS, sizeof(*ms), by_value);
	qsort(pack_ms, VIEWS, sizeof(*pack_ms), by_value);
	qsort(kib, VIEWS, sizeof(*kib), by_value);
	printf("%d views of %d px x %u lanes, %g screens more at either side:\n", VIEWS, PIXELS, lanes, room);
	printf("  server CPU   p50 %.2f ms   p95 %.2f ms   max %.2f ms   (of it gzip p95 %.2f ms)\n", ms[VIEWS / 2],
			ms[VIEWS * 95 / 100], ms[VIEWS - 1], pack_ms[VIEWS * 95 / 100]);
	printf("  answer       p50 %.0f KiB   p95 %.0f KiB   max %.0f KiB\n", kib[VIEWS / 2], kib[VIEWS * 95 / 100],
			kib[VIEWS - 1]);
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	unsigned lanes = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 64;
	const char *kept = argc > 3 ? argv[3] : NULL;
	char dir[] = "/var/tmp/sonde-bench-XXXXXX", made[64];
	const char *run = kept ? kept : made;
	struct sonde_err err = SONDE_ERR_INIT;
	struct run_api *v;
	int64_t before;

	if (!kept && !mkdtemp(dir))
		return 1;
	snprintf(made, sizeof(made), "%s/run", dir);
	if (access(run, F_OK) < 0)
		make_run(run, events, lanes);
	before = clock_cpu_ns();
	if (run_api_open(&v, run, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%llu events in %u threads: pyramid made in %.1f s of CPU\n", (unsigned long long)events, lanes,
			(double)(clock_cpu_ns() - before) / 1e9);
	measure(v, lanes, 0);
	measure(v, lanes, 0.25); /* like the page */
	run_api_free(v);
	if (!kept)
		fs_remove_tree(AT_FDCWD, dir);
	return 0;
}
