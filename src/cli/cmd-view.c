/*
 * sonde view: a run in the browser, or a study.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "serve/http.h"
#include "serve/study.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#define PORT 8000
#define PORTS_TRIED 10 /* when none was asked for */

struct options {
	int64_t port;
	const char *address;
	const char *socket;
	const char *with;
	const char *groups;
	struct cli_list hosts;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "with", "RUN", CLI_STRING(struct options, with),
			.help = "A second run to compare with: side by side on one time axis, and what changed." },
	{ 0, "groups", "NAME:COLOUR,...", CLI_STRING(struct options, groups),
			.help = "Colour events and functions whose names hold these words, as SOFA's --cpu_filters "
				"does." },
	{ 'p', "port", "N", CLI_INT(struct options, port), .min = -1, .max = 65535, .default_text = "-1",
			.default_words = "8000, or the next that is free",
			.help = "The port to listen on; 0 takes any that is free." },
	{ 0, "address", "ADDRESS", CLI_STRING(struct options, address), .default_text = "127.0.0.1",
			.help = "The address to listen on. Anything but loopback lets other machines in that have the "
				"link." },
	{ 0, "host", "NAME", CLI_STRINGS(struct options, hosts),
			.help = "A further name that browsers may know this server by." },
	{ 0, "unix", "SOCKET", CLI_PATH(struct options, socket),
			.help = "Listen on this socket instead; who can open the file needs no token." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Say where the page is as a JSON object." },
	CLI_OPTIONS_END,
};

/* What is served: a run, perhaps with another, or a study. */
struct served {
	struct http_runs runs;
	const char *study; /* its directory; NULL: runs */
	struct http *http;
	struct guard *guard;
};

static int start_at(struct served *s, const struct guard_options *g, struct sonde_err *err)
{
	int rc = s->study ? study_start(&s->guard, s->study, g, err) : http_start(&s->http, &s->runs, g, err);

	if (rc == 0 && !s->study)
		s->guard = http_guard(s->http);
	return rc;
}

static int start(struct served *s, const struct options *o, struct sonde_err *err)
{
	struct guard_options g = { .address = o->address, .unix_path = o->socket, .hosts = o->hosts.items };
	int rc = -EADDRINUSE;

	if (o->port >= 0 || o->socket) {
		g.port = o->port >= 0 ? (unsigned)o->port : 0;
		return start_at(s, &g, err);
	}
	for (unsigned i = 0; i < PORTS_TRIED && rc == -EADDRINUSE; i++) {
		g.port = PORT + i;
		rc = start_at(s, &g, err);
	}
	return rc;
}

static int say(const struct options *o, const struct served *s, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT, text = BUF_INIT;
	struct json j;
	int rc = guard_url(s->guard, &url, err);

	if (rc < 0)
		return rc;
	if (o->is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kstr(&j, "url", url.data);
		json_kstr(&j, s->study ? "study" : "run", s->study ? s->study : view_path(s->runs.view));
		json_end(&j);
		buf_addc(&text, '\n');
	} else {
		buf_addf(&text, "%s\n", url.data);
	}
	fputs(text.data, stdout);
	return fflush(stdout) == 0 ? 0 : err_sys(err, errno, "cannot say where the page is");
}

/* Until somebody ends it. */
static void wait_for_end(const sigset_t *signals)
{
	int signum;

	while (sigwait(signals, &signum) != 0)
		;
}

static int open_served(struct cli_context *ctx, struct served *s)
{
	const struct options *o = ctx->options;
	int rc;

	if (ctx->arg_count && study_is_there(ctx->args[0])) {
		s->study = ctx->args[0];
		return o->with ? cli_usage(ctx, "--with is for runs, and '%s' is a study", s->study) : 0;
	}
	rc = view_open(&s->runs.view, ctx->arg_count ? ctx->args[0] : NULL, ctx->err);
	if (rc == 0 && o->with)
		rc = view_open(&s->runs.other, o->with, ctx->err);
	if (rc == 0)
		view_tell(s->runs.view, s->runs.other, o->groups);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct served s = { .study = NULL };
	sigset_t signals;
	int rc;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* before there are threads, which inherit it */
	signal(SIGPIPE, SIG_IGN);
	rc = open_served(ctx, &s);
	if (rc == 0)
		rc = start(&s, o, ctx->err);
	if (rc == 0) {
		rc = say(o, &s, ctx->err);
		if (rc == 0)
			wait_for_end(&signals);
		if (s.study)
			guard_stop(s.guard);
		http_stop(s.http);
	}
	view_free(s.runs.other);
	view_free(s.runs.view);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde view", "The latest run; open the address that is printed." },
	{ "sonde view --port 0 sonde-runs/20260131-120000-train", "Another run, on any free port." },
	{ "sonde view --with before after", "Two runs side by side." },
	{ "sonde view sonde-tune/sqlite", "A study of 'sonde tune', while it runs and after." },
	{ "sonde view --unix /run/user/1000/sonde", "For ssh -L 8000:/run/user/1000/sonde." },
	{ NULL, NULL },
};

const struct cli_command cmd_view = {
	.name = "view",
	.usage = "[--port N] [--unix SOCKET] [--with RUN] [RUN]",
	.positional = { .name = "RUN",
			.min = 0,
			.max = 1,
			.type = CLI_TYPE_RUN,
			.help = "A run: its directory, its name among the runs, or 'latest', which is meant without "
				"one. Or the directory of a study of 'sonde tune'." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
