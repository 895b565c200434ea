/*
 * sonde live: watch running applications and serve their metrics; sonde live run: start an application to be watched.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/daemon.h"
#include "config/config.h"
#include "launch/launch.h"
#include "live/apps.h"
#include "live/control/controller.h"
#include "record/ringdir.h"
#include "serve/live-page.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_WANTED 16384
#define PAGE_KEPT_BYTES (4 << 20)

struct options {
	const char *listen;
	const char *config;
	const char *token;
	const char *name;
	const char *rules;
	const char *control;
	struct cli_list hosts;
	bool is_grouped;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "listen", "ADDRESS:PORT", CLI_STRING(struct options, listen), .default_text = "127.0.0.1:9464",
			.help = "Address of /metrics; port 0 selects a free port." },
	{ 'c', "config", "FILE", CLI_PATH(struct options, config),
			.help = "Configuration: what to monitor, and limits." },
	{ 0, "token", "USER:TOKEN", CLI_STRING(struct options, token), .default_words = "none",
			.help = "Credentials of clients (basic authentication); required unless the address is "
				"loopback." },
	{ 0, "host", "NAME", CLI_STRINGS(struct options, hosts),
			.help = "Additional host name that is accepted in requests." },
	{ 0, "name", "NAME", CLI_STRING(struct options, name), .default_words = "the program name",
			.help = "With run: name of the application in its metrics." },
	{ 0, "rules", "FILE", CLI_PATH(struct options, rules),
			.help = "Rules file: actions on conditions over the metrics. Changed settings are restored at "
				"exit." },
	{ 0, "control", "SOCKET", CLI_PATH(struct options, control),
			.help = "Also serve on this Unix socket, including control of the rules; only for this user "
				"and root." },
	{ 0, "group", NULL, CLI_FLAG(struct options, is_grouped),
			.help = "With run: create a cgroup for the application, which rules can control." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the address as a JSON object." },
	CLI_OPTIONS_END,
};

struct settings {
	const char **rings;
	int64_t series;
	struct push_options metrics_push;
	const char *socket;
	const char *powercap;
	struct live_group *groups;
	size_t group_count;
};

/* NAME: DIRECTORY of a cgroup. */
static int take_groups(struct config_reader *r, yaml_node_t *map, void *into)
{
	struct settings *s = into;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'groups' must map names to cgroup directories");
	s->groups = arena_alloc(r->arena, LIVE_GROUPS_MAX * sizeof(*s->groups));
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; s->groups && p < map->data.mapping.pairs.top; p++) {
		yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		const char *app = config_text(key), *dir = config_text(yaml_document_get_node(r->document, p->value));

		if (!app || !*app || !dir || *dir != '/')
			return config_error(r, key,
					"a group must have a name and an absolute directory such as /sys/fs/cgroup/x");
		if (s->group_count == LIVE_GROUPS_MAX)
			return config_error(r, key, "too many groups (maximum %d)", LIVE_GROUPS_MAX);
		s->groups[s->group_count++] = (struct live_group){ arena_strdup(r->arena, app),
			arena_strdup(r->arena, dir) };
		if (!s->groups[s->group_count - 1].app || !s->groups[s->group_count - 1].dir)
			return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	}
	return s->groups ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int take_settings(struct config_reader *r, yaml_node_t *root)
{
	static const struct config_key keys[] = {
		{ "rings", CONFIG_LIST, offsetof(struct settings, rings) },
		{ "series", CONFIG_WHOLE, offsetof(struct settings, series), .min = 1 },
		{ "textfile", CONFIG_TEXT, offsetof(struct settings, metrics_push.textfile) },
		{ "push", CONFIG_TEXT, offsetof(struct settings, metrics_push.push) },
		{ "socket", CONFIG_TEXT, offsetof(struct settings, socket) },
		{ "every", CONFIG_DURATION, offsetof(struct settings, metrics_push.every_ns) },
		{ "powercap", CONFIG_TEXT, offsetof(struct settings, powercap) },
		{ "groups", CONFIG_OTHER, 0, .take = take_groups },
		{ NULL },
	};

	return config_take_map(r, root, keys, NULL, r->context);
}

static int load(struct cli_context *ctx, struct live_options *to, struct push_options *metrics_push,
		const char **socket)
{
	const struct options *o = ctx->options;
	struct settings settings = { .rings = NULL };
	struct config_reader r = { .path = o->config,
		.arena = ctx->arena,
		.err = ctx->err,
		.what = "the configuration of sonde live",
		.context = &settings };
	int rc = o->config ? config_load(&r, take_settings) : 0;

	to->rings = (const char *const *)settings.rings;
	to->series_max = (size_t)settings.series;
	to->powercap = settings.powercap;
	to->groups = settings.groups;
	to->group_count = settings.group_count;
	*metrics_push = settings.metrics_push;
	*socket = settings.socket;
	return rc;
}

