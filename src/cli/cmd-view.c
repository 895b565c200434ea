/*
 * sonde view: a run in the browser.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "serve/http.h"
#include "serve/live-page.h"

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
	const char *live;
	struct cli_list hosts;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "with", "RUN", CLI_STRING(struct options, with),
			.help = "A second run to compare with: side by side on one time axis, and what changed." },
	{ 0, "groups", "NAME:COLOUR,...", CLI_STRING(struct options, groups),
			.help = "Colour events and functions whose names hold these words, as SOFA's --cpu_filters "
				"does." },
	{ 0, "live", "SOCKET", CLI_PATH(struct options, live),
			.help = "The live page of a running 'sonde live --control SOCKET': print an address that opens "
				"it once, and end." },
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

static int start(struct http **http, const struct http_runs *runs, const struct options *o, struct sonde_err *err)
{
	struct guard_options g = { .address = o->address, .unix_path = o->socket, .hosts = o->hosts.items };
	int rc = -EADDRINUSE;

	if (o->port >= 0 || o->socket) {
		g.port = o->port >= 0 ? (unsigned)o->port : 0;
		return http_start(http, runs, &g, err);
	}
	for (unsigned i = 0; i < PORTS_TRIED && rc == -EADDRINUSE; i++) {
		g.port = PORT + i;
		rc = http_start(http, runs, &g, err);
	}
	return rc;
}

/* run NULL: the page is not of one. */
static int print(const struct options *o, const char *url, const char *run, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	if (o->is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kstr(&j, "url", url);
		if (run)
			json_kstr(&j, "run", run);
		json_end(&j);
		buf_addc(&text, '\n');
	} else {
		buf_addf(&text, "%s\n", url);
	}
	fputs(text.data, stdout);
	return fflush(stdout) == 0 ? 0 : err_sys(err, errno, "cannot say where the page is");
}

static int say(const struct options *o, struct http *http, const struct view *view, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT;
	int rc = guard_url(http_guard(http), &url, err);

	return rc < 0 ? rc : print(o, url.data, view_path(view), err);
}

static int say_live(const struct options *o, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT;
	int rc = live_page_find(o->live, &url, err);

	return rc < 0 ? rc : print(o, url.data, NULL, err);
}

/* Until somebody ends it. */
static void wait_for_end(const sigset_t *signals)
{
	int signum;

	while (sigwait(signals, &signum) != 0)
		;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct http_runs runs = { .view = NULL, .other = NULL };
	struct http *http;
	sigset_t signals;
	int rc;

	if (o->live)
		return ctx->arg_count || o->with ? cli_usage(ctx, "--live has no run") : say_live(o, ctx->err);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* before there are threads, which inherit it */
	signal(SIGPIPE, SIG_IGN);
	rc = view_open(&runs.view, ctx->arg_count ? ctx->args[0] : NULL, ctx->err);
	if (rc == 0 && o->with)
		rc = view_open(&runs.other, o->with, ctx->err);
	if (rc == 0) {
		view_tell(runs.view, runs.other, o->groups);
		rc = start(&http, &runs, o, ctx->err);
	}
	if (rc == 0) {
		rc = say(o, http, runs.view, ctx->err);
		if (rc == 0)
			wait_for_end(&signals);
		http_stop(http);
	}
	view_free(runs.other);
	view_free(runs.view);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde view", "The latest run; open the address that is printed." },
	{ "sonde view --port 0 sonde-runs/20260131-120000-train", "Another run, on any free port." },
	{ "sonde view --with before after", "Two runs side by side." },
	{ "sonde view --live /run/sonde/live.sock", "What runs now: the page of a sonde live." },
	{ "sonde view --unix /run/user/1000/sonde", "For ssh -L 8000:/run/user/1000/sonde." },
	{ NULL, NULL },
};

const struct cli_command cmd_view = {
	.name = "view",
	.usage = "[--port N] [--unix SOCKET] [--with RUN] [RUN] | --live SOCKET",
	.positional = CLI_BUNDLE_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
