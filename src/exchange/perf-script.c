/*
 * perf: converts the text of `perf script` to samples.
 *
 *   program 1234/1235 [001] 5678.901234:     250000 cpu-clock:ppp:
 *           ffffffff81234567 do_syscall_64+0x37 ([kernel.kallsyms])
 *               7f1234567890 read+0x10 (/usr/lib/libc.so.6)
 *
 * The innermost frame comes first; a sample may also be one line with its only frame at the end. The period of a clock
 * (cpu-clock, task-clock) is the CPU time of the sample; of other events it is their count. An inlined function gets
 * the module of its caller. Source lines (-F srcline) are skipped: a run does not store them.
 */
#include "exchange/import-reader.h"
#include "pfw/line-parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 512
#define HEAD_LINES 40
#define NAMES_MAX ((size_t)1 << 20) /* threads */

struct perf_head {
	const char *comm, *event, *rest; /* rest: the text after the event */
	size_t comm_bytes, event_bytes;
	int64_t pid, tid, cpu, ts_ns, period;
};

/* Frames of the current sample, as offsets in their text. */
struct perf_reader {
	struct foreign *f;
	bool has_sample;
	struct store_sample row;
	struct buf text;
	struct {
		size_t function, function_bytes, module, module_bytes;
		bool is_kernel, is_inlined;
	} frames[FRAMES_MAX];
	size_t frame_count;
	struct map names; /* tid -> string id + 1 of its row in `task` */
};

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static const char *token_end(const char *at, const char *end)
{
	while (at < end && *at != ' ' && *at != '\t')
		at++;
	return at;
}

static const char *token_begin(const char *at, const char *begin)
{
	while (at > begin && at[-1] != ' ' && at[-1] != '\t')
		at--;
	return at;
}

