/*
 * page: the files of the web page, built from web/ and linked in.
 *
 * If they could not be built, `/` is a page with the reason; the API is unaffected.
 */
#ifndef SONDE_SERVE_PAGE_H
#define SONDE_SERVE_PAGE_H

#include "serve/http-server.h"

#include <stddef.h>

struct page_file {
	const char *path;
	const char *type;
	const char *bytes;
	size_t count;
};

int page_check(struct sonde_err *err); /* 0, or -ENOTSUP: why this build has no page, and the remedy */

/* Looks up the path of a URL; never NULL: an unknown path returns the page itself. */
const struct page_file *page_find(const char *path);
/* Fills in the file, with a Content-Security-Policy that allows only our own files. */
void page_reply(const char *path, struct http_reply *reply);
/* {"url"}: an address that opens the page of server g once. */
int page_link(struct http_server *g, struct http_reply *reply, struct sonde_err *err);

#endif
