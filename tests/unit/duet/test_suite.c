/* suite: configurations of the original: keys, inheritance, strictness, plans and names. */
#include "../support.h"

#include "duet/suite.h"

#include <errno.h>
#include <string.h>

struct world {
	struct arena arena;
	struct duet_suite suite;
	struct sonde_err err;
};

static int parse(struct world *w, const char *text)
{
	*w = (struct world){ .arena = ARENA_INIT, .err = SONDE_ERR_INIT };
	return duet_suite_parse(&w->suite, "x.yml", text, strlen(text), &w->arena, &w->err);
}

#define HEAD "duetbench:\n  suite: s\n  image: i\n  results: [/r]\n"

static void defaults(void **state)
{
	struct world w;

	assert_int_equal(parse(&w, HEAD "  duets: [x]\nx:\n  A: {run: go}\n"), 0);
	assert_string_equal(w.suite.name, "s"); /* README omits it, and so may everybody */
	assert_string_equal(w.suite.docker, "docker");
	assert_false(w.suite.is_shuffled || w.suite.has_seed);
	assert_int_equal(w.suite.benchmark_count, 1);
	assert_int_equal(w.suite.benchmarks[0].repetitions[DUET_ASYNC], 1);
	assert_int_equal(w.suite.benchmarks[0].repetitions[DUET_SYNC], 0);
	assert_int_equal(w.suite.benchmarks[0].repetitions[DUET_SEQ], 0);
	assert_int_equal(w.suite.benchmarks[0].timeout_ns, 0);
	assert_true(w.suite.benchmarks[0].has_removal);
	assert_true(w.suite.benchmarks[0].is_aa);
	assert_string_equal(w.suite.benchmarks[0].sides[DUET_B].run, "go");
	assert_null(w.suite.benchmarks[0].sides[DUET_A].sync_run);
	arena_release(&w.arena);
}

static void inheritance(void **state)
{
	struct world w;
	const struct duet_benchmark *b;

	assert_int_equal(parse(&w,
					 HEAD
					 "  name: n\n  run_base: main\n  timeout: 7\n  seed: 0\n  duets: [x, y]\n"
					 "x:\n  run_base: duet\n  suite: other\n  timeout: -1\n  duet_repetitions: 3\n"
					 "  A: {run: a, run_base: own, image: ia, results: [/a, /b]}\n  B: {run: b}\n"
					 "y:\n  timeout: 90061\n  A: {run: a}\n"),
			0);
	b = &w.suite.benchmarks[0];
	assert_string_equal(w.suite.name, "n");
	assert_true(w.suite.has_seed); /* seed 0 is a seed; the original ignored it */
	assert_int_equal(w.suite.seed, 0);
	assert_string_equal(b->suite, "other");
	assert_int_equal(b->timeout_ns, 0);
	assert_int_equal(b->repetitions[DUET_ASYNC], 3);
	assert_string_equal(b->sides[DUET_A].run, "own a");
	assert_string_equal(b->sides[DUET_B].run, "duet b");
	assert_string_equal(b->sides[DUET_A].image, "ia");
	assert_string_equal(b->sides[DUET_B].image, "i");
	assert_string_equal(b->sides[DUET_A].results[1], "/b"); /* lists shadow as a whole */
	assert_null(b->sides[DUET_B].results[1]);
	assert_string_equal(w.suite.benchmarks[1].sides[DUET_A].run, "main a");
	assert_int_equal(w.suite.benchmarks[1].timeout_ns, 90061000000000); /* defect 6: a day and more */
	arena_release(&w.arena);
}

