/* Jobs on disk. */
#include <jansson.h>

#include "session/jobs-private.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/vec.h"
#include "record/ringdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)1 << 16)

static const char *const words[] = { "queued", "running", "done", "failed", "cancelled" };

const char *jobs_state_word(enum state state)
{
	return words[state];
}

void jobs_entry_save(const char *dir, const struct entry *e)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	sonde_json_object(&j);
	json_kstr(&j, "job", e->name);
	json_kstr(&j, "app_name", e->app_name);
	json_kstr(&j, "app_args", e->app_args);
	json_kstr(&j, "app_docker_args", e->app_docker_args);
	json_kstr(&j, "state", words[e->state]);
	json_kint(&j, "submitted_real_ns", e->submitted_real_ns);
	json_kint(&j, "exit_code", e->exit_code);
	json_kstr(&j, "error", e->err.text);
	json_kbool(&j, "has_unused_mounts", e->has_unused_mounts);
	json_end(&j);
	buf_addf(&path, "%s/%u/job.json", dir, e->number);
	fs_replace_file(AT_FDCWD, path.data, text.data, text.len, NULL);
}

static char *text_of(const json_t *root, const char *key)
{
	const char *text = json_string_value(json_object_get(root, key));

	return strdup(text ? text : "");
}

static struct entry *parse(const json_t *root, unsigned number)
{
	struct entry *e = calloc(1, sizeof(*e));
	const char *state = json_string_value(json_object_get(root, "state"));
	const char *error = json_string_value(json_object_get(root, "error"));

	if (!e)
		return NULL;
	e->number = number;
	e->name = text_of(root, "job");
	e->app_name = text_of(root, "app_name");
	e->app_args = text_of(root, "app_args");
	e->app_docker_args = text_of(root, "app_docker_args");
	e->submitted_real_ns = json_integer_value(json_object_get(root, "submitted_real_ns"));
	e->exit_code = (int)json_integer_value(json_object_get(root, "exit_code"));
	e->has_unused_mounts = json_is_true(json_object_get(root, "has_unused_mounts"));
	snprintf(e->err.text, sizeof(e->err.text), "%s", error ? error : "");
	e->state = FAILED;
	for (size_t i = 0; state && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], state) == 0)
			e->state = (enum state)i;
	if (e->name && e->app_name && e->app_args && e->app_docker_args)
		return e;
	jobs_entry_free(e);
	return NULL;
}

static struct entry *load(const char *dir, unsigned number)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	struct entry *e;
	json_t *root;

	buf_addf(&path, "%s/%u/job.json", dir, number);
	if (fs_read_file(AT_FDCWD, path.data, FILE_BYTES_MAX, &text, NULL) < 0)
		return NULL;
	root = json_loads(text.data, 0, NULL);
	e = json_is_object(root) ? parse(root, number) : NULL;
	json_decref(root);
	if (e && (e->state == RUNNING || e->state == QUEUED)) {
		e->state = QUEUED;
		buf_reset(&path);
		buf_addf(&path, "%s/%u/run", dir, number);
		writers_remove_left(path.data);
		fs_remove_tree(AT_FDCWD, path.data);
	}
	return e;
}

static int by_number(const void *a, const void *b)
{
	unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;

	return (one > other) - (one < other);
}

static bool is_number(const char *name)
{
	return *name >= '1' && *name <= '9' && strlen(name) == strspn(name, "0123456789") && strlen(name) < 8;
}

/* The job numbers of a directory, sorted. */
static unsigned *list_numbers(const char *dir, size_t *count)
{
	DIR *d = opendir(dir);
	unsigned *numbers = NULL;
	size_t cap = 0;

	*count = 0;
	for (struct dirent *f; d && (f = readdir(d));) {
		if (!is_number(f->d_name))
			continue;
		if (!VEC_GROW(numbers, cap, *count + 1, VEC_MAX))
			break;
		numbers[(*count)++] = (unsigned)strtoul(f->d_name, NULL, 10);
	}
	if (d)
		closedir(d);
	if (*count)
		qsort(numbers, *count, sizeof(*numbers), by_number);
	return numbers;
}

struct entry *jobs_entries_load(const char *dir)
{
	size_t count;
	CLEANUP(cleanup_free) unsigned *numbers = list_numbers(dir, &count);
	struct entry *first = NULL, **end = &first;

	for (size_t i = count > JOBS_MAX ? count - JOBS_MAX : 0; i < count; i++) {
		*end = load(dir, numbers[i]);
		if (*end)
			end = &(*end)->next;
	}
	return first;
}

static int check_number(struct jobs *q, unsigned number, struct sonde_err *err)
{
	pthread_mutex_lock(&q->lock);
	bool is_there = jobs_find(q, number) != NULL;
	pthread_mutex_unlock(&q->lock);
	return is_there ? 0 : jobs_not_found(number, err);
}

int jobs_log(struct jobs *q, unsigned number, struct buf *out, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = check_number(q, number, err);

	if (rc < 0)
		return rc;
	jobs_path(q, number, "log", &path);
	if (access(path.data, F_OK) < 0)
		return 0; /* it is still queued */
	return fs_read_file(AT_FDCWD, path.data, JOBS_FILE_BYTES_MAX, out, err);
}

int jobs_log_from(struct jobs *q, unsigned number, int64_t from, struct buf *out, bool *is_over, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(cleanup_fd) int fd = -1;
	struct entry *e;
	char text[16384];
	ssize_t n;

	pthread_mutex_lock(&q->lock);
	e = jobs_find(q, number);
	*is_over = e && e->state != QUEUED && e->state != RUNNING;
	pthread_mutex_unlock(&q->lock);
	if (!e)
		return jobs_not_found(number, err);
	jobs_path(q, number, "log", &path);
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	n = fd < 0 ? 0 : pread(fd, text, sizeof(text), from);
	if (n > 0)
		buf_add(out, text, (size_t)n);
	*is_over = *is_over && n <= 0;
	return 0;
}

static bool is_file(int dirfd, const char *name)
{
	struct stat st;

	return *name != '.' && !strchr(name, '/') && !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISREG(st.st_mode);
}

/* Returns a descriptor of its run directory, or -errno. */
static int open_run(struct jobs *q, unsigned number, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = check_number(q, number, err), fd;

	if (rc < 0)
		return rc;
	jobs_path(q, number, "run", &path);
	fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? err_set(err, ENOENT, "job %u has no run yet", number) : fd;
}

int jobs_artifacts(struct jobs *q, unsigned number, struct json *out, struct sonde_err *err)
{
	int fd = open_run(q, number, err);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd < 0)
		return fd;
	if (!dir) {
		close(fd);
		return err_sys(err, ENOMEM, "cannot list the files of job %u", number);
	}
	json_array(out);
	for (struct dirent *d; (d = readdir(dir));)
		if (is_file(fd, d->d_name))
			json_str(out, d->d_name);
	json_end(out);
	closedir(dir);
	return 0;
}

int jobs_artifact(struct jobs *q, unsigned number, const char *name, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int dir = open_run(q, number, err), fd = -1;
	char path[32];
	struct stat st;

	if (dir < 0)
		return dir;
	/* Check the open file, not the name: the application may replace it by a link. */
	if (*name != '.' && !strchr(name, '/'))
		fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(err, ENOENT, "job %u has no file of that name", number);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fs_read_file(AT_FDCWD, path, JOBS_FILE_BYTES_MAX, out, err);
}
