/*
 * Applies the events of a fleet: one function per event, looked up in a table.
 */
#include "fleet/job-state.h"

#include "base/vec.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool fleet_requirements_are_met(const struct fleet_requirements *needs, const struct fleet_offer *offer)
{
	bool has_label = !needs->label;

	for (size_t i = 0; i < offer->label_count && !has_label; i++)
		has_label = strcmp(offer->labels[i], needs->label) == 0;
	return has_label && needs->cpus <= offer->cpus && needs->memory_bytes <= offer->memory_bytes;
}

static const char *const state_words[] = {
	[FLEET_SUBMITTED] = "submitted",
	[FLEET_QUEUED] = "queued",
	[FLEET_RUNNING] = "running",
	[FLEET_DONE] = "done",
	[FLEET_FAILED] = "failed",
	[FLEET_CANCELLED] = "cancelled",
};

const char *fleet_state_word(enum fleet_state state)
{
	return state_words[state];
}

void fleet_jobs_init(struct fleet_jobs *l)
{
	*l = (struct fleet_jobs){ .ids = MAP_INIT, .arena = ARENA_INIT };
}

void fleet_jobs_release(struct fleet_jobs *l)
{
	free(l->jobs);
	map_release(&l->ids);
	arena_release(&l->arena);
	fleet_jobs_init(l);
}

struct fleet_job *fleet_jobs_find(const struct fleet_jobs *l, const char *id)
{
	const uint64_t *index = map_get(&l->ids, id, strlen(id));

	return index ? l->jobs[*index] : NULL;
}

bool fleet_job_has_ended(const struct fleet_job *job)
{
	return job->state >= FLEET_DONE;
}

bool fleet_job_has_reached(const struct fleet_job *job)
{
	double sum = 0;

	if (!job->has_target || job->report_count < job->window)
		return false;
	for (size_t i = 0; i < job->window; i++)
		sum += job->recent[i];
	return sum / (double)job->window <= job->target_loss; /* false if one is NaN */
}

/* Copies an array of strings, NULL-terminated. NULL if it is not such an array, is too long, or memory is exhausted. */
static char **strings_of(struct arena *arena, const json_t *array)
{
	size_t count = json_array_size(array);
	char **out;

	if (!json_is_array(array) || count > FLEET_ARGS_MAX)
		return NULL;
	out = arena_alloc(arena, (count + 1) * sizeof(*out));
	for (size_t i = 0; out && i < count; i++) {
		const char *text = json_string_value(json_array_get(array, i));

		out[i] = text ? arena_strdup(arena, text) : NULL;
		if (!out[i])
			return NULL;
	}
	return out;
}

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static int add_job(struct fleet_jobs *l, struct fleet_job *job)
{
	uint64_t *index;
	bool is_new;

	if (!VEC_GROW(l->jobs, l->cap, l->count + 1, VEC_MAX))
		return -ENOMEM;
	index = map_put(&l->ids, job->id, strlen(job->id), &is_new);
	if (!index)
		return -ENOMEM;
	*index = l->count;
	l->jobs[l->count++] = job;
	return 1;
}

/* The hash becomes part of a subject. */
static bool is_hash(const char *text)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* Returns false if malformed. */
static bool parse_needs(struct fleet_jobs *l, struct fleet_job *job, const json_t *event)
{
	const json_t *needs = json_object_get(event, "needs"), *files = json_object_get(event, "files");
	json_int_t memory = json_integer_value(json_object_get(needs, "memory_bytes"));
	json_int_t chunks = json_integer_value(json_object_get(files, "chunks"));

	job->needs.cpus = json_integer_value(json_object_get(needs, "cpus"));
	job->needs.memory_bytes = memory > 0 ? (uint64_t)memory : 0;
	job->needs.label = text_of(&l->arena, needs, "label");
	job->files = text_of(&l->arena, files, "hash");
	job->file_chunks = chunks > 0 ? (uint64_t)chunks : 0;
	return !files || (job->files && is_hash(job->files) && job->file_chunks);
}

static int submit(struct fleet_jobs *l, const char *id, uint64_t sequence, const json_t *event)
{
	const json_t *target = json_object_get(event, "target_loss");
	json_int_t window = json_integer_value(json_object_get(event, "window"));
	struct fleet_job *job = arena_alloc(&l->arena, sizeof(*job));

	if (!job)
		return -ENOMEM;
	job->id = arena_strdup(&l->arena, id);
	job->name = text_of(&l->arena, event, "name");
	job->cwd = text_of(&l->arena, event, "cwd");
	job->argv = strings_of(&l->arena, json_object_get(event, "argv"));
	job->env = strings_of(&l->arena, json_object_get(event, "env"));
	job->submitted_ns = json_integer_value(json_object_get(event, "time_ns"));
	job->has_target = json_is_number(target);
	job->target_loss = json_number_value(target);
	job->window = window >= 1 && window <= FLEET_WINDOW_MAX ? (size_t)window : 1;
	job->exit_code = -1;
	job->sequence = sequence;
	if (!parse_needs(l, job, event) || !job->id || !job->name || !job->cwd || !job->argv || !job->argv[0] ||
			!job->env)
		return 0;
	return add_job(l, job);
}

static int queue(struct fleet_jobs *l, struct fleet_job *job, uint64_t sequence, const json_t *event)
{
	if (job->state != FLEET_SUBMITTED)
		return 0;
	job->state = FLEET_QUEUED;
	return 1;
}

