/*
 * sonde view: show a run, a comparison, a study or a running `sonde live` in the browser.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "duet/duet-replay.h"
#include "serve/page.h"
#include "serve/report-file.h"
#include "serve/run-routes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PORT 8000
#define PORTS_TRIED 10 /* if no port is given */

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
			.help = "Second run to compare, side by side on one time axis." },
	{ 0, "groups", "NAME:COLOUR,...", CLI_STRING(struct options, groups),
			.help = "Color events and functions by keywords in their names, like --cpu_filters of SOFA." },
	{ 0, "live", "SOCKET", CLI_PATH(struct options, live),
			.help = "Print a one-time address of the live dashboard of a running 'sonde live --control "
				"SOCKET', and exit." },
	{ 'p', "port", "N", CLI_INT(struct options, port), .min = -1, .max = 65535, .default_text = "-1",
			.default_words = "8000, or the next free port",
			.help = "Port to listen on; 0 selects a free port." },
	{ 0, "address", "ADDRESS", CLI_STRING(struct options, address), .default_text = "127.0.0.1",
			.help = "Address to listen on. With an address other than loopback, other machines that have "
				"the link can connect." },
	{ 0, "host", "NAME", CLI_STRINGS(struct options, hosts),
			.help = "Additional host name that is accepted in requests." },
	{ 0, "unix", "SOCKET", CLI_PATH(struct options, socket),
			.help = "Listen on this Unix socket instead; access needs no token." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the address as a JSON object." },
	CLI_OPTIONS_END,
};

/* The object that is served, of one of the kinds below. */
struct shown {
	const struct kind *kind;
	const char *path; /* of a directory; for a run as typed: NULL is the latest */
	struct http_runs runs;
	void *server;
	struct http_server *http_server;
};

static int run_start(struct shown *s, const struct http_server_options *g, struct sonde_err *err)
{
	struct http *http;
	int rc = http_start(&http, &s->runs, g, err);

	if (rc == 0) {
		s->server = http;
		s->http_server = run_http_server(http);
	}
	return rc;
}

static void run_stop(struct shown *s)
{
	http_stop(s->server);
}

static int duet_start(struct shown *s, const struct http_server_options *g, struct sonde_err *err)
{
	struct duet_server *server;
	int rc = duet_server_start(&server, s->path, g, err);

	if (rc == 0) {
		s->server = server;
		s->http_server = duet_http_server(server);
	}
	return rc;
}

static void duet_stop(struct shown *s)
{
	duet_server_stop(s->server);
}

static int tune_start(struct shown *s, const struct http_server_options *g, struct sonde_err *err)
{
	return study_start(&s->http_server, s->path, g, err);
}

static void tune_stop(struct shown *s)
{
	if (s->http_server)
		http_server_stop(s->http_server);
}

static const struct kind {
	const char *name;                   /* in --json */
	bool (*is_there)(const char *path); /* NULL: matches everything else */
	int (*start)(struct shown *s, const struct http_server_options *g, struct sonde_err *err);
	void (*stop)(struct shown *s); /* also called if start failed */
} kinds[] = {
	{ "duet", duet_replay_is, duet_start, duet_stop },
	{ "study", study_is_there, tune_start, tune_stop },
	{ "run", NULL, run_start, run_stop },
};

static int start(struct shown *s, const struct options *o, struct sonde_err *err)
{
	struct http_server_options g = { .address = o->address, .unix_path = o->socket, .hosts = o->hosts.items };
	int rc = -EADDRINUSE;

	if (o->port >= 0 || o->socket) {
		g.port = o->port >= 0 ? (unsigned)o->port : 0;
		return s->kind->start(s, &g, err);
	}
	for (unsigned i = 0; i < PORTS_TRIED && rc == -EADDRINUSE; i++) {
		g.port = PORT + i;
		rc = s->kind->start(s, &g, err);
	}
	return rc;
}

