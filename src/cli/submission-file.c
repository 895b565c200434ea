/*
 * A file of jobs: a YAML list, one row per job.
 */
#include "cli/submission.h"
#include "config/config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { ROWS_MAX = 10000 };

struct row {
	struct submission submission;
	const char **command;
	int64_t times;
};

struct file_reader {
	struct config_reader reader; /* must be first: passed to the functions of the key tables */
	struct submission *rows;
	size_t count;
};

static int take_environment(struct config_reader *r, yaml_node_t *map, void *into)
{
	struct row *row = into;

	return config_take_environment(r, map, &row->submission.env);
}

static int take_memory(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct row *row = into;
	const char *text = config_text(node);

	return text && cli_parse_size(text, &row->submission.memory_bytes, NULL) == 0
			? 0
			: config_error(r, node, "'memory' is a size: 512M, 16G");
}

static const struct config_key row_keys[] = {
	{ "name", CONFIG_TEXT, offsetof(struct row, submission.name) },
	{ "command", CONFIG_LIST, offsetof(struct row, command) },
	{ "directory", CONFIG_TEXT, offsetof(struct row, submission.cwd) },
	{ "environment", CONFIG_OTHER, .take = take_environment },
	{ "target_loss", CONFIG_REAL, offsetof(struct row, submission.target_loss) },
	{ "window", CONFIG_WHOLE, offsetof(struct row, submission.window), .min = 1 },
	{ "tune", CONFIG_TEXT, offsetof(struct row, submission.plan) },
	{ "push", CONFIG_TEXT, offsetof(struct row, submission.push) },
	{ "cpus", CONFIG_WHOLE, offsetof(struct row, submission.cpus), .min = 1 },
	{ "memory", CONFIG_OTHER, .take = take_memory },
	{ "label", CONFIG_TEXT, offsetof(struct row, submission.label) },
	{ "times", CONFIG_WHOLE, offsetof(struct row, times), .min = 1 },
	{ NULL },
};

static int take_row(struct file_reader *f, yaml_node_t *node)
{
	struct config_reader *r = &f->reader;
	struct row row = { .submission = SUBMISSION_INIT, .times = 1 };
	int rc = config_take_map(r, node, row_keys, "a job", &row);

	if (rc < 0)
		return rc;
	if (row.submission.window > FLEET_WINDOW_MAX)
		return config_error(r, node, "'window' is at most %d", FLEET_WINDOW_MAX);
	row.submission.argv = (char *const *)(uintptr_t)row.command;
	rc = submission_check(&row.submission, r->arena, r->err);
	if (rc < 0) {
		err_prefix(r->err, "%s:%zu", r->path, config_line(node));
		return rc;
	}
	for (int64_t i = 0; i < row.times; i++) {
		if (f->count == ROWS_MAX)
			return config_error(r, node, "there may be %d jobs", ROWS_MAX);
		f->rows[f->count++] = row.submission;
	}
	return 0;
}

static int take_document(struct config_reader *r, yaml_node_t *root)
{
	struct file_reader *f = (struct file_reader *)r;
	yaml_node_t *node;
	int rc = 0;

	if (root->type != YAML_SEQUENCE_NODE)
		return config_error(r, root, "a file of jobs is a list: '- {name: x, command: [program, argument]}'");
	f->rows = arena_alloc(r->arena, ROWS_MAX * sizeof(*f->rows));
	if (!f->rows)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; rc == 0 && (node = config_item(r, root, i)); i++)
		rc = take_row(f, node);
	return rc == 0 && !f->count ? config_error(r, root, "there are no jobs in it") : rc;
}

int submission_load(const char *path, struct submission **out, size_t *count, struct arena *arena,
		struct sonde_err *err)
{
	struct file_reader f = { .reader = { .path = path, .arena = arena, .err = err, .what = "a job" } };
	int rc = config_load(&f.reader, take_document);

	*out = f.rows;
	*count = f.count;
	return rc;
}
