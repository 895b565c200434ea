/*
 * sonde join: merge runs recorded on several hosts.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "exchange/join.h"
#include "record/ringdir.h"
#include "store/run-dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HOSTS_FILE "hosts.json"
#define HOSTS_BYTES_MAX ((size_t)64 << 20)

struct options {
	const char *dir;
	bool is_forced;
};

static const struct cli_option option_rows[] = {
	{ 'o', "output", "DIR", CLI_PATH(struct options, dir),
			.help = "Output directory, to join runs that were recorded separately." },
	{ 'f', "force", NULL, CLI_FLAG(struct options, is_forced),
			.help = "Replace the run in DIR; other files are kept." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde join sonde-runs/latest", "Repeat the last step of 'sonde record --hosts'." },
	{ "sonde join -o both a-run b-run", "Join two separately recorded runs, aligned by wall-clock time." },
	{ NULL, NULL },
};

struct joined {
	struct cli_context *ctx;
	struct store_run run;
	struct store_sink sink;
	struct join join;
	json_t *facts;  /* of run.json */
	json_t *hosts;  /* its array */
	json_t *probes; /* its array */
	int64_t bound_ns;
	bool is_measured; /* the clocks of all hosts were measured */
};

static int64_t int_of(const json_t *o, const char *key, int64_t none)
{
	const json_t *v = json_object_get(o, key);
	return json_is_integer(v) ? json_integer_value(v) : none;
}

/* Merges probes of the same name: sums their counters; other fields are those of the first. */
static void add_probe(struct joined *m, const char *host, json_t *probe)
{
	static const char *const sums[] = { "events", "lost", "cpu_ns", "processes", "dropped", "filtered",
		"unfinished", "damaged", "blind_processes", "sampled_ns", "unsampled_ns", "cut_stacks", "throttled" };
	const char *name = json_string_value(json_object_get(probe, "name"));
	const char *reason = json_string_value(json_object_get(probe, "reason"));
	json_t *old = NULL;
	size_t at;
	json_array_foreach(m->probes, at, old) {
		const char *known = json_string_value(json_object_get(old, "name"));
		if (name && known && !strcmp(known, name))
			break;
		old = NULL;
	}
	json_t *one = old ? old : json_deep_copy(probe);
	if (!old)
		json_array_append_new(m->probes, one);
	for (size_t i = 0; old && i < sizeof(sums) / sizeof(*sums); i++)
		if (json_object_get(probe, sums[i]))
			json_object_set_new(one, sums[i],
					json_integer(int_of(one, sums[i], 0) + int_of(probe, sums[i], 0)));
	const char *state = json_string_value(json_object_get(probe, "state"));
	if (old && state && !strcmp(state, "ran"))
		json_object_set_new(one, "state", json_string(state));
	if (reason && (!old || !json_object_get(one, "reason")))
		json_object_set_new(one, "reason", json_sprintf("%s: %s", host, reason));
}

static json_t *json_of_clock(const struct clock_fit *f, bool is_measured)
{
	json_t *o = json_pack("{s:I,s:I,s:f}", "at_ns", (json_int_t)f->at_ns, "offset_ns", (json_int_t)f->offset_ns,
			"drift_ppm", f->drift * 1e6);
	json_object_set_new(o, "bound_ns", is_measured ? json_integer(f->bound_ns) : json_null());
	json_object_set_new(o, "by", json_string(is_measured ? "pings" : "the wall clock"));
	if (is_measured) {
		json_object_set_new(o, "trip_ns", json_integer(f->trip_ns));
		json_object_set_new(o, "pings", json_integer((json_int_t)f->pings));
	}
	return o;
}

