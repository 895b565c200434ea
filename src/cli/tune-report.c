#include "cli/tune-report.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "tune/database.h"

#include <errno.h>
#include <fcntl.h>

static int write_database(const char *dir, const struct tune_study *study, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT, journal = BUF_INIT;

	buf_addf(&path, "%s/study.db", dir);
	buf_addf(&journal, "%s/journal.jsonl", dir);
	return tune_database_write(path.data, journal.data, study, err);
}

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
	int rc = 0;

	for (size_t i = 0; i < sizeof(report_files) / sizeof(report_files[0]) && rc == 0; i++)
		rc = write_file(dir, &report_files[i], r, err);
	return rc < 0 ? rc : write_database(dir, r->study, err);
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
		term_progress_show(&s->progress, "best beside default: pair %zu of %lld", ++s->pairs,
				(long long)s->drive->study->confirm);
	tell_result(s);
}
