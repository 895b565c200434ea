/*
 * sonde doctor: check what works on this machine, why not, and how to enable it.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "doctor/checks.h"
#include "result/term.h"

#include <stdio.h>

struct doctor_options {
	bool is_json;
};

static const struct cli_option options[] = {
	{ 'j', "json", NULL, CLI_FLAG(struct doctor_options, is_json), .help = "Print one JSON object." },
	CLI_OPTIONS_END,
};

static const enum term_style state_styles[] = {
	[DOCTOR_WORKS] = TERM_GREEN,
	[DOCTOR_PARTLY] = TERM_YELLOW,
	[DOCTOR_NO] = TERM_RED,
	[DOCTOR_NONE] = TERM_DIM,
};

typedef void row_function(void *to, const struct doctor_check *doctor_check, const struct doctor_result *report);

/* Runs every check, in order; returns true if one that recording requires fails. */
static bool check_all(row_function *row, void *to)
{
	bool is_missing = false;

	for (const struct doctor_check *f = doctor_checks; f->name; f++) {
		struct doctor_result report = { .state = DOCTOR_NO };

		f->check(&report);
		is_missing |= f->is_needed && report.state == DOCTOR_NO;
		row(to, f, &report);
	}
	return is_missing;
}

static void table_line(struct term_table *t, const char *name, const char *state, enum term_style style,
		const char *text)
{
	term_table_cell(t, style, state);
	term_table_cell(t, TERM_BOLD, name);
	term_table_cell(t, TERM_PLAIN, text);
}

static void table_row(void *to, const struct doctor_check *f, const struct doctor_result *report)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct term_table *t = to;

	table_line(t, f->name, doctor_state_names[report->state], state_styles[report->state], f->purpose);
	if (report->state != DOCTOR_WORKS)
		table_line(t, "", "", TERM_PLAIN, report->why);
	if (!report->fix[0])
		return;
	buf_addf(&text, "enable: %s%s", report->fix, report->setup_step ? "  (or: sudo sonde setup)" : "");
	table_line(t, "", "", TERM_PLAIN, text.data);
}

static void json_row(void *to, const struct doctor_check *f, const struct doctor_result *report)
{
	struct json *j = to;

	json_object(j);
	json_kstr(j, "name", f->name);
	json_kstr(j, "purpose", f->purpose);
	json_kstr(j, "state", doctor_state_names[report->state]);
	json_kstr(j, "why", report->why[0] ? report->why : NULL);
	json_kstr(j, "fix", report->fix[0] ? report->fix : NULL);
	json_kstr(j, "setup", report->setup_step);
	json_kbool(j, "needed", f->is_needed);
	json_end(j);
}

static int print_json(bool *is_missing)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, true);
	json_object(&j);
	json_key(&j, "facilities");
	json_array(&j);
	*is_missing = check_all(json_row, &j);
	json_end(&j);
	json_kbool(&j, "can_record", !*is_missing);
	json_end(&j);
	puts(text.data);
	return buf_error(&text);
}

static int print_table(bool *is_missing)
{
	static const struct term_column columns[] = { { .title = NULL }, { .title = NULL }, { .is_wrapped = true } };
	CLEANUP(term_table_release) struct term_table t;

	term_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
	*is_missing = check_all(table_row, &t);
	return term_table_print(&t, stdout);
}

static int run(struct cli_context *ctx)
{
	const struct doctor_options *o = ctx->options;
	bool is_missing = false;
	int rc = o->is_json ? print_json(&is_missing) : print_table(&is_missing);

	if (rc)
		return err_sys(ctx->err, -rc, "cannot write the report");
	ctx->exit_code = is_missing ? CLI_EXIT_FAILED : CLI_EXIT_FINE;
	return 0;
}

static const struct cli_example examples[] = {
	{ "sonde doctor", "Check everything and print a table." },
	{ "sonde doctor --json | jq -r '.facilities[] | select(.state != \"works\") | .fix'",
			"Print how to enable missing features." },
	{ NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "Recording works; optional features may be unavailable." },
	{ "1", "A requirement of sonde record is not met." },
	{ "2", "Usage error." },
	{ NULL },
};

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.usage = "[--json]",
	.options = options,
	.options_size = sizeof(struct doctor_options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
