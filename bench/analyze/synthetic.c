#include "synthetic.h"

#include "base/buf.h"
#include "base/json.h"
#include "store/run-dir.h"
#include "store/strings.h"
#include "store/writer.h"

#include <stdio.h>
#include <string.h>

enum { PROCESSES = 8, THREADS = 16, FILES = 1000, START = 1000000000 };

static const struct {
	const char *name, *category;
	unsigned share; /* of 100 */
	int64_t size, dur_ns;
} calls[] = {
	{ "pread", "data", 55, 65536, 9000 },
	{ "read", "data", 15, 512, 1500 },
	{ "write", "data", 10, 4096, 4000 },
	{ "openat", "open", 6, 0, 6000 },
	{ "close", "open", 6, 0, 900 },
	{ "newfstatat", "meta", 5, 0, 1200 },
	{ "lseek", "data", 3, 0, 300 },
};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

static const struct {
	const char *name, *category;
} spans[] = { { "step", "train" }, { "forward", "compute" }, { "load", "reader" }, { "decode", "reader" } };
enum { SPANS = sizeof(spans) / sizeof(*spans) };

struct making {
	struct store_run run;
	struct store_strings strings;
	struct store_writer *writers[STORE_TABLE_COUNT];
	int64_t call_ids[CALLS], span_ids[SPANS], category_ids[SPANS], step_id, counter_id;
	int64_t now[THREADS], offsets[FILES];
	uint64_t seed;
	struct sonde_err *err;
	int rc;
};

static uint64_t random_bits(struct making *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed;
}

static void add(struct making *m, enum store_table_id id, const void *row)
{
	if (m->rc == 0 && !m->writers[id])
		m->rc = store_writer_open(&m->writers[id], m->run.tablesfd, store_schemas[id], m->err);
	if (m->rc == 0)
		m->rc = store_writer_add(m->writers[id], row, m->err);
}

static void add_dimensions(struct making *m)
{
	char name[64];

	for (int p = 0; p < PROCESSES; p++) {
		struct store_process row = store_process_nulls;

		row.process = p + 1;
		row.pid = 1000 + p;
		row.start_ns = START;
		row.exe = store_strings_of(&m->strings, "/usr/bin/train");
		add(m, STORE_TABLE_PROCESS, &row);
	}
	for (int t = 0; t < THREADS; t++) {
		struct store_thread row = store_thread_nulls;

		row.process = t % PROCESSES + 1;
		row.pid = 1000 + t % PROCESSES;
		row.tid = 1000 + t;
		add(m, STORE_TABLE_THREAD, &row);
		m->now[t] = START + t * 1000;
	}
	for (int f = 0; f < FILES; f++) {
		struct store_file row = store_file_nulls;

		snprintf(name, sizeof(name), "/data/part%d/file%d", f % 20, f);
		row.file = ((int64_t)(f % PROCESSES + 1) << 32) + f;
		row.name = store_strings_of(&m->strings, name);
		add(m, STORE_TABLE_FILE, &row);
	}
	for (int c = 0; c < CALLS; c++) {
		struct store_call row = store_call_nulls;

		row.call = m->call_ids[c] = store_strings_of(&m->strings, calls[c].name);
		row.category = store_strings_of(&m->strings, calls[c].category);
		add(m, STORE_TABLE_CALL, &row);
	}
	for (int s = 0; s < SPANS; s++) {
		m->span_ids[s] = store_strings_of(&m->strings, spans[s].name);
		m->category_ids[s] = store_strings_of(&m->strings, spans[s].category);
	}
	m->step_id = store_strings_of(&m->strings, "train");
	m->counter_id = store_strings_of(&m->strings, "queue");
}

static int64_t some_ns(struct making *m, int64_t typical)
{
	uint64_t r = random_bits(m);

	return typical / 2 + (int64_t)(r % (uint64_t)typical) + (r >> 40 & 1023 ? 0 : 20 * typical);
}

