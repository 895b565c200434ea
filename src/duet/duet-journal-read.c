/* duet-journal-read: parses the lines of a journal. The file is untrusted: every number is checked before use. */
#include <jansson.h>

#include "duet/duet-journal.h"
#include "duet/duet-report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t int_of(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

/* NaN if absent or null. */
static double read_real(const json_t *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

static bool is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Returns the index of a text in a NULL-terminated list of names, or -1. */
static int word_of(const json_t *object, const char *key, const char *const *words)
{
	const char *text = json_string_value(json_object_get(object, key));

	for (int i = 0; text && words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return -1;
}

static char *copy_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? strdup(text) : NULL;
}

/* One of the metric names, or a counter, which is read as the value. -1: neither. */
static int take_metric(struct duet_journal *j, const json_t *line)
{
	const char *text = json_string_value(json_object_get(line, "metric"));

	if (!text || strncmp(text, DUET_COUNTER_PREFIX, strlen(DUET_COUNTER_PREFIX)) != 0)
		return word_of(line, "metric", duet_metric_names);
	free(j->counter);
	j->counter = strdup(text);
	return j->counter ? DUET_VALUE : -1;
}

static bool take_head(struct duet_journal *j, const json_t *line)
{
	int metric = take_metric(j, line), interval = word_of(line, "interval", duet_interval_names);
	double margin = read_real(line, "margin", 1.01), level = read_real(line, "level", 0.95);

	if (metric < 0 || !(margin >= 1) || !(level > 0 && level < 1) || j->commands[DUET_A] || j->commands[DUET_B])
		return false;
	j->commands[DUET_A] = copy_of(line, "a");
	j->commands[DUET_B] = copy_of(line, "b");
	j->machine = copy_of(line, "machine");
	j->setup = (struct duet_setup){ .pairing = { .metric = (enum duet_metric)metric,
							.counter = j->counter,
							.is_more_better = is_true(line, "higher_is_better"),
							.has_warmup = is_true(line, "own_iterations") },
		.has_own_iterations = is_true(line, "own_iterations"),
		.has_priority = is_true(line, "priority"),
		.is_auto = is_true(line, "auto"),
		.margin = margin,
		.level = level,
		.interval = interval > 0 ? interval : 0,
		.seed = (uint64_t)int_of(line, "seed", 0) };
	return j->commands[DUET_A] && j->commands[DUET_B];
}

static bool take_choice(struct duet_journal *j, const json_t *item)
{
	int design = word_of(item, "design", duet_design_names);

	if (design < 0)
		return false;
	j->is_design_piloted = true;
	j->choices[design] = (struct duet_choice){ .is_tried = true,
		.runs = (size_t)int_of(item, "runs", 0),
		.variance = read_real(item, "variance", NAN),
		.run_seconds = read_real(item, "run_seconds", NAN) };
	j->choices[design].cost = j->choices[design].variance * j->choices[design].run_seconds;
	return true;
}

static void take_self(struct duet_self_check *self, const json_t *item)
{
	if (!json_is_object(item))
		return;
	self->runs = (size_t)int_of(item, "runs", 0);
	self->ratio = stats_interval_open(read_real(item, "ratio", NAN), self->runs, read_real(item, "level", 0.99),
			"");
	self->ratio.lo = read_real(item, "lo", self->ratio.lo);
	self->ratio.hi = read_real(item, "hi", self->ratio.hi);
	self->is_biased = is_true(item, "biased");
}

static bool take_schedule(struct duet_journal *j, const json_t *line)
{
	int design = word_of(line, "design", duet_design_names);
	int64_t turns = int_of(line, "turns", 0), most = int_of(line, "runs_max", 0);
	const json_t *item;
	size_t i;
	bool is_fine = design >= 0 && turns >= 1 && turns <= DUET_TURNS_MAX && most >= 1 && !j->repeat;

	json_array_foreach(json_object_get(line, "pilot"), i, item)
		is_fine = is_fine && take_choice(j, item);
	if (!is_fine)
		return false;
	take_self(&j->self, json_object_get(line, "self"));
	j->repeat = copy_of(line, "repeat");
	j->schedule = (struct duet_schedule){ .design = (enum duet_design)design,
		.turns = (size_t)turns,
		.runs_max = (size_t)most,
		.has_signs = is_true(line, "signs"),
		.is_settled = true };
	return true;
}

static bool take_iteration(struct duet_samples *s, const json_t *item)
{
	int64_t start_ns = json_integer_value(json_array_get(item, 0)),
		end_ns = json_integer_value(json_array_get(item, 1));
	struct duet_iteration it;

	if (json_array_size(item) != 2 + DUET_METRICS || start_ns < 0 || end_ns < start_ns)
		return false;
	it = duet_iteration_at(start_ns, end_ns);
	for (size_t m = 0; m < DUET_METRICS; m++) {
		const json_t *value = json_array_get(item, 2 + m);

		it.metrics[m] = json_is_number(value) ? json_number_value(value) : NAN;
	}
	return duet_samples_add(s, &it) == 0;
}

static bool take_run(struct duet_journal *j, const json_t *line)
{
	int design = word_of(line, "design", duet_design_names);
	struct duet_run run = { .number = j->run_count,
		.is_first_b = is_true(line, "first_b"),
		.is_swapped = is_true(line, "swapped"),
		.start_ns = int_of(line, "start_ns", 0),
		.end_ns = int_of(line, "end_ns", 0) };
	const json_t *sides = json_object_get(line, "sides");
	struct duet_run *runs = reallocarray(j->runs, j->run_count + 1, sizeof(*runs));
	bool is_fine = runs && design >= 0 && json_array_size(sides) == DUET_SIDES && run.start_ns >= 0 &&
			run.end_ns >= run.start_ns;

	if (runs)
		j->runs = runs;
	run.design = is_fine ? (enum duet_design)design : DUET_SEQ;
	for (size_t side = 0; is_fine && side < DUET_SIDES; side++) {
		const json_t *items = json_array_get(sides, side), *item;
		size_t i;

		json_array_foreach(items, i, item)
			is_fine = is_fine && take_iteration(&run.sides[side], item);
	}
	if (!is_fine || __builtin_add_overflow(j->spent_ns, run.end_ns - run.start_ns, &j->spent_ns)) {
		duet_run_release(&run);
		return false;
	}
	j->runs[j->run_count++] = run;
	return true;
}

static bool take_end(struct duet_journal *j, const json_t *line)
{
	for (enum duet_stop stop = DUET_DECIDED; stop <= DUET_FAILED; stop++) {
		const char *name = duet_stop_name(stop), *text = json_string_value(json_object_get(line, "stop"));

		if (!text || strcmp(text, name) != 0)
			continue;
		j->has_end = true;
		j->stop = stop;
		j->seconds = read_real(line, "seconds", NAN);
		j->interference.steal_share = read_real(line, "steal", NAN);
		j->interference.pressure_share = read_real(line, "pressure", NAN);
		return true;
	}
	return false;
}

static bool take_line(struct duet_journal *j, size_t number, const json_t *line)
{
	if (number == 0)
		return take_head(j, line);
	if (json_object_get(line, "stop"))
		return take_end(j, line);
	j->has_end = false; /* it was resumed */
	return j->schedule.is_settled ? take_run(j, line) : take_schedule(j, line);
}

int duet_journal_parse(struct duet_journal *j, const struct buf *text, struct sonde_err *err)
{
	size_t number = 0, at = 0, size;

	j->interference = (struct duet_interference){ .steal_share = NAN, .pressure_share = NAN };
	for (const char *line; (line = journal_line(text, &at, &size));) {
		json_t *object = json_loadb(line, size, 0, NULL);
		bool is_fine = object && take_line(j, number, object);

		json_decref(object);
		number++;
		if (!is_fine)
			return err_set(err, EBADMSG, "line %zu of the journal is damaged", number);
	}
	return number ? 0 : err_set(err, EBADMSG, "the journal is empty");
}
