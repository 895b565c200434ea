/* loop: lines of the protocol; programs that speak it, in each design; and CSV fields, which are hostile too. */
#include "../support.h"

#include "base/fs.h"
#include "duet/measurements.h"
#include "duet/run-commands.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void words(void **state)
{
	struct duet_iteration it;

	assert_int_equal(duet_loop_line("begin", 1, 2, &it), DUET_WORD_BEGIN);
	assert_int_equal(duet_loop_line("end 100 350 200 1.5", 1, 2, &it), DUET_WORD_END);
	assert_true(it.start_ns == 100 && it.end_ns == 350 && it.metrics[DUET_WALL] == 250);
	assert_true(it.metrics[DUET_CPU] == 200 && it.metrics[DUET_VALUE] == 1.5);
	assert_int_equal(duet_loop_line("end", 10, 25, &it), DUET_WORD_END);
	assert_true(it.start_ns == 10 && it.metrics[DUET_WALL] == 15 && isnan(it.metrics[DUET_CPU]));
	assert_int_equal(duet_loop_line("end - - - 4", 10, 25, &it), DUET_WORD_END);
	assert_true(it.metrics[DUET_WALL] == 15 && it.metrics[DUET_VALUE] == 4);
}

static void nonsense(void **state)
{
	static const char *const lines[] = { "", "en", "beginning", "ended", "end x", "end 1", "end 5 3",
		"end 1 2 3 4 5", "end nan inf", "end 1 1e300", "end -5 -3", "go" };
	struct duet_iteration it;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (duet_loop_line(lines[i], 1, 2, &it) != DUET_WORD_WRONG)
			fail_msg("'%s' was taken", lines[i]);
}

static void fields(void **state)
{
	char plain[] = "a,,b c\r\n", quoted[] = "\"a,1\",\"say \"\"x\"\"\",\"\",z\n", open[] = "\"never ends,x",
	     empty[] = "";
	char *f[8];

	assert_int_equal(duet_csv_split(plain, f, 8), 3);
	assert_true(!strcmp(f[0], "a") && !strcmp(f[1], "") && !strcmp(f[2], "b c"));
	assert_int_equal(duet_csv_split(quoted, f, 8), 4);
	assert_true(!strcmp(f[0], "a,1") && !strcmp(f[1], "say \"x\"") && !strcmp(f[2], "") && !strcmp(f[3], "z"));
	assert_int_equal(duet_csv_split(open, f, 8), 1);
	assert_int_equal(duet_csv_split(empty, f, 8), 1);
}

static void few_fields(void **state)
{
	char many[] = "1,2,3,4,5";
	char *f[2];

	assert_int_equal(duet_csv_split(many, f, 2), 2);
}

/* Programs that speak the protocol: bash, with the words of an iteration in `said`. */

#define LOOP \
	"n=0; while echo begin >&$SONDE_DUET_FD && read -u $SONDE_DUET_FD w && test $w = go; do " \
	"n=$((n + 1)); echo "
#define ENDS " >>said; echo end 10 $((10 + n)) $n >&$SONDE_DUET_FD; done; echo stop >>said"

static char scratch[64];

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-loop-XXXXXX");
	return !mkdtemp(scratch) || chdir(scratch);
}

