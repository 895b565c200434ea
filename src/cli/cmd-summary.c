/*
 * sonde summary: summarize a run and report issues.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/quantity.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "cli/stdout-buffer.h"
#include "cli/summary.h"
#include "result/summary-text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SPOTLIGHT "spotlight:"

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

size_t summary_top(const struct summary_opts *o)
{
	if (o->top > 0)
		return (size_t)o->top;
	return o->is_json ? SUMMARY_ROWS_JSON : SUMMARY_ROWS_TEXT;
}

int summary_print(struct cli_context *ctx, struct analyze *a, const struct summary_opts *o)
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

static int part_path(const char *output, const struct engine_part *part, struct buf *path)
{
	struct stat st;
	bool is_dir = output && stat(output, &st) == 0 && S_ISDIR(st.st_mode);

	if (output)
		buf_adds(path, output);
	if (is_dir)
		buf_addc(path, '/');
	if (is_dir || !output)
		buf_addf(path, "part-%u-of-%u.sonde", part->number, part->count);
	return buf_error(path);
}

static int write_part(struct cli_context *ctx, struct analyze *a, const struct engine_part *part)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf bytes = BUF_INIT, path = BUF_INIT;
	int rc = part_path(o->output, part, &path);

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
