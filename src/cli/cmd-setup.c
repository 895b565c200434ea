/*
 * sonde setup: apply the settings that need root, or undo them.
 *
 * SONDE_SETUP_ROOT names a directory that is used instead of /, for tests on a copy of the files.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "cli/cli.h"
#include "doctor/setup.h"
#include "result/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_PATH "/var/lib/sonde/setup.json"

struct setup_options {
	bool is_undo;
	bool is_dry_run;
	const char *group;
};

static const struct cli_option options[] = {
	{ 'u', "undo", NULL, CLI_FLAG(struct setup_options, is_undo),
			.help = "Restore the previous values; settings that were changed again since then are kept." },
	{ 'n', "dry-run", NULL, CLI_FLAG(struct setup_options, is_dry_run),
			.help = "Print the changes without applying them; does not require root." },
	{ 'g', "group", "NAME", CLI_STRING(struct setup_options, group), .default_text = SETUP_GROUP,
			.help = "Group that may capture packets; it is created if it does not exist." },
	CLI_OPTIONS_END,
};

struct job {
	struct cli_context *ctx;
	const struct setup_options *options;
	const char *root;
	struct buf record_path;
	struct setup_record record;
	struct term_table table;
	unsigned failed;
};

static void report(struct job *job, const char *id, enum term_style style, const char *result, const char *text)
{
	term_table_cell(&job->table, TERM_BOLD, id);
	term_table_cell(&job->table, style, result);
	term_table_cell(&job->table, TERM_PLAIN, text);
}

static void report_failure(struct job *job, const char *id, const struct sonde_err *err)
{
	job->failed++;
	report(job, id, TERM_RED, "failed", err->text);
}

static void report_change(struct job *job, const char *id, const char *path, const char *from, const char *to)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "%s: %s -> %s", path, from, to);
	report(job, id, job->options->is_dry_run ? TERM_YELLOW : TERM_GREEN,
			job->options->is_dry_run ? "would change" : "done", text.data);
}

static int save(struct job *job, struct sonde_err *err)
{
	return setup_record_save(&job->record, job->record_path.data, err);
}

/* The value, or its first words: an earlier sonde recorded only those. */
static bool holds(const char *now, const char *value)
{
	size_t n = strlen(value);

	return strncmp(now, value, n) == 0 && (!now[n] || now[n] == ' ');
}

/* Writes the value and reads it back. */
static int change_to(const struct setup_step *step, const struct setup_target *t, const char *value,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	int rc = step->write(t, value, err);

	if (!rc)
		rc = step->read(t, &now, err);
	if (!rc && !holds(now.data, value))
		rc = err_set(err, EIO, "wrote '%s' to '%s', but it still reads '%s'", value, t->path, now.data);
	return rc;
}

/* Only one group is supported: the setup for another one must be undone first. */
static int check_group(const struct job *job, const struct setup_step *step, const struct setup_target *t,
		struct sonde_err *err)
{
	const char *name = strrchr(t->wanted, step->wanted[strlen(step->wanted) - 1]) + 1, *given = job->options->group;

	if (!step->is_for_group || strcmp(name, given) == 0 || strcmp(given, SETUP_GROUP) == 0)
		return 0;
	err_set(err, EEXIST, "already set up for the group '%s'", name);
	err_hint(err, "run 'sudo sonde setup --undo' first, then set it up for '%s'", given);
	return -EEXIST;
}

static void apply(struct job *job, const struct setup_step *step, const struct setup_target *t)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	bool is_real = !job->options->is_dry_run;
	int rc = step->read(t, &now, &err);

	if (rc == -ENOENT) {
		report(job, step->id, TERM_DIM, "skipped", step->missing);
		return;
	}
	if (!rc)
		rc = check_group(job, step, t, &err);
	if (!rc && step->is_enough(t, now.data)) {
		report(job, step->id, TERM_GREEN, "already", step->what);
		return;
	}
	/* The old value is on disk before the new one is set, so that --undo can restore it. */
	if (!rc && is_real) {
		const char *before = arena_strdup(job->ctx->arena, now.data);

		rc = before ? setup_record_add(&job->record, step->id, before, t->wanted) : -ENOMEM;
		rc = rc ? err_sys(&err, -rc, "cannot save '%s'", now.data) : save(job, &err);
	}
	if (!rc && is_real)
		rc = change_to(step, t, t->wanted, &err);
	if (!rc && is_real && step->verify && !*job->root)
		rc = step->verify(t, &err);
	if (rc)
		report_failure(job, step->id, &err);
	else
		report_change(job, step->id, t->path, now.data, t->wanted);
}

