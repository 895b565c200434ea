#include <jansson.h>

#include "duet/journal.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOURNAL_BYTES_MAX = 1 << 30 };

/* One line, whole and on disk before anything else is done; a line that did not fit is taken back. */
static int append(struct duet_journal *j, struct buf *line, struct sonde_err *err)
{
	off_t end = lseek(j->fd, 0, SEEK_END);
	int rc;

	buf_addc(line, '\n');
	if (buf_error(line))
		return err_sys(err, ENOMEM, "cannot write the journal");
	rc = fs_write_all(j->fd, line->data, line->len);
	if (!rc && fdatasync(j->fd))
		rc = -errno;
	if (!rc)
		return 0;
	if (end >= 0 && ftruncate(j->fd, end))
		rc = rc ? rc : -errno;
	err_sys(err, -rc, "cannot write the journal '" DUET_JOURNAL_FILE "'");
	err_hint(err, "what was measured before is in it; --resume goes on");
	return rc;
}

static int write_head(struct duet_journal *j, const struct duet_setup *setup, const char *const commands[DUET_SIDES],
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct json w;

	json_init(&w, &line, false);
	json_object(&w);
	json_kint(&w, "sonde_duet", 1);
	json_kstr(&w, "a", commands[DUET_A]);
	json_kstr(&w, "b", commands[DUET_B]);
	json_kstr(&w, "metric", duet_metric_names[setup->pairing.metric]);
	json_kint(&w, "seed", (int64_t)setup->seed);
	json_end(&w);
	return append(j, &line, err);
}

static int open_file(struct duet_journal *j, const char *dir, int flags, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "%s/" DUET_JOURNAL_FILE, dir);
	j->fd = open(path.data, O_RDWR | O_CLOEXEC | flags, 0644);
	if (j->fd >= 0)
		return 0;
	err_sys(err, errno, "cannot open '%s'", path.data);
	if (errno == EEXIST)
		err_hint(err, "--resume goes on with it");
	return -errno;
}

int duet_journal_create(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err)
{
	int rc = fs_mkdir_p(dir, 0755, err);

	if (!rc)
		rc = open_file(j, dir, O_CREAT | O_EXCL, err);
	return rc ? rc : write_head(j, setup, commands, err);
}

int duet_journal_schedule(struct duet_journal *j, const struct duet_schedule *s, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct json w;

	json_init(&w, &line, false);
	json_object(&w);
	json_kint(&w, "design", s->design);
	json_kuint(&w, "turns", s->turns);
	json_kuint(&w, "runs_max", s->runs_max);
	json_end(&w);
	return append(j, &line, err);
}