static int tear_down(void **state)
{
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static const char *said(void)
{
	static struct buf text = BUF_INIT;

	buf_reset(&text);
	return fs_read_file(AT_FDCWD, "said", 1 << 16, &text, NULL) < 0 ? "" : text.data;
}

static int run(enum duet_design design, const struct duet_turn *turns, size_t count, const char *a, const char *b,
		int64_t timeout_ns, struct duet_run *out, struct sonde_err *err)
{
	char shell[] = "bash", option[] = "-c", *texts[] = { strdup(a), strdup(b) };
	char *argv[2][4] = { { shell, option, texts[0], NULL }, { shell, option, texts[1], NULL } };
	struct duet_exec e = DUET_EXEC_INIT;
	struct duet_task task = { design, turns, count, false };
	struct duet_runner runner = duet_loop_runner(&e);
	int rc;

	e.commands[DUET_A].argv = argv[0];
	e.commands[DUET_B].argv = argv[1];
	e.timeout_ns = timeout_ns;
	*out = (struct duet_run){ 0 };
	*err = (struct sonde_err)SONDE_ERR_INIT;
	unlink("said");
	assert_int_equal(duet_exec_open(&e, err), 0);
	rc = runner.run(runner.self, &task, out, err);
	duet_exec_release(&e);
	free(texts[0]);
	free(texts[1]);
	return rc;
}

static void sides_take_turns(void **state)
{
	static const struct duet_turn turns[] = { { .is_first_b = false }, { .is_first_b = true },
		{ .is_first_b = true } };
	struct duet_run r;
	struct sonde_err err;

	if (run(DUET_RMIT, turns, 3, LOOP "a" ENDS, LOOP "b" ENDS, 0, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(strncmp(said(), "a\nb\nb\na\nb\na\nstop\n", 17) == 0);
	assert_int_equal(r.sides[DUET_A].count, 3);
	assert_int_equal(r.sides[DUET_B].count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r.sides[DUET_A].items[i].start_ns, 10);
		assert_int_equal(r.sides[DUET_A].items[i].end_ns, 11 + i);
		assert_true(r.sides[DUET_B].items[i].metrics[DUET_CPU] == i + 1);
	}
	assert_true(r.end_ns > r.start_ns);
	duet_run_release(&r);
}

/* Each side waits for the other within an iteration: they are released together, or freely. */
static void sides_go_together(void **state)
{
	static const struct duet_turn turns[] = { { .is_first_b = false }, { .is_first_b = true } };
	struct duet_run r;
	struct sonde_err err;

	if (run(DUET_SYNC, turns, 2, LOOP "a$n >>said; until grep -q b$n said; do :; done; echo x" ENDS,
			    LOOP "b$n >>said; until grep -q a$n said; do :; done; echo x" ENDS, 0, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r.sides[DUET_A].count, 2);
	assert_int_equal(r.sides[DUET_B].count, 2);
	duet_run_release(&r);
	/* B goes on until A has its iterations. */
	if (run(DUET_ASYNC, turns, 2,
			    LOOP "a >>said; until test $(grep -c b said) -ge $((3 * n)); do :; done; echo "
				 "x" ENDS,
			    LOOP "b" ENDS, 0, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r.sides[DUET_A].count, 2);
	assert_true(r.sides[DUET_B].count >= 6);
	duet_run_release(&r);
}

static void trouble_is_named(void **state)
{
	static const struct duet_turn turns[] = { { .is_first_b = false } };
	static const struct {
		const char *a, *b;
		int64_t timeout_ns;
		int rc;
		const char *text;
	} cases[] = {
		{ LOOP "a" ENDS, "echo hello >&$SONDE_DUET_FD; read -u $SONDE_DUET_FD", 0, -EPROTO,
				"B wrote 'hello' to SONDE_DUET_FD, which is neither 'begin' nor 'end ...'" },
		{ "echo end >&$SONDE_DUET_FD; read -u $SONDE_DUET_FD", LOOP "b" ENDS, 0, -EPROTO,
				"A reports an iteration without asking to begin it" },
		{ "printf '%0300d' 1 >&$SONDE_DUET_FD; read -u $SONDE_DUET_FD", LOOP "b" ENDS, 0, -EPROTO,
				"A wrote a line of more than 256 bytes to SONDE_DUET_FD" },
		{ "exit 0", LOOP "b" ENDS, 0, -ENODATA, "A has ended without an iteration" },
		{ LOOP "a" ENDS, "exit 3", 0, -ECHILD, "B failed with exit status 3" },
		{ "sleep 1000", LOOP "b" ENDS, 100000000, -ETIMEDOUT, "A has said nothing for 0.1 s and was stopped" },
	};
	struct duet_run r;
	struct sonde_err err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(run(DUET_SEQ, turns, 1, cases[i].a, cases[i].b, cases[i].timeout_ns, &r, &err),
				cases[i].rc);
		assert_string_equal(err.text, cases[i].text);
		duet_run_release(&r);
	}
	/* A side that ends earlier than asked stops the other, and both count. */
	assert_int_equal(run(DUET_SEQ, (struct duet_turn[2]){ { .is_first_b = true } }, 2,
					 "echo begin >&$SONDE_DUET_FD; read -u $SONDE_DUET_FD; echo end "
					 ">&$SONDE_DUET_FD",
					 LOOP "b" ENDS, 0, &r, &err),
			0);
	assert_true(r.sides[DUET_A].count >= 1 && r.sides[DUET_B].count >= 1);
	assert_true(r.sides[DUET_A].items[0].start_ns >= r.start_ns && r.sides[DUET_A].items[0].end_ns <= r.end_ns);
	duet_run_release(&r);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(fields),
		cmocka_unit_test(few_fields),
		IN_SCRATCH(sides_take_turns),
		IN_SCRATCH(sides_go_together),
		IN_SCRATCH(trouble_is_named),
	};

	return RUN_TESTS(tests);
}
