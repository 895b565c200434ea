#include "tune/launcher.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/shell-words.h"

#include <jansson.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE_MAX = 4096, WORDS_MAX = 64, OWN_WORDS_MAX = 16 };

#define USAGE_FILE "usage.json"
#define ALIVE_FILE "alive"
#define BEAT_NS INT64_C(2000000000)

struct tune_launcher_kind {
	const char *name;
	/* Its program and fixed arguments; {name} is replaced by the trial's name. */
	const char *const words[OWN_WORDS_MAX];
	/*
	 * On the remote side: the program that cancels a job, and the variable with the job's id. If the variable is
	 * set here too, trials are steps of an enclosing job, which must not be cancelled.
	 */
	const char *cancel, *job;
};

static const struct tune_launcher_kind kinds[] = {
	/* One task on one node, no input. */
	{ "slurm", { "srun", "-Q", "-N1", "-n1", "--mpi=none", "--input=none", "--job-name={name}" }, "scancel",
			"SLURM_JOB_ID" },
};

static const struct tune_launcher_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

int tune_launcher_parse(struct tune_launcher *l, const char *text, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	size_t count = 0;
	char **words;
	int rc = words_split(text, arena, &words, err);

	if (rc < 0)
		return rc;
	l->kind = words[0] ? find_kind(words[0]) : NULL;
	if (!l->kind)
		return err_set(err, EINVAL, "unknown launcher '%s' (supported: slurm)", text);
	l->options = words + 1;
	while (l->options[count])
		count++;
	if (count > WORDS_MAX)
		return err_set(err, E2BIG, "too many launcher arguments (maximum %d)", WORDS_MAX);
	rc = fs_prefix(&path, err);
	buf_adds(&path, "/libexec/sonde/sonde-trial");
	l->trial = arena_strdup(arena, path.data);
	return rc < 0 ? rc : l->trial ? 0 : err_sys(err, ENOMEM, "cannot find '%s'", path.data);
}

static char *own_word(struct tune_run *r, const char *word)
{
	const char *hole = strstr(word, "{name}");

	if (!hole)
		return arena_strdup(&r->arena, word);
	return arena_printf(&r->arena, "%.*ssonde-%.40s-%" PRIu64, (int)(hole - word), word, r->study->name, r->id);
}

void tune_launcher_beat(struct tune_run *r)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int64_t now_ns = clock_mono_ns();
	char text[32];
	int n;

	if (!r->study->launcher || (r->beat_ns && now_ns - r->beat_ns < BEAT_NS))
		return;
	r->beat_ns = now_ns;
	buf_addf(&path, "%s/" ALIVE_FILE, r->dir);
	n = snprintf(text, sizeof(text), "%" PRId64 "\n", now_ns);
	fs_replace_file(AT_FDCWD, path.data, text, (size_t)n, NULL);
}

char **tune_launcher_words(struct tune_run *r, char *const argv[])
{
	const struct tune_launcher *l = r->study->launcher;
	const char *usage = arena_printf(&r->arena, "%s/" USAGE_FILE, r->dir);
	size_t count = 0, n = 0;
	char **out;

	if (!usage)
		return NULL;
	unlink(usage); /* left by the prepare step */
	tune_launcher_beat(r);
	while (argv[count])
		count++;
	out = arena_alloc(&r->arena, (count + OWN_WORDS_MAX + WORDS_MAX + 8) * sizeof(*out));
	if (!out)
		return NULL;
	for (size_t i = 0; i < OWN_WORDS_MAX && l->kind->words[i]; i++)
		out[n++] = own_word(r, l->kind->words[i]);
	for (char **word = l->options; *word; word++)
		out[n++] = *word;
	out[n++] = arena_strdup(&r->arena, l->trial);
	out[n++] = arena_strdup(&r->arena, usage);
	out[n++] = arena_printf(&r->arena, "%s/" ALIVE_FILE, r->dir);
	out[n++] = arena_strdup(&r->arena, getenv(l->kind->job) ? "-" : l->kind->cancel);
	out[n++] = arena_strdup(&r->arena, l->kind->job);
	out[n++] = arena_printf(&r->arena, "%" PRId64, TUNE_ALIVE_NS);
	out[n++] = arena_printf(&r->arena, "%" PRId64, r->study->timeout_ns);
	for (size_t i = 0; i < n; i++)
		if (!out[i])
			return NULL;
	memcpy(out + n, argv, (count + 1) * sizeof(*out));
	return out;
}

static int64_t number_of(const json_t *root, const char *key)
{
	const json_t *value = json_object_get(root, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

bool tune_launcher_poll(struct tune_run *r, struct job_usage *usage, int *status)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	json_t *root;
	bool is_there;

	buf_addf(&path, "%s/" USAGE_FILE, r->dir);
	if (fs_read_file(AT_FDCWD, path.data, USAGE_MAX, &text, NULL) < 0)
		return false;
	root = json_loadb(text.data, text.len, 0, NULL);
	is_there = json_is_integer(json_object_get(root, "status"));
	if (is_there) {
		*status = (int)number_of(root, "status");
		usage->wall_ns = number_of(root, "wall_ns");
		usage->user_ns = number_of(root, "user_ns");
		usage->system_ns = number_of(root, "system_ns");
		usage->max_rss_bytes = number_of(root, "max_rss_bytes");
		r->is_timed_out = json_is_true(json_object_get(root, "is_timed_out"));
	}
	json_decref(root);
	return is_there;
}