/* The state of the server between two reloads; SIGHUP starts a new one with the current files. */
struct life {
	struct live_options options;
	struct live_exporter exporter;
	struct rules_file *rules;
	struct controller *controller;
	struct exporter_arg arg;
	struct http_server *http_server, *control;
	struct push_options push_options;
	struct metrics_push *metrics_push;
	const char *socket; /* receives pushed metrics; NULL: none */
};

static int load_rules(struct cli_context *ctx, struct life *l)
{
	const struct options *o = ctx->options;

	if (!o->rules)
		return 0;
	l->rules = arena_alloc(ctx->arena, sizeof(*l->rules));
	return l->rules ? rules_load(l->rules, o->rules, ctx->arena, ctx->err)
			: err_sys(ctx->err, ENOMEM, "cannot read the rules");
}

/* The controller forks its watchdog before the server starts threads. */
static int begin(struct cli_context *ctx, struct life *l, const struct http_server_options *g)
{
	const struct options *o = ctx->options;
	int rc;

	live_exporter_init(&l->exporter, &l->options, SONDE_VERSION);
	l->arg.exporter = &l->exporter;
	rc = l->rules ? controller_open(&l->controller, l->rules, &l->exporter, ctx->err) : 0;
	if (rc == 0 && l->controller) {
		l->exporter.more = controller_metrics;
		l->exporter.more_arg = l->controller;
		l->arg.controller = l->controller;
		rc = controller_start(l->controller, ctx->err);
	}
	if (rc == 0)
		rc = live_pushed_start(&l->exporter.pushed, l->socket, ctx->err);
	if (rc == 0)
		rc = live_history_start(&l->arg.history, &l->exporter, ctx->err);
	if (rc == 0)
		rc = exporter_start(&l->http_server, &l->arg, g, ctx->err);
	l->arg.pages = l->http_server;
	if (rc == 0 && o->control)
		rc = exporter_start(&l->control, &l->arg, &(struct http_server_options){ .unix_path = o->control },
				ctx->err);
	return rc < 0 ? rc : metrics_push_start(&l->metrics_push, &l->push_options, &l->exporter, ctx->err);
}

static void end(struct life *l)
{
	metrics_push_free(l->metrics_push);
	http_server_stop(l->control);
	http_server_stop(l->http_server);
	live_history_free(l->arg.history);
	controller_free(l->controller);
	live_pushed_free(l->exporter.pushed);
	live_exporter_release(&l->exporter);
}

static int live_once(struct cli_context *ctx, struct http_server_options *g, const sigset_t *signals, bool *is_again)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf url = BUF_INIT;
	struct life l = { .http_server = NULL };
	int rc = load(ctx, &l.options, &l.push_options, &l.socket);

	if (rc == 0)
		rc = load_rules(ctx, &l);
	if (rc < 0)
		return rc;
	rc = begin(ctx, &l, g);
	if (rc == 0) {
		if (!*is_again)
			rc = listen_say(g->address, http_server_port(l.http_server), o->is_json, ctx->err);
		/* To a terminal only, so that no log contains a token; `sonde view --live` gets another one. */
		if (!*is_again && isatty(STDERR_FILENO) && http_server_url(l.http_server, &url, NULL) == 0)
			cli_message("sonde", "live dashboard (valid once): %s", url.data);
		g->port = http_server_port(l.http_server);
		daemon_ready();
	}
	if (rc == 0)
		*is_again = daemon_wait(signals);
	end(&l);
	return rc;
}

/* Whether the current files are valid; SIGHUP with invalid files changes nothing. */
static bool can_reload(void *arg)
{
	struct cli_context *ctx = arg;
	struct life l = { .http_server = NULL };
	bool is_fine = load(ctx, &l.options, &l.push_options, &l.socket) == 0 && load_rules(ctx, &l) == 0;

	if (!is_fine)
		cli_print_error("sonde: keeping the previous configuration", ctx->err);
	return is_fine;
}