int duet_journal_run(struct duet_journal *j, const struct duet_run *run, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct json w;

	json_init(&w, &line, false);
	json_object(&w);
	json_kint(&w, "run", (int64_t)run->number);
	json_kint(&w, "design", run->design);
	json_kbool(&w, "first_b", run->is_first_b);
	json_kbool(&w, "swapped", run->is_swapped);
	json_kint(&w, "start_ns", run->start_ns);
	json_kint(&w, "end_ns", run->end_ns);
	json_key(&w, "sides");
	json_array(&w);
	for (int side = 0; side < DUET_SIDES; side++) {
		json_array(&w);
		for (size_t i = 0; i < run->sides[side].count; i++) {
			const struct duet_iteration *it = &run->sides[side].items[i];

			json_array(&w);
			json_int(&w, it->start_ns);
			json_int(&w, it->end_ns);
			for (int m = 0; m < DUET_METRICS; m++)
				json_real(&w, it->metrics[m]);
			json_end(&w);
		}
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
	return append(j, &line, err);
}

static int64_t int_of(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

static bool is_text(const json_t *object, const char *key, const char *want)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && want && !strcmp(text, want);
}

static bool take_iteration(struct duet_samples *s, const json_t *item)
{
	struct duet_iteration it;

	if (json_array_size(item) != 2 + DUET_METRICS)
		return false;
	it = duet_iteration_at(json_integer_value(json_array_get(item, 0)),
			json_integer_value(json_array_get(item, 1)));
	for (size_t m = 0; m < DUET_METRICS; m++) {
		const json_t *value = json_array_get(item, 2 + m);

		it.metrics[m] = json_is_number(value) ? json_number_value(value) : NAN;
	}
	return duet_samples_add(s, &it) == 0;
}

static bool take_run(struct duet_journal *j, const json_t *line)
{
	int64_t design = int_of(line, "design", -1);
	struct duet_run run = { .number = j->run_count,
		.is_first_b = json_is_true(json_object_get(line, "first_b")),
		.is_swapped = json_is_true(json_object_get(line, "swapped")),
		.start_ns = int_of(line, "start_ns", 0),
		.end_ns = int_of(line, "end_ns", 0) };
	const json_t *sides = json_object_get(line, "sides");
	struct duet_run *runs = reallocarray(j->runs, j->run_count + 1, sizeof(*runs));
	bool is_fine = runs && design >= 0 && design < DUET_DESIGNS && json_array_size(sides) == DUET_SIDES;

	if (runs)
		j->runs = runs;
	run.design = is_fine ? (enum duet_design)design : DUET_SEQ;
	for (size_t side = 0; is_fine && side < DUET_SIDES; side++) {
		const json_t *items = json_array_get(sides, side), *item;
		size_t i;

		json_array_foreach(items, i, item)
			is_fine = is_fine && take_iteration(&run.sides[side], item);
	}
	if (!is_fine) {
		duet_run_release(&run);
		return false;
	}
	j->runs[j->run_count++] = run;
	j->spent_ns += run.end_ns - run.start_ns;
	return true;
}

static bool take_schedule(struct duet_journal *j, const json_t *line)
{
	int64_t design = int_of(line, "design", -1), turns = int_of(line, "turns", 0),
		most = int_of(line, "runs_max", 0);

	if (design < 0 || design >= DUET_DESIGNS || turns < 1 || turns > DUET_TURNS_MAX || most < 1)
		return false;
	j->schedule = (struct duet_schedule){ (enum duet_design)design, (size_t)turns, (size_t)most, true };
	return true;
}

/* The lines of a journal; the bytes of those that are whole. */
static int take_lines(struct duet_journal *j, const char *text, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], size_t *whole, struct sonde_err *err)
{
	size_t number = 0;

	for (const char *end; (end = strchr(text + *whole, '\n')); *whole = (size_t)(end + 1 - text)) {
		json_t *line = json_loadb(text + *whole, (size_t)(end - text) - *whole, 0, NULL);
		bool is_fine = line != NULL, is_other = false;

		if (number == 0) {
			is_other = !is_text(line, "a", commands[DUET_A]) || !is_text(line, "b", commands[DUET_B]) ||
					!is_text(line, "metric", duet_metric_names[setup->pairing.metric]);
			j->seed = (uint64_t)int_of(line, "seed", 0);
		} else {
			is_fine = number == 1 ? take_schedule(j, line) : take_run(j, line);
		}
		json_decref(line);
		if (is_other)
			return err_set(err, EINVAL,
					"the journal is of another comparison: other commands or another metric");
		if (!is_fine)
			return err_set(err, EBADMSG, "line %zu of the journal is damaged", number + 1);
		number++;
	}
	return number ? 0 : err_set(err, EBADMSG, "the journal is empty");
}

int duet_journal_resume(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	size_t whole = 0;
	int rc;

	buf_addf(&path, "%s/" DUET_JOURNAL_FILE, dir);
	if (access(path.data, F_OK))
		return duet_journal_create(j, dir, setup, commands, err);
	rc = open_file(j, dir, 0, err);
	if (!rc)
		rc = fs_read_file(AT_FDCWD, path.data, JOURNAL_BYTES_MAX, &text, err);
	if (!rc)
		rc = take_lines(j, text.data, setup, commands, &whole, err);
	if (!rc && ftruncate(j->fd, (off_t)whole))
		rc = err_sys(err, errno, "cannot go on with '%s'", path.data);
	if (rc)
		err_prefix(err, "%s", path.data);
	return rc;
}

void duet_journal_release(struct duet_journal *j)
{
	for (size_t i = 0; i < j->run_count; i++)
		duet_run_release(&j->runs[i]);
	free(j->runs);
	if (j->fd >= 0)
		close(j->fd);
	*j = (struct duet_journal)DUET_JOURNAL_INIT;
}