static void undo(struct job *job, const struct setup_step *step, const struct setup_target *t)
{
	const struct setup_change *found = setup_record_find(&job->record, step->id);
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct setup_change change;
	int rc;

	if (!found)
		return;
	change = *found;
	rc = step->read(t, &now, &err);
	if (!rc && !holds(now.data, change.after)) {
		report(job, step->id, TERM_YELLOW, "left", "changed again since then");
		setup_record_remove(&job->record, step->id);
		rc = job->options->is_dry_run ? 0 : save(job, &err);
		if (!rc)
			return;
	}
	if (!rc && !job->options->is_dry_run) {
		rc = change_to(step, t, change.before, &err);
		if (!rc) {
			setup_record_remove(&job->record, step->id);
			rc = save(job, &err);
		}
	}
	if (rc)
		report_failure(job, step->id, &err);
	else
		report_change(job, step->id, t->path, now.data, change.before);
}

/* The wanted value; a recorded one takes precedence, so that a second run or --undo uses the group of the first run. */
static const char *wanted_of(struct job *job, const struct setup_step *step)
{
	const struct setup_change *change = setup_record_find(&job->record, step->id);

	if (!step->is_for_group)
		return step->wanted;
	if (change && strncmp(change->after, step->wanted, strlen(step->wanted)) == 0)
		return change->after;
	return arena_printf(job->ctx->arena, "%s%s", step->wanted, job->options->group);
}

static void run_step(struct job *job, const struct setup_step *step)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct setup_target t = { .root = job->root, .wanted = wanted_of(job, step) };
	struct sonde_err err = SONDE_ERR_INIT;

	buf_adds(&path, job->root);
	if (step->is_ours)
		fs_prefix(&path, NULL);
	buf_adds(&path, step->path);
	t.path = path.data;
	if (!t.wanted) {
		err_sys(&err, ENOMEM, "cannot set it up");
		report_failure(job, step->id, &err);
	} else if (job->options->is_undo) {
		undo(job, step, &t);
	} else {
		apply(job, step, &t);
	}
}

static int refuse_user(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf program = BUF_INIT;
	CLEANUP(buf_release) struct buf quoted = BUF_INIT;

	err_set(ctx->err, EPERM, "setup changes kernel settings and requires root");
	if (fs_prefix(&program, NULL) == 0) {
		buf_adds(&program, "/bin/sonde");
		words_quote(&quoted, program.data);
		err_hint(ctx->err, "run 'sudo %s setup', or use --dry-run to see the changes", quoted.data);
	}
	return -EPERM;
}

static int run(struct cli_context *ctx)
{
	static const struct term_column columns[] = { { "STEP" }, { "RESULT" }, { "WHAT", .is_wrapped = true } };
	const char *root = getenv("SONDE_SETUP_ROOT");
	struct job job = { .ctx = ctx, .options = ctx->options, .root = root ? root : "", .record_path = BUF_INIT };
	size_t count = 0;
	int rc;

	if (!job.options->is_dry_run && !*job.root && geteuid() != 0)
		return refuse_user(ctx);
	buf_addf(&job.record_path, "%s" RECORD_PATH, job.root);
	term_table_init(&job.table, columns, sizeof(columns) / sizeof(*columns));
	rc = setup_record_load(&job.record, job.record_path.data, ctx->arena, ctx->err);
	while (setup_steps[count].id)
		count++;
	/* Undo in reverse order: a group is removed after everything that uses it. */
	for (size_t i = 0; !rc && i < count; i++)
		run_step(&job, &setup_steps[job.options->is_undo ? count - 1 - i : i]);
	if (!rc && job.options->is_undo && !job.table.cell_count) {
		puts("nothing to undo");
	} else if (!rc) {
		rc = term_table_print(&job.table, stdout);
		if (rc)
			err_sys(ctx->err, -rc, "cannot write the report");
	}
	if (!rc && job.failed)
		rc = err_set(ctx->err, EIO, "%u step%s failed", job.failed, job.failed == 1 ? "" : "s");
	term_table_release(&job.table);
	buf_release(&job.record_path);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde setup --dry-run", "Print what would change." },
	{ "sudo sonde setup", "Apply the changes; 'sonde doctor' shows the effect." },
	{ "sudo sonde setup --group developers", "The same; the group 'developers' may capture packets." },
	{ "sudo sonde setup --undo", "Restore the previous values." },
	{ NULL },
};

const struct cli_command cmd_setup = {
	.name = "setup",
	.usage = "[--dry-run] [--undo] [--group NAME]",
	.options = options,
	.options_size = sizeof(struct setup_options),
	.examples = examples,
	.run = run,
};
