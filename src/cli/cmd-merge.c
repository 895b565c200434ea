/*
 * sonde merge: combine partial summaries.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/summary.h"
#include "model/run-model.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define PART_BYTES_MAX ((size_t)4 << 30)

struct options {
	struct summary_opts summary;
	const char *run;
};

static const struct cli_option option_rows[] = {
	SUMMARY_OPTIONS(struct options),
	{ 0, "run", "RUN", CLI_RUN(struct options, run), .default_words = "its recorded path",
			.help = "Current path of the run that the parts were computed from." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde merge part-*-of-4.sonde", "Print the same as 'sonde summary'." },
	{ NULL },
};

struct merging {
	struct cli_context *ctx;
	struct model_run *run;
	struct analyze *a;
	struct analyze_part first; /* points into first_bytes */
	struct buf first_bytes;
	bool *is_seen; /* indexed by part number */
};

static int open_first(struct merging *m, const char *path)
{
	const struct options *o = m->ctx->options;
	struct analyze_opts opts;
	int rc = fs_read_file(AT_FDCWD, path, PART_BYTES_MAX, &m->first_bytes, m->ctx->err);

	if (rc == 0)
		rc = analyze_part_open(&m->first, m->first_bytes.data, m->first_bytes.len, path, m->ctx->err);
	if (rc < 0)
		return rc;
	opts = m->first.opts;
	opts.part = (struct engine_part){ .count = 0 };
	opts.top = summary_top(&o->summary);
	m->is_seen = arena_alloc(m->ctx->arena, m->first.opts.part.count * sizeof(bool));
	if (!m->is_seen)
		return err_sys(m->ctx->err, ENOMEM, "cannot merge");
	rc = model_run_open(&m->run, o->run ? o->run : m->first.run, m->ctx->err);
	if (rc == -ENOENT)
		err_hint(m->ctx->err, "if the run was moved, give its path with --run RUN");
	if (rc == 0 && !o->run)
		rc = model_run_show_as(m->run, m->first.name, m->ctx->err);
	return rc < 0 ? rc : analyze_new(&m->a, m->run, &opts, m->ctx->err);
}

/* Whether both were made from the same run with the same options. */
static bool is_of_same(const struct analyze_part *a, const struct analyze_part *b)
{
	return strcmp(a->run, b->run) == 0 && strcmp(a->opts.rules_text, b->opts.rules_text) == 0 &&
			a->opts.has_range == b->opts.has_range && a->opts.from_ns == b->opts.from_ns &&
			a->opts.to_ns == b->opts.to_ns && a->opts.part.count == b->opts.part.count;
}

static int take(struct merging *m, const char *path)
{
	CLEANUP(buf_release) struct buf bytes = BUF_INIT;
	struct analyze_part part;
	int rc;

	buf_init(&bytes, PART_BYTES_MAX);
	rc = fs_read_file(AT_FDCWD, path, PART_BYTES_MAX, &bytes, m->ctx->err);
	if (rc == 0)
		rc = analyze_part_open(&part, bytes.data, bytes.len, path, m->ctx->err);
	if (rc < 0)
		return rc;
	if (!is_of_same(&part, &m->first))
		return err_set(m->ctx->err, EINVAL,
				"'%s' differs from '%s' in the run, region, rules or number of parts", path,
				m->ctx->args[0]);
	if (m->is_seen[part.opts.part.number])
		return err_set(m->ctx->err, EINVAL, "duplicate part %u: '%s'", part.opts.part.number, path);
	m->is_seen[part.opts.part.number] = true;
	rc = analyze_load(m->a, &part, m->ctx->err);
	if (rc < 0)
		err_prefix(m->ctx->err, "%s", path);
	return rc;
}

static int check_all(const struct merging *m)
{
	for (unsigned i = 0; i < m->first.opts.part.count; i++)
		if (!m->is_seen[i]) {
			err_set(m->ctx->err, EINVAL, "part %u of %u is missing", i, m->first.opts.part.count);
			err_hint(m->ctx->err, "create it with: sonde summary --part %u/%u %s", i,
					m->first.opts.part.count, m->first.run);
			return -EINVAL;
		}
	return 0;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct merging m = { .ctx = ctx };
	int rc;

	buf_init(&m.first_bytes, PART_BYTES_MAX);
	rc = open_first(&m, ctx->args[0]);
	for (size_t i = 0; i < ctx->arg_count && rc == 0; i++)
		rc = take(&m, ctx->args[i]);
	if (rc == 0)
		rc = check_all(&m);
	if (rc == 0)
		rc = summary_print(ctx, m.a, &o->summary);
	analyze_free(m.a);
	model_run_free(m.run);
	buf_release(&m.first_bytes);
	return rc;
}

const struct cli_command cmd_merge = {
	.name = "merge",
	.usage = "[--full] [-n N] [--json] [--run RUN] PART...",
	.positional = { "PART", 1, 65536, CLI_TYPE_PATH,
			.help = "All files that sonde summary --part wrote, in any order." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
