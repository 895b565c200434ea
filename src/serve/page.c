#include "serve/page.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <errno.h>
#include <string.h>

#ifdef PAGE_DIR
#include "page-stamp.h" /* changes with the files, which forces reassembly; or why there are none */
#endif

#ifndef PAGE_LACK
#define EMBED(symbol, file) \
	__asm__(".section .rodata\n" \
		".balign 16\n" #symbol ":\n" \
		".incbin \"" PAGE_DIR "/" file "\"\n" #symbol "_end:\n" \
		".byte 0\n" \
		".previous\n"); \
	extern const char symbol[] __attribute__((visibility("hidden"))); \
	extern const char symbol##_end[] __attribute__((visibility("hidden")))

EMBED(page_html, "index.html");
EMBED(page_js, "app.js");
EMBED(page_css, "app.css");
static const char *const page_lack = NULL;
static const char *const page_remedy = NULL;
#else
static const char page_html[] = "<!doctype html><html lang=en><meta charset=utf-8><title>sonde</title>"
				"<p>This sonde was built without its page: " PAGE_LACK
				". The API is at /api/run, /api/tracks and so on.\n";
static const char page_js[] = "";
static const char page_css[] = "";
#define page_html_end (page_html + sizeof(page_html) - 1)
#define page_js_end page_js
#define page_css_end page_css
static const char *const page_lack = PAGE_LACK;
static const char *const page_remedy = PAGE_REMEDY;
#endif

const struct page_file *page_find(const char *path)
{
	static struct page_file files[] = {
		{ "/", "text/html; charset=utf-8", page_html, 0 },
		{ "/app.js", "text/javascript; charset=utf-8", page_js, 0 },
		{ "/app.css", "text/css; charset=utf-8", page_css, 0 },
	};
	const char *const ends[] = { page_html_end, page_js_end, page_css_end };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		files[i].count = (size_t)(ends[i] - files[i].bytes);
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	}
	return &files[0];
}

void page_reply(const char *path, struct http_reply *reply)
{
	static const char policy[] =
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
			"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
	const struct page_file *file = page_find(path);

	reply->type = file->type;
	reply->fixed = file->bytes;
	reply->fixed_bytes = file->count;
	reply->policy = policy;
}

int page_check(struct sonde_err *err)
{
	if (!page_lack)
		return 0;
	err_set(err, ENOTSUP, "this sonde was built without its page: %s", page_lack);
	err_hint(err, "%s", page_remedy);
	return -ENOTSUP;
}

int page_link(struct http_server *g, struct http_reply *reply, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT;
	struct json j;
	int rc = http_server_url(g, &url, err);

	json_init(&j, &reply->body, false);
	json_object(&j);
	json_kstr(&j, "url", url.data);
	json_end(&j);
	return rc;
}
