/* sonde recover: finish a run after its recorder was killed, or the DFTracer logs of killed programs. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "pfw/pfwlog.h"
#include "record/record.h"
#include "result/term.h"
#include "store/run-dir.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	bool is_forced;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "now", NULL, CLI_FLAG(struct options, is_forced),
			.help = "Recover even if a traced process is still running; its later events are lost." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the result as one JSON object." },
	CLI_OPTIONS_END,
};

static json_t *known(const struct recover_result *r, uint64_t count)
{
	return r->is_lost_known ? json_integer((json_int_t)count) : json_null();
}

static void report(const struct options *o, const char *path, const json_t *json, const struct recover_result *r)
{
	char kept[TERM_TEXT], ring[TERM_TEXT], lost[TERM_TEXT], dropped[TERM_TEXT];

	if (o->is_json) {
		json_dumpf(json_object_get(json, "recovered"), stdout, 0);
		putchar('\n');
		return;
	}
	printf("%s: %s intact rows, %s events recovered from the ring", path, term_count(kept, r->kept_rows),
			term_count(ring, r->ring_events));
	if (!r->is_lost_known)
		puts(", unwritten data of the recorder is lost");
	else if (!r->lost_events && !r->dropped_events)
		puts(", no events of the tracer were lost");
	else if (!r->dropped_events)
		printf(", %s events were lost\n", term_count(lost, r->lost_events));
	else
		printf(", %s events were lost, %s were dropped because the ring was full\n",
				term_count(lost, r->lost_events), term_count(dropped, r->dropped_events));
}

static int recover(struct cli_context *ctx, const char *path, const struct store_run *run, json_t *json)
{
	const struct options *o = ctx->options;
	const char *state = json_string_value(json_object_get(json, "state"));
	const struct recover_ring ring = { .path = json_string_value(json_object_get(json, "ring")),
		.id = json_string_value(json_object_get(json, "ring_id")) };
	struct recover_result result;
	int rc;

	if (state && !strcmp(state, "complete")) {
		printf("%s: complete, nothing to recover\n", path);
		return 0;
	}
	rc = record_recover(path, &ring, o->is_forced, &result, ctx->err);
	if (rc)
		return rc;
	if (result.ring_why.text[0])
		cli_print_error("sonde", &result.ring_why);
	json_object_set_new(json, "state", json_string("recovered"));
	json_object_del(json, "ring");
	json_object_del(json, "ring_id");
	json_object_set_new(json, "recovered",
			json_pack("{s:I, s:I, s:o, s:o}", "kept_rows", (json_int_t)result.kept_rows, "ring_events",
					(json_int_t)result.ring_events, "lost_events",
					known(&result, result.lost_events), "dropped_events",
					known(&result, result.dropped_events)));
	rc = cli_write_run_json(run->dirfd, json, ctx->err);
	if (!rc)
		report(o, path, json, &result);
	return rc;
}

/* Logs of libdftracer. */

struct logs {
	const struct options *options;
	size_t count;
};

static int say_log(void *arg, const struct pfwlog_recovered *r)
{
	struct logs *logs = arg;
	char written[TERM_TEXT], ring[TERM_TEXT], dropped[TERM_TEXT];

	logs->count++;
	if (logs->options->is_json) {
		json_t *json = json_pack("{s:s%, s:I, s:I, s:I}", "log", r->log, strlen(r->log), "written_events",
				(json_int_t)r->written_events, "ring_events", (json_int_t)r->ring_events,
				"dropped_events", (json_int_t)r->dropped);

		json_dumpf(json, stdout, 0);
		putchar('\n');
		json_decref(json);
		return 0;
	}
	printf("%s: %s events were written, %s recovered from the ring", r->log, term_count(written, r->written_events),
			term_count(ring, r->ring_events));
	if (r->dropped)
		printf(", %s were dropped because the ring was full\n", term_count(dropped, r->dropped));
	else
		puts(", none were lost");
	return 0;
}

static int recover_logs(struct cli_context *ctx, const char *path)
{
	const struct options *o = ctx->options;
	struct logs logs = { .options = o };
	int rc = pfwlog_recover(path, o->is_forced, say_log, &logs, ctx->err);

	if (rc == 0 && !logs.count && !o->is_json)
		printf("%s: complete, nothing to recover\n", path);
	return rc;
}

static int run(struct cli_context *ctx)
{
	if (ctx->arg_count && pfwlog_is_recoverable(ctx->args[0]))
		return recover_logs(ctx, ctx->args[0]);
	CLEANUP(buf_release) struct buf path = BUF_INIT, text = BUF_INIT;
	struct store_run bundle = STORE_RUN_INIT;
	int rc = store_run_find(ctx->arg_count ? ctx->args[0] : NULL, &path, ctx->err);

	if (!rc)
		rc = store_run_open_any(&bundle, path.data, ctx->err);
	if (!rc) {
		json_t *json = NULL;

		if (!store_run_read_json(bundle.dirfd, &text, NULL))
			json = json_loadb(text.data, text.len, 0, NULL);
		if (!json_is_object(json)) { /* the recorder had not written it yet */
			json_decref(json);
			json = json_object();
		}
		rc = recover(ctx, path.data, &bundle, json);
		json_decref(json);
	}
	store_run_release(&bundle);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde recover", "Finish the latest run." },
	{ "sonde recover traces/", "Finish the DFTracer logs of killed programs in a directory." },
	{ NULL, NULL },
};

const struct cli_command cmd_recover = {
	.name = "recover",
	.usage = "[RUN | LOG | DIR] [--now] [--json]",
	.positional = { .name = "RUN",
			.max = 1,
			.type = CLI_TYPE_RUN,
			.help = "Run directory or name (default: latest), a DFTracer log, or a directory of logs." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
