/*
 * Describe what is missing from a run: losses reported in run.json, damage to its tables, and untraced processes.
 */
#include "base/cleanup.h"
#include "model/model-private.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define PROCESSES_SAID_MAX 5

struct speaker {
	void (*say)(void *arg, const char *sentence);
	void *arg;
	struct buf text;
};

__attribute__((format(printf, 2, 3))) static void say(struct speaker *s, const char *fmt, ...)
{
	va_list ap;

	buf_reset(&s->text);
	va_start(ap, fmt);
	buf_vaddf(&s->text, fmt, ap);
	va_end(ap);
	s->say(s->arg, s->text.data);
}

/* A probe's counters of lost events and their description; {0}: singular, {1}: plural. */
static const struct {
	const char *key;
	const char *one, *many;
} counts[] = {
	{ "dropped", "event was dropped because the ring was full (see --memory and --overflow of sonde record)",
			"events were dropped because the ring was full (see --memory and --overflow of sonde record)" },
	{ "lost", "event was lost: the recorder could not keep up",
			"events were lost: the recorder could not keep up" },
	{ "unfinished", "event was being written when its process died",
			"events were being written when their processes died" },
	{ "damaged", "record of the ring is damaged: the program overwrote it",
			"records of the ring are damaged: the program overwrote them" },
	{ "blind_processes", "process or program could not be traced", "processes or programs could not be traced" },
};

static void report_probe(struct speaker *s, const json_t *probe)
{
	const char *name = json_string_value(json_object_get(probe, "name"));

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		json_int_t n = json_integer_value(json_object_get(probe, counts[i].key));

		if (n > 0)
			say(s, "%s: %" JSON_INTEGER_FORMAT " %s", name ? name : "a probe", n,
					n == 1 ? counts[i].one : counts[i].many);
	}
}

/* Rows are written in blocks, so the last rows of a recorder that died were never written. */
static void report_recovered(struct speaker *s, const json_t *recovered)
{
	const json_t *lost = json_object_get(recovered, "lost_events");

	if (!recovered)
		return;
	if (json_is_integer(lost))
		say(s,
				"the recorder was killed: %" JSON_INTEGER_FORMAT
				" events of the tracer and the last events of other probes are lost",
				json_integer_value(lost));
	else
		say(s, "the recorder was killed; an unknown number of final events is missing");
}

static void report_recorder(struct speaker *s, const struct model_run *run)
{
	const json_t *probes = json_object_get(run->json, "probes");
	int64_t lost_rows = model_run_int(run, "lost_rows");
	const char *trouble = model_run_str(run, "trouble");

	if (run->trouble[0])
		say(s, "%s: its facts about the run are unknown", run->trouble);
	if (model_run_is_unfinished(run))
		say(s, "the recorder has not finished: it is running, or it was killed ('sonde recover' completes it)");
	report_recovered(s, json_object_get(run->json, "recovered"));
	if (trouble)
		say(s, "the recorder reported an error: %s", trouble);
	if (lost_rows > 0)
		say(s, "the recorder could not write %" PRId64 " rows", lost_rows);
	for (size_t i = 0; i < json_array_size(probes); i++)
		report_probe(s, json_array_get(probes, i));
}

static bool has_table(const struct model_run *run, const char *name)
{
	for (size_t i = 0; i < run->table_count; i++)
		if (strcmp(run->tables[i].name, name) == 0)
			return true;
	return false;
}

/* The next table that run.json counts rows of but that does not exist. */
static const char *next_gone(const struct model_run *run, void **at, json_int_t *rows)
{
	json_t *tables = json_object_get(run->json, "tables");

	for (*at = *at ? json_object_iter_next(tables, *at) : json_object_iter(tables); *at;
			*at = json_object_iter_next(tables, *at)) {
		*rows = json_integer_value(json_object_iter_value(*at));
		if (*rows > 0 && !has_table(run, json_object_iter_key(*at)))
			return json_object_iter_key(*at);
	}
	return NULL;
}

static void report_tables(struct speaker *s, const struct model_run *run)
{
	void *at = NULL;
	json_int_t rows;
	const char *gone;

	while ((gone = next_gone(run, &at, &rows)))
		say(s, "the table '%s' is gone; it had %" JSON_INTEGER_FORMAT " rows", gone, rows);
	for (size_t i = 0; i < run->table_count; i++) {
		const struct model_table *t = &run->tables[i];
		struct store_loss loss;

		if (t->trouble[0])
			say(s, "%s", t->trouble);
		if (!t->table)
			continue;
		store_table_loss(t->table, &loss);
		if (loss.text[0])
			say(s, "table '%s': %s", t->name, loss.text);
	}
}

/* States without losses to report. */
static bool is_settled(const char *state)
{
	return !state || strcmp(state, "ended") == 0 || strcmp(state, "replaced by exec") == 0;
}

static void report_processes(struct speaker *s, const struct model_run *run)
{
	size_t running = 0, untraced = 0;

	for (size_t i = 0; i < run->process_count; i++) {
		const struct store_process *p = &run->processes[i];
		const char *state = model_cname(run, p->state);

		if (is_settled(state))
			continue;
		if (strcmp(state, "running") == 0)
			running++;
		else if (untraced++ < PROCESSES_SAID_MAX)
			say(s, "process %" PRId64 " (pid %" PRId64 "): %s", p->process, p->pid, state);
	}
	if (untraced > PROCESSES_SAID_MAX)
		say(s, "%zu more processes have an unknown exit status", untraced - PROCESSES_SAID_MAX);
	if (running)
		say(s, "%zu process%s still running when the recording ended", running,
				running == 1 ? " was" : "es were");
}

int model_losses(struct model_run *run, void (*tell)(void *arg, const char *sentence), void *arg, struct sonde_err *err)
{
	struct speaker s = { .say = tell, .arg = arg, .text = BUF_INIT };
	int rc = model_load(run, MODEL_NAMES | MODEL_PROCESSES, err);

	if (rc < 0)
		return rc;
	report_recorder(&s, run);
	report_tables(&s, run);
	report_processes(&s, run);
	rc = buf_error(&s.text);
	buf_release(&s.text);
	return rc < 0 ? err_sys(err, ENOMEM, "cannot list the missing data") : 0;
}

bool model_run_is_damaged(const struct model_run *run)
{
	void *at = NULL;
	json_int_t rows;

	if (run->trouble[0] || next_gone(run, &at, &rows))
		return true;
	for (size_t i = 0; i < run->table_count; i++) {
		struct store_loss loss = { .blocks = 0 };

		if (run->tables[i].table)
			store_table_loss(run->tables[i].table, &loss);
		if (run->tables[i].trouble[0] || loss.text[0])
			return true;
	}
	return false;
}
