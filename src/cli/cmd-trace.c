/*
 * sonde trace: count, check, split, merge and anonymize DFTracer traces without converting them.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/shell-words.h"
#include "cli/cli.h"
#include "pfw/pfw-tools.h"
#include "result/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct options {
	const char *output;
	const char *name;
	uint64_t size;
	int64_t limit;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 'o', "output", "PATH", CLI_PATH(struct options, output),
			.help = "Output: a file for merge, a directory for split and anonymize." },
	{ 's', "size", "SIZE", CLI_SIZE(struct options, size), .min = 1, .max = INT64_MAX, .default_text = "256M",
			.help = "split: maximum size of a file, before compression." },
	{ 0, "name", "NAME", CLI_STRING(struct options, name), .default_text = "trace",
			.help = "split: files are named NAME-1.pfw.gz and so on." },
	{ 'n', "limit", "N", CLI_INT(struct options, limit), .min = 0, .max = INT64_MAX, .default_text = "20",
			.help = "Maximum number of invalid lines to print." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "count, info, validate: print JSON lines." },
	CLI_OPTIONS_END,
};

/* State shared by the actions. */
struct trace {
	struct cli_context *ctx;
	const struct options *options;
	struct pfw_inputs inputs;
	struct pfw_facts all;
	int64_t told;
	bool is_listing; /* invalid lines are printed as data, not as warnings */
};

static void tell(void *arg, const char *path, uint64_t line, const char *reason, size_t where)
{
	struct trace *t = arg;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (t->told++ >= t->options->limit)
		return;
	if (t->is_listing && t->options->is_json) {
		struct json j;

		json_init(&j, &text, false);
		json_object(&j);
		json_kstr(&j, "file", path);
		json_kuint(&j, "line", line);
		json_kuint(&j, "byte", where + 1);
		json_kstr(&j, "reason", reason);
		json_end(&j);
	} else {
		term_safe(&text, path);
		buf_addf(&text, ":%" PRIu64 ": %s, at byte %zu", line, reason, where + 1);
	}
	if (t->is_listing)
		printf("%s\n", text.data);
	else
		cli_message(NULL, "%s", text.data);
}

static bool is_bad(const struct pfw_facts *f)
{
	return f->invalid || f->too_long || f->trouble[0];
}

/* Inspects every file, passes the result to `show`, and sums up. */
static int look_at_all(struct trace *t, void (*show)(struct trace *t, const char *path, const struct pfw_facts *f))
{
	struct pfw_tools tools = { .tell = tell, .arg = t };
	int rc = 0;

	for (size_t i = 0; i < t->inputs.count && rc == 0; i++) {
		struct pfw_facts facts;

		pfw_facts_init(&facts);
		rc = pfw_tool_inspect(&tools, &t->inputs.items[i], &facts, t->ctx->err);
		if (rc == 0) {
			if (is_bad(&facts))
				t->ctx->exit_code = CLI_EXIT_VERDICT;
			show(t, t->inputs.items[i].path, &facts);
			pfw_facts_add(&t->all, &facts);
		}
		pfw_facts_release(&facts);
	}
	return rc;
}

static void print_json(const char *path, const struct pfw_facts *f)
{
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = { { "bytes", f->bytes }, { "text_bytes", f->text_bytes }, { "members", f->members },
		{ "lines", f->lines }, { "events", f->events }, { "metadata", f->metadata },
		{ "counters", f->counters }, { "other", f->other }, { "invalid", f->invalid + f->too_long },
		{ "pids", f->pids.count }, { "tids", f->tids.count }, { "hosts", f->hosts.count } };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "file", path);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		json_kuint(&j, counts[i].key, counts[i].value);
	if (f->first != STORE_NULL) {
		json_kint(&j, "first", f->first);
		json_kint(&j, "last", f->last);
	}
	json_kstr(&j, "generation", pfw_generation(f->forms));
	if (f->trouble[0])
		json_kstr(&j, "trouble", f->trouble);
	json_key(&j, "categories");
	json_object(&j);
	for (size_t i = 0; i < f->categories.count; i++) {
		json_key(&j, map_key(&f->categories, i, NULL));
		json_uint(&j, map_value(&f->categories, i));
	}
	json_end(&j);
	json_end(&j);
	puts(text.data);
}

