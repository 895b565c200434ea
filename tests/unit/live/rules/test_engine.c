/* engine: rules files as they are written, and the life of a rule on a virtual clock. */
#include "../../support.h"

#include "base/fs.h"
#include "live/rules/rule-eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000LL

static struct arena arena = ARENA_INIT;
static char log_text[4096];

static bool act(void *arg, const struct rules_request *r)
{
	size_t n = strlen(log_text);

	(void)arg;
	snprintf(log_text + n, sizeof(log_text) - n, "%s:%s%s;", r->who, r->is_clearing ? "else " : "",
			r->action->text);
	return true;
}

static void revert(void *arg, const char *who, const char *why)
{
	size_t n = strlen(log_text);

	(void)arg;
	(void)why;
	snprintf(log_text + n, sizeof(log_text) - n, "%s:revert;", who);
}

static void tell(void *arg, const char *who, const char *what, const char *why)
{
	size_t n = strlen(log_text);

	(void)arg;
	(void)why;
	snprintf(log_text + n, sizeof(log_text) - n, "%s:%s;", who, what);
}

static const struct rules_ops ops = { .act = act, .revert = revert, .tell = tell };

static int load(struct rules_file *f, const char *text, struct sonde_err *err)
{
	char path[] = "/tmp/sonde-test-rules.XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text)), 0);
	close(fd);
	rc = rules_load(f, path, &arena, err);
	unlink(path);
	return rc;
}

static void assert_refused(const char *text, const char *because)
{
	struct rules_file *f = calloc(1, sizeof(*f));
	struct sonde_err err = SONDE_ERR_INIT;

	assert_true(load(f, text, &err) < 0);
	if (!strstr(err.text, because))
		fail_msg("'%s' does not say '%s'", err.text, because);
	free(f);
}

static void test_refusals(void **state)
{
	assert_refused("interval: 1s\n", "no rules and no regulators");
	assert_refused("rules: [{name: x, when: a > 1}]\n", "needs 'name', 'when' and 'do'");
	assert_refused("rules:\n - name: x\n   when: a >\n   do: report y\n", ":3: column");
	assert_refused("rules: [{name: x, when: a > 1, do: [wait b 1]}]\n", "unknown action 'wait'");
	assert_refused("rules: [{name: x, when: a > 1, do: [weight b 0]}]\n", "from 1 to 10000");
	assert_refused("rules: [{name: x, when: a > 1, do: [weight b]}]\n", "'weight' needs 2 arguments, not 1");
	assert_refused("rules: [{name: x, when: a > 1, do: [signal b NOPE]}]\n", "unsupported signal 'NOPE'");
	assert_refused("rules: [{name: x, when: a > 1, do: ['mqtt -h x']}]\n", "expected HOST:PORT");
	assert_refused("rules: [{name: x, when: a > 1, do: ['mqtt h:1 a/#']}]\n", "invalid topic 'a/#'");
	assert_refused("rules: [{name: x, when: a > 1, do: ['webhook ftp://x']}]\n", "invalid URL 'ftp://x'");
	assert_refused("rules: [{name: x, when: a > 1, do: [report a]}, {name: x, when: b > 1, do: [report a]}]\n",
			"duplicate rule 'x'");
	assert_refused("regulators: [{name: x, measure: a, at_least: 1, act: [freeze b]}]\n", "has no range");
	assert_refused("regulators: [{name: x, measure: a, act: [weight b 1..2]}]\n", "either 'at_least' or 'at_most'");
	assert_refused("interval: 1s\nlease: 2s\nrules: [{name: x, when: a > 1, do: [report a]}]\n", "four intervals");
}

static struct rules_engine *begin(const char *text)
{
	struct rules_file *f = arena_alloc(&arena, sizeof(*f));
	struct rules_engine *e = calloc(1, sizeof(*e));
	struct sonde_err err = SONDE_ERR_INIT;

