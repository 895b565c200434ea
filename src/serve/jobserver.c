#include "serve/jobserver.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREATED 201
#define LINE_BYTES_MAX 16384

/* Returns a parameter of the body, else of the query; NULL if neither has it. */
static int parameter(const struct http_request *r, const char *name, struct buf *room, const char **text,
		struct sonde_err *err)
{
	bool is_there;
	int rc = form_field(http_request_body(r), name, room, &is_there, err);

	*text = is_there ? room->data : http_request_arg(r, name);
	return rc;
}

/* NAME of /job/NAME/buildWithParameters, with an optional trailing slash. */
static int build_name(const char *path, struct buf *name, struct sonde_err *err)
{
	static const char before[] = "/job/", after[] = "/buildWithParameters";
	const char *from = path + sizeof(before) - 1, *slash = strchr(from, '/');
	size_t n = slash ? strlen(slash) : 0;

	if (n && slash[n - 1] == '/')
		n--;
	if (!slash || slash == from || n != sizeof(after) - 1 || strncmp(slash, after, n) != 0)
		return err_set(err, ENOENT, "'%s' not found", path);
	buf_add(name, from, (size_t)(slash - from));
	return buf_error(name);
}

static int build(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT, app = BUF_INIT, args = BUF_INIT, docker = BUF_INIT;
	struct jobs_request request = { .name = NULL };
	struct json j;
	unsigned number;
	int rc = build_name(http_request_path(r), &name, err);

	request.name = name.data;
	if (rc == 0)
		rc = parameter(r, "app_name", &app, &request.app_name, err);
	if (rc == 0)
		rc = parameter(r, "app_args", &args, &request.app_args, err);
	if (rc == 0)
		rc = parameter(r, "app_docker_args", &docker, &request.app_docker_args, err);
	if (rc == 0)
		rc = jobs_submit(arg, &request, &number, err);
	if (rc < 0)
		return rc;
	snprintf(reply->place, sizeof(reply->place), "/queue/item/%u/", number);
	reply->status = CREATED;
	reply->location = reply->place;
	json_init(&j, &reply->body, false);
	return jobs_show(arg, number, &j, err);
}

/* The path from the job number on: N, N/, N/word, N/word/name. */
struct target {
	unsigned number;
	char word[32];
	const char *name; /* NULL: none */
};

static int parse_target(const char *path, const char *prefix, struct target *t, struct sonde_err *err)
{
	const char *from = path + strlen(prefix), *name;
	char *end;
	unsigned long n = strtoul(from, &end, 10);
	size_t bytes;

	*t = (struct target){ .number = (unsigned)n };
	if (*from < '1' || *from > '9' || n > 100000000 || (*end && *end != '/'))
		return err_set(err, ENOENT, "'%s' not found", path);
	end += *end == '/';
	name = strchr(end, '/');
	bytes = name ? (size_t)(name - end) : strlen(end);
	if (bytes >= sizeof(t->word))
		return err_set(err, ENOENT, "'%s' not found", path);
	memcpy(t->word, end, bytes);
	t->name = name && name[1] ? name + 1 : NULL;
	return 0;
}

static int show(struct jobs *jobs, const struct target *t, struct http_reply *reply, struct sonde_err *err)
{
	struct json j;

	json_init(&j, &reply->body, false);
	return jobs_show(jobs, t->number, &j, err);
}

/* The growing log as server-sent events; ends with the job. */
struct follower {
	struct jobs *jobs;
	unsigned number;
	int64_t at;
};

