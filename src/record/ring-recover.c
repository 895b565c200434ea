/*
 * Recovery after a crash of the recorder, and import of rings without a recorder.
 *
 * A table cannot be appended to. Recovery writes the rows on disk and those still in the ring to new tables, with the
 * same ids, and replaces the old tables at the end. See record.h.
 */
#include "base/cleanup.h"
#include "record/emit.h"
#include "record/record.h"
#include "record/ringdir.h"
#include "record/run-json.h"
#include "store/run-dir.h"
#include "store/table-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct recovery {
	struct store_run old;
	struct ring_dir ring;
	bool has_ring; /* it belongs to this run */
	int newfd;
	struct store_sink sink;
	struct store_names names;
	struct map processes; /* number -> 1 when it has a row, 2 | pid << 2 when rows only mention it */
	struct recover_result *result;
};

/* The same texts in the same order get the same ids; a lost text keeps its number. */
static void copy_strings(struct recovery *r)
{
	for (size_t id = 1; id < r->names.count; id++) {
		const struct store_text *t = store_names_get(&r->names, (int64_t)id);
		char lost[32];
		if (t)
			store_strings_id(&r->sink.strings, t->data, t->bytes);
		else
			store_strings_id(&r->sink.strings, lost,
					(size_t)snprintf(lost, sizeof(lost), "(lost %zu)", id));
	}
}

static void mention(struct recovery *r, int64_t process, int64_t pid)
{
	bool is_new = false;
	uint64_t *at = process == STORE_NULL ? NULL : map_put_int(&r->processes, (uint64_t)process, &is_new);
	if (at && is_new)
		*at = 2 | (uint64_t)pid << 2;
}

static void on_row(struct recovery *r, enum store_table_id table, const void *row)
{
	const struct store_file *file = row;
	const struct store_process *process = row;
	const struct store_io *io = row;
	if (table == STORE_TABLE_FILE && file->file < 1ll << 32)
		store_sink_define_path(&r->sink, file->file, file->base == STORE_NULL ? 0 : file->base, file->name);
	if (table == STORE_TABLE_IO)
		mention(r, io->process, io->pid);
	if (table == STORE_TABLE_PROCESS) {
		uint64_t *at = map_put_int(&r->processes, (uint64_t)process->process, NULL);
		if (at)
			*at = 1;
	}
}

/* True if the row came from the ring. Counters of probes have no process image. */
static bool is_ring_event(enum store_table_id table, const void *row)
{
	const struct store_counter *counter = row;
	return table == STORE_TABLE_IO || table == STORE_TABLE_SPAN || table == STORE_TABLE_STEP ||
			table == STORE_TABLE_MARK || table == STORE_TABLE_META || table == STORE_TABLE_GPU ||
			(table == STORE_TABLE_COUNTER && counter->process != STORE_NULL);
}

static void copy_table(struct recovery *r, enum store_table_id table)
{
	struct store_table *t = NULL;
	struct store_batch batch = STORE_BATCH_INIT;
	int64_t row[STORE_COLUMNS_MAX];
	if (store_table_open(&t, r->old.tablesfd, store_schemas[table]->name, NULL))
		return; /* never created, or its header is incomplete */
	for (size_t b = 0; b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue;
		for (size_t i = 0; i < batch.rows; i++) {
			store_batch_row(&batch, i, row);
			store_sink_add(&r->sink, table, row);
			on_row(r, table, row);
			r->result->kept_rows += is_ring_event(table, row);
		}
	}
	store_batch_release(&batch);
	store_table_free(t);
}

