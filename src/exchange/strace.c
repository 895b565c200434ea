/*
 * strace: converts the text of `strace -f -ttt -T` (also with -y, -o, -ff) to calls.
 *
 * A call is a row of `io`: its descriptor, path, size, offset and result if known, and its arguments as strace wrote
 * them in `args`. Signals are marks. Threads belong to the process that cloned them with CLONE_THREAD. Descriptors are
 * tracked from open to close; -y takes precedence. Relative paths stay relative unless -y names the directory.
 */
#include "base/vec.h"
#include "exchange/strace-private.h"
#include "pfw/line-parse.h"

#include <stdlib.h>
#include <string.h>

#define PENDING_MAX 65536u /* maximum number of unfinished calls */
#define HEAD_LINES 20

struct strace_pending {
	int64_t ts_ns;
	char *text; /* name, '(' and the arguments so far; NULL: not in use */
};

/* Calls split over two lines. */

static struct strace_pending *pending_of(struct strace_reader *r, int64_t tid)
{
	uint64_t *number = r->numbers.count < PENDING_MAX ? map_put_int(&r->numbers, (uint64_t)tid, NULL)
							  : map_get_int(&r->numbers, (uint64_t)tid);

	if (!number)
		return NULL;
	if (!*number) {
		size_t had = r->pending_cap;
		if (!VEC_GROW(r->pending, r->pending_cap, r->numbers.count, PENDING_MAX))
			return NULL;
		memset(r->pending + had, 0, (r->pending_cap - had) * sizeof(*r->pending));
		*number = r->numbers.count;
	}
	return &r->pending[*number - 1];
}

static void keep_beginning(struct strace_reader *r, const struct strace_line *l, int64_t tid)
{
	struct strace_pending *p = pending_of(r, tid);

	if (!p) {
		r->f->dims->refused++;
		return;
	}
	free(p->text);
	p->ts_ns = l->ts_ns;
	p->text = strndup(l->rest.at, l->rest.n < PFW_LONG_BYTES ? l->rest.n : PFW_LONG_BYTES);
}

static bool add_resumed(struct strace_reader *r, const struct strace_line *l, int64_t tid)
{
	struct strace_pending *p = pending_of(r, tid);
	struct strace_call call;

	buf_reset(&r->text);
	buf_adds(&r->text, p && p->text ? p->text : "");
	buf_add(&r->text, l->rest.at, l->rest.n);
	bool is_whole = !buf_error(&r->text) && strace_call_parse(&call, r->text.data, r->text.len);
	if (is_whole) {
		struct buf text = r->text;
		int64_t ts_ns = p && p->text ? p->ts_ns : l->ts_ns;

		/* Nothing is known of a call that does not return. */
		if (call.dur_ns == STORE_NULL && call.ret != STORE_NULL && l->ts_ns >= ts_ns)
			call.dur_ns = l->ts_ns - ts_ns;
		r->text = (struct buf)BUF_INIT; /* the call points into it */
		strace_add_call(r, tid, ts_ns, &l->name, &call);
		buf_release(&r->text);
		r->text = text;
	}
	if (p) {
		free(p->text);
		p->text = NULL;
	}
	return is_whole;
}

/* Lines. */

static bool on_call(struct strace_reader *r, const struct strace_line *l, int64_t tid)
{
	struct strace_call call;

	if (!strace_call_parse(&call, l->rest.at, l->rest.n))
		return false;
	strace_add_call(r, tid, l->ts_ns, &l->name, &call);
	return true;
}

static void on_line(struct strace_reader *r, const char *text, size_t n, int64_t default_tid)
{
	struct strace_line l;
	int64_t tid;
	bool is_whole = true;

	strace_line_parse(&l, text, n);
	tid = l.tid == STORE_NULL ? default_tid : l.tid;
	if (l.kind == STRACE_CALL)
		is_whole = on_call(r, &l, tid);
	else if (l.kind == STRACE_UNFINISHED)
		keep_beginning(r, &l, tid);
	else if (l.kind == STRACE_RESUMED)
		is_whole = add_resumed(r, &l, tid);
	else if (l.kind == STRACE_SIGNAL)
		strace_add_signal(r, &l, tid);
	else if (l.kind == STRACE_EXITED || l.kind == STRACE_KILLED)
		strace_note_end(r, &l, tid);
	else if (l.kind == STRACE_TALK)
		r->f->counts->other++;
	else
		foreign_lost(r->f, l.reason, l.where, text, n);
	if (!is_whole)
		foreign_lost(r->f, "unterminated arguments", 0, text, n);
}

/* strace -ff writes one file per thread; the file name ends in the tid. */
static int64_t tid_of_file(const char *path)
{
	const char *dot = strrchr(path, '.');
	int64_t tid;

	return dot && dot[1] && pfw_parse_int(dot + 1, strlen(dot + 1), &tid) && tid > 0 ? tid : 1;
}

static int read_lines(struct foreign *f)
{
	struct strace_reader r = { .f = f, .text = BUF_INIT, .path = BUF_INIT, .path2 = BUF_INIT, .args = BUF_INIT };
	int64_t tid = tid_of_file(f->path);
	char *line;
	size_t n;

	f->has_day_clock = true;
	while (foreign_line(f, &line, &n))
		if (n)
			on_line(&r, line, n, tid);
	for (size_t i = 0; i < r.pending_cap; i++)
		free(r.pending[i].text);
	free(r.pending);
	map_release(&r.pids);
	map_release(&r.files);
	map_release(&r.numbers);
	buf_release(&r.text);
	buf_release(&r.path);
	buf_release(&r.path2);
	buf_release(&r.args);
	return 0;
}

/* Most of the first lines are valid strace lines. */
static bool is_mine(const char *head, size_t n)
{
	const char *end = head + n;
	unsigned lines = 0, good = 0;

	while (head < end && lines < HEAD_LINES) {
		const char *newline = memchr(head, '\n', (size_t)(end - head)), *to = newline ? newline : end;
		struct strace_line l;

		strace_line_parse(&l, head, (size_t)(to - head));
		lines += to > head;
		good += l.kind != STRACE_NONE && l.kind != STRACE_TALK;
		head = to + 1;
	}
	return good > 0 && 2 * good > lines;
}

const struct exchange_format exchange_strace = {
	.name = "strace",
	.extension = ".strace",
	.what = "Output of strace -f -ttt -T.",
	.is_mine = is_mine,
	.read = read_lines,
};