/* s NULL: the page belongs to another server. */
static int print(const struct options *o, const char *url, const struct shown *s, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	if (o->is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kstr(&j, "url", url);
		if (s)
			json_kstr(&j, s->kind->name, s->runs.run_api ? run_api_path(s->runs.run_api) : s->path);
		json_end(&j);
		buf_addc(&text, '\n');
	} else {
		buf_addf(&text, "%s\n", url);
	}
	fputs(text.data, stdout);
	return fflush(stdout) == 0 ? 0 : err_sys(err, errno, "cannot print the address");
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	const char *path = ctx->arg_count ? ctx->args[0] : NULL;
	CLEANUP(buf_release) struct buf url = BUF_INIT;
	struct sonde_err lack = SONDE_ERR_INIT;
	struct shown s = { .kind = kinds, .path = path };
	bool is_run;
	sigset_t signals;
	int rc, signum;

	if (o->live && (path || o->with))
		return cli_usage(ctx, "--live takes no run");
	if (o->live) {
		rc = live_page_find(o->live, &url, ctx->err);
		return rc < 0 ? rc : print(o, url.data, NULL, ctx->err);
	}
	while (s.kind->is_there && !(path && s.kind->is_there(path)))
		s.kind++;
	is_run = !s.kind->is_there;
	if (!is_run && (o->with || o->groups))
		return cli_usage(ctx, "'%s' is a %s: --with and --groups require a run", path, s.kind->name);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* before threads are created, which inherit it */
	signal(SIGPIPE, SIG_IGN);
	rc = is_run ? run_api_open(&s.runs.run_api, path, ctx->err) : 0;
	if (rc == 0 && o->with)
		rc = run_api_open(&s.runs.other, o->with, ctx->err);
	if (rc == 0 && is_run)
		run_api_set_peer(s.runs.run_api, s.runs.other, o->groups);
	if (rc == 0)
		rc = start(&s, o, ctx->err);
	if (rc == 0)
		rc = http_server_url(s.http_server, &url, ctx->err);
	if (rc == 0 && page_check(&lack)) /* only the API is served */
		cli_print_error("sonde", &lack);
	if (rc == 0)
		rc = print(o, url.data, &s, ctx->err);
	while (rc == 0 && sigwait(&signals, &signum) != 0)
		;
	s.kind->stop(&s);
	run_api_free(s.runs.other);
	run_api_free(s.runs.run_api);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde view", "Serve the latest run; open the printed address." },
	{ "sonde view --port 0 sonde-runs/20260131-120000-train", "Serve another run on a free port." },
	{ "sonde view --with before after", "Compare two runs side by side." },
	{ "sonde view --live /run/sonde/live.sock", "Open the dashboard of a running sonde live." },
	{ "sonde view results", "Show a comparison of 'sonde duet -o results', or results of a suite." },
	{ "sonde view sonde-tune/sqlite", "Show a study of 'sonde tune', also while it runs." },
	{ "sonde view --unix /run/user/1000/sonde", "Serve on a Unix socket, for ssh -L 8000:/run/user/1000/sonde." },
	{ NULL, NULL },
};

const struct cli_command cmd_view = {
	.name = "view",
	.usage = "[--port N] [--unix SOCKET] [--with RUN] [RUN] | --live SOCKET",
	.positional = { .name = "RUN",
			.min = 0,
			.max = 1,
			.type = CLI_TYPE_RUN,
			.help = "Run directory or name (default: latest), or the directory of a comparison of 'sonde "
				"duet' or of a study of 'sonde tune'." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};

/* sonde report: write a run as a standalone HTML file. */

struct report_options {
	const char *path;
	uint64_t events_bytes;
};

static const struct cli_option report_rows[] = {
	{ 'o', "output", "FILE", CLI_PATH(struct report_options, path), .default_text = "report.html",
			.help = "Output file; '-' is standard output." },
	{ 0, "events", "SIZE", CLI_SIZE(struct report_options, events_bytes), .default_text = "8M",
			.help = "Size limit of embedded events; more allow to zoom deeper." },
	CLI_OPTIONS_END,
};

static int run_report(struct cli_context *ctx)
{
	const struct report_options *o = ctx->options;
	CLEANUP(buf_release) struct buf page = BUF_INIT;
	struct run_api *run_api;
	int rc = run_api_open(&run_api, ctx->arg_count ? ctx->args[0] : NULL, ctx->err);

	if (rc < 0)
		return rc;
	rc = report_write(run_api, o->events_bytes, &page, ctx->err);
	run_api_free(run_api);
	if (rc < 0)
		return rc;
	if (strcmp(o->path, "-") == 0)
		return fs_write_all(STDOUT_FILENO, page.data, page.len) < 0
				? err_sys(ctx->err, errno, "cannot write the report")
				: 0;
	if (fs_write_output(o->path, page.data, page.len, ctx->err) < 0)
		return -EIO;
	printf("%s\n", o->path);
	return 0;
}

static const struct cli_example report_examples[] = {
	{ "sonde report -o training.html", "Write the latest run as an HTML file." },
	{ "sonde report --events 64M big", "Write another run, with more of its events." },
	{ NULL, NULL },
};

const struct cli_command cmd_report = {
	.name = "report",
	.usage = "[-o FILE] [--events SIZE] [RUN]",
	.positional = CLI_BUNDLE_POSITIONAL,
	.options = report_rows,
	.options_size = sizeof(struct report_options),
	.examples = report_examples,
	.run = run_report,
};