static int serve(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct http_server_options g = { .hosts = o->hosts.items, .basic = o->token };
	struct rlimit limit;
	bool is_again = false;
	sigset_t signals;
	int rc = listen_parse(o->listen, ctx->arena, &g.address, &g.port, ctx->err);

	if (rc == 0 && !o->token && strncmp(g.address, "127.", 4) != 0 && strcmp(g.address, "::1") != 0)
		rc = cli_usage(ctx, "%s is reachable from other hosts: --token is required", g.address);
	if (rc < 0)
		return rc;
	/* Buffers are allocated for every scrape: keep them in the heap instead of unmapping and clearing them each
	 * time. */
	mallopt(M_MMAP_THRESHOLD, PAGE_KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, PAGE_KEPT_BYTES);
	mallopt(M_ARENA_MAX, 1);
	/* An application needs three open descriptors, up to eleven with its own cgroup; the usual limit of 1024 is
	 * too low for the maximum number of applications. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FILES_WANTED) {
		limit.rlim_cur = limit.rlim_max < FILES_WANTED ? limit.rlim_max : FILES_WANTED;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	daemon_block(&signals, ctx, can_reload);
	do
		rc = live_once(ctx, &g, &signals, &is_again);
	while (rc == 0 && is_again);
	return rc;
}

/* sonde live run. The ring exists for its board only: no process drains it, and only annotations are written to it. */

#define RUN_BYTES_MAX (256ull << 20)
#define PROCESS_BYTES_MAX (1ull << 20)

static int wait_for_program(struct launch *l, int *status, struct sonde_err *err)
{
	struct pollfd fds[] = { { .fd = l->pidfd, .events = POLLIN }, { .fd = l->signalfd, .events = POLLIN } };

	while (!(fds[0].revents & POLLIN)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return err_sys(err, errno, "cannot wait for the program");
		if (fds[1].revents & POLLIN)
			launch_forward_signals(l);
	}
	return launch_wait(l, status, err);
}

static int run_in(const struct ring_dir *ring, char *const *argv, bool is_grouped, int *status, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf library = BUF_INIT, preload = BUF_INIT, place = BUF_INIT;
	const char *env[3] = { NULL };
	const struct job_isolation group = { .kind = JOB_CGROUP, .limits = { .is_watched = true } };
	struct launch_spec spec = { .argv = argv, .env = env, .place = is_grouped ? &group : NULL };
	struct launch launch = { .pidfd = -1, .signalfd = -1 };
	int rc = preload_library(ring, &library, err);

	if (rc < 0)
		return rc;
	preload_value(&preload, library.data);
	buf_addf(&place, "SONDE_RING=%s", ring->path.data);
	env[0] = preload.data;
	env[1] = place.data;
	rc = launch_start(&launch, &spec, err);
	if (rc == 0) {
		/* makes a program without annotations visible; failure is not an error */
		live_watch_announce(ring->fd, launch.pid, NULL);
		rc = wait_for_program(&launch, status, err);
	}
	launch_release(&launch);
	return rc;
}

static int live_run(char *const *argv, const char *name, bool is_grouped, int *status, struct sonde_err *err)
{
	struct ring_options options = { .categories = SONDE_CAT_SPAN,
		.run_bytes_max = RUN_BYTES_MAX,
		.process_bytes_max = PROCESS_BYTES_MAX };
	struct ring_dir ring = RING_DIR_INIT;
	const char *slash = strrchr(argv[0], '/');
	char text[LIVE_NAME_BYTES];
	int rc = launch_check(argv[0], err);

	if (rc < 0)
		return rc;
	rc = ring_dir_create(&ring, "/tmp", &options, err);
	if (rc == 0) {
		snprintf(text, sizeof(text), "%s", name ? name : slash ? slash + 1 : argv[0]);
		rc = fs_replace_file(ring.fd, LIVE_APP_FILE, text, strlen(text), err);
		if (rc == 0)
			rc = run_in(&ring, argv, is_grouped, status, err);
		ring_dir_remove(&ring);
	}
	ring_dir_release(&ring);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	int status, rc;

	if (!ctx->arg_count)
		return ctx->program ? cli_usage(ctx, "a program requires 'run': sonde live run -- PROGRAM")
				    : serve(ctx);
	if (!ctx->program)
		return cli_usage(ctx, "'run' requires a program: sonde live run -- PROGRAM");
	rc = live_run(ctx->program, o->name, o->is_grouped, &status, ctx->err);
	if (rc < 0) {
		ctx->exit_code = launch_exit_code(rc);
		return rc;
	}
	fflush(NULL);
	launch_mirror(status);
}

static const char *const actions[] = { "run", NULL };

static const struct cli_example examples[] = {
	{ "sonde live --listen 127.0.0.1:9464", "Serve http://127.0.0.1:9464/metrics." },
	{ "sonde live run --name detector -- python3 detect.py", "Start an application that can be monitored." },
	{ "sonde live --rules edge.yml", "Monitor, and act according to the rules; see sonde-rules(1)." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "Stopped by a signal." },
	{ "1", "Failure." },
	{ "2", "Usage error." },
	{ "the program name",
			"With run: the exit status of the program; 126: it could not be executed; 127: it was "
			"not found." },
	{ NULL, NULL },
};

const struct cli_command cmd_live = {
	.name = "live",
	.usage = "[--listen ADDRESS:PORT] [--config FILE] [--rules FILE] [--token USER:TOKEN] | run [--name NAME] "
		 "[--group] -- PROGRAM [ARGUMENT...]",
	.positional = { .name = "ACTION",
			.min = 0,
			.max = 1,
			.type = CLI_TYPE_CHOICE,
			.choices = actions,
			.help = "run starts a program with a metrics board instead of serving." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.flags = CLI_TAKES_PROGRAM,
	.run = run,
};
