/* Report files of a study, the ask and tell protocol, text output, and interruption. */
#include "cli/tune-cli.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "result/term.h"
#include "tune/protocol.h"
#include "tune/study-journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const struct report_file {
	const char *name;
	void (*write)(struct buf *out, const struct tune_report *r);
} report_files[] = { { "report.html", tune_report_html }, { "trials.csv", tune_report_csv },
	{ "result.json", tune_report_json } };

enum { RESULT = 2 };

#define TELL_INTERVAL_NS 2000000000

static int write_file(const char *dir, const struct report_file *file, const struct tune_report *r,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;

	file->write(&text, r);
	buf_addf(&path, "%s/%s", dir, file->name);
	return buf_error(&text) < 0 ? err_sys(err, ENOMEM, "cannot write '%s'", path.data)
				    : fs_replace_file(AT_FDCWD, path.data, text.data, text.len, err);
}

int tune_write_reports(const char *dir, const struct tune_report *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT, journal = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < sizeof(report_files) / sizeof(report_files[0]) && rc == 0; i++)
		rc = write_file(dir, &report_files[i], r, err);
	if (rc < 0)
		return rc;
	buf_addf(&path, "%s/study.db", dir);
	buf_addf(&journal, "%s/journal.jsonl", dir);
	return tune_database_write(path.data, journal.data, r->study, err);
}

/* Writes the intermediate result for viewers; failure does not affect the study. */
static void tell_result(struct tune_shown *s)
{
	const struct tune_drive *d = s->drive;
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	struct tune_insight *insight = arena_alloc(&arena, sizeof(*insight));
	struct tune_outcome outcome;
	struct tune_report r = { .study = d->study,
		.o = d->o,
		.outcome = &outcome,
		.insight = insight,
		.is_paired = d->is_paired,
		.is_running = true };

	if (clock_mono_ns() - s->told_ns < TELL_INTERVAL_NS)
		return;
	if (insight && tune_conclude(d, &outcome, &arena, NULL) == 0 && tune_insight(d->o, insight, &arena, NULL) == 0)
		write_file(s->dir, &report_files[RESULT], &r, NULL);
	s->told_ns = clock_mono_ns();
}

void tune_show(void *arg, const struct tune_trial *trial, const char *why)
{
	struct tune_shown *s = arg;

	if (trial)
		term_progress_show(&s->progress, "trial %llu of %lld: %s", (unsigned long long)trial->id,
				(long long)s->drive->study->trials,
				trial->result.state == TUNE_FAILED ? why : tune_state_word(trial->result.state));
	else
		term_progress_show(&s->progress, "confirming best against default: pair %zu of %lld", ++s->pairs,
				(long long)s->drive->study->confirm);
	tell_result(s);
}

/* Reads requests from stdin and writes responses to stdout, until the input ends. */
static int converse(struct tune_optimizer *o, const struct tune_study *study, struct tune_journal *journal,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(cleanup_free) char *line = NULL;
	size_t cap = 0;
	ssize_t size;
	int rc = 0;

	while (rc == 0 && (size = getline(&line, &cap, stdin)) >= 0) {
		if (size > TUNE_LINE_MAX)
			return err_set(err, EFBIG, "a request is longer than %d bytes", TUNE_LINE_MAX);
		rc = tune_answer(o, study, journal, line, (size_t)size, &out, err);
		fwrite(out.data, 1, out.len, stdout);
		fflush(stdout);
		buf_reset(&out);
		if (ferror(stdout))
			break;
	}
	return rc;
}

int tune_serve(struct tune_optimizer *o, const struct tune_study *study, const char *dir, struct sonde_err *err)
{
	CLEANUP(tune_journal_release) struct tune_journal journal = TUNE_JOURNAL_INIT;
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc;

	if (!dir)
		return converse(o, study, NULL, err);
	rc = fs_mkdir_p(dir, 0700, err);
	buf_addf(&path, "%s/journal.jsonl", dir);
	if (rc == 0)
		rc = tune_journal_open(&journal, path.data, study, o, err);
	return rc < 0 ? rc : converse(o, study, &journal, err);
}

/* Six digits are enough for people; programs get all digits. */
static void format(const struct tune_param *p, double value, char *text, size_t size)
{
	if (p->type == TUNE_FLOAT && isfinite(value))
		snprintf(text, size, "%.6g", value);
	else
		tune_param_format(p, value, text, size);
}

