/*
 * sonde view: a run, or a comparison, in the browser.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "duet/replay.h"
#include "serve/duet.h"
#include "serve/http.h"

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

/* What is served: a run, or a comparison. */
struct shown {
	struct http_runs runs;
	struct http *http;
	const char *duet; /* the directory of a comparison; NULL: a run */
	struct duet_server *duet_server;
};

static int start_at(struct shown *s, const struct guard_options *g, struct sonde_err *err)
{
	return s->duet ? duet_server_start(&s->duet_server, s->duet, g, err) : http_start(&s->http, &s->runs, g, err);
}

static int start(struct shown *s, const struct options *o, struct sonde_err *err)
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

static void stop(struct shown *s)
{
	duet_server_stop(s->duet_server);
	http_stop(s->http);
	view_free(s->runs.other);
	view_free(s->runs.view);
}

static int say(const struct options *o, const struct shown *s, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT, text = BUF_INIT;
	struct json j;
	int rc = guard_url(s->duet ? duet_server_guard(s->duet_server) : http_guard(s->http), &url, err);

	if (rc < 0)
		return rc;
	if (o->is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kstr(&j, "url", url.data);
		json_kstr(&j, s->duet ? "duet" : "run", s->duet ? s->duet : view_path(s->runs.view));
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

static int open_runs(struct cli_context *ctx, struct shown *s)
{
	const struct options *o = ctx->options;
	int rc = view_open(&s->runs.view, ctx->arg_count ? ctx->args[0] : NULL, ctx->err);

	if (rc == 0 && o->with)
		rc = view_open(&s->runs.other, o->with, ctx->err);
	if (rc == 0)
		view_tell(s->runs.view, s->runs.other, o->groups);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct shown s = { .duet = ctx->arg_count && duet_replay_is(ctx->args[0]) ? ctx->args[0] : NULL };
	sigset_t signals;
	int rc;

	if (s.duet && (o->with || o->groups))
		return cli_usage(ctx, "'%s' is a comparison: --with and --groups are for runs", s.duet);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* before there are threads, which inherit it */
	signal(SIGPIPE, SIG_IGN);
	rc = s.duet ? 0 : open_runs(ctx, &s);
	if (rc == 0)
		rc = start(&s, o, ctx->err);
	if (rc == 0)
		rc = say(o, &s, ctx->err);
	if (rc == 0)
		wait_for_end(&signals);
	stop(&s);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde view", "The latest run; open the address that is printed." },
	{ "sonde view --port 0 sonde-runs/20260131-120000-train", "Another run, on any free port." },
	{ "sonde view --with before after", "Two runs side by side." },
	{ "sonde view results", "A comparison that sonde duet -o results made, or a suite's results." },
	{ "sonde view --unix /run/user/1000/sonde", "For ssh -L 8000:/run/user/1000/sonde." },
	{ NULL, NULL },
};

const struct cli_command cmd_view = {
	.name = "view",
	.usage = "[--port N] [--unix SOCKET] [--with RUN] [RUN]",
	.positional = CLI_BUNDLE_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
