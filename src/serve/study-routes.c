#include "serve/study-routes.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "serve/run-routes.h"

#include <fcntl.h>
#include <unistd.h>

#define RESULT_BYTES_MAX ((size_t)64 << 20)

static bool has_file(const char *dir, const char *name)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", dir, name);
	return buf_error(&path) == 0 && access(path.data, R_OK) == 0;
}

bool study_is_there(const char *dir)
{
	return has_file(dir, "journal.jsonl") && has_file(dir, "result.json");
}

static int get_root(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	reply->status = 303;
	reply->location = "/study"; /* a separate path: the page knows from it what is served */
	return 0;
}

static int get_study(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	const char *dir = arg;

	buf_addf(&path, "%s/result.json", dir);
	return fs_read_file(AT_FDCWD, path.data, RESULT_BYTES_MAX, &reply->body, err);
}

static const struct http_endpoint endpoints[] = {
	{ "GET", "/", get_root, HTTP_PAGE },
	{ "GET", "/study", http_get_page, HTTP_PAGE },
	{ "GET", "/app.js", http_get_page, 0 },
	{ "GET", "/app.css", http_get_page, 0 },
	{ "GET", "/api/study", get_study, 0 },
	{ "POST", "/api/link", http_post_link, 0 },
	{ NULL, NULL, NULL, 0 },
};

int study_start(struct http_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err)
{
	struct http_server_options o = *options;

	o.endpoints = endpoints;
	o.arg = (void *)(uintptr_t)dir;
	return http_server_start(out, &o, err);
}
