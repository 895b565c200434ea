#include "session/spec.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/transfer.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int request_web(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err)
{
	buf_addf(out, "GET %s\n", d->source);
	return 0;
}

/* Percent-encodes a path: all bytes that are not unreserved (RFC 3986), except '/'. */
static void add_path(struct buf *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (isalnum(*p) || strchr("-._~/", *p))
			buf_addc(out, (char)*p);
		else
			buf_addf(out, "%%%02X", *p);
	}
	buf_addc(out, '\n');
}

static int request_s3(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err)
{
	static const char empty_digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	const char *region = value_of("AWS_REGION") ? value_of("AWS_REGION") : value_of("AWS_DEFAULT_REGION");
	const char *endpoint = d->endpoint ? d->endpoint : value_of("AWS_ENDPOINT_URL");
	const char *id = value_of("AWS_ACCESS_KEY_ID"), *secret = value_of("AWS_SECRET_ACCESS_KEY"),
		   *token = value_of("AWS_SESSION_TOKEN");
	size_t n;

	if (!strchr(rest, '/') || !strchr(rest, '/')[1])
		return err_set(err, EINVAL, "invalid source '%s' (expected s3://BUCKET/KEY)", d->source);
	if (!region)
		region = "us-east-1";
	if (endpoint) {
		for (n = strlen(endpoint); n && endpoint[n - 1] == '/';)
			n--;
		buf_addf(out, "GET %.*s/", (int)n, endpoint);
	} else {
		buf_addf(out, "GET https://s3.%s.amazonaws.com/", region);
	}
	add_path(out, rest);
	if (!id || !secret)
		return 0; /* it may be a public bucket */
	buf_addf(out, "user %s:%s\nsigv4 aws:amz:%s:s3\nheader x-amz-content-sha256: %s\n", id, secret, region,
			empty_digest);
	if (token)
		buf_addf(out, "header x-amz-security-token: %s\n", token);
	return 0;
}

static int request_sage(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err)
{
	const char *endpoint = d->endpoint ? d->endpoint : value_of("SAGE_ENDPOINT_URL");
	const char *token = value_of("SAGE_TOKEN");

	buf_addf(out, "GET %s/", endpoint ? endpoint : SAGE_ENDPOINT);
	add_path(out, rest);
	if (token)
		buf_addf(out, "header Authorization: sage %s\n", token);
	return 0;
}

static const struct {
	const char *scheme;
	int (*ask)(struct buf *out, const struct session_dataset *d, const char *rest, struct sonde_err *err);
} schemes[] = { { "file:", NULL }, { "http://", request_web }, { "https://", request_web }, { "s3://", request_s3 },
	{ "sage://", request_sage } };

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
							"invalid dataset '%s' (supported: file:PATH, "
							"http(s)://..., s3://BUCKET/KEY, sage://BUCKET/PATH)",
							d->source);
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
		return err_set(err, EACCES, "cannot fetch '%s': access denied (HTTP %ld)", d->source, a->status);
	if (a->status == 404)
		return err_set(err, ENOENT, "cannot fetch '%s': not found (HTTP 404)", d->source);
	if (a->status / 100 != 2 && a->status != 416)
		return err_set(err, EIO, "cannot fetch '%s': HTTP status %ld", d->source, a->status);
	if (*a->error || (a->whole >= 0 && size_of(part) < a->whole))
		return err_set(err, EAGAIN, "cannot fetch '%s': %s", d->source,
				*a->error ? a->error : "the connection was closed early");
	return 0;
}

static int fetch(const struct session_dataset *d, size_t scheme, const char *part, struct sonde_err *err)
{
	int rc = -EAGAIN;

	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		struct transfer_answer answer = { .whole = -1 };
		int64_t had_bytes = size_of(part);

		rc = fetch_once(d, scheme, part, &answer, err);
		/* Restart from zero if the server does not support ranges, or the range is not satisfiable. */
		if (rc == 0 && (had_bytes && (answer.status == 416 || answer.status == 200 || answer.whole == -2))) {
			unlink(part);
			rc = err_set(err, EAGAIN, "cannot fetch '%s': it changed on the server", d->source);
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
		return err_set(err, EBADMSG, "checksum mismatch of '%s': sha256 is %s, expected %s", d->source, sha256,
				d->sha256);
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
		rc = err_sys(err, errno, "cannot rename the download to '%s'", path->data);
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