/* The last claim holds the job; a new lease restarts the command. */
static int claim(struct fleet_jobs *l, struct fleet_job *job, uint64_t sequence, const json_t *event)
{
	const char *agent = text_of(&l->arena, event, "agent");

	if (!agent)
		return 0;
	job->state = FLEET_RUNNING;
	job->agent = agent;
	job->epoch = sequence;
	job->message = (uint64_t)json_integer_value(json_object_get(event, "message"));
	job->attempts++;
	job->report_count = 0;
	job->claimed_ns = json_integer_value(json_object_get(event, "time_ns"));
	return 1;
}

static bool is_of_lease(const struct fleet_job *job, const json_t *event)
{
	json_int_t epoch = json_integer_value(json_object_get(event, "epoch"));

	return epoch > 0 && (uint64_t)epoch == job->epoch;
}

static int64_t index_of(const json_t *number)
{
	return json_is_integer(number) && json_integer_value(number) >= 0 ? json_integer_value(number) : -1;
}

static void add_decision(const struct fleet_jobs *l, struct fleet_job *job, const json_t *note)
{
	char *text = l->on_note ? json_dumps(note, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

	job->has_reached |= json_is_true(json_object_get(note, "reached"));
	if (text)
		l->on_note(l->arg, job, text);
	free(text);
}

static void parse_report(const struct fleet_jobs *l, struct fleet_job *job, const json_t *row)
{
	const json_t *loss = json_array_get(row, 1);

	if (!json_is_integer(json_array_get(row, 0)))
		return;
	job->last.step = json_integer_value(json_array_get(row, 0));
	job->last.loss = json_is_number(loss) ? json_number_value(loss) : NAN;
	job->last.time_s = json_number_value(json_array_get(row, 2));
	job->last.worker = index_of(json_array_get(row, 3));
	job->last.config = index_of(json_array_get(row, 4));
	job->recent[job->report_count++ % job->window] = job->last.loss;
	if (l->on_report)
		l->on_report(l->arg, job, &job->last);
}

static int report(struct fleet_jobs *l, struct fleet_job *job, uint64_t sequence, const json_t *event)
{
	const json_t *rows = json_object_get(event, "rows"), *notes = json_object_get(event, "notes");

	if (!is_of_lease(job, event))
		return 0;
	for (size_t i = 0; i < json_array_size(rows); i++)
		parse_report(l, job, json_array_get(rows, i));
	for (size_t i = 0; i < json_array_size(notes); i++)
		add_decision(l, job, json_array_get(notes, i));
	return 1;
}

/* A job cancelled before it runs has ended. The first reason to stop is kept, except that a cancel overrides it. */
static int stop(struct fleet_jobs *l, struct fleet_job *job, uint64_t sequence, const json_t *event)
{
	const char *why = json_string_value(json_object_get(event, "why"));

	if (why && strcmp(why, "cancel") == 0)
		job->stop = FLEET_STOP_CANCEL;
	else if (why && strcmp(why, "target") == 0 && job->stop == FLEET_GO_ON)
		job->stop = FLEET_STOP_TARGET;
	else
		return 0;
	if (job->stop == FLEET_STOP_CANCEL && job->state < FLEET_RUNNING) {
		job->state = FLEET_CANCELLED;
		job->ended_ns = json_integer_value(json_object_get(event, "time_ns"));
	}
	return 1;
}

static int end(struct fleet_jobs *l, struct fleet_job *job, uint64_t sequence, const json_t *event)
{
	const json_t *code = json_object_get(event, "exit_code");

	if (!is_of_lease(job, event))
		return 0;
	job->exit_code = json_is_integer(code) ? (int)json_integer_value(code) : -1;
	job->why = text_of(&l->arena, event, "why");
	job->ended_ns = json_integer_value(json_object_get(event, "time_ns"));
	if (job->stop == FLEET_STOP_CANCEL)
		job->state = FLEET_CANCELLED;
	else
		job->state = job->stop == FLEET_STOP_TARGET || job->exit_code == 0 ? FLEET_DONE : FLEET_FAILED;
	return 1;
}

static const struct {
	const char *name;
	int (*apply)(struct fleet_jobs *l, struct fleet_job *job, uint64_t sequence, const json_t *event);
} events[] = {
	{ "queue", queue },
	{ "claim", claim },
	{ "report", report },
	{ "stop", stop },
	{ "end", end },
};

static int dispatch(struct fleet_jobs *l, const char *id, uint64_t sequence, const json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	struct fleet_job *job = fleet_jobs_find(l, id);
	int rc = 0;

	if (!name)
		return 0;
	if (!job)
		return strcmp(name, "submit") == 0 ? submit(l, id, sequence, event) : 0;
	job->sequence = sequence;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !fleet_job_has_ended(job); i++)
		if (strcmp(name, events[i].name) == 0)
			rc = events[i].apply(l, job, sequence, event);
	job->refused += rc == 0 && strcmp(name, "queue") != 0; /* which may come after the agent's events */
	return rc;
}

int fleet_jobs_apply(struct fleet_jobs *l, const char *id, uint64_t sequence, const char *text, size_t len)
{
	json_t *event = strlen(id) < FLEET_NAME_MAX ? json_loadb(text, len, 0, NULL) : NULL;
	int rc = event ? dispatch(l, id, sequence, event) : 0;

	json_decref(event);
	return rc;
}