/* What is wrong, and a part of what is said. */
static void strictness(void **state)
{
	static const struct {
		const char *text, *said, *hint;
	} cases[] = {
		{ HEAD "  duets: [x]\n  shedule: sequential\nx: {A: {run: y}}\n", "unknown key 'shedule'",
				"did you mean 'schedule'" },
		{ HEAD "  duets: [x]\nx: {A: {run: y, timeout: 3}}\n", "unknown key 'timeout' in 'x.A'", "" },
		{ HEAD "  duets: [x]\n  run: z\nx: {A: {run: y}}\n", "unknown key 'run'", "" },
		{ HEAD "  duets: [x]\nx: {repetitions: 4, A: {run: y}}\n", "renamed to 'duet_repetitions'", "" },
		{ HEAD "  duets: [x]\n", "missing section 'x'", "" },
		{ HEAD "  duets: [x]\nx: {B: {run: y}}\n", "missing 'A' in 'x'", "" },
		{ HEAD "  duets: [x]\nx: {A: {image: j}}\n", "missing 'run' in 'x.A'", "" },
		{ HEAD "  duets: [artifacts]\nartifacts: {A: {run: y}}\n", "invalid name of a duet 'artifacts'", "" },
		{ HEAD "  duets: []\n", "empty list", "" },
		{ "duetbench: {suite: s, results: [/r], duets: [x]}\nx: {A: {run: y}}\n", "missing 'image' in 'x.A'",
				"" },
		{ "duetbench: {suite: s, image: i, duets: [x]}\nx: {A: {run: y}}\n", "missing 'results' in 'x.A'", "" },
		{ "duetbench: {suite: s, image: i, results: [r], duets: [x]}\nx: {A: {run: y}}\n",
				"not an absolute path", "" },
		{ HEAD "  duets: [x]\n  schedule: sometimes\nx: {A: {run: y}}\n",
				"invalid schedule 'sometimes' (supported: sequential", "" },
		{ HEAD "  duets: [x]\n  duet_repetitions: many\nx: {A: {run: y}}\n", "must be an integer", "" },
		{ HEAD "  duets: [x]\n  duet_repetitions: -1\nx: {A: {run: y}}\n", "must be at least 0", "" },
		{ HEAD "  duets: [x]\n  duet_repetitions: 1000001\nx: {A: {run: y}}\n", "must be at most 1000000", "" },
		{ HEAD "  duets: [x]\n  verbose: perhaps\nx: {A: {run: y}}\n", "must be true or false", "" },
		{ HEAD "  duets: [x]\n  artifacts: {../up: ls}\nx: {A: {run: y}}\n", "plain name", "" },
		{ HEAD "  duets: [x]\nx: {A: {run: y}}\nother: {image: z}\n", "unknown section 'other'", "" },
		{ HEAD "  duets: [x]\nx: {syncduet_repetitions: 1, A: {run: y}}\n",
				"missing 'syncduet_run_base' in 'x.A'", "" },
		{ "x: {A: {run: y}}\n", "missing section 'duetbench'", "" },
		{ "- 1\n", "must be a mapping", "" },
		{ "a: [\n", "x.yml:2: ", "" },
		{ "", "the file is empty", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w;

		assert_int_equal(parse(&w, cases[i].text), -EINVAL);
		if (!strstr(w.err.text, cases[i].said) || !strstr(w.err.hint, cases[i].hint))
			fail_msg("case %zu: '%s', hint '%s'", i, w.err.text, w.err.hint);
		arena_release(&w.arena);
	}
}

static void line_numbers(void **state)
{
	struct world w;

	assert_int_equal(parse(&w, HEAD "  duets: [x]\nx:\n  A: {run: y}\n  colour: red\n"), -EINVAL);
	assert_non_null(strstr(w.err.text, "x.yml:8: "));
	arena_release(&w.arena);
}

static void merge_keys(void **state)
{
	struct world w;

	assert_int_equal(parse(&w,
					 "x-base: &base {image: merged, results: [/m]}\nduetbench:\n  "
					 "suite: s\n  <<: *base\n  duets: [x]\n"
					 "x:\n  A: {run: y}\n"),
			0);
	assert_string_equal(w.suite.benchmarks[0].sides[DUET_A].image, "merged");
	arena_release(&w.arena);
	/* Own keys override, and a key of another level is ignored. */
	assert_int_equal(parse(&w,
					 "x-base: &base {image: merged, results: /m, timeout: 7}\nduetbench:\n  "
					 "suite: s\n  duets: [x]\n"
					 "x:\n  A: {<<: *base, run: y, image: own}\n"),
			0);
	assert_string_equal(w.suite.benchmarks[0].sides[DUET_A].image, "own");
	assert_string_equal(w.suite.benchmarks[0].sides[DUET_A].results[0], "/m");
	assert_null(w.suite.benchmarks[0].sides[DUET_A].results[1]);
	assert_int_equal(w.suite.benchmarks[0].timeout_ns, 0);
	arena_release(&w.arena);
}

/* Defect 2: a synchronous command that never waits must be noticed. */
static void sync_without_a_barrier_is_noticed(void **state)
{
	struct world w;

	assert_int_equal(parse(&w,
					 HEAD "  syncduet_repetitions: 1\n  duets: [x, y]\n"
					      "x: {syncduet_run_base: java, A: {run: y}}\n"
					      "y: {syncduet_run_base: 'java --iteration-barrier $$', A: {run: y}}\n"),
			0);
	assert_false(w.suite.benchmarks[0].has_barrier);
	assert_true(w.suite.benchmarks[1].has_barrier);
	assert_string_equal(w.suite.benchmarks[1].sides[DUET_A].sync_run, "java --iteration-barrier $$ y");
	arena_release(&w.arena);
}

static void plans(void **state)
{
	static const char *const only[] = { "y", NULL };
	struct duet_step *steps, *again;
	size_t count, balance = 0;
	struct world w;

	assert_int_equal(parse(&w,
					 HEAD "  duet_repetitions: 6\n  sequential_repetitions: 2\n  duets: [x, y]\n"
					      "  schedule: randomized_interleaving_trials\nx: {A: {run: y}}\ny: "
					      "{A: {run: y}}\n"),
			0);
	assert_int_equal(duet_suite_plan(&w.suite, NULL, 1, &w.arena, &steps, &count, &w.err), 0);
	assert_int_equal(count, 20); /* each sequential repetition is two steps */
	for (size_t i = 0; i < count; i++)
		balance += steps[i].design == DUET_ASYNC && steps[i].is_first_b;
	assert_int_equal(balance, 6);
	assert_int_equal(duet_suite_plan(&w.suite, NULL, 1, &w.arena, &again, &count, &w.err), 0);
	assert_memory_equal(steps, again, count * sizeof(*steps));
	assert_int_equal(duet_suite_plan(&w.suite, only, 1, &w.arena, &steps, &count, &w.err), 0);
	assert_int_equal(count, 10);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(steps[i].benchmark->name, "y");
	arena_release(&w.arena);
}

static void names_go_both_ways(void **state)
{
	struct duet_benchmark b = { .name = "505.mcf_r", .suite = "spec.cpu" };
	struct duet_step step = { .benchmark = &b, .design = DUET_ASYNC, .runid = 12, .is_first_b = true };
	struct duet_result_name name;
	struct arena arena = ARENA_INIT;
	char *text = duet_step_result_name(&step, DUET_B, "/a/results.tar.gz", &arena);

	assert_string_equal(text, "spec_cpu.505_mcf_r.12.duet.BA.B.results.tar.gz");
	assert_true(duet_result_name_parse(&name, text));
	assert_string_equal(name.suite, "spec_cpu");
	assert_string_equal(name.benchmark, "505_mcf_r");
	assert_int_equal(name.runid, 12);
	assert_string_equal(name.type, "duet");
	assert_string_equal(name.order, "BA");
	assert_int_equal(name.pair, 'B');
	assert_string_equal(name.base, "results.tar.gz");
	arena_release(&arena);
}

static void other_names_are_none(void **state)
{
	static const char *const names[] = { "", "x", "s.b.0.duet.AB.C.f", "s.b.0.duo.AB.A.f", "s.b.x.duet.AB.A.f",
		"s.b.0.duet.XX.A.f", "s.b.0.duet.AB.A.", "s.b.0.duet.AB.A", "s b.b.0.duet.AB.A.f", ".b.0.duet.AB.A.f",
		"s.b.99999999999999999999999.duet.AB.A.f", "s.b.0.duet.AB.AB.f" };
	struct duet_result_name name;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (duet_result_name_parse(&name, names[i]))
			fail_msg("'%s' was taken", names[i]);
}

static void any_text_is_survived(void **state)
{
	static const char *const words[] = { "duetbench:", "\n", "  ", "A: ", "{", "}", "[", "]", "run: ", "x",
		"duets: ", "&a ", "*a", "<<: ", "'", "\"", "suite: s", "- ", "\t", "image: i", ": " };

	random_init();
	for (size_t i = 0; i < 3000; i++) {
		char text[400] = "";
		struct world w;

		for (size_t k = random_below(40); k > 0; k--)
			strncat(text, words[random_below(sizeof(words) / sizeof(*words))],
					sizeof(text) - strlen(text) - 1);
		parse(&w, text);
		arena_release(&w.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(inheritance),
		cmocka_unit_test(strictness),
		cmocka_unit_test(line_numbers),
		cmocka_unit_test(merge_keys),
		cmocka_unit_test(sync_without_a_barrier_is_noticed),
		cmocka_unit_test(plans),
		cmocka_unit_test(names_go_both_ways),
		cmocka_unit_test(other_names_are_none),
		cmocka_unit_test(any_text_is_survived),
	};

	return RUN_TESTS(tests);
}
