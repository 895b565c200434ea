/*
 * submission: the event that submits a job, and files of jobs: a YAML list, one row per job.
 */
#include "fleet/submission.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/quantity.h"
#include "config/config.h"
#include "launch/job.h"
#include "tune/job-file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SUBJECT_MAX = 128, WORDS_BYTES = 512 };

/* Runs tar with redirected stdin and stdout; on failure err has tar's message. */
static int run_tar(char *const argv[], int in, int out, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int words = memfd_create("sonde-words", MFD_CLOEXEC);
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	char text[WORDS_BYTES] = "";
	int rc;

	spec.argv = argv;
	spec.fds[0] = in;
	spec.fds[1] = out;
	spec.fds[2] = words < 0 ? JOB_FD_NULL : words;
	rc = job_start(&job, &spec, err);
	if (rc == 0)
		rc = job_wait(job, INT64_MAX, err);
	if (rc == 0 && job_status(job) != 0) {
		if (words >= 0 && pread(words, text, sizeof(text) - 1, 0) > 0)
			text[strcspn(text, "\n")] = '\0';
		rc = err_set(err, EIO, "%s", *text ? text : "tar failed");
	}
	job_free(job);
	return rc;
}

static int pack(const char *dir, int out, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *copy = strdup(dir);
	char *argv[] = { (char[]){ "tar" }, (char[]){ "-cz" }, (char[]){ "--exclude-vcs" }, (char[]){ "--sort=name" },
		(char[]){ "-C" }, copy, (char[]){ "." }, NULL };
	int rc = copy ? run_tar(argv, JOB_FD_NULL, out, err) : err_sys(err, ENOMEM, "cannot pack '%s'", dir);

	if (rc < 0)
		err_prefix(err, "cannot pack '%s'", dir);
	return rc;
}

static int unpack(const char *dir, int in, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *copy = strdup(dir);
	char *argv[] = { (char[]){ "tar" }, (char[]){ "-xz" }, (char[]){ "--no-same-owner" }, (char[]){ "-C" }, copy,
		NULL };
	int rc = copy ? run_tar(argv, in, JOB_FD_NULL, err) : err_sys(err, ENOMEM, "cannot unpack the files");

	if (rc < 0)
		err_prefix(err, "cannot unpack the job's files");
	return rc;
}

/* Computes hash and number of chunks of fd. */
static int measure(int fd, struct fleet_files *files, char *chunk, struct sonde_err *err)
{
	struct sha256 hash;
	off_t at = 0;
	ssize_t n;

	sha256_init(&hash);
	while ((n = pread(fd, chunk, FLEET_CHUNK_BYTES, at)) > 0) {
		sha256_add(&hash, chunk, (size_t)n);
		at += n;
	}
	if (n < 0)
		return err_sys(err, errno, "cannot read the archive");
	files->chunks = ((uint64_t)at + FLEET_CHUNK_BYTES - 1) / FLEET_CHUNK_BYTES;
	if (files->chunks > FLEET_CHUNKS_MAX)
		return err_set(err, EFBIG, "the archive is too large (maximum %d MiB)", FLEET_CHUNKS_MAX / 2);
	sha256_text(&hash, files->hash);
	return 0;
}

static int send_chunks(struct fleet_client *client, int fd, const struct fleet_files *files, char *chunk,
		struct sonde_err *err)
{
	char subject[SUBJECT_MAX];
	int rc = 0;

	for (uint64_t i = 0; i < files->chunks && rc == 0; i++) {
		ssize_t n = pread(fd, chunk, FLEET_CHUNK_BYTES, (off_t)(i * FLEET_CHUNK_BYTES));

		snprintf(subject, sizeof(subject), "sonde.files.%s.%llu", files->hash, (unsigned long long)i);
		rc = n > 0 ? fleet_client_put(client, subject, chunk, (size_t)n, err)
			   : err_sys(err, EIO, "cannot read the archive");
	}
	return rc;
}

/* Packs dir and uploads it, without version control directories. -EFBIG: more than 512 MiB. */
static int upload(struct fleet_client *client, const char *dir, struct fleet_files *files, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = memfd_create("sonde-push", MFD_CLOEXEC);
	CLEANUP(cleanup_free) char *chunk = malloc(FLEET_CHUNK_BYTES);
	int rc;

	*files = (struct fleet_files){ 0 };
	if (fd < 0 || !chunk)
		return err_sys(err, errno, "cannot pack '%s'", dir);
	rc = pack(dir, fd, err);
	if (rc == 0)
		rc = measure(fd, files, chunk, err);
	if (rc == 0) {
		char subject[SUBJECT_MAX];

		/* The last chunk is uploaded last. */
		snprintf(subject, sizeof(subject), "sonde.files.%s.%llu", files->hash,
				(unsigned long long)files->chunks - 1);
		rc = fleet_client_has(client, subject, err);
	}
	return rc ? (rc < 0 ? rc : 0) : send_chunks(client, fd, files, chunk, err);
}