static const char *trim_end(const char *at, const char *begin)
{
	while (at > begin && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at;
}

/* "5678.901234:" */
static bool parse_time(struct perf_head *h, const char *at, const char *end)
{
	return end - at > 2 && end[-1] == ':' && isdigit((unsigned char)*at) && memchr(at, '.', (size_t)(end - at)) &&
			pfw_parse_scaled(at, (size_t)(end - 1 - at), 1000000000, &h->ts_ns);
}

/* "[001]" */
static bool parse_cpu(struct perf_head *h, const char *at, const char *end)
{
	char *stop;

	if (end - at < 3 || *at != '[' || end[-1] != ']')
		return false;
	h->cpu = strtol(at + 1, &stop, 10);
	return stop == end - 1;
}

/* "1234" or "1234/1235" */
static bool parse_thread(struct perf_head *h, const char *at, const char *end)
{
	const char *slash = memchr(at, '/', (size_t)(end - at));

	if (!slash)
		return pfw_parse_int(at, (size_t)(end - at), &h->tid) && ((h->pid = h->tid), true);
	return pfw_parse_int(at, (size_t)(slash - at), &h->pid) &&
			pfw_parse_int(slash + 1, (size_t)(end - slash - 1), &h->tid);
}

/* The text before the time: "program 1234 [001] ". The program's name may contain blanks. */
static bool parse_who(struct perf_head *h, const char *begin, const char *end)
{
	const char *to = trim_end(end, begin), *from = token_begin(to, begin);

	if (parse_cpu(h, from, to)) {
		to = trim_end(from, begin);
		from = token_begin(to, begin);
	}
	if (from == begin || !parse_thread(h, from, to))
		return false;
	begin = skip_blanks(begin, from);
	h->comm = begin;
	h->comm_bytes = (size_t)(trim_end(from, begin) - begin);
	return h->comm_bytes > 0;
}

/* The modifiers after a colon are not part of the name. */
static size_t event_bytes(const char *event, size_t n)
{
	const char *colon = memrchr(event, ':', n);

	if (!colon)
		return n;
	for (const char *at = colon + 1; at < event + n; at++)
		if (!strchr("ukhGHpPSDIWeb", *at))
			return n;
	return (size_t)(colon - event);
}

/* "     250000 cpu-clock:ppp: " */
static bool parse_event(struct perf_head *h, const char *at, const char *end)
{
	const char *to = token_end(at, end);

	if (pfw_parse_int(at, (size_t)(to - at), &h->period)) {
		at = skip_blanks(to, end);
		to = token_end(at, end);
	}
	if (to - at < 2 || to[-1] != ':')
		return false;
	h->event = at;
	h->event_bytes = event_bytes(at, (size_t)(to - at) - 1);
	h->rest = skip_blanks(to, end);
	return h->event_bytes > 0;
}

static bool parse_head(struct perf_head *h, const char *text, size_t n)
{
	const char *end = text + n, *at = text;

	*h = (struct perf_head){ .cpu = STORE_NULL, .period = STORE_NULL };
	while (at < end) {
		const char *from = skip_blanks(at, end), *to = token_end(from, end);

		if (from > text && parse_time(h, from, to) && parse_who(h, text, from))
			return parse_event(h, skip_blanks(to, end), end);
		at = to;
	}
	return false;
}

/* Frames. */

static bool is_hex(const char *at, const char *end)
{
	if (at == end || end - at > 16)
		return false;
	for (; at < end; at++)
		if (!isxdigit((unsigned char)*at))
			return false;
	return true;
}

/* "read+0x10" is "read". */
static const char *without_offset(const char *at, const char *end)
{
	const char *plus = memrchr(at, '+', (size_t)(end - at));

	return plus && plus > at && end - plus > 3 && plus[1] == '0' && plus[2] == 'x' && is_hex(plus + 3, end) ? plus
														: end;
}

static const char *last_bracket(const char *at, const char *end)
{
	while (end > at && end[-1] != '(')
		end--;
	return end > at ? end - 1 : NULL;
}

/* An unknown function is named after its module, "[libc.so.6]", as in recorded runs. */
static size_t add_function(struct buf *out, const char *at, const char *to, const char *module, size_t n)
{
	const char *slash = module ? memrchr(module, '/', n) : NULL;
	size_t before = out->len;

	if (to > at && !(to - at == 9 && !memcmp(at, "[unknown]", 9))) {
		buf_add(out, at, (size_t)(to - at));
	} else if (module && n && *module != '[') {
		buf_addc(out, '[');
		buf_add(out, slash ? slash + 1 : module, slash ? n - (size_t)(slash + 1 - module) : n);
		buf_addc(out, ']');
	} else if (module && n) {
		buf_add(out, module, n);
	} else {
		buf_adds(out, "[unknown]");
	}
	return out->len - before;
}

/* "    7f1234567890 read+0x10 (/usr/lib/libc.so.6)"; returns false if the line is not a frame. */
static bool add_frame(struct perf_reader *r, const char *text, size_t n)
{
	const char *end = trim_end(text + n, text), *at = skip_blanks(text, end), *to = token_end(at, end), *bracket;
	bool is_kernel = to - at == 16 && (*at == 'f' || *at == 'F'), is_inlined;

	if (!is_hex(at, to))
		return false;
	at = skip_blanks(to, end);
	bracket = end > at && end[-1] == ')' ? last_bracket(at, end) : NULL;
	to = without_offset(at, trim_end(bracket ? bracket : end, at));
	if (r->frame_count == FRAMES_MAX)
		return true;
	/* The module is in the last parentheses, unless they mark an inlined function. */
	is_inlined = bracket && end - bracket == 9 && !memcmp(bracket, "(inlined)", 9);
	bracket = is_inlined ? NULL : bracket;
	size_t module_bytes = bracket ? (size_t)(end - bracket - 2) : 0;
	r->frames[r->frame_count].function = r->text.len;
	r->frames[r->frame_count].function_bytes = add_function(&r->text, at, to, bracket ? bracket + 1 : NULL,
			module_bytes);
	r->frames[r->frame_count].module = r->text.len;
	r->frames[r->frame_count].module_bytes = module_bytes;
	if (bracket)
		buf_add(&r->text, bracket + 1, module_bytes);
	r->frames[r->frame_count].is_kernel = is_kernel;
	r->frames[r->frame_count].is_inlined = is_inlined;
	r->frame_count++;
	return true;
}

/* Samples. */

static void name_task(struct perf_reader *r, int64_t tid, int64_t name)
{
	uint64_t *known = r->names.count < NAMES_MAX ? map_put_int(&r->names, (uint64_t)tid, NULL)
						     : map_get_int(&r->names, (uint64_t)tid);
	struct store_task row = store_task_nulls;

	if (!known || *known == (uint64_t)name + 1)
		return;
	*known = (uint64_t)name + 1;
	row.process = r->row.process;
	row.pid = r->row.pid;
	row.tid = tid;
	row.name = name;
	foreign_add(r->f, STORE_TABLE_TASK, &row);
}

static void start_sample(struct perf_reader *r, const struct perf_head *h)
{
	struct pfw_process *p = foreign_process(r->f, h->pid);
	bool is_clock = (h->event_bytes == 9 && !memcmp(h->event, "cpu-clock", 9)) ||
			(h->event_bytes == 10 && !memcmp(h->event, "task-clock", 10));
	int64_t name = foreign_string(r->f, h->comm, h->comm_bytes);

	r->has_sample = true;
	r->frame_count = 0;
	buf_reset(&r->text);
	r->row = store_sample_nulls;
	r->row.ts_ns = h->ts_ns;
	r->row.process = p ? p->number : STORE_NULL;
	r->row.pid = h->pid;
	r->row.tid = h->tid;
	r->row.cpu = h->cpu;
	r->row.event = foreign_string(r->f, h->event, h->event_bytes);
	r->row.weight_ns = is_clock ? h->period : STORE_NULL;
	r->row.count = h->period;
	if (p && (p->exe == STORE_NULL || h->pid == h->tid))
		p->exe = name;
	foreign_thread_name(r->f, p, h->tid, name);
	name_task(r, h->tid, name);
	if (*h->rest)
		add_frame(r, h->rest, strlen(h->rest));
}

static void end_sample(struct perf_reader *r)
{
	struct foreign_frame frame = { .module = NULL };
	int64_t stack = STORE_NULL;

	if (!r->has_sample)
		return;
	r->has_sample = false;
	r->row.is_kernel = r->frame_count && r->frames[0].is_kernel;
	while (r->frame_count > 0 && !buf_error(&r->text)) {
		r->frame_count--;
		frame.function = r->text.data + r->frames[r->frame_count].function;
		frame.function_bytes = r->frames[r->frame_count].function_bytes;
		frame.is_kernel = r->frames[r->frame_count].is_kernel;
		if (!r->frames[r->frame_count].is_inlined) {
			frame.module_bytes = r->frames[r->frame_count].module_bytes;
			frame.module = frame.module_bytes ? r->text.data + r->frames[r->frame_count].module : NULL;
		}
		stack = foreign_stack(r->f->stacks, stack, &frame);
	}
	r->row.stack = stack;
	foreign_add(r->f, STORE_TABLE_SAMPLE, &r->row);
	r->f->counts->events++;
	foreign_count_event(r->f, foreign_process(r->f, r->row.pid), r->row.tid, r->row.ts_ns, STORE_NULL);
}

/* "  read.c:26" or "  [kernel.kallsyms][ffffffff81000000]", after its frame. */
static bool is_source(const char *line, size_t n)
{
	const char *end = line + n, *at = end;

	while (at > line && (isdigit((unsigned char)at[-1]) || at[-1] == '?'))
		at--;
	return n >= 5 && line[0] == ' ' && line[1] == ' ' && line[2] != ' ' &&
			(end[-1] == ']' || (at < end && at[-1] == ':'));
}

static void parse_line(struct perf_reader *r, const char *line, size_t n)
{
	struct perf_head h;

	if (r->has_sample && r->frame_count && is_source(line, n)) {
		r->f->counts->other++;
		return;
	}
	if (r->has_sample && (*line == ' ' || *line == '\t') && add_frame(r, line, n))
		return;
	if (parse_head(&h, line, n)) {
		end_sample(r);
		start_sample(r, &h);
	} else {
		foreign_lost(r->f, "neither a sample header nor a frame", 0, line, n);
	}
}

static int read_lines(struct foreign *f)
{
	struct perf_reader *r = calloc(1, sizeof(*r));
	char *line;
	size_t n;

	if (!r)
		return -ENOMEM;
	r->f = f;
	buf_init(&r->text, 0);
	while (foreign_line(f, &line, &n)) {
		if (!n)
			end_sample(r);
		else if (*line != '#')
			parse_line(r, line, n);
	}
	end_sample(r);
	buf_release(&r->text);
	map_release(&r->names);
	free(r);
	return 0;
}

/* One of the first lines is the header of a sample. */
static bool is_mine(const char *head, size_t n)
{
	const char *end = head + n;

	for (unsigned lines = 0; head < end && lines < HEAD_LINES; lines++) {
		const char *newline = memchr(head, '\n', (size_t)(end - head)), *to = newline ? newline : end;
		struct perf_head h;

		if (to > head && *head != '#')
			return parse_head(&h, head, (size_t)(to - head));
		head = to + 1;
	}
	return false;
}

const struct exchange_format exchange_perf = {
	.name = "perf",
	.extension = ".perf",
	.what = "Output of perf script.",
	.is_mine = is_mine,
	.read = read_lines,
};
