#include "cli/submission.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "fleet/upload.h"
#include "tune/job-file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { EVENT_BYTES_MAX = 512 << 10 };

/* "<name>_<mmdd_HHMMSS>_<random>": one token of a NATS subject. */
static int make_id(struct buf *id, const char *name, struct sonde_err *err)
{
	time_t now = time(NULL);
	unsigned short random;
	struct tm tm;
	char when[32];

	if (getrandom(&random, sizeof(random), 0) != sizeof(random) || !localtime_r(&now, &tm))
		return err_sys(err, errno, "cannot make an id");
	strftime(when, sizeof(when), "%m%d_%H%M%S", &tm);
	fs_safe_name(id, name, 32);
	for (char *c = id->data; *c; c++)
		*c = *c == '.' ? '_' : *c;
	buf_addf(id, "_%s_%04x", when, random);
	return 0;
}

/* Wraps the program in the command that tunes it, with the text of the job file: agents may run on other hosts. */
static int wrap(struct submission *s, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, prefix = BUF_INIT;
	struct train_plan *plan = arena_alloc(arena, sizeof(*plan));
	size_t count = 0, n = 0;
	char **argv;
	int rc = plan ? fs_read_file(AT_FDCWD, s->plan, 256 << 10, &text, err) : err_sys(err, ENOMEM, "cannot submit");

	if (rc == 0)
		rc = train_plan_parse(plan, s->plan, text.data, text.len, arena, err);
	if (rc == 0)
		rc = fs_prefix(&prefix, err);
	if (rc < 0)
		return rc;
	while (s->argv && s->argv[count])
		count++;
	argv = arena_alloc(arena, (count + 8) * sizeof(*argv));
	if (!argv)
		return err_sys(err, ENOMEM, "cannot submit");
	argv[n++] = arena_printf(arena, "%s/bin/sonde", prefix.data);
	argv[n++] = arena_strdup(arena, "train");
	if (!isnan(s->target_loss)) {
		argv[n++] = arena_strdup(arena, "--target-loss");
		argv[n++] = arena_printf(arena, "%.17g", s->target_loss);
	}
	argv[n++] = arena_strdup(arena, "--plan");
	argv[n++] = arena_copy(arena, text.data, text.len);
	argv[n++] = arena_strdup(arena, "--");
	for (size_t i = 0; i < count; i++)
		argv[n + i] = arena_strdup(arena, s->argv[i]);
	for (size_t i = 0; i < n + count; i++)
		if (!argv[i])
			return err_sys(err, ENOMEM, "cannot submit");
	if (!s->name)
		s->name = plan->name;
	if (!count && plan->command)
		n--; /* the program is in the job file: no "--" */
	argv[n + count] = NULL;
	s->argv = argv;
	s->target_loss = NAN; /* the tuner checks the target itself */
	return 0;
}

static int check_env(const struct submission *s, size_t *count, struct sonde_err *err)
{
	for (*count = 0; s->env && s->env[*count]; ++*count)
		if (!strchr(s->env[*count], '=') || s->env[*count][0] == '=')
			return err_set(err, EINVAL, "'%s' is not NAME=VALUE", s->env[*count]);
	return 0;
}

/* Rejects "job.yml -- program", the syntax of sonde train; "env -- program" is valid. */
static int check_order(const struct submission *s, struct sonde_err *err)
{
	const char *dot = s->argv && s->argv[0] ? strrchr(s->argv[0], '.') : NULL;

	if (!dot || (strcmp(dot, ".yml") != 0 && strcmp(dot, ".yaml") != 0))
		return 0;
	err_set(err, EINVAL, "the job's program would be '%s'", s->argv[0]);
	err_hint(err, "a job file is given by --tune %s", s->argv[0]);
	return -EINVAL;
}

int submission_check(struct submission *s, struct arena *arena, struct sonde_err *err)
{
	size_t words = 0, variables;
	CLEANUP(cleanup_free) char *cwd = s->cwd ? NULL : getcwd(NULL, 0);
	const char *slash;
	int rc = check_env(s, &variables, err);

	if (!s->cwd && !cwd)
		return err_sys(err, errno, "cannot tell the working directory");
	if (!s->cwd)
		s->cwd = arena_strdup(arena, cwd);
	if (rc == 0)
		rc = check_order(s, err);
	if (rc == 0 && s->plan)
		rc = wrap(s, arena, err);
	if (rc == 0 && s->argv && s->argv[0] && !s->name) {
		slash = strrchr(s->argv[0], '/');
		s->name = slash ? slash + 1 : s->argv[0];
	}
	while (rc == 0 && s->argv && s->argv[words])
		words++;
	if (rc == 0 && !words)
		return err_set(err, EINVAL, "the job has no program to run");
	if (rc == 0 && (words > FLEET_ARGS_MAX || variables > FLEET_ARGS_MAX))
		return err_set(err, E2BIG, "the job has more than %d words", FLEET_ARGS_MAX);
	return rc;
}

static void add_needs(const struct submission *s, const struct fleet_files *files, struct json *j)
{
	json_key(j, "needs");
	json_object(j);
	json_kint(j, "cpus", s->cpus);
	json_kuint(j, "memory_bytes", s->memory_bytes);
	if (s->label)
		json_kstr(j, "label", s->label);
	json_end(j);
	if (!files->hash[0])
		return;
	json_key(j, "files");
	json_object(j);
	json_kstr(j, "hash", files->hash);
	json_kuint(j, "chunks", files->chunks);
	json_end(j);
}

static void describe(const struct submission *s, const struct fleet_files *files, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	json_kstr(&j, "event", "submit");
	json_kstr(&j, "name", s->name);
	json_kstr(&j, "cwd", s->cwd);
	json_kint(&j, "time_ns", clock_real_ns());
	if (!isnan(s->target_loss)) {
		json_kreal(&j, "target_loss", s->target_loss);
		json_kint(&j, "window", s->window);
	}
	add_needs(s, files, &j);
	json_key(&j, "argv");
	json_array(&j);
	for (char *const *word = s->argv; *word; word++)
		json_str(&j, *word);
	json_end(&j);
	json_key(&j, "env");
	json_array(&j);
	for (const char *const *pair = s->env; pair && *pair; pair++)
		json_str(&j, *pair);
	json_end(&j);
	json_end(&j);
}

int submission_send(const struct submission *s, struct fleet_client *client, struct buf *id, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct fleet_files files = { 0 };
	int rc = make_id(id, s->name, err);

	if (rc == 0 && s->push)
		rc = fleet_push(client, s->push, &files, err);
	describe(s, &files, &text);
	if (rc == 0 && text.len > EVENT_BYTES_MAX)
		rc = err_set(err, E2BIG, "the job has more than 512 KiB of words");
	if (rc == 0)
		rc = buf_error(&text);
	return rc < 0 ? rc : fleet_client_publish(client, id->data, "event", text.data, id->data, NULL, err);
}
