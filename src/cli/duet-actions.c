/*
 * duet-actions: sonde duet runs A... -- B...: compares existing runs; history FILE; preset SUITE.
 *
 * The k-th run of A and the k-th of B form one pair, treated as executed one after the other. Iterations are the
 * steps of the program if both have them, else whole executions.
 */
#include "base/cleanup.h"
#include "base/shell-words.h"
#include "cli/duet-cli.h"
#include "duet/history.h"
#include "duet/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARNINGS_MAX = 16 };

static const char *bundle_of(const struct cli_context *ctx, enum duet_side side, size_t i)
{
	return side == DUET_A ? ctx->args[1 + i] : ctx->program[i];
}

static int read_side(struct duet_samples *out, const char *bundle, const struct duet_options *o, bool has_steps,
		struct sonde_err *err)
{
	return has_steps ? duet_steps_read(out, bundle, o->step, duet_counter_of(o), err)
			 : duet_steps_read_whole(out, bundle, duet_counter_of(o), err);
}

/* Steps, if every run has them. */
static int read_runs(struct cli_context *ctx, struct duet_run *runs, size_t count, bool has_steps)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		runs[i].number = i;
		runs[i].design = DUET_SEQ;
		for (int side = 0; side < DUET_SIDES && !rc; side++)
			rc = read_side(&runs[i].sides[side], bundle_of(ctx, (enum duet_side)side, i), ctx->options,
					has_steps, ctx->err);
	}
	return rc;
}

static void forget(struct duet_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		duet_run_release(&runs[i]);
	memset(runs, 0, count * sizeof(*runs));
}

static int judge(struct cli_context *ctx, struct duet_setup *setup, struct duet_run *runs, size_t count)
{
	const char *warnings[WARNINGS_MAX];
	struct duet_result result;
	struct duet_entry entry = { .commands = { bundle_of(ctx, DUET_A, 0), bundle_of(ctx, DUET_B, 0) },
		.result = &result,
		.p_adjusted = NAN };
	struct duet_report report = { .entries = &entry,
		.count = 1,
		.setup = setup,
		.warnings = warnings,
		.interference = { NAN, NAN } };
	int rc = duet_judge(setup, runs, count, &result, ctx->err);

	if (!rc) {
		report.seconds = result.seconds;
		report.warning_count = duet_warnings(setup, &result, NULL, 2, warnings, WARNINGS_MAX, ctx->arena);
		rc = duet_print_verdict(ctx, &report);
	}
	duet_result_release(&result);
	return rc;
}

int duet_run_runs(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	size_t count = ctx->arg_count - 1, others = 0;
	struct duet_setup setup;
	struct duet_run *runs;
	int rc;

	while (ctx->program && ctx->program[others])
		others++;
	if (!count || count != others)
		return cli_usage(ctx, "runs requires the same number of runs before and after --: got %zu and %zu",
				count, others);
	runs = calloc(count, sizeof(*runs));
	if (!runs)
		return err_sys(ctx->err, ENOMEM, "cannot compare the runs");
	rc = duet_setup_of(ctx, &setup);
	setup.pairing.has_warmup = true;
	setup.is_auto = false;
	setup.budget_ns = 0;
	if (!rc)
		rc = read_runs(ctx, runs, count, true);
	if (rc == -ENODATA && !o->step) {
		forget(runs, count);
		setup.pairing.has_warmup = false;
		rc = read_runs(ctx, runs, count, false);
	}
	if (!rc)
		return judge(ctx, &setup, runs, count); /* takes ownership of runs */
	forget(runs, count);
	free(runs);
	return rc;
}

/* Sonde duet history FILE: results over time, and change points of B. */

/* The change, as a ratio, if a segment other than the first begins here. */
static double change_at(const struct duet_series *s, size_t i)
{
	for (size_t k = 1; k < s->segment_count; k++)
		if (s->segments[k].first == i)
			return exp(s->segments[k].median - s->segments[k - 1].median);
	return NAN;
}

static void print_series(const struct duet_series *s)
{
	static const struct term_column columns[] = { { "at", TERM_LEFT }, { "label", TERM_LEFT }, { "B", TERM_RIGHT },
		{ "B / A", TERM_RIGHT }, { "verdict", TERM_LEFT }, { "level of B", TERM_LEFT } };
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	struct duet_pairing pairing = { .metric = DUET_VALUE };
	struct term_table table;

	for (int m = 0; duet_metric_names[m]; m++)
		if (!strcmp(duet_metric_names[m], s->metric))
			pairing.metric = (enum duet_metric)m;
	term_safe(&name, s->name);
	printf("%s, %s: %zu result%s, %zu change%s\n", name.data, s->metric, s->count, s->count == 1 ? "" : "s",
			s->segment_count - 1, s->segment_count == 2 ? "" : "s");
	term_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < s->count; i++) {
		const struct duet_point *p = &s->points[i];
		CLEANUP(buf_release) struct buf change = BUF_INIT;

		if (isfinite(change_at(s, i)))
			duet_say_change(&change, &pairing, change_at(s, i));
		term_table_cell(&table, TERM_PLAIN, p->at ? p->at : "");
		term_table_cell(&table, TERM_PLAIN, p->label ? p->label : "");
		term_table_cellf(&table, "%.6g", p->b);
		term_table_cellf(&table, "%.4f", p->ratio);
		term_table_cell(&table, TERM_PLAIN, p->verdict ? p->verdict : "");
		term_table_cell(&table, TERM_BOLD, change.data);
	}
	term_table_print(&table, stdout);
	term_table_release(&table);
}

