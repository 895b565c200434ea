/*
 * sonde summary: summarize a run and report issues.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "cli/summary-text.h"

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
			.help = "Layers to sort events into: posix, dlio, or a file with rules." },
	{ 0, "roi", "REGION", CLI_STRING(struct options, roi),
			.help = "Look only at a region: two times since the start (1s,2.5s, or seconds: 1,2.5), the "
				"name of a span or step, or "
				"spotlight:COUNTER, the longest time that a counter is high." },
	{ 0, "cpu-filters", "LIST", CLI_STRING(struct options, cpu_filters),
			.help = "Groups of functions: words that their names hold, each with a colour: "
				"memcpy:red,idle:black." },
	{ 0, "gpu-filters", "LIST", CLI_STRING(struct options, gpu_filters),
			.help = "The same for kernels of devices." },
	SUMMARY_OPTIONS(struct options),
	{ 'j', "threads", "N", CLI_INT(struct options, threads), .min = 1, .max = 256, .default_words = "one a CPU",
			.help = "Threads to read with." },
	{ 0, "part", "K/N", CLI_STRING(struct options, part), .group = "Parts",
			.help = "Do only part K (from 0) of N and write what it found to a file for sonde merge; "
				"'auto': as srun or mpirun says." },
	{ 'o', "output", "FILE", CLI_PATH(struct options, output), .group = "Parts",
			.default_words = "part-K-of-N.sonde",
			.help = "Where a part goes: a file, or a directory to put it in." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde summary", "Where the time of the latest run went and what to do next, on one screen." },
	{ "sonde summary --full before", "All that is known of the run 'before'." },
	{ "sonde summary training --rules dlio --json", "Layers as DFAnalyzer has them, for a script." },
	{ "sonde summary --roi epoch", "Only while spans called epoch were under way." },
	{ "srun -n 64 sonde summary big --part auto -o parts",
			"A part a task; 'sonde merge parts/*' puts them together." },
	{ NULL },
};

/* "1s", or "1": seconds, as in SOFA. */
static bool take_time(const char *text, int64_t *ns)
{
	struct sonde_err ignored;
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0 && seconds < 9e9))
		return cli_parse_duration(text, ns, &ignored) == 0;
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
		return cli_usage(ctx, "the region '%s' ends before it begins", roi);
	cli_run_range(run, from, to, &opts->from_ns, &opts->to_ns);
	return 0;
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
		return cli_usage(ctx, "--output is for --part; the summary goes to standard output");
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
