/* journal: what was written comes back, whatever byte a crash cut it at; damage is named; one writer at a time. */
#include "../support.h"

#include "base/fs.h"
#include "studies.h"
#include "tune/study-journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[] = "/tmp/sonde-journal.XXXXXX", path[64];
static struct arena arena;
static struct tune_study study;

static int set_up(void **state)
{
	arena_init(&arena);
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/j", dir);
	return parse(&study, MIXED "limits: [{name: memory, max: 5}]\n", &arena, NULL);
}

static int tear_down(void **state)
{
	fs_remove_tree(AT_FDCWD, dir);
	arena_release(&arena);
	return 0;
}

static int open_it(struct tune_journal *j, struct tune_optimizer *o, struct sonde_err *err)
{
	*j = (struct tune_journal)TUNE_JOURNAL_INIT;
	assert_int_equal(make(o, &study, 3), 0);
	return tune_journal_open(j, path, &study, o, err);
}

static void close_it(struct tune_journal *j, struct tune_optimizer *o)
{
	tune_journal_release(j);
	tune_optimizer_release(o);
}

static void write_some(int trials)
{
	struct tune_journal j;
	struct tune_optimizer o;
	struct tune_pair pair = { .of = 2, .best = 1.5, .start = 3 };

	assert_int_equal(open_it(&j, &o, NULL), 0);
	for (int t = 0; t < trials; t++) {
		struct tune_result result = { .state = t % 3 == 1 ? TUNE_FAILED
					: t % 3                   ? TUNE_CUT
								  : TUNE_DONE,
			.values = { t + 0.1 },
			.limits = { t },
			.repeats = 2,
			.beside = 1,
			.ratio = 0.25,
			.rungs = { 1, 2 },
			.rung_count = 2 };
		const struct tune_trial *trial;

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		assert_int_equal(tune_journal_ask(&j, &o, trial, NULL), 0);
		if (t == trials - 1)
			break; /* the last one still runs */
		assert_int_equal(tune_tell(&o, trial->id, &result, NULL), 0);
		assert_int_equal(tune_journal_tell(&j, &o, tune_find(&o, trial->id), "because", NULL), 0);
	}
	assert_int_equal(tune_journal_pair(&j, &pair, NULL), 0);
	close_it(&j, &o);
}

static void what_was_written_comes_back(void **state)
{
	struct tune_journal j;
	struct tune_optimizer o;

	write_some(7);
	assert_int_equal(open_it(&j, &o, NULL), 0);
	assert_true(j.is_resumed && o.count == 7 && j.pair_count == 1 && j.pairs[0].best == 1.5 && j.pairs[0].of == 2);
	assert_true(o.trials[0].result.state == TUNE_DONE && o.trials[0].result.values[0] == 0.1);
	assert_true(o.trials[1].result.state == TUNE_FAILED && o.trials[2].result.state == TUNE_CUT);
	assert_true(o.trials[2].result.limits[0] == 2 && o.trials[2].result.repeats == 2 &&
			o.trials[2].result.rungs[1] == 2);
	assert_true(o.trials[2].result.beside == 1 && o.trials[2].result.ratio == 0.25);
	assert_true(o.trials[6].result.state == TUNE_PENDING);
	close_it(&j, &o);
}

/* Cut anywhere: the whole lines are there, the torn one is gone from the file too, and writing goes on. */
static void any_cut_is_survived(void **state)
{
	struct buf text = BUF_INIT;

	write_some(5);
	assert_int_equal(fs_read_file(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	for (size_t cut = 0; cut <= text.len; cut++) {
		struct tune_journal j;
		struct tune_optimizer o;
		size_t lines = 0, whole = 0;

		for (size_t i = 0; i < cut; i++)
			if (text.data[i] == '\n') {
				lines++;
				whole = i + 1;
			}
		assert_int_equal(fs_replace_file(AT_FDCWD, path, text.data, cut, NULL), 0);
		assert_int_equal(open_it(&j, &o, NULL), 0);
		assert_int_equal(j.file.cut_bytes, cut - whole);
		assert_true(lines < 2 || o.count == lines / 2 || j.pair_count);
		close_it(&j, &o);
		assert_int_equal(open_it(&j, &o, NULL), 0);
		assert_int_equal(j.file.cut_bytes, 0);
		close_it(&j, &o);
	}
	buf_release(&text);
}

/* A changed byte is refused, or harmless; never a crash. */
static void any_damage_is_survived(void **state)
{
	struct buf text = BUF_INIT;
	size_t refused = 0;

	random_init();
	write_some(6);
	assert_int_equal(fs_read_file(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	for (int t = 0; t < 1500; t++) {
		struct tune_journal j;
		struct tune_optimizer o;
		struct sonde_err err = SONDE_ERR_INIT;
		size_t at = random_below(text.len);
		char old = text.data[at];
		int rc;

		text.data[at] = random_below(2) ? (char)random_u64() : "{}[],:0-9e\"\n"[random_below(12)];
		assert_int_equal(fs_replace_file(AT_FDCWD, path, text.data, text.len, NULL), 0);
		rc = open_it(&j, &o, &err);
		assert_true(rc == 0 || rc == -EINVAL);
		assert_true(rc == 0 || strstr(err.text, path));
		refused += rc < 0;
		close_it(&j, &o);
		text.data[at] = old;
	}
	assert_true(refused > 100);
	buf_release(&text);
}

static void another_study_is_refused(void **state)
{
	struct tune_journal j;
	struct tune_optimizer o;
	struct sonde_err err = SONDE_ERR_INIT;

	write_some(2);
	study.space.params[0].high = 2;
	assert_int_equal(open_it(&j, &o, &err), -EINVAL);
	assert_non_null(strstr(err.text, "another study"));
	close_it(&j, &o);
}

static void one_writer_at_a_time(void **state)
{
	struct tune_journal a, b;
	struct tune_optimizer o, p;

	assert_int_equal(open_it(&a, &o, NULL), 0);
	assert_int_equal(open_it(&b, &p, NULL), -EBUSY);
	close_it(&b, &p);
	close_it(&a, &o);
	assert_int_equal(open_it(&b, &p, NULL), 0);
	close_it(&b, &p);
}

static void another_study_learns_from_it(void **state)
{
	struct tune_warm_start e;
	struct tune_optimizer o;
	struct tune_journal j;

	write_some(8);
	assert_int_equal(open_it(&j, &o, NULL), 0);
	assert_int_equal(tune_warm_start_read(&e, path, &study.space, false, &arena, NULL), 0);
	assert_true(e.count > 3 && e.has_model);
	assert_true(tune_point_equal(&study.space, e.points, o.trials[0].point));
	assert_true(tune_point_equal(&study.space, e.points + study.space.count, o.trials[2].point));
	assert_int_equal(tune_warm_start_read(&e, "/nowhere/j", &study.space, false, &arena, NULL), -ENOENT);
	close_it(&j, &o);
}

static void ratios_and_values_do_not_mix(void **state)
{
	struct tune_journal j = TUNE_JOURNAL_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct tune_optimizer o;

	write_some(2);
	make(&o, &study, 1);
	j.is_paired = true;
	assert_int_equal(tune_journal_open(&j, path, &study, &o, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--paired"));
	close_it(&j, &o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_written_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_cut_is_survived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_damage_is_survived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_study_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_writer_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ratios_and_values_do_not_mix, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_study_learns_from_it, set_up, tear_down),
	};

	return RUN_TESTS(tests);
}
