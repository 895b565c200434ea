/* Recording on several hosts, for record and stat. */
#include "base/cleanup.h"
#include "base/shell-words.h"
#include "cli/recording.h"
#include "launch/spawn-command.h"
#include "record/hosts.h"
#include "record/slurm-task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SRUN "srun -u --overlap -N1 -n1 -w" /* a step on one node of our allocation, concurrent with others */

/* Options that are not forwarded to the hosts, and whether a value follows. */
static const struct own {
	const char *name;
	bool has_value;
} own_options[] = {
	{ "--hosts", true },
	{ "--ssh", true },
	{ "--remote", true },
	{ "-o", true },
	{ "--output", true },
	{ "-f", false },
	{ "--force", false },
	{ "-v", false },
	{ "--verbose", false },
	{ "-q", false },
	{ "--quiet", false },
	{ "--name", true },
};

static const struct own *find_own(const char *word, bool *has_value)
{
	size_t n = strcspn(word, "=");
	for (size_t i = 0; i < sizeof(own_options) / sizeof(*own_options); i++)
		if (strlen(own_options[i].name) == n && !memcmp(own_options[i].name, word, n)) {
			*has_value = own_options[i].has_value && !word[n];
			return &own_options[i];
		}
	return NULL;
}

/* The options, as typed, that are forwarded to the recorder of each host. */
static int take_options(struct cli_context *ctx, char ***out)
{
	size_t count = 0, n = 0;
	while (ctx->words[count])
		count++;
	char **options = arena_alloc(ctx->arena, (count + 2) * sizeof(char *));
	static char quiet[] = "--quiet";
	if (!options)
		return err_sys(ctx->err, ENOMEM, "cannot parse the options");
	options[n++] = quiet;
	for (size_t i = 1; i < count && &ctx->words[i] != ctx->program && strcmp(ctx->words[i], "--") != 0; i++) {
		char *word = ctx->words[i];
		bool has_value = false;
		if (find_own(word, &has_value))
			i += has_value;
		else if (word[0] == '-' && word[1] != '-' && strlen(word) > 2)
			return cli_usage(ctx, "with --hosts, short options cannot be combined as in '%s'", word);
		else
			options[n++] = word;
	}
	options[n] = NULL;
	*out = options;
	return 0;
}

/* Reads the output lines of a command, at most HOSTS_MAX. */
static size_t take_lines(struct cli_context *ctx, char *const argv[], const char **lines)
{
	CLEANUP(buf_release) struct buf output = BUF_INIT;
	struct launch_command c = { .argv = argv, .fds = { JOB_FD_OURS, JOB_FD_OURS, JOB_FD_OURS } };
	size_t count = 0;
	if (launch_output(&c, -1, &output, NULL))
		return 0;
	char *rest = output.data;
	for (char *line; count < HOSTS_MAX && (line = strsep(&rest, "\n")) && *line;)
		lines[count++] = arena_strdup(ctx->arena, line);
	return count;
}

static int take_names(struct cli_context *ctx, const struct recording_options *o, struct record_hosts *h)
{
	const char **names = arena_alloc(ctx->arena, HOSTS_MAX * sizeof(*names));
	static char scontrol[] = "scontrol", show[] = "show", hostnames[] = "hostnames";
	if (!names)
		return err_sys(ctx->err, ENOMEM, "cannot parse the hosts");
	if (o->hosts.count == 1 && !strcmp(o->hosts.items[0], "slurm")) {
		char *list = getenv("SLURM_JOB_NODELIST");
		char *const argv[] = { scontrol, show, hostnames, list, NULL };
		if (!list)
			return cli_usage(ctx, "--hosts slurm requires a Slurm allocation (salloc, sbatch or srun)");
		h->count = take_lines(ctx, argv, names);
		if (!h->count)
			return err_set(ctx->err, EIO, "'scontrol show hostnames' failed for '%s'", list);
	} else {
		for (; h->count < o->hosts.count && h->count < HOSTS_MAX; h->count++)
			names[h->count] = o->hosts.items[h->count];
	}
	for (size_t i = 0; i < h->count; i++)
		if (!names[i][0] || names[i][0] == '-')
			return cli_usage(ctx, "invalid host '%s'", names[i]);
	h->names = names;
	return 0;
}

int recording_hosts(struct cli_context *ctx, bool is_silent, int *status, struct buf *path)
{
	const struct recording_options *o = ctx->options;
	bool is_slurm = o->hosts.count == 1 && !strcmp(o->hosts.items[0], "slurm");
	const char *shell = o->shell ? o->shell : is_slurm ? SRUN : "ssh -T";
	struct record_hosts h = { .argv = ctx->program, .dir = o->dir, .is_forced = o->is_forced };
	char **words = NULL, **options = NULL;
	int rc = ctx->program || o->is_all_cpus || o->cgroup ? 0 : cli_usage(ctx, "missing program to run");
	h.name = o->name ? o->name : ctx->program ? ctx->program[0] : "hosts";
	if (!rc)
		rc = words_split(shell, ctx->arena, &words, ctx->err);
	if (!rc && !words[0])
		rc = cli_usage(ctx, "--ssh is empty");
	if (!rc)
		rc = take_names(ctx, o, &h);
	if (!rc)
		rc = cli_remote_path(ctx, o->remote, &h.sonde);
	if (!rc)
		rc = take_options(ctx, &options);
	if (rc)
		return rc;
	h.shell = words;
	h.options = options;
	rc = record_hosts(&h, status, path, ctx->err);
	if (rc)
		ctx->exit_code = RECORDING_FAILED;
	else if (!is_silent && !o->is_quiet && (o->is_verbose || isatty(STDERR_FILENO)))
		cli_message("sonde", "recorded %zu hosts in %s", h.count, path->data);
	return rc;
}

int recording_step_begin(struct cli_context *ctx, struct record_step *s, struct record_options *ro)
{
	const struct recording_options *o = ctx->options;
	struct record_hosts h = { .argv = ctx->program,
		.dir = o->dir,
		.is_forced = o->is_forced,
		.name = o->name ? o->name : ctx->program[0] };
	char **words = NULL;
	int rc = words_split(o->shell ? o->shell : SRUN, ctx->arena, &words, ctx->err);
	h.shell = words;
	if (!rc)
		rc = cli_remote_path(ctx, o->remote, &h.sonde);
	if (!rc)
		rc = record_step_begin(s, &h, ctx->err);
	if (rc) {
		record_step_release(s);
		return rc;
	}
	ro->dir = s->run.data;
	ro->probe.is_second = s->local > 0;
	return 0;
}

void recording_step_end(struct record_step *s, int exit_code, struct record_result *result)
{
	struct sonde_err why = SONDE_ERR_INIT;
	if (record_step_end(s, exit_code, &why))
		cli_print_error("sonde", &why);
	buf_reset(&result->path);
	if (!s->task)
		buf_adds(&result->path, s->bundle.data);
	record_step_release(s);
}