/* Adds one host to the joined run. */
static int take_host(struct joined *m, const char *name, const char *path, const struct clock_fit *clock,
		bool is_measured)
{
	struct join_host host = { .name = name, .clock = *clock };
	int64_t raise = m->join.hosts * JOIN_PIDS;
	json_t *probe;
	size_t i;
	int rc = model_run_open(&host.run, path, m->ctx->err);
	if (!rc)
		rc = join_add(&m->join, &host, m->ctx->err);
	if (!rc) {
		json_t *o = json_pack("{s:s,s:s,s:I}", "name", name, "run", path, "pids_raised_by", (json_int_t)raise);
		json_t *facts = model_run_json(host.run);
		json_object_set_new(o, "clock", json_of_clock(clock, is_measured));
		json_object_set(o, "host", json_object_get(facts, "host"));
		json_object_set(o, "exit", json_object_get(facts, "exit"));
		json_object_set(o, "state", json_object_get(facts, "state"));
		json_array_append_new(m->hosts, o);
		json_array_foreach(json_object_get(facts, "probes"), i, probe)
			add_probe(m, name, probe);
		m->bound_ns = clock->bound_ns > m->bound_ns ? clock->bound_ns : m->bound_ns;
		m->is_measured &= is_measured;
	}
	model_run_free(host.run);
	return rc;
}

/* The exit status of the first host that failed, else of the first. */
static json_t *exit_of(const struct joined *m)
{
	json_t *host, *first = NULL;
	size_t i;
	json_array_foreach(m->hosts, i, host) {
		json_t *end = json_object_get(host, "exit");
		first = first ? first : end;
		if (json_is_object(end) && (int_of(end, "code", 1) || json_is_integer(json_object_get(end, "signal"))))
			return json_incref(end);
	}
	return first ? json_incref(first) : json_null();
}

/* Whether it is another task on a node that was already counted. */
static bool is_counted(const struct joined *m, size_t upto)
{
	const char *node = json_string_value(json_object_get(json_array_get(m->hosts, upto), "node"));
	for (size_t i = 0; node && i < upto; i++) {
		const char *known = json_string_value(json_object_get(json_array_get(m->hosts, i), "node"));
		if (known && !strcmp(known, node))
			return true;
	}
	return false;
}

static json_t *all_hosts(const struct joined *m)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;
	int64_t cpus = 0, memory = 0;
	const char *kernel = NULL, *machine = NULL;
	json_t *host;
	size_t i;
	json_array_foreach(m->hosts, i, host) {
		json_t *facts = json_object_get(host, "host");
		if (is_counted(m, i))
			continue;
		buf_addf(&names, "%s%s", i ? ", " : "", json_string_value(json_object_get(host, "name")));
		cpus += int_of(facts, "cpus", 0);
		memory += int_of(facts, "memory_bytes", 0);
		kernel = kernel ? kernel : json_string_value(json_object_get(facts, "kernel"));
		machine = machine ? machine : json_string_value(json_object_get(facts, "machine"));
	}
	return json_pack("{s:s,s:s*,s:s*,s:I,s:I}", "name", names.data, "kernel", kernel, "machine", machine, "cpus",
			(json_int_t)cpus, "memory_bytes", (json_int_t)memory);
}

static int write_run(struct joined *m, int64_t start_mono_ns, int64_t start_real_ns, int64_t wall_ns)
{
	json_t *whole = json_pack("{s:s,s:s}", "version", SONDE_VERSION, "state", "complete"), *tables = json_object();
	json_object_update(whole, m->facts);
	json_object_set_new(whole, "host", all_hosts(m));
	json_object_set_new(whole, "clock",
			json_pack("{s:s,s:s,s:I,s:I}", "id", "CLOCK_MONOTONIC", "source", "hosts", "start_mono_ns",
					(json_int_t)start_mono_ns, "start_real_ns", (json_int_t)start_real_ns));
	if (m->is_measured)
		json_object_set_new(json_object_get(whole, "clock"), "error_ns", json_integer(m->bound_ns));
	if (wall_ns > 0)
		json_object_set_new(whole, "wall_ns", json_integer(wall_ns));
	json_object_set_new(whole, "exit", exit_of(m));
	json_object_set(whole, "probes", m->probes);
	json_object_set(whole, "hosts", m->hosts);
	for (int i = 0; i < STORE_TABLE_COUNT; i++)
		if (store_sink_table_rows(&m->sink, i))
			json_object_set_new(tables, store_schemas[i]->name,
					json_integer((json_int_t)store_sink_table_rows(&m->sink, i)));
	json_object_set_new(tables, "string", json_integer((json_int_t)store_strings_count(&m->sink.strings)));
	json_object_set_new(whole, "tables", tables);
	json_object_set_new(whole, "lost_rows", json_integer((json_int_t)store_sink_lost(&m->sink)));
	int rc = store_sink_close(&m->sink, m->ctx->err);
	if (!rc)
		rc = cli_write_run_json(m->run.dirfd, whole, m->ctx->err);
	json_decref(whole);
	return rc;
}