/* A download of chunks to a file. */
struct fetch {
	int fd;
	uint64_t chunks, taken;
	void (*tick)(void *arg);
	void *arg;
};

static int on_chunk(void *arg, const struct fleet_message *m)
{
	struct fetch *f = arg;
	const char *dot = strrchr(m->subject, '.');
	unsigned long long i = dot ? strtoull(dot + 1, NULL, 10) : f->chunks;

	f->tick(f->arg);
	if (i >= f->chunks || m->len > FLEET_CHUNK_BYTES)
		return -EBADMSG;
	if (pwrite(f->fd, m->bytes, m->len, (off_t)(i * FLEET_CHUNK_BYTES)) != (ssize_t)m->len)
		return -EIO;
	f->taken++;
	return 0;
}

static int fetch(struct fleet_client *client, const struct fleet_files *files, struct fetch *f, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *chunk = malloc(FLEET_CHUNK_BYTES);
	struct fleet_files got = { 0 };
	char subject[SUBJECT_MAX];
	int rc;

	if (!chunk)
		return err_sys(err, ENOMEM, "cannot fetch the job's files");
	snprintf(subject, sizeof(subject), "sonde.files.%s.*", files->hash);
	rc = fleet_client_read(client, subject, on_chunk, f, err);
	if (rc == 0 && f->taken < f->chunks)
		rc = err_set(err, ENOENT, "the server has removed the job's files");
	if (rc == 0)
		rc = measure(f->fd, &got, chunk, err);
	if (rc == 0 && strcmp(got.hash, files->hash) != 0)
		rc = -EBADMSG;
	return rc == -EBADMSG ? err_set(err, EBADMSG, "checksum mismatch of the job's files") : rc;
}

int fleet_work_open(struct tempdir *w, struct fleet_client *client, const struct fleet_files *files,
		void (*tick)(void *arg), void *arg, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int archive = memfd_create("sonde-files", MFD_CLOEXEC);
	struct fetch f = { .fd = archive, .chunks = files->chunks, .tick = tick, .arg = arg };
	int rc = archive < 0 ? err_sys(err, errno, "cannot fetch the job's files") : fetch(client, files, &f, err);

	if (rc < 0)
		return rc;
	rc = tempdir_make(w, FLEET_WORK, err);
	if (rc == 0 && lseek(archive, 0, SEEK_SET) < 0)
		rc = err_sys(err, errno, "cannot read the archive");
	if (rc == 0)
		rc = unpack(w->path, archive, err);
	if (rc < 0)
		tempdir_release(w);
	return rc;
}

enum { EVENT_BYTES_MAX = 512 << 10, ROWS_MAX = 10000 };

/* "<name>_<mmdd_HHMMSS>_<random>": one token of a NATS subject. */
static int build_id(struct buf *id, const char *name, struct sonde_err *err)
{
	time_t now = time(NULL);
	unsigned short random;
	struct tm tm;
	char when[32];

	if (getrandom(&random, sizeof(random), 0) != sizeof(random) || !localtime_r(&now, &tm))
		return err_sys(err, errno, "cannot create an id");
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
			return err_set(err, EINVAL, "invalid variable '%s' (expected NAME=VALUE)", s->env[*count]);
	return 0;
}

/* Rejects "job.yml -- program", the syntax of sonde train; "env -- program" is valid. */
static int check_order(const struct submission *s, struct sonde_err *err)
{
	const char *dot = s->argv && s->argv[0] ? strrchr(s->argv[0], '.') : NULL;

	if (!dot || (strcmp(dot, ".yml") != 0 && strcmp(dot, ".yaml") != 0))
		return 0;
	err_set(err, EINVAL, "the job's program would be '%s'", s->argv[0]);
	err_hint(err, "to use a training job file: --tune %s", s->argv[0]);
	return -EINVAL;
}

int submission_check(struct submission *s, struct arena *arena, struct sonde_err *err)
{
	size_t words = 0, variables;
	CLEANUP(cleanup_free) char *cwd = s->cwd ? NULL : getcwd(NULL, 0);
	const char *slash;
	int rc = check_env(s, &variables, err);

	if (!s->cwd && !cwd)
		return err_sys(err, errno, "cannot get the working directory");
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
		return err_set(err, EINVAL, "missing program to run");
	if (rc == 0 && (words > FLEET_ARGS_MAX || variables > FLEET_ARGS_MAX))
		return err_set(err, E2BIG, "too many arguments (maximum %d)", FLEET_ARGS_MAX);
	return rc;
}

