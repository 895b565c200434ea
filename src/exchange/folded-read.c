#include "exchange/folded-read.h"

#include "exchange/import-reader.h"
#include "pfw/line-parse.h"

#include <ctype.h>
#include <string.h>

#define HEAD_LINES 20
#define KERNEL "_[k]"

struct folded_line {
	const char *frames, *end; /* end: after the last frame */
	int64_t count;
};

/* "a;b;c 12"; the second number of differential profiles is ignored. */
static bool parse(struct folded_line *l, const char *text, size_t n)
{
	const char *end = text + n, *space;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	space = memrchr(text, ' ', (size_t)(end - text));
	if (!space || space == text || !pfw_parse_int(space + 1, (size_t)(end - space - 1), &l->count) || l->count < 0)
		return false;
	l->frames = text;
	l->end = space;
	return true;
}

static int64_t stack_of(struct foreign *f, const char *at, const char *end)
{
	int64_t stack = STORE_NULL;

	while (at < end) {
		const char *semicolon = memchr(at, ';', (size_t)(end - at)), *to = semicolon ? semicolon : end;
		struct foreign_frame frame = { .function = at, .function_bytes = (size_t)(to - at) };

		frame.is_kernel = frame.function_bytes > 4 && !memcmp(to - 4, KERNEL, 4);
		if (frame.is_kernel) {
			frame.function_bytes -= 4;
			frame.module = "[kernel]";
			frame.module_bytes = 8;
		}
		if (frame.function_bytes)
			stack = foreign_stack(f->stacks, stack, &frame);
		at = to + 1;
	}
	return stack;
}

/* Each program is a process; they are numbered. */
static struct pfw_process *process_of(struct foreign *f, const char *name, size_t n)
{
	int64_t id = foreign_string(f, name, n);
	struct pfw_process *p = id == STORE_NULL ? NULL : foreign_process(f, id);

	if (p && p->exe == STORE_NULL) {
		struct store_task row = store_task_nulls;

		p->exe = id;
		row.process = p->number;
		row.pid = row.tid = id;
		row.name = id;
		foreign_add(f, STORE_TABLE_TASK, &row);
	}
	return p;
}

static void add_line(struct foreign *f, const struct folded_line *l, int64_t unit_ns, int64_t *total)
{
	const char *semicolon = memchr(l->frames, ';', (size_t)(l->end - l->frames));
	const char *to = semicolon ? semicolon : l->end;
	struct pfw_process *p = process_of(f, l->frames, (size_t)(to - l->frames));
	struct store_sample row = store_sample_nulls;
	int64_t scale = unit_ns ? unit_ns : 1, weight;

	if (__builtin_mul_overflow(l->count, scale, &weight))
		weight = INT64_MAX;
	row.ts_ns = *total;
	row.process = p ? p->number : STORE_NULL;
	row.pid = row.tid = p ? p->key.pid : STORE_NULL;
	row.event = foreign_name(f, FOLDED_EVENT);
	row.count = l->count;
	row.weight_ns = unit_ns ? weight : STORE_NULL;
	row.is_kernel = l->end - l->frames > 4 && !memcmp(l->end - 4, KERNEL, 4);
	row.stack = semicolon ? stack_of(f, semicolon + 1, l->end) : STORE_NULL;
	foreign_add(f, STORE_TABLE_SAMPLE, &row);
	f->counts->events++;
	foreign_note(f, p, row.tid, row.ts_ns, STORE_NULL);
	if (__builtin_add_overflow(*total, weight, total))
		*total = INT64_MAX;
}

int folded_read(struct foreign *f)
{
	struct folded_line l;
	int64_t total = 0;
	char *line;
	size_t n;

	while (foreign_line(f, &line, &n)) {
		if (!n || *line == '#')
			continue;
		if (parse(&l, line, n))
			add_line(f, &l, f->unit_ns, &total);
		else
			foreign_lost(f, "expected a stack and a count", 0, line, n);
	}
	return 0;
}

/* All of its first lines end in numbers, and one has frames. */
bool folded_is_mine(const char *head, size_t n)
{
	const char *end = head + n;
	unsigned lines = 0;
	bool has_frames = false;

	while (head < end && lines < HEAD_LINES) {
		const char *newline = memchr(head, '\n', (size_t)(end - head));
		struct folded_line l;

		if (!newline && lines)
			break; /* the last line may be truncated */
		if (!newline)
			newline = end;
		if (newline > head && *head != '#') {
			if (!parse(&l, head, (size_t)(newline - head)) || *head == '{' || *head == '[')
				return false;
			has_frames |= memchr(l.frames, ';', (size_t)(l.end - l.frames)) != NULL;
			lines++;
		}
		head = newline + 1;
	}
	return lines > 0 && has_frames;
}
