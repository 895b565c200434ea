/*
 * sonde jobserver: accept profiling jobs over HTTP.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/daemon.h"
#include "serve/jobserver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct options {
	const char *listen;
	const char *token;
	const char *config;
	const char *dir;
	struct cli_list hosts;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "listen", "ADDRESS:PORT", CLI_STRING(struct options, listen), .default_text = "127.0.0.1:8080",
			.help = "Address to listen on; port 0 selects a free port." },
	{ 0, "token", "USER:TOKEN", CLI_STRING(struct options, token),
			.help = "Credentials of clients (basic authentication). Arguments are visible to other users "
				"of the machine: use @FILE to read them from a file." },
	{ 'c', "config", "FILE", CLI_PATH(struct options, config),
			.help = "Configuration: what may be run, and what containers may access." },
	{ 'd', "dir", "DIR", CLI_PATH(struct options, dir), .default_text = "sonde-jobs",
			.help = "Directory for the files of jobs." },
	{ 0, "host", "NAME", CLI_STRINGS(struct options, hosts),
			.help = "Additional host name that is accepted in requests." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the address as a JSON object." },
	CLI_OPTIONS_END,
};

/* The token itself or, after '@', the first line of a file. */
static int take_token(struct cli_context *ctx, const char *given, struct buf *token)
{
	int rc = 0;

	if (!given)
		return cli_usage(ctx, "--token is required");
	if (*given == '@')
		rc = fs_read_file(AT_FDCWD, given + 1, 4096, token, ctx->err);
	else
		buf_adds(token, given);
	token->data[strcspn(token->data, "\r\n")] = '\0';
	if (rc == 0 && (!strchr(token->data, ':') || token->data[0] == ':' || !strchr(token->data, ':')[1]))
		return cli_usage(ctx, "invalid --token: expected USER:TOKEN");
	return rc;
}

static int serve(struct cli_context *ctx, const struct http_server_options *g, const struct jobs_options *jo,
		const sigset_t *signals)
{
	const struct options *o = ctx->options;
	struct jobs *jobs = NULL;
	struct http_server *http_server = NULL;
	int rc = jobs_open(&jobs, jo, ctx->err);

	if (rc == 0)
		rc = jobserver_start(&http_server, jobs, g, ctx->err);
	if (rc == 0)
		rc = listen_say(g->address, http_server_port(http_server), o->is_json, ctx->err);
	if (rc == 0) {
		daemon_ready();
		while (daemon_wait(signals))
			;
	}
	http_server_stop(http_server);
	jobs_free(jobs);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf token = BUF_INIT, program = BUF_INIT;
	struct http_server_options g = { .hosts = o->hosts.items };
	struct jobs_config *config = arena_alloc(ctx->arena, sizeof(*config));
	struct jobs_options jo = { .dir = o->dir, .config = config };
	sigset_t signals;
	int rc = config ? take_token(ctx, o->token, &token) : err_sys(ctx->err, ENOMEM, "cannot serve");

	if (rc == 0)
		rc = listen_parse(o->listen, ctx->arena, &g.address, &g.port, ctx->err);
	if (rc == 0)
		rc = jobs_config_load(config, o->config, ctx->arena, ctx->err);
	if (rc == 0)
		rc = fs_prefix(&program, ctx->err);
	if (rc < 0)
		return rc;
	buf_adds(&program, "/bin/sonde");
	jo.program = program.data;
	g.basic = token.data;
	daemon_block(&signals, NULL, NULL);
	return serve(ctx, &g, &jo, &signals);
}

static const struct cli_example examples[] = {
	{ "sonde jobserver --listen 127.0.0.1:8080 --token @token.txt --config jobs.yml",
			"Accept jobs from clients that have the token." },
	{ "curl --user me:secret http://127.0.0.1:8080/job/nx/buildWithParameters --data-urlencode app_name=me/app:1.0 "
	  "--data-urlencode 'app_args=-n 5'",
			"Submit a job." },
	{ NULL, NULL },
};

const struct cli_command cmd_jobserver = {
	.name = "jobserver",
	.usage = "--token USER:TOKEN [--listen ADDRESS:PORT] [--config FILE] [--dir DIR]",
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