	if (load(f, text, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(rules_engine_init(e, f, NULL), 0);
	log_text[0] = '\0';
	return e;
}

static void end(struct rules_engine *e)
{
	rules_engine_release(e);
	free(e);
}

/* At that second the metric has this value; NaN: it says nothing. */
static void tick(struct rules_engine *e, double second, double value)
{
	int64_t ns = (int64_t)(second * SECOND);

	assert_int_equal(memory_add(&e->memory, "m", NULL, 0, ns, value), 0);
	rules_engine_tick(e, ns, ns, &ops);
}

static void test_life(void **state)
{
	struct rules_engine *e = begin("stale: 500ms\n"
				       "rules:\n"
				       " - name: r\n"
				       "   when: m > 5\n"
				       "   for: 2s\n"
				       "   do: [report up]\n"
				       "   else: [report down]\n"
				       "   cooldown: 10s\n"
				       "   hold: 3s\n");

	tick(e, 1, 6);
	tick(e, 2, 4); /* not long enough */
	tick(e, 3, 6);
	tick(e, 4, NAN); /* unknown begins anew */
	tick(e, 5, 6);
	tick(e, 6, 6);
	assert_string_equal(log_text, "");
	assert_int_equal(e->rules[0].state, RULE_PENDING);
	tick(e, 7, 6);
	assert_string_equal(log_text, "r:report up;");
	tick(e, 8, 9);
	tick(e, 9, NAN); /* held */
	assert_string_equal(log_text, "r:report up;");
	tick(e, 10, 1);
	assert_string_equal(log_text, "r:report up;r:else report down;r:revert;");
	assert_int_equal(e->rules[0].state, RULE_COOLING);
	for (int i = 11; i < 20; i++)
		tick(e, i, 9);
	assert_string_equal(log_text, "r:report up;r:else report down;r:revert;");
	tick(e, 20, 9);
	tick(e, 22, 9);
	assert_string_equal(log_text, "r:report up;r:else report down;r:revert;r:report up;");
	for (int i = 23; i < 27; i++)
		tick(e, i, NAN);
	assert_int_equal(e->rules[0].state, RULE_COOLING); /* unknown for longer than it may hold */
	assert_int_equal((int)e->rules[0].fired, 2);
	end(e);
}

static void test_hysteresis_and_priority(void **state)
{
	struct rules_engine *e = begin("rules:\n"
				       " - {name: low, when: m > 5, until: m < 3, do: [report low]}\n"
				       " - {name: high, priority: 5, when: m > 5, do: [report high]}\n");

	tick(e, 1, 6);
	assert_string_equal(log_text, "high:report high;low:report low;");
	tick(e, 2, 4);
	assert_string_equal(log_text, "high:report high;low:report low;high:revert;");
	tick(e, 3, 2);
	assert_string_equal(log_text, "high:report high;low:report low;high:revert;low:revert;");
	end(e);
}

static void test_rate_limit(void **state)
{
	struct rules_engine *e = begin("max_rate: 2\nrules: [{name: r, when: m > 5, do: [report x]}]\n");

	for (int i = 0; i < 10; i++) {
		tick(e, 1 + 0.2 * i, 6);
		tick(e, 1.1 + 0.2 * i, 1);
	}
	assert_int_equal((int)e->actions, 2);
	assert_int_equal((int)e->withheld, 8);
	end(e);
}

static void test_regulator_orders_and_tells(void **state)
{
	struct rules_engine *e = begin("regulators:\n"
				       " - name: g\n"
				       "   measure: m\n"
				       "   at_least: 30\n"
				       "   method: threshold\n"
				       "   saturation: 1s\n"
				       "   act: [cap hogs 2..0.2, weight a 100..3000]\n");

	tick(e, 1, 20);
	assert_string_equal(log_text, "g:weight a 100..3000;"); /* weight before cap */
	assert_true(e->regulators[0].told[0] == 3000);
	tick(e, 2, 25); /* it helps, not enough */
	tick(e, 3, 25);
	assert_non_null(strstr(log_text, "g:escalated;"));
	assert_non_null(strstr(log_text, "g:cap hogs 2..0.2;"));
	assert_true(e->regulators[0].told[0] == 3000);
	tick(e, 4, 25); /* this does nothing */
	tick(e, 5, 25);
	assert_non_null(strstr(log_text, "g:saturated;"));
	assert_true(e->regulators[0].told[1] == 2); /* given back */
	end(e);
}

static void test_explain(void **state)
{
	struct rules_engine *e = begin("rules: [{name: r, when: m > 5, do: [report x]}]\n");
	struct buf out = BUF_INIT;

	tick(e, 1, 6);
	rules_engine_explain(&out, e, SECOND, SECOND);
	assert_string_equal(out.data, "rule r: firing, fired 1 times\nm > 5 = true\n  m = 6\n");
	buf_release(&out);
	end(e);
}

static int tear_down(void **state)
{
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_hysteresis_and_priority),
		cmocka_unit_test(test_rate_limit),
		cmocka_unit_test(test_regulator_orders_and_tells),
		cmocka_unit_test(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