static void add_value(struct term_table *t, const struct tune_param *p, double value, enum term_style style)
{
	char text[TUNE_WHY];

	format(p, value, text, sizeof(text));
	term_table_cell(t, style, text);
}

/* Parameter, default, best, importance. */
static void print_configurations(const struct tune_report *r)
{
	struct term_column columns[] = { { "parameter", TERM_LEFT, false }, { "default", TERM_RIGHT, false },
		{ "best", TERM_RIGHT, false }, { "importance", TERM_RIGHT, false } };
	double start[TUNE_PARAMS_MAX];
	struct term_table t;
	char best_of[TUNE_WHY];

	if (r->study->objective_count > 1) { /* no single best: a Pareto front */
		snprintf(best_of, sizeof(best_of), "best %s", r->study->objectives[0].metric.name);
		columns[2].title = best_of;
	}
	tune_point_default(r->o->space, start);
	term_table_init(&t, columns, 4);
	for (size_t i = 0; i < r->o->space->count; i++) {
		const struct tune_param *p = &r->o->space->params[i];
		double best = r->outcome->best.trial->point[i];

		term_table_cell(&t, TERM_PLAIN, p->name);
		add_value(&t, p, start[i], TERM_PLAIN);
		add_value(&t, p, best, best != start[i] ? TERM_BOLD : TERM_PLAIN);
		if (r->insight->is_there)
			term_table_cellf(&t, "%.0f %%", 100 * r->insight->importance[i]);
		else
			term_table_cell(&t, TERM_DIM, "-");
	}
	term_table_print(&t, stdout);
	term_table_release(&t);
}

static void add_point(struct term_table *t, const struct tune_space *space, const double *point)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char value[TUNE_WHY];

	for (size_t i = 0; i < space->count; i++) {
		if (isnan(point[i])) /* inactive in this configuration */
			continue;
		format(&space->params[i], point[i], value, sizeof(value));
		buf_addf(&text, "%s%s=%s", text.len ? " " : "", space->params[i].name, value);
	}
	term_table_cell(t, TERM_PLAIN, text.len ? text.data : "");
}

/* Prints the Pareto front: trial, objectives, configuration. */
static void print_front(const struct tune_report *r)
{
	struct term_column columns[TUNE_OBJECTIVES_MAX + 2] = { { "Pareto front: trial", TERM_RIGHT, false } };
	size_t count = r->study->objective_count;
	struct term_table t;

	for (size_t k = 0; k < count; k++)
		columns[k + 1] = (struct term_column){ r->study->objectives[k].metric.name, TERM_RIGHT, false };
	columns[count + 1] = (struct term_column){ "configuration", TERM_LEFT, true };
	term_table_init(&t, columns, count + 2);
	for (size_t i = 0; i < r->o->count; i++) {
		const struct tune_trial *trial = &r->o->trials[i];

		if (!report_is_on_front(r, trial))
			continue;
		term_table_cellf(&t, "%llu", (unsigned long long)trial->id);
		for (size_t k = 0; k < count; k++)
			term_table_cellf(&t, "%.6g", trial->result.values[k]);
		add_point(&t, r->o->space, trial->point);
	}
	term_table_print(&t, stdout);
	term_table_release(&t);
}

void tune_print(const struct tune_report *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct tune_best *best = &r->outcome->best;

	printf("%s: %zu trials done, %zu pruned, %zu failed%s\n", r->study->name, r->outcome->done, r->outcome->cut,
			r->outcome->failed, r->outcome->is_interrupted ? ", interrupted" : "");
	if (best->trial) {
		print_configurations(r);
		if (r->study->objective_count > 1)
			print_front(r);
		else if (best->is_modelled)
			printf("expected %s%s of the best (trial %llu): %.6g, 95 %% interval %.6g to %.6g\n",
					r->study->objectives[0].metric.name,
					r->is_paired ? " (relative to the default)" : "",
					(unsigned long long)best->trial->id, best->value, best->lo, best->hi);
	}
	tune_report_verdict(&text, r);
	buf_addc(&text, '\n');
	tune_report_losses(&text, r, "", "\n");
	if (r->outcome->knob)
		buf_addf(&text, "no run has read the knob '%s': its parameter has no effect\n", r->outcome->knob);
	fputs(text.data, stdout);
}

volatile sig_atomic_t interrupt_came;

static void on_signal(int signal)
{
	interrupt_came = 1;
}

void interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}
