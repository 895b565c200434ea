/*
 * sonde summary: summarize a run and report issues; sonde merge: the same from parts of a run.
 *
 * Three forms: one screen with thread time and issues, every section in full, or JSON.
 */
#include "analyze/analyze.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/quantity.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "model/run-model.h"
#include "result/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SPOTLIGHT "spotlight:"

#define SUMMARY_ROWS_TEXT 5
#define SUMMARY_ROWS_JSON 100

struct summary_opts {
	bool is_json;
	bool is_full;
	int64_t top; /* rows per list; 0: not given; else the full form is used */
};

/* Option rows for commands that print summaries; S is the struct of their options, with a member `summary`. */
#define SUMMARY_OPTIONS(S) \
	{ 0, "full", NULL, CLI_FLAG(S, summary.is_full), .help = "Print all sections in full, not one screen." }, \
			{ 'n', "top", "N", CLI_INT(S, summary.top), .min = 1, .max = INT64_MAX, \
				.default_words = "5, 100 with --json", \
				.help = "Maximum number of rows per list; implies --full." }, \
	{ \
		0, "json", NULL, CLI_FLAG(S, summary.is_json), .help = "Print one JSON object." \
	}

struct options {
	struct summary_opts summary;
	const char *rules;
	const char *roi;
	const char *cpu_filters, *gpu_filters;
	const char *part;
	const char *output;
	int64_t threads;
};

static const struct cli_option option_rows[] = {
	{ 0, "rules", "RULES", CLI_STRING(struct options, rules), .default_text = "posix",
			.help = "Layer rules: posix, dlio, or a file." },
	{ 0, "roi", "REGION", CLI_STRING(struct options, roi),
			.help = "Restrict to a region of interest: two times since the start (1s,2.5s, or in seconds "
				"1,2.5), the name of a span or step, or spotlight:COUNTER, the longest interval with "
				"high values of a counter." },
	{ 0, "cpu-filters", "LIST", CLI_STRING(struct options, cpu_filters),
			.help = "Groups of functions by keywords in their names, each with a color: "
				"memcpy:red,idle:black." },
	{ 0, "gpu-filters", "LIST", CLI_STRING(struct options, gpu_filters), .help = "The same for GPU kernels." },
	SUMMARY_OPTIONS(struct options),
	{ 'j', "threads", "N", CLI_INT(struct options, threads), .min = 1, .max = 256, .default_words = "one per CPU",
			.help = "Number of threads." },
	{ 0, "part", "K/N", CLI_STRING(struct options, part), .group = "Parts",
			.help = "Process only part K (from 0) of N and write the partial result for sonde merge; auto: "
				"from the rank of srun or mpirun." },
	{ 'o', "output", "FILE", CLI_PATH(struct options, output), .group = "Parts",
			.default_words = "part-K-of-N.sonde", .help = "Output file or directory of a part." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde summary", "Summarize the latest run on one screen." },
	{ "sonde summary --full before", "All sections of the run 'before'." },
	{ "sonde summary training --rules dlio --json", "Layers of DFAnalyzer, as JSON." },
	{ "sonde summary --roi epoch", "Restrict to spans named epoch." },
	{ "srun -n 64 sonde summary big --part auto -o parts",
			"One part per task; 'sonde merge parts/*' merges them." },
	{ NULL },
};

/* "1s", or "1": seconds, as in SOFA. */
static bool take_time(const char *text, int64_t *ns)
{
	struct sonde_err ignored;
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0 && seconds < 9e9))
		return parse_duration(text, ns, &ignored) == 0;
	*ns = (int64_t)(seconds * 1e9);
	return true;
}

/* "1s,2.5s" or "1,2.5" since the start, or a name. */
static int set_range(struct cli_context *ctx, struct model_run *run, const char *roi, struct analyze_opts *opts)
{
	const char *comma = strchr(roi, ',');
	int64_t from, to;
	char *first;

	opts->has_range = true;
	if (strncmp(roi, SPOTLIGHT, strlen(SPOTLIGHT)) == 0)
		return analyze_spotlight(run, roi + strlen(SPOTLIGHT), &opts->from_ns, &opts->to_ns, ctx->err);
	first = comma ? arena_copy(ctx->arena, roi, (size_t)(comma - roi)) : NULL;
	if (!first || !take_time(first, &from) || !take_time(comma + 1, &to))
		return analyze_named_range(run, roi, &opts->from_ns, &opts->to_ns, ctx->err);
	if (to <= from)
		return cli_usage(ctx, "invalid region '%s': the end is before the start", roi);
	cli_run_range(run, from, to, &opts->from_ns, &opts->to_ns);
	return 0;
}