static void add_needs(const struct submission *s, const struct fleet_files *files, struct json *j)
{
	json_kobject(j, "needs");
	json_kint(j, "cpus", s->cpus);
	json_kuint(j, "memory_bytes", s->memory_bytes);
	if (s->label)
		json_kstr(j, "label", s->label);
	json_end(j);
	if (!files->hash[0])
		return;
	json_kobject(j, "files");
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
	json_karray(&j, "argv");
	for (char *const *word = s->argv; *word; word++)
		json_str(&j, *word);
	json_end(&j);
	json_karray(&j, "env");
	for (const char *const *pair = s->env; pair && *pair; pair++)
		json_str(&j, *pair);
	json_end(&j);
	json_end(&j);
}

int submission_send(const struct submission *s, struct fleet_client *client, struct buf *id, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct fleet_files files = { 0 };
	int rc = build_id(id, s->name, err);

	if (rc == 0 && s->push)
		rc = upload(client, s->push, &files, err);
	describe(s, &files, &text);
	if (rc == 0 && text.len > EVENT_BYTES_MAX)
		rc = err_set(err, E2BIG, "the arguments are too long (maximum 512 KiB)");
	if (rc == 0)
		rc = buf_error(&text);
	return rc < 0 ? rc : fleet_client_publish(client, id->data, "event", text.data, id->data, NULL, err);
}

/* Files of jobs. */

struct row {
	struct submission submission;
	const char **command;
	int64_t times;
};

struct file_reader {
	struct config_reader reader; /* must be first: passed to the functions of the key tables */
	struct submission *rows;
	size_t count;
};

static int parse_environment(struct config_reader *r, yaml_node_t *map, void *into)
{
	struct row *row = into;

	return config_take_environment(r, map, &row->submission.env);
}

static int parse_memory(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct row *row = into;
	const char *text = config_text(node);

	return text && parse_size(text, &row->submission.memory_bytes, NULL) == 0
			? 0
			: config_error(r, node, "'memory' must be a size such as 512M or 16G");
}

static const struct config_key row_keys[] = {
	{ "name", CONFIG_TEXT, offsetof(struct row, submission.name) },
	{ "command", CONFIG_LIST, offsetof(struct row, command) },
	{ "directory", CONFIG_TEXT, offsetof(struct row, submission.cwd) },
	{ "environment", CONFIG_OTHER, .take = parse_environment },
	{ "target_loss", CONFIG_REAL, offsetof(struct row, submission.target_loss) },
	{ "window", CONFIG_WHOLE, offsetof(struct row, submission.window), .min = 1 },
	{ "tune", CONFIG_TEXT, offsetof(struct row, submission.plan) },
	{ "push", CONFIG_TEXT, offsetof(struct row, submission.push) },
	{ "cpus", CONFIG_WHOLE, offsetof(struct row, submission.cpus), .min = 1 },
	{ "memory", CONFIG_OTHER, .take = parse_memory },
	{ "label", CONFIG_TEXT, offsetof(struct row, submission.label) },
	{ "times", CONFIG_WHOLE, offsetof(struct row, times), .min = 1 },
	{ NULL },
};

static int parse_row(struct file_reader *f, yaml_node_t *node)
{
	struct config_reader *r = &f->reader;
	struct row row = { .submission = SUBMISSION_INIT, .times = 1 };
	int rc = config_take_map(r, node, row_keys, "a job", &row);

	if (rc < 0)
		return rc;
	if (row.submission.window > FLEET_WINDOW_MAX)
		return config_error(r, node, "'window' must be at most %d", FLEET_WINDOW_MAX);
	row.submission.argv = (char *const *)(uintptr_t)row.command;
	rc = submission_check(&row.submission, r->arena, r->err);
	if (rc < 0) {
		err_prefix(r->err, "%s:%zu", r->path, config_line(node));
		return rc;
	}
	for (int64_t i = 0; i < row.times; i++) {
		if (f->count == ROWS_MAX)
			return config_error(r, node, "too many jobs (maximum %d)", ROWS_MAX);
		f->rows[f->count++] = row.submission;
	}
	return 0;
}

static int parse_document(struct config_reader *r, yaml_node_t *root)
{
	struct file_reader *f = (struct file_reader *)r;
	yaml_node_t *node;
	int rc = 0;

	if (root->type != YAML_SEQUENCE_NODE)
		return config_error(r, root, "a job list must be a list: '- {name: x, command: [program, argument]}'");
	f->rows = arena_alloc(r->arena, ROWS_MAX * sizeof(*f->rows));
	if (!f->rows)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; rc == 0 && (node = config_item(r, root, i)); i++)
		rc = parse_row(f, node);
	return rc == 0 && !f->count ? config_error(r, root, "no jobs found") : rc;
}

int submission_load(const char *path, struct submission **out, size_t *count, struct arena *arena,
		struct sonde_err *err)
{
	struct file_reader f = { .reader = { .path = path, .arena = arena, .err = err, .what = "a job" } };
	int rc = config_load(&f.reader, parse_document);

	*out = f.rows;
	*count = f.count;
	return rc;
}