/* count */

static void show_count(struct trace *t, const char *path, const struct pfw_facts *f)
{
	CLEANUP(buf_release) struct buf safe = BUF_INIT;

	term_safe(&safe, path);
	if (t->options->is_json)
		print_json(path, f);
	else
		printf("%10" PRIu64 "  %s\n", f->events, safe.data);
}

static int run_count(struct trace *t)
{
	int rc = look_at_all(t, show_count);

	if (rc == 0 && t->inputs.count > 1 && !t->options->is_json)
		printf("%10" PRIu64 "  all\n", t->all.events);
	t->ctx->exit_code = CLI_EXIT_FINE;
	return rc;
}

/* info */

static void show_info(struct trace *t, const char *path, const struct pfw_facts *f)
{
	CLEANUP(buf_release) struct buf safe = BUF_INIT, categories = BUF_INIT;
	char bytes[TERM_TEXT], text[TERM_TEXT];

	if (t->options->is_json) {
		print_json(path, f);
		return;
	}
	term_safe(&safe, path);
	printf("%s\n", safe.data);
	printf("  size        %s, %s of text", term_bytes(bytes, f->bytes), term_bytes(text, f->text_bytes));
	if (f->members)
		printf(", %" PRIu64 " gzip member%s", f->members, f->members == 1 ? "" : "s");
	printf("\n  generation  %s\n", pfw_generation(f->forms));
	printf("  lines       %" PRIu64 ": %" PRIu64 " events, %" PRIu64 " metadata, %" PRIu64 " counters, %" PRIu64
	       " other, %" PRIu64 " invalid\n",
			f->lines, f->events, f->metadata, f->counters, f->other, f->invalid + f->too_long);
	printf("  from        %zu host%s, %zu process%s, %zu thread%s\n", f->hosts.count,
			f->hosts.count == 1 ? "" : "s", f->pids.count, f->pids.count == 1 ? "" : "es", f->tids.count,
			f->tids.count == 1 ? "" : "s");
	if (f->first != STORE_NULL)
		printf("  times       %" PRId64 " to %" PRId64 "\n", f->first, f->last);
	for (size_t i = 0; i < f->categories.count; i++) {
		buf_adds(&categories, i ? ", " : "");
		term_safe(&categories, map_key(&f->categories, i, NULL));
		buf_addf(&categories, " %" PRIu64, map_value(&f->categories, i));
	}
	if (categories.len)
		printf("  categories  %s\n", categories.data);
	if (f->trouble[0])
		printf("  error       %s\n", f->trouble);
}

static int run_info(struct trace *t)
{
	int rc = look_at_all(t, show_info);

	if (rc == 0 && t->inputs.count > 1 && !t->options->is_json)
		show_info(t, "total", &t->all);
	t->ctx->exit_code = CLI_EXIT_FINE;
	return rc;
}

/* validate */

static void show_verdict(struct trace *t, const char *path, const struct pfw_facts *f)
{
	CLEANUP(buf_release) struct buf safe = BUF_INIT;

	term_safe(&safe, path);
	if (t->options->is_json)
		print_json(path, f);
	else if (f->trouble[0])
		printf("%s: %s\n", safe.data, f->trouble);
	if (!t->options->is_json && !is_bad(f))
		printf("%s: %" PRIu64 " lines, all valid\n", safe.data, f->lines);
	else if (!t->options->is_json && f->invalid + f->too_long)
		printf("%s: %" PRIu64 " of %" PRIu64 " lines are invalid\n", safe.data, f->invalid + f->too_long,
				f->lines);
}

static int run_validate(struct trace *t)
{
	t->is_listing = true;
	return look_at_all(t, show_verdict);
}

/* Reports what was written and what was omitted. */
static int say_written(struct trace *t, int rc, const char *what)
{
	const struct pfw_facts *f = &t->all;

	if (rc < 0)
		return rc;
	printf("%s: %" PRIu64 " records, of these %" PRIu64 " events\n", what,
			f->events + f->metadata + f->counters + f->other, f->events);
	if (f->invalid || f->too_long)
		cli_message("sonde", "%" PRIu64 " invalid lines were skipped", f->invalid + f->too_long);
	return 0;
}