static void add_call(struct making *m, int t)
{
	struct store_io row = store_io_nulls;
	uint64_t r = random_bits(m);
	unsigned share = (unsigned)(r % 100);
	size_t c = 0, file = (size_t)(m->now[t] >> 20) % (FILES / PROCESSES) * PROCESSES + (size_t)(t % PROCESSES);

	while (share >= calls[c].share)
		share -= calls[c++].share;
	row.ts_ns = m->now[t];
	row.dur_ns = some_ns(m, calls[c].dur_ns);
	row.process = t % PROCESSES + 1;
	row.pid = 1000 + t % PROCESSES;
	row.tid = 1000 + t;
	row.call = m->call_ids[c];
	row.file = ((int64_t)((int)file % PROCESSES + 1) << 32) + (int64_t)file;
	row.fd = 3 + (int64_t)file % 50;
	row.errnum = r >> 32 & 4095 ? 0 : 2;
	row.flags = 0;
	row.ret = row.errnum ? -1 : calls[c].size;
	if (calls[c].size) {
		row.size = calls[c].size;
		row.offset = m->offsets[file];
		m->offsets[file] += row.size;
	}
	m->now[t] += row.dur_ns + some_ns(m, 700);
	add(m, STORE_TABLE_IO, &row);
}

static void add_span(struct making *m, int t, int64_t from_ns, int s, int64_t depth)
{
	struct store_span row = store_span_nulls;

	row.ts_ns = from_ns;
	row.dur_ns = m->now[t] - from_ns;
	row.process = t % PROCESSES + 1;
	row.pid = 1000 + t % PROCESSES;
	row.tid = 1000 + t;
	row.name = m->span_ids[s];
	row.category = m->category_ids[s];
	row.depth = depth;
	row.is_open = 0;
	add(m, STORE_TABLE_SPAN, &row);
}

/* One iteration of a thread: a step of two loads with calls inside, and a forward; ten of sixteen events are calls. */
static uint64_t add_step(struct making *m, int t, int64_t index)
{
	struct store_step step = { m->now[t], t % PROCESSES + 1, 1000 + t % PROCESSES, 1000 + t, m->step_id, index,
		0.5 };
	int64_t step_ns = m->now[t], from_ns;

	for (int load = 0; load < 2; load++) {
		from_ns = m->now[t];
		for (int i = 0; i < 12; i++)
			add_call(m, t);
		int64_t decode_ns = m->now[t];
		for (int i = 0; i < 5; i++) {
			int64_t inner_ns = m->now[t];

			m->now[t] += some_ns(m, 3000);
			add_span(m, t, inner_ns, 3, 3);
		}
		add_span(m, t, decode_ns, 3, 2);
		add_span(m, t, from_ns, 2, 1);
	}
	from_ns = m->now[t];
	m->now[t] += some_ns(m, 150000);
	add_span(m, t, from_ns, 1, 1);
	add_span(m, t, step_ns, 0, 0);
	if (index % 16 == 0)
		add(m, STORE_TABLE_STEP, &step);
	return 40;
}

static int write_json(struct making *m, int64_t wall_ns)
{
	struct buf text = BUF_INIT;
	struct json j;
	int rc;

	json_init(&j, &text, true);
	json_object(&j);
	json_kint(&j, STORE_RUN_KEY, STORE_RUN_VERSION);
	json_kstr(&j, "state", "complete");
	json_key(&j, "clock");
	json_object(&j);
	json_kint(&j, "start_mono_ns", START);
	json_end(&j);
	json_kint(&j, "wall_ns", wall_ns);
	json_end(&j);
	rc = store_run_write_json(m->run.dirfd, &text, m->err);
	buf_release(&text);
	return rc;
}

int synthetic_run(const char *dir, uint64_t events, struct sonde_err *err)
{
	struct making m = { .run = STORE_RUN_INIT, .seed = 88172645463325252u, .err = err };
	int64_t end_ns = 0;
	int rc = store_run_create(&m.run, dir, "train", err);

	if (rc < 0)
		return rc;
	m.rc = store_strings_open(&m.strings, m.run.tablesfd, err);
	add_dimensions(&m);
	for (uint64_t made = 0, i = 0; made < events && m.rc == 0; i++)
		made += add_step(&m, (int)(i / 8 % THREADS), (int64_t)i);
	for (int t = 0; t < THREADS; t++)
		end_ns = m.now[t] > end_ns ? m.now[t] : end_ns;
	for (int t = 0; t < STORE_TABLE_COUNT; t++) {
		rc = store_writer_close(m.writers[t], err);
		m.rc = m.rc ? m.rc : rc;
	}
	rc = store_strings_close(&m.strings, err);
	m.rc = m.rc ? m.rc : rc;
	if (m.rc == 0)
		m.rc = write_json(&m, end_ns - START);
	store_run_release(&m.run);
	return m.rc;
}