/* Definitions of processes whose rings still exist, from the dead recorder. */
static void restore_definitions(struct recovery *r, struct drain *d)
{
	struct store_table *t = NULL;
	struct store_batch batch = STORE_BATCH_INIT;
	if (store_table_open(&t, r->old.tablesfd, "define", NULL))
		return;
	for (size_t b = 0; b < store_table_blocks(t); b++) {
		if (store_block_load(t, b, NULL, 0, &batch, NULL))
			continue;
		for (size_t i = 0; i < batch.rows; i++) {
			struct store_define row;
			store_get_define(&batch, i, &row);
			struct drain_process *p = drain_by_number(d, (uint32_t)row.process);
			const struct store_text *text = store_names_get(&r->names, row.string);
			if (p && text)
				drain_define(d, p, (enum define_kind)row.kind, (uint64_t)row.id, text);
		}
	}
	store_batch_release(&batch);
	store_table_free(t);
}

/* Processes that exited before the recorder, without a row for their exit. */
static void emit_mentioned(struct recovery *r)
{
	for (size_t i = 0; i < r->processes.count; i++) {
		size_t len;
		uint64_t value = map_value(&r->processes, i), number;
		memcpy(&number, map_key(&r->processes, i, &len), sizeof(number));
		if (value == 1)
			continue;
		struct store_process row = store_process_nulls;
		row.process = (int64_t)number;
		row.pid = (int64_t)(value >> 2);
		row.state = store_strings_of(&r->sink.strings, "unknown: the recorder was killed");
		store_sink_add(&r->sink, STORE_TABLE_PROCESS, &row);
	}
}

/* A ring that is read in part would be removed after that. */
static int check_calls(const struct drain *d, struct sonde_err *err)
{
	if (d->calls_why.text[0] && err)
		*err = d->calls_why;
	return d->calls_why.text[0] ? -ENOTSUP : 0;
}

static int drain_ring(struct recovery *r, struct sonde_err *err)
{
	struct drain d;
	int rc = drain_init(&d, &r->ring, &r->sink, false, err);
	if (!rc) {
		uint64_t drained = r->ring.control->drained_events, filtered = 0, untraced = 0;
		drain_pass(&d);
		restore_definitions(r, &d);
		drain_finish(&d);
		/* Processes of the ring have rows: they are not only mentioned. */
		for (size_t i = 0; i < d.process_count; i++) {
			uint64_t *at = map_put_int(&r->processes, d.processes[i]->number, NULL);
			if (at)
				*at = 1;
		}
		r->result->ring_events = d.events;
		r->result->is_lost_known = true;
		r->result->lost_events = drained > r->result->kept_rows ? drained - r->result->kept_rows : 0;
		drain_losses(&d, &r->result->dropped_events, &filtered, &untraced);
		rc = check_calls(&d, err);
		drain_release(&d);
	}
	return rc;
}

/* run.json can name any directory: a ring of another run is neither read nor removed, and the rest is recovered. */
static int claim_ring(struct recovery *r, const struct recover_ring *named, struct sonde_err *err)
{
	if (!named->path)
		return 0;
	int rc = ring_dir_claim(&r->ring, r->old.dirfd, named->path, named->id, &r->result->ring_why);
	r->has_ring = !rc;
	if (rc == -ENOENT)
		r->result->ring_why = (struct sonde_err)SONDE_ERR_INIT; /* removed, or the machine was rebooted */
	if (!rc || rc == -ENOENT || rc == -EPERM)
		return 0;
	*err = r->result->ring_why;
	return rc;
}

/* While a process still writes, the ring is incomplete. */
static int check_nobody_lives(const struct recovery *r, struct sonde_err *err)
{
	pid_t pid = r->has_ring ? writers_find(r->ring.path.data) : 0;
	if (!pid)
		return 0;
	int rc = err_set(err, EBUSY, "process %d is still running and writes to the ring", (int)pid);
	err_hint(err, "recover again when it has exited, or use --now and lose its further events");
	return rc;
}

static int replace_tables(struct recovery *r, struct sonde_err *err)
{
	if (renameat2(r->old.dirfd, STORE_TABLES_NEW, r->old.dirfd, "tables", RENAME_EXCHANGE))
		return err_sys(err, errno, "cannot put the recovered tables of '%s' in place", r->old.path);
	store_tables_remove(r->old.dirfd, STORE_TABLES_NEW);
	return 0;
}