static int run_merge(struct trace *t)
{
	struct pfw_tools tools = { .tell = tell, .arg = t };
	int rc = pfw_tool_merge(&tools, &t->inputs, t->options->output, &t->all, t->ctx->err);

	return say_written(t, rc, t->options->output);
}

static int run_split(struct trace *t)
{
	struct pfw_tools tools = { .tell = tell, .arg = t };
	const struct options *o = t->options;
	uint64_t count = 0;
	int rc;

	if (!*o->name || strchr(o->name, '/'))
		return cli_usage(t->ctx, "invalid file name '%s' for --name", o->name);
	rc = pfw_tool_split(&tools, &t->inputs, o->output, o->name, o->size, &t->all, &count, t->ctx->err);
	if (rc == 0)
		printf("%" PRIu64 " file%s in ", count, count == 1 ? "" : "s");
	return say_written(t, rc, o->output);
}

static int run_anonymize(struct trace *t)
{
	struct pfw_tools tools = { .tell = tell, .arg = t };
	int rc = pfw_tool_anonymize(&tools, &t->inputs, t->options->output, &t->all, t->ctx->err);

	return say_written(t, rc, t->options->output);
}

static const struct action {
	const char *name;
	bool is_writing;
	int (*run)(struct trace *t);
} actions[] = {
	{ "count", false, run_count },
	{ "info", false, run_info },
	{ "split", true, run_split },
	{ "merge", true, run_merge },
	{ "validate", false, run_validate },
	{ "anonymize", true, run_anonymize },
};

static const char *const action_words[] = { "count", "info", "split", "merge", "validate", "anonymize", NULL };

static const struct action *find_action(struct cli_context *ctx)
{
	const char *nearest;

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].name, ctx->args[0]))
			return &actions[i];
	cli_usage(ctx, "unknown action '%s' (supported: count, info, split, merge, validate, anonymize)", ctx->args[0]);
	nearest = words_nearest(ctx->args[0], action_words);
	if (nearest)
		err_hint(ctx->err, "did you mean 'sonde trace %s'?", nearest);
	return NULL;
}

static int run(struct cli_context *ctx)
{
	struct trace t = { .ctx = ctx, .options = ctx->options };
	const struct action *action = find_action(ctx);
	int rc = 0;

	if (!action)
		return -EINVAL;
	if (ctx->arg_count < 2)
		return cli_usage(ctx, "missing argument FILE|DIR");
	if (action->is_writing && !t.options->output)
		return cli_usage(ctx, "%s requires -o PATH", action->name);
	pfw_facts_init(&t.all);
	for (size_t i = 1; i < ctx->arg_count && rc == 0; i++)
		rc = pfw_inputs_add(&t.inputs, ctx->args[i], ctx->err);
	if (rc == 0)
		rc = action->run(&t);
	pfw_inputs_release(&t.inputs);
	pfw_facts_release(&t.all);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde trace info job/", "Show the contents of the traces below job/." },
	{ "sonde trace validate *.pfw", "Report invalid lines and why; exit with 3 if there are any." },
	{ "sonde trace merge job/ -o job.pfw.gz", "Merge traces into one." },
	{ "sonde trace split job.pfw.gz -o parts -s 64M", "Split into parts of 64 MiB." },
	{ "sonde trace anonymize job/ -o public", "Write copies without names of files, hosts, users and commands." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "Success." },
	{ "1", "Failure; the reason is on standard error." },
	{ "2", "Usage error." },
	{ "3", "validate: a trace is truncated or damaged, or has invalid lines." },
	{ NULL, NULL },
};

const struct cli_command cmd_trace = {
	.name = "trace",
	.usage = "count|info|split|merge|validate|anonymize [-o PATH] FILE|DIR...",
	.positional = { .name = "ACTION FILE|DIR",
			.min = 1,
			.max = SIZE_MAX,
			.type = CLI_TYPE_PATH,
			.help = "Action, and traces (.pfw, .pfw.gz) or directories that contain them." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