static bool read_clock(const json_t *host, struct clock_fit *f)
{
	const json_t *o = json_object_get(host, "clock");
	if (!json_is_object(o))
		return false;
	*f = (struct clock_fit){ .at_ns = int_of(o, "at_ns", 0),
		.offset_ns = int_of(o, "offset_ns", 0),
		.drift = json_number_value(json_object_get(o, "drift")),
		.bound_ns = int_of(o, "bound_ns", 0),
		.trip_ns = int_of(o, "trip_ns", 0),
		.pings = (size_t)int_of(o, "pings", 0) };
	return f->drift > -0.5 && f->drift < 0.5;
}

/* Fallback if the clock was not measured: aligns by the wall-clock time at the start of both. */
static struct clock_fit clock_by_day(int64_t our_mono, int64_t our_real, int64_t mono, int64_t real)
{
	return (struct clock_fit){ .at_ns = our_mono, .offset_ns = (mono - real) - (our_mono - our_real) };
}

/* A host with its run below hosts/: fetched by `sonde record --hosts`, or written there by a task of srun. */
static int take_fetched(struct joined *m, const json_t *all, const json_t *host)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	const char *name = json_string_value(json_object_get(host, "name"));
	const char *place = json_string_value(json_object_get(host, "run"));
	const char *reason = json_string_value(json_object_get(host, "reason"));
	const char *node = json_string_value(json_object_get(host, "node"));
	struct sonde_err why = SONDE_ERR_INIT;
	struct model_run *run = NULL;
	struct clock_fit clock;
	bool is_measured = read_clock(host, &clock);
	if (!name)
		return err_set(m->ctx->err, EINVAL, "a host has no name");
	err_set(&why, ENOENT, "%s", reason ? reason : "it has no run");
	if (place && !strchr(place, '/') && *place != '.') {
		buf_addf(&path, "%s/hosts/%s", m->run.path, place);
		model_run_open(&run, path.data, &why);
	}
	if (run && !is_measured)
		clock = clock_by_day(int_of(all, "start_mono_ns", 0), int_of(all, "start_real_ns", 0),
				model_run_int(run, "clock.start_mono_ns"), model_run_int(run, "clock.start_real_ns"));
	bool is_there = run != NULL;
	model_run_free(run);
	if (!is_there) {
		json_array_append_new(m->hosts,
				json_pack("{s:s,s:s,s:s}", "name", name, "state", "failed", "reason", why.text));
		cli_message("sonde", "host '%s': %s", name, why.text);
		return 0;
	}
	int rc = take_host(m, name, path.data, &clock, is_measured);
	json_t *last = rc ? NULL : json_array_get(m->hosts, json_array_size(m->hosts) - 1);
	if (node && last)
		json_object_set_new(last, "node", json_string(node));
	if (reason && last)
		json_object_set_new(last, "reason", json_string(reason));
	return rc;
}

static int join_fetched(struct joined *m, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(buf_release) struct buf found = BUF_INIT;
	json_t *host;
	size_t i;
	int rc = store_run_find(path, &found, m->ctx->err);
	if (!rc)
		rc = store_run_open_any(&m->run, found.data, m->ctx->err);
	if (!rc)
		rc = fs_read_plain_file(m->run.dirfd, HOSTS_FILE, HOSTS_BYTES_MAX, &text, m->ctx->err);
	json_t *all = rc ? NULL : json_loadb(text.data, text.len, 0, NULL);
	if (!rc && !json_is_array(json_object_get(all, "hosts")))
		rc = err_set(m->ctx->err, EINVAL, "'%s/" HOSTS_FILE "' is invalid", path);
	if (!rc) {
		store_tables_empty(m->run.tablesfd);
		rc = store_sink_open(&m->sink, m->run.tablesfd, m->ctx->err);
	}
	if (!rc) {
		m->is_measured = true;
		join_init(&m->join, &m->sink);
		json_array_foreach(json_object_get(all, "hosts"), i, host)
			rc = rc ? rc : take_fetched(m, all, host);
		for (const char *const *key = (const char *const[]){ "name", "argv", "cwd", NULL }; *key; key++)
			if (json_object_get(all, *key))
				json_object_set(m->facts, *key, json_object_get(all, *key));
		int64_t start = int_of(all, "start_mono_ns", 0);
		if (!rc)
			rc = write_run(m, start, int_of(all, "start_real_ns", 0),
					int_of(all, "end_mono_ns", start) - start);
	}
	json_decref(all);
	return rc;
}