/* Rows per list that the passes keep. */
static size_t summary_top(const struct summary_opts *o)
{
	if (o->top > 0)
		return (size_t)o->top;
	return o->is_json ? SUMMARY_ROWS_JSON : SUMMARY_ROWS_TEXT;
}

/* Finishes the analysis and prints it to stdout. */
static int summary_print(struct cli_context *ctx, struct analyze *a, const struct summary_opts *o)
{
	CLEANUP(out_release) struct out out = OUT_INIT;
	struct term term = term_of(stdout);
	const struct analyze_result *result;
	int rc = analyze_finish(a, &result, ctx->err);

	if (rc < 0)
		return rc;
	out_init(&out);
	if (o->is_json) {
		struct json j;

		json_init(&j, &out.text, false);
		json_object(&j);
		analyze_write_json(result, &j);
		json_end(&j);
		buf_addc(&out.text, '\n');
		rc = buf_error(&out.text);
	} else {
		rc = summary_write_text(result, o->is_full || o->top, &out.text, &term);
	}
	return rc < 0 ? err_sys(ctx->err, -rc, "cannot print the summary") : out_finish(&out, ctx->err);
}

static int write_part(struct cli_context *ctx, struct analyze *a, const struct engine_part *part)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf bytes = BUF_INIT, path = BUF_INIT;
	struct stat st;
	bool is_dir = o->output && stat(o->output, &st) == 0 && S_ISDIR(st.st_mode);
	int rc;

	if (o->output)
		buf_addf(&path, "%s%s", o->output, is_dir ? "/" : "");
	if (is_dir || !o->output)
		buf_addf(&path, "part-%u-of-%u.sonde", part->number, part->count);
	rc = buf_error(&path);
	if (rc == 0)
		rc = analyze_save(a, &bytes, ctx->err);
	if (rc == 0)
		rc = fs_write_output(path.data, bytes.data, bytes.len, ctx->err);
	return rc;
}

static int summarise(struct cli_context *ctx, struct model_run *run, const struct analyze_opts *opts)
{
	const struct options *o = ctx->options;
	struct analyze *a = NULL;
	int rc = analyze_new(&a, run, opts, ctx->err);

	if (rc == 0)
		rc = analyze_scan(a, ctx->err);
	if (rc == 0)
		rc = o->part ? write_part(ctx, a, &opts->part) : summary_print(ctx, a, &o->summary);
	analyze_free(a);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct analyze_opts opts = { .rules = o->rules,
		.top = summary_top(&o->summary),
		.cpu_filters = o->cpu_filters,
		.gpu_filters = o->gpu_filters,
		.threads = (unsigned)o->threads };
	struct model_run *run = NULL;
	int rc;

	if (o->output && !o->part)
		return cli_usage(ctx, "--output requires --part");
	if (o->part && engine_part_parse(o->part, &opts.part, ctx->err) < 0) {
		ctx->exit_code = CLI_EXIT_USAGE;
		return -EINVAL;
	}
	rc = cli_open_run(ctx, &run);
	if (rc == 0 && o->roi)
		rc = set_range(ctx, run, o->roi, &opts);
	if (rc == 0)
		rc = summarise(ctx, run, &opts);
	model_run_free(run);
	return rc;
}

const struct cli_command cmd_summary = {
	.name = "summary",
	.usage = "[--full] [--rules RULES] [--roi REGION] [-n N] [--json] [--part K/N [-o FILE]] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};

/* sonde merge: combine partial summaries. */

#define PART_BYTES_MAX ((size_t)4 << 30)

struct merge_options {
	struct summary_opts summary;
	const char *run;
};

static const struct cli_option merge_rows[] = {
	SUMMARY_OPTIONS(struct merge_options),
	{ 0, "run", "RUN", CLI_RUN(struct merge_options, run), .default_words = "its recorded path",
			.help = "Current path of the run that the parts were computed from." },
	CLI_OPTIONS_END,
};

static const struct cli_example merge_examples[] = {
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
	const struct merge_options *o = m->ctx->options;
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

static int add_part(struct merging *m, const char *path)
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

static int check_parts(const struct merging *m)
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

static int run_merge(struct cli_context *ctx)
{
	const struct merge_options *o = ctx->options;
	struct merging m = { .ctx = ctx };
	int rc;

	buf_init(&m.first_bytes, PART_BYTES_MAX);
	rc = open_first(&m, ctx->args[0]);
	for (size_t i = 0; i < ctx->arg_count && rc == 0; i++)
		rc = add_part(&m, ctx->args[i]);
	if (rc == 0)
		rc = check_parts(&m);
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
	.options = merge_rows,
	.options_size = sizeof(struct merge_options),
	.examples = merge_examples,
	.run = run_merge,
};