static int create_new_tables(struct recovery *r, struct sonde_err *err)
{
	store_tables_remove(r->old.dirfd, STORE_TABLES_NEW);
	if (mkdirat(r->old.dirfd, STORE_TABLES_NEW, 0700))
		return err_sys(err, errno, "cannot create '%s/" STORE_TABLES_NEW "'", r->old.path);
	r->newfd = openat(r->old.dirfd, STORE_TABLES_NEW, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->newfd < 0)
		return err_sys(err, errno, "cannot open '%s/" STORE_TABLES_NEW "'", r->old.path);
	return store_sink_open(&r->sink, r->newfd, err);
}

int record_recover(const char *bundle, const struct recover_ring *ring, bool is_forced, struct recover_result *result,
		struct sonde_err *err)
{
	struct recovery r = { .old = STORE_RUN_INIT, .ring = RING_DIR_INIT, .newfd = -1, .result = result };
	*result = (struct recover_result){ .ring_why = SONDE_ERR_INIT };
	int rc = store_run_open_any(&r.old, bundle, err);
	if (!rc)
		rc = claim_ring(&r, ring, err);
	if (!rc && !is_forced)
		rc = check_nobody_lives(&r, err);
	if (!rc)
		rc = create_new_tables(&r, err);
	if (!rc) {
		if (!store_names_open(&r.names, r.old.tablesfd, NULL))
			copy_strings(&r);
		for (int i = 0; i < STORE_TABLE_COUNT; i++)
			if (i != STORE_TABLE_STRING)
				copy_table(&r, i);
		rc = r.has_ring ? drain_ring(&r, err) : 0;
		emit_mentioned(&r);
		int closed = store_sink_close(&r.sink, rc ? NULL : err);
		rc = rc ? rc : closed;
	}
	if (!rc) {
		unlinkat(r.newfd, "define.tbl", 0); /* not needed any more */
		rc = replace_tables(&r, err);
	}
	if (!rc && r.has_ring)
		ring_dir_remove(&r.ring);
	ring_dir_release(&r.ring);
	store_names_release(&r.names);
	map_release(&r.processes);
	if (r.newfd >= 0)
		close(r.newfd);
	store_run_release(&r.old);
	return rc;
}

int record_import_ring(const char *path, const char *dir, struct record_result *result, struct sonde_err *err)
{
	struct ring_dir ring = RING_DIR_INIT;
	struct store_run run = STORE_RUN_INIT;
	struct store_sink sink;
	struct drain d;
	struct buf text = BUF_INIT;
	int rc = ring_dir_open(&ring, path, err);
	if (!rc)
		rc = store_run_create(&run, dir, path, err);
	if (!rc)
		rc = store_sink_open(&sink, run.tablesfd, err);
	if (!rc && !(rc = drain_init(&d, &ring, &sink, false, err))) {
		drain_finish(&d);
		struct run_facts facts = { .state = "imported",
			.name = path,
			.start_real_ns = ring.control->start_real_ns,
			.start_mono_ns = ring.control->start_mono_ns,
			.end_mono_ns = STORE_NULL,
			.drain = &d,
			.sink = &sink,
			.trace_state = "ran",
			.cpu_ns = STORE_NULL };
		facts.untraced = ring.control->untraced_forks;
		drain_losses(&d, &facts.dropped, &facts.filtered, &facts.untraced);
		result->events = d.events;
		result->processes = d.process_count;
		result->dropped = facts.dropped;
		buf_adds(&result->path, run.path);
		runjson_write(&text, &facts);
		rc = store_sink_close(&sink, err);
		if (!rc)
			rc = check_calls(&d, err);
		if (!rc)
			rc = store_run_write_json(run.dirfd, &text, err);
		drain_release(&d);
	}
	buf_release(&text);
	store_run_release(&run);
	ring_dir_release(&ring);
	return rc;
}