/* Before a run is replaced: checks that all inputs are readable and none is the run to be replaced. */
static int check_given(struct cli_context *ctx, const char *dir)
{
	struct stat one, other;
	bool is_there = !stat(dir, &other);
	int rc = 0;
	for (size_t i = 0; !rc && i < ctx->arg_count; i++) {
		struct model_run *run = NULL;
		rc = model_run_open(&run, ctx->args[i], ctx->err);
		if (!rc && is_there && !stat(model_run_path(run), &one) && one.st_dev == other.st_dev &&
				one.st_ino == other.st_ino)
			rc = err_set(ctx->err, EINVAL, "cannot replace '%s': it is one of the runs to join", dir);
		model_run_free(run);
	}
	return rc;
}

/* Joins runs without measured clocks: aligned by their wall-clock anchors only. */
static int join_given(struct joined *m, const char *dir, bool is_forced)
{
	struct cli_context *ctx = m->ctx;
	int64_t start_mono = STORE_NULL, start_real = STORE_NULL;
	int rc = check_given(ctx, dir);
	if (!rc)
		rc = writers_create_run(&m->run, dir, "joined", is_forced, ctx->err);
	if (!rc)
		rc = store_sink_open(&m->sink, m->run.tablesfd, ctx->err);
	if (rc)
		return rc;
	join_init(&m->join, &m->sink);
	json_object_set_new(m->facts, "name", json_string("joined"));
	for (size_t i = 0; !rc && i < ctx->arg_count; i++) {
		struct model_run *run = NULL;
		struct clock_fit clock;
		rc = model_run_open(&run, ctx->args[i], ctx->err);
		if (rc)
			break;
		int64_t mono = model_run_int(run, "clock.start_mono_ns"),
			real = model_run_int(run, "clock.start_real_ns");
		const char *host = model_run_str(run, "host.name");
		char *name = arena_printf(ctx->arena, "%s%s%zu", host ? host : "host", host ? "-" : "", i);
		model_run_free(run);
		if (mono == STORE_NULL || real == STORE_NULL)
			return err_set(ctx->err, EINVAL, "'%s' has no start time", ctx->args[i]);
		if (!i) {
			start_mono = mono;
			start_real = real;
		}
		clock = clock_by_day(start_mono, start_real, mono, real);
		rc = take_host(m, name, ctx->args[i], &clock, false);
	}
	return rc ? rc : write_run(m, start_mono, start_real, 0);
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct joined m = { .ctx = ctx, .run = STORE_RUN_INIT };
	int rc;
	if (o->dir ? ctx->arg_count < 2 : ctx->arg_count != 1)
		return cli_usage(ctx, "expected one recording of several hosts, or -o DIR and two or more runs");
	m.facts = json_object();
	m.hosts = json_array();
	m.probes = json_array();
	rc = o->dir ? join_given(&m, o->dir, o->is_forced) : join_fetched(&m, ctx->args[0]);
	join_release(&m.join);
	store_run_release(&m.run);
	json_decref(m.facts);
	json_decref(m.hosts);
	json_decref(m.probes);
	return rc;
}

const struct cli_command cmd_join = {
	.name = "join",
	.usage = "[-o DIR [-f]] RUN...",
	.positional = { "RUN", 1, JOIN_HOSTS_MAX, CLI_TYPE_RUN,
			.help = "A recording of several hosts; or, with -o, two or more runs." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
