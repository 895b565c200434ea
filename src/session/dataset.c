#include "session/dataset.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/transfer.h"
#include "session/sigv4.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SAGE_ENDPOINT "https://storage.sagecontinuum.org/api/v1/objects"
#define TRIES 3

static const char *value_of(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static const char *behind(const char *source, const char *scheme)
{
	size_t n = strlen(scheme);

	return strncmp(source, scheme, n) == 0 && source[n] ? source + n : NULL;
}

/* The first lines of a request: the URL and the credentials. */

static int ask_web(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err)
{
	(void)rest;
	(void)err;
	buf_addf(out, "GET %s\n", d->source);
	return 0;
}

static void host_of(const char *url, char *host, size_t size)
{
	const char *from = strstr(url, "://");

	from = from ? from + 3 : url;
	snprintf(host, size, "%.*s", (int)strcspn(from, "/"), from);
}

static void now_text(char text[20])
{
	time_t now = time(NULL);
	struct tm at;

	gmtime_r(&now, &at);
	strftime(text, 20, "%Y%m%dT%H%M%SZ", &at);
}

static int ask_s3(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT, usual = BUF_INIT;
	const char *region = value_of("AWS_REGION") ? value_of("AWS_REGION") : value_of("AWS_DEFAULT_REGION");
	const char *endpoint = d->endpoint ? d->endpoint : value_of("AWS_ENDPOINT_URL");
	struct sigv4_key key = { value_of("AWS_ACCESS_KEY_ID"), value_of("AWS_SECRET_ACCESS_KEY"),
		value_of("AWS_SESSION_TOKEN"), region ? region : "us-east-1", "s3" };
	struct sigv4_request r;
	char host[256], when[20];
	size_t n;

	if (!strchr(rest, '/') || !strchr(rest, '/')[1])
		return err_set(err, EINVAL, "'%s' is not s3://BUCKET/KEY", d->source);
	buf_addf(&usual, "https://s3.%s.amazonaws.com", key.region);
	endpoint = endpoint ? endpoint : usual.data;
	n = strlen(endpoint);
	while (n && endpoint[n - 1] == '/')
		n--;
	buf_addf(&path, "/%s", rest);
	buf_addf(out, "GET %.*s", (int)n, endpoint);
	sigv4_encode(out, path.data, true);
	buf_addc(out, '\n');
	if (!key.id || !key.secret)
		return 0; /* it may be a public bucket */
	host_of(endpoint, host, sizeof(host));
	now_text(when);
	r = (struct sigv4_request){ host, path.data, when };
	sigv4_headers(out, &key, &r);
	return 0;
}

static int ask_sage(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err)
{
	const char *endpoint = d->endpoint ? d->endpoint : value_of("SAGE_ENDPOINT_URL");
	const char *token = value_of("SAGE_TOKEN");

	(void)err;
	buf_addf(out, "GET %s/", endpoint ? endpoint : SAGE_ENDPOINT);
	sigv4_encode(out, rest, true);
	buf_addc(out, '\n');
	if (token)
		buf_addf(out, "header Authorization: sage %s\n", token);
	return 0;
}

static const struct {
	const char *scheme;
	int (*ask)(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err);
} schemes[] = { { "file:", NULL }, { "http://", ask_web }, { "https://", ask_web }, { "s3://", ask_s3 },
	{ "sage://", ask_sage } };

#define SCHEMES (sizeof(schemes) / sizeof(schemes[0]))

static size_t scheme_of(const struct session_dataset *d)
{
	size_t i = 0;

	while (i < SCHEMES && !behind(d->source, schemes[i].scheme))
		i++;
	return strpbrk(d->source, "\r\n") ? SCHEMES : i;
}

int dataset_check(const struct session_dataset *d, struct sonde_err *err)
{
	return scheme_of(d) < SCHEMES ? 0
				      : err_set(err, EINVAL,
							"a dataset is file:PATH, http(s)://..., "
							"s3://BUCKET/KEY or sage://BUCKET/PATH");
}

/* The cache. */

static int cache_dir(struct buf *dir, const struct session_dataset *d, struct sonde_err *err)
{
	const char *cache = value_of("XDG_CACHE_HOME"), *home = value_of("HOME");
	char name[SHA256_TEXT_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, d->source, strlen(d->source));
	if (d->endpoint)
		sha256_add(&s, d->endpoint, strlen(d->endpoint));
	sha256_text(&s, name);
	if (cache)
		buf_addf(dir, "%s/sonde/datasets/%s", cache, name);
	else
		buf_addf(dir, "%s/.cache/sonde/datasets/%s", home ? home : "/tmp", name);
	return fs_mkdir_p(dir->data, 0700, err);
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
}

/* One attempt; requests only the bytes that are missing. */
static int fetch_once(const struct session_dataset *d, size_t scheme, const char *part, struct transfer_answer *answer,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT;
	int64_t have = size_of(part);
	int rc = schemes[scheme].ask(&request, d, behind(d->source, schemes[scheme].scheme), err);

	if (rc < 0)
		return rc;
	buf_addf(&request, "output %s\n", part);
	if (have)
		buf_addf(&request, "from %lld\n", (long long)have);
	buf_addc(&request, '\n');
	return transfer_run(&request, answer, err);
}

static int judge(const struct session_dataset *d, const struct transfer_answer *a, const char *part,
		struct sonde_err *err)
{
	if (a->status == 401 || a->status == 403)
		return err_set(err, EACCES, "cannot fetch '%s': the server refuses us (%ld)", d->source, a->status);
	if (a->status == 404)
		return err_set(err, ENOENT, "cannot fetch '%s': it is not there", d->source);
	if (a->status / 100 != 2 && a->status != 416)
		return err_set(err, EIO, "cannot fetch '%s': the server answers %ld", d->source, a->status);
	if (*a->error || (a->whole >= 0 && size_of(part) < a->whole))
		return err_set(err, EAGAIN, "cannot fetch '%s': %s", d->source, *a->error ? a->error : "it broke off");
	return 0;
}

/* Restart from zero if the server does not support ranges, or the range is not satisfiable. */
static bool must_begin_anew(const struct transfer_answer *a, int64_t had_bytes)
{
	return had_bytes && (a->status == 416 || a->status == 200 || a->whole == -2);
}

static int fetch(const struct session_dataset *d, size_t scheme, const char *part, struct sonde_err *err)
{
	int rc = -EAGAIN;

	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		struct transfer_answer answer = { .whole = -1 };
		int64_t had_bytes = size_of(part);

		rc = fetch_once(d, scheme, part, &answer, err);
		if (rc == 0 && must_begin_anew(&answer, had_bytes)) {
			unlink(part);
			rc = err_set(err, EAGAIN, "cannot fetch '%s': it has changed meanwhile", d->source);
		} else if (rc == 0) {
			rc = judge(d, &answer, part, err);
		}
	}
	return rc;
}