static int follow(void *arg, struct buf *out)
{
	struct follower *f = arg;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool is_over = false;
	const char *line = "";

	if (jobs_log_from(f->jobs, f->number, f->at, &text, &is_over, NULL) < 0 || is_over)
		return -ENODATA;
	/* Send complete lines only, unless LINE_BYTES_MAX or more are pending. */
	while (text.len && text.len < LINE_BYTES_MAX && text.data[text.len - 1] != '\n')
		text.data[--text.len] = '\0';
	f->at += (int64_t)text.len;
	for (line = text.data; *line;) {
		size_t n = strcspn(line, "\n");

		buf_addf(out, "data: %.*s\n\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	return 0;
}

static int show_log(struct jobs *jobs, const struct target *t, struct http_reply *reply, struct sonde_err *err)
{
	struct follower *f;

	if (t->name && strcmp(t->name, "stream") == 0) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return err_sys(err, ENOMEM, "cannot follow the log");
		*f = (struct follower){ .jobs = jobs, .number = t->number };
		reply->stream = (struct http_stream){ .next = follow, .free = free, .arg = f };
		reply->type = "text/event-stream";
		return 0;
	}
	reply->type = "text/plain; charset=utf-8";
	return jobs_log(jobs, t->number, &reply->body, err);
}

static int show_artifacts(struct jobs *jobs, const struct target *t, struct http_reply *reply, struct sonde_err *err)
{
	const char *ending = t->name ? strrchr(t->name, '.') : NULL;
	struct json j;

	if (t->name) {
		reply->type = ending && strcmp(ending, ".json") == 0 ? "application/json" : "application/octet-stream";
		return jobs_artifact(jobs, t->number, t->name, &reply->body, err);
	}
	json_init(&j, &reply->body, false);
	return jobs_artifacts(jobs, t->number, &j, err);
}

static const struct {
	const char *word;
	int (*show)(struct jobs *, const struct target *, struct http_reply *, struct sonde_err *);
} views[] = { { "", show }, { "log", show_log }, { "artifacts", show_artifacts } };

static int get_job(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	struct target t;
	int rc = parse_target(http_request_path(r), "/jobs/", &t, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (strcmp(views[i].word, t.word) == 0)
			return views[i].show(arg, &t, reply, err);
	return err_set(err, ENOENT, "a job has log and artifacts, not '%s'", t.word);
}

static int get_item(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	struct target t;
	int rc = parse_target(http_request_path(r), "/queue/item/", &t, err);

	return rc < 0 ? rc : show(arg, &t, reply, err);
}

static int get_jobs(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	struct json j;

	(void)r;
	(void)err;
	json_init(&j, &reply->body, false);
	jobs_list(arg, &j);
	return 0;
}

static int post_job(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	struct target t;
	int rc = parse_target(http_request_path(r), "/jobs/", &t, err);

	if (rc == 0 && strcmp(t.word, "cancel") != 0)
		rc = err_set(err, ENOENT, "a job can be cancelled, not '%s'", t.word);
	if (rc == 0)
		rc = jobs_cancel(arg, t.number, err);
	return rc < 0 ? rc : show(arg, &t, reply, err);
}

static const struct http_endpoint endpoints[] = {
	{ "POST", "/job/", build, HTTP_BELOW },
	{ "GET", "/queue/item/", get_item, HTTP_BELOW },
	{ "GET", "/jobs", get_jobs, 0 },
	{ "GET", "/jobs/", get_job, HTTP_BELOW },
	{ "POST", "/jobs/", post_job, HTTP_BELOW },
	{ NULL },
};

int jobserver_start(struct http_server **out, struct jobs *jobs, const struct http_server_options *options,
		struct sonde_err *err)
{
	struct http_server_options o = *options;

	o.endpoints = endpoints;
	o.arg = jobs;
	return http_server_start(out, &o, err);
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes %XX and '+'; a NUL byte is an error. */
static int decode(const char *text, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		int high, low;

		if (text[i] != '%') {
			buf_addc(out, text[i] == '+' ? ' ' : text[i]);
			continue;
		}
		high = i + 2 < n ? digit(text[i + 1]) : -1;
		low = i + 2 < n ? digit(text[i + 2]) : -1;
		if (high < 0 || low < 0 || !(high | low))
			return -EINVAL;
		buf_addc(out, (char)(high << 4 | low));
		i += 2;
	}
	return 0;
}

int form_field(const struct buf *body, const char *name, struct buf *out, bool *is_there, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const char *at = body->data, *end = body->data + body->len;
	int rc = 0;

	*is_there = false;
	while (at < end && rc == 0) {
		const char *next = memchr(at, '&', (size_t)(end - at));
		const char *stop = next ? next : end, *equals = memchr(at, '=', (size_t)(stop - at));

		buf_reset(&key);
		rc = decode(at, (size_t)((equals ? equals : stop) - at), &key);
		if (rc == 0 && strcmp(key.data, name) == 0) {
			*is_there = true;
			if (equals)
				rc = decode(equals + 1, (size_t)(stop - equals - 1), out);
			break;
		}
		at = stop + 1;
	}
	return rc < 0 ? err_set(err, EINVAL, "the form is malformed") : buf_error(out);
}