static void write_series(struct json *j, const struct duet_series *s)
{
	json_object(j);
	json_kstr(j, "benchmark", s->name);
	json_kstr(j, "metric", s->metric);
	json_key(j, "results");
	json_array(j);
	for (size_t i = 0; i < s->count; i++) {
		json_object(j);
		json_kstr(j, "at", s->points[i].at);
		json_kstr(j, "label", s->points[i].label);
		json_kstr(j, "verdict", s->points[i].verdict);
		json_kreal(j, "ratio", s->points[i].ratio);
		json_kreal(j, "lo", s->points[i].lo);
		json_kreal(j, "hi", s->points[i].hi);
		json_kreal(j, "b", s->points[i].b);
		if (isfinite(change_at(s, i)))
			json_kreal(j, "change", change_at(s, i));
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

int duet_run_history(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct duet_series *series;
	struct json j;
	size_t count;
	int rc;

	if (ctx->arg_count != 2)
		return cli_usage(ctx, "history requires one FILE written by --history");
	rc = duet_history_read(ctx->args[1], &series, &count, ctx->arena, ctx->err);
	if (rc)
		return rc;
	json_init(&j, &text, false);
	json_array(&j);
	for (size_t i = 0; i < count; i++) {
		if (o->json)
			write_series(&j, &series[i]);
		else
			print_series(&series[i]);
	}
	json_end(&j);
	if (o->json)
		puts(text.data);
	return 0;
}

/* Configuration files with the published settings, as a starting point. */

/* 100 iterations or 10 minutes (SPEC CPU 10 or 60); 4 repetitions of each type (SPEC 2; Renaissance without a
 * barrier). */
static const struct preset {
	const char *suite, *run_base, *sync_base, *results, *benchmarks;
	int duet, sync, sequential, timeout_s;
} presets[] = {
	{ "renaissance",
			"java -Xms1536M -Xmx1536M -jar /duet/renaissance.jar --repetitions 100 --json "
			"/duet/results.json",
			NULL, "/duet/results.json", "chi-square", 4, 0, 4, 600 },
	{ "dacapo", "java -Xms1536M -Xmx1536M -jar /duet/dacapo.jar -n 100 -o /duet/results.csv",
			"java -Xms1536M -Xmx1536M -agentpath:/duet/libubench-agent.so -jar "
			"/duet/dacapo.jar -n 100 -o /duet/results.csv "
			"--iteration-barrier $$",
			"/duet/results.csv", "avrora", 4, 4, 4, 600 },
	{ "scalabench", "java -Xms1536M -Xmx1536M -jar /duet/scalabench.jar -n 100 -o /duet/results.csv",
			"java -Xms1536M -Xmx1536M -agentpath:/duet/libubench-agent.so -jar "
			"/duet/scalabench.jar -n 100 -o "
			"/duet/results.csv --iteration-barrier $$",
			"/duet/results.csv", "kiama", 4, 4, 4, 600 },
	{ "speccpu", "runcpu --action onlyrun --tuning peak --iterations 10", NULL, "/spec/result", "505.mcf_r", 2, 0,
			2, 3600 },
};

static void print_preset(const struct preset *p, char **names)
{
	const char *only[] = { p->benchmarks, NULL };

	printf("# Published settings of %s; adjust image, paths and the list of duets.\nduetbench:\n", p->suite);
	printf("  suite: %s\n  image: %s\n  docker_command: podman\n  schedule: randomized_interleaving_trials\n",
			p->suite, p->suite);
	printf("  duet_repetitions: %d\n  syncduet_repetitions: %d\n  sequential_repetitions: %d\n  timeout: %d\n",
			p->duet, p->sync, p->sequential, p->timeout_s);
	printf("  run_base: %s\n", p->run_base);
	if (p->sync_base)
		printf("  syncduet_run_base: %s\n", p->sync_base);
	printf("  results: [ %s ]\n  artifacts:\n    date: date\n    hostname: hostname\n    uname: uname "
	       "-a\n    lscpu: lscpu\n",
			p->results);
	printf("    meminfo: cat /proc/meminfo\n  duets:\n");
	for (size_t i = 0; *names ? names[i] != NULL : only[i] != NULL; i++)
		printf("    - %s\n", *names ? names[i] : only[i]);
	for (size_t i = 0; *names ? names[i] != NULL : only[i] != NULL; i++)
		printf("%1$s:\n  A:\n    run: %1$s\n", *names ? names[i] : only[i]);
}

int duet_run_preset(struct cli_context *ctx)
{
	const char *words[sizeof(presets) / sizeof(*presets) + 1] = { NULL },
							       *word = ctx->arg_count > 1 ? ctx->args[1] : "", *nearest;

	for (size_t i = 0; i < sizeof(presets) / sizeof(*presets); i++) {
		words[i] = presets[i].suite;
		if (!strcmp(word, words[i])) {
			print_preset(&presets[i], ctx->args + 2);
			return 0;
		}
	}
	cli_usage(ctx, "unknown preset '%s' (supported: renaissance, dacapo, scalabench, speccpu)", word);
	nearest = words_nearest(word, words);
	if (nearest)
		err_hint(ctx->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}
