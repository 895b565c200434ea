/*
 * Fuzz target: any bytes read as the text of a trace, by the general scanner and by
 * learnt shapes; what shapes take must become the very row that the general scanner
 * makes. What an event keeps as text must be one strict JSON object.
 */
#include "fuzz.h"

#include "base/fs.h"
#include "base/jsonscan.h"
#include "pfw/line-template.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUTS_MAX 200 /* until all that was learnt and named is forgotten */

static struct {
	char dir[64];
	int dirfd;
	unsigned inputs;
	struct store_sink sink;
	struct pfw_dims dims;
	struct pfw_cache cache;
	struct pfw_event event;
	struct pfw_line line;
} s;

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void stop(void)
{
	if (s.inputs == 0)
		return;
	pfw_event_release(&s.event);
	pfw_cache_release(&s.cache);
	store_sink_close(&s.sink, NULL);
	pfw_dims_release(&s.dims);
	pfw_line_release(&s.line);
	close(s.dirfd);
	fs_remove_tree(AT_FDCWD, s.dir);
	s.inputs = 0;
}

static void start(void)
{
	static bool is_registered;

	snprintf(s.dir, sizeof(s.dir), "%s/sonde-fuzz-XXXXXX", fuzz_temp());
	check(mkdtemp(s.dir) != NULL);
	s.dirfd = open(s.dir, O_RDONLY | O_DIRECTORY);
	check(store_sink_open(&s.sink, s.dirfd, NULL) == 0);
	pfw_dims_init(&s.dims, &s.sink);
	pfw_cache_init(&s.cache, &s.dims);
	pfw_event_init(&s.event, &s.cache);
	if (!is_registered)
		atexit(stop);
	is_registered = true;
}

static bool is_same_text(const struct store_text *a, const struct store_text *b)
{
	return (!a && !b) || (a && b && a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes));
}

static void compare(const struct pfw_match *m)
{
	const struct store_schema *schema = store_schemas[m->table];
	const char *quick = m->row, *general = (const char *)&s.event.row;

	check(s.event.class == PFW_EVENT && s.event.table == m->table);
	for (unsigned c = 0; c < schema->count; c++) {
		const struct store_text *a, *b;

		memcpy(&a, quick + 8 * c, sizeof(a));
		memcpy(&b, general + 8 * c, sizeof(b));
		check(schema->columns[c].kind == STORE_TEXT ? is_same_text(a, b) : a == b);
	}
	check(m->thread && m->thread->tid == s.event.tid && m->thread->process == s.event.process);
}

static const struct store_text *args_of(const struct pfw_event *e)
{
	return e->table == STORE_TABLE_IO              ? e->row.io.args
			: e->table == STORE_TABLE_SPAN ? e->row.span.args
						       : e->row.line.args;
}

static void read_line(struct pfw_shapes *shapes, const struct pfw_context *ctx, const char *at, size_t n)
{
	struct pfw_match match;
	bool is_matched = shapes && pfw_shapes_match(shapes, at, &match);
	enum pfw_line_kind kind = pfw_line_scan(&s.line, at, n);

	check(!is_matched || (kind == PFW_LINE_RECORD && match.end == at + n + 1));
	if (kind != PFW_LINE_RECORD)
		return;
	check(pfw_event_make(&s.event, ctx, &s.line) == 0);
	check(!args_of(&s.event) || jsonscan_is_object(args_of(&s.event)->data, args_of(&s.event)->bytes));
	if (is_matched)
		compare(&match);
	else if (shapes && s.event.class == PFW_EVENT)
		pfw_shapes_learn(shapes, at, n + 1, &s.line, &s.event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pfw_context ctx = { .unit_ns = n && data[0] & 1 ? 1 : 1000 };
	struct pfw_shapes *shapes = NULL;
	char *text, *at;

	if (n < 2)
		return 0;
	if (s.inputs == 0)
		start();
	if (data[0] & 2) {
		ctx.host_kind = PFW_HOST_HASH;
		ctx.host = 7386335834152862147u;
	}
	text = malloc(n + PFW_PADDING);
	memcpy(text, data + 1, n - 1);
	text[n - 1] = '\n';
	memset(text + n, data[0], PFW_PADDING); /* whatever they are */
	if (pfw_shapes_work())
		check(pfw_shapes_open(&shapes, &s.cache) == 0);
	if (shapes)
		pfw_shapes_context(shapes, &ctx);
	for (at = text; at < text + n;) {
		size_t bytes = (size_t)((char *)memchr(at, '\n', (size_t)(text + n - at)) - at);

		read_line(shapes, &ctx, at, bytes);
		at += bytes + 1;
	}
	pfw_shapes_free(shapes);
	free(text);
	if (++s.inputs == INPUTS_MAX)
		stop();
	return 0;
}
