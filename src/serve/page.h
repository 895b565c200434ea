/*
 * page: the files of the page, built from web/ and linked in.
 *
 * Where they could not be built `/` is a page with the reason; the API is the
 * same.
 */
#ifndef SONDE_SERVE_PAGE_H
#define SONDE_SERVE_PAGE_H

#include "serve/guard.h"

#include <stddef.h>

struct page_file {
	const char *path;
	const char *type;
	const char *bytes;
	size_t count;
};

int page_check(struct sonde_err *err); /* 0, or -ENOTSUP: why this build has no page, and what would change that */

/* By the path of the URL; never NULL: what is not known is the page itself. */
const struct page_file *page_find(const char *path);
/* The file as a guard sends it, with what a page of ours may load: itself. */
void page_reply(const char *path, struct guard_reply *reply);
/* {"url"}: an address that opens a guard's page once. */
int page_link(struct guard *g, struct guard_reply *reply, struct sonde_err *err);

#endif