static int check_digest(const struct session_dataset *d, const char *path, char sha256[SHA256_TEXT_BYTES],
		struct sonde_err *err)
{
	int rc = sha256_file(path, sha256, err);

	if (rc == 0 && d->sha256 && strcmp(sha256, d->sha256) != 0)
		return err_set(err, EBADMSG, "the dataset '%s' is another one: its sha256 is %s, not %s", d->source,
				sha256, d->sha256);
	return rc;
}

static int fetch_into_cache(const struct session_dataset *d, size_t scheme, struct dataset_file *f, struct buf *path,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf part = BUF_INIT;
	int rc = cache_dir(path, d, err);

	buf_addf(&part, "%s/part", path->data);
	buf_adds(path, "/data");
	if (rc < 0)
		return rc;
	f->was_cached = d->sha256 && check_digest(d, path->data, f->sha256, NULL) == 0;
	if (f->was_cached)
		return 0;
	if (!d->sha256)
		unlink(part.data);
	f->resumed_bytes = size_of(part.data);
	rc = fetch(d, scheme, part.data, err);
	if (rc == 0)
		rc = check_digest(d, part.data, f->sha256, err);
	if (rc == -EBADMSG)
		unlink(part.data);
	if (rc == 0 && rename(part.data, path->data))
		rc = err_sys(err, errno, "cannot keep '%s'", path->data);
	return rc;
}

int dataset_fetch(const struct session_dataset *d, struct dataset_file *f, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(cleanup_free) char *whole = NULL;
	size_t scheme = scheme_of(d);
	int rc = dataset_check(d, err);

	*f = (struct dataset_file){ .path = NULL };
	if (rc < 0)
		return rc;
	if (schemes[scheme].ask) {
		rc = fetch_into_cache(d, scheme, f, &path, err);
	} else {
		buf_adds(&path, behind(d->source, schemes[scheme].scheme));
		rc = check_digest(d, path.data, f->sha256, err);
	}
	if (rc < 0)
		return rc;
	whole = realpath(path.data, NULL);
	if (!whole)
		return err_sys(err, errno, "cannot find '%s'", path.data);
	f->path = arena_strdup(arena, whole);
	return f->path ? 0 : err_sys(err, ENOMEM, "cannot prepare the dataset");
}
