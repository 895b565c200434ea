/*
 * folded: stacks in the format of flame graph tools, one per line:
 *
 *   program;main;work;read 12
 *
 * The number is the count of samples with that stack; the sum of all lines is the number of samples of the run's first
 * sampled event. Semicolons in C++ function names are replaced by commas. Kernel frames end in _[k].
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "exchange/exchange.h"
#include "exchange/import-reader.h"
#include "exchange/stack-profile.h"
#include "model/dimensions.h"
#include "pfw/line-parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * Converts folded stacks, `program;main;work 12`, to samples.
 *
 * The first frame is the program. Each line becomes one row; its `count` is the number at the end of the line, which is
 * also its CPU time if --time-unit gives the unit. The file has no times: the time of a row is the sum of the numbers
 * before it.
 */

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
	foreign_count_event(f, p, row.tid, row.ts_ns, STORE_NULL);
	if (__builtin_add_overflow(*total, weight, total))
		*total = INT64_MAX;
}

static int folded_read(struct foreign *f)
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
static bool folded_is_mine(const char *head, size_t n)
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

struct folding {
	struct profile profile;
	struct map counts; /* (name, stack) -> samples */
	struct map lines;  /* text -> samples */
};

static int count_row(void *arg, const struct store_sample *row, int64_t name)
{
	struct folding *f = arg;
	int64_t key[2] = { name, row->stack };
	uint64_t *at = map_put(&f->counts, key, sizeof(key), NULL);

	if (!at)
		return -ENOMEM;
	*at += (uint64_t)profile_value(&f->profile, row);
	return 0;
}

static void add_label(struct buf *line, const char *text)
{
	for (; *text; text++)
		buf_addc(line, *text == ';' ? ',' : *text == '\n' ? ' ' : *text);
}

static int add_frame(void *arg, const struct model_frame *frame)
{
	struct buf *line = arg;

	buf_addc(line, ';');
	add_label(line, model_frame_label(frame));
	buf_adds(line, frame->is_kernel ? "_[k]" : "");
	return 0;
}

static int make_lines(struct folding *f)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	for (size_t i = 0; i < f->counts.count; i++) {
		int64_t key[2];
		size_t len;

		memcpy(key, map_key(&f->counts, i, &len), sizeof(key));
		const char *name = model_cname(f->profile.run, key[0]);
		buf_reset(&line);
		add_label(&line, name ? name : "[unknown]");
		profile_frames(&f->profile, key[1], add_frame, &line);
		uint64_t *at = buf_error(&line) ? NULL : map_put(&f->lines, line.data, line.len, NULL);
		if (!at)
			return -ENOMEM;
		*at += map_value(&f->counts, i);
	}
	return 0;
}

static int print_lines(const struct folding *f, FILE *out, struct sonde_err *err)
{
	for (size_t i = 0; i < f->lines.count; i++) {
		size_t len;
		const char *text = map_key(&f->lines, i, &len);

		if (fprintf(out, "%.*s %" PRIu64 "\n", (int)len, text, map_value(&f->lines, i)) < 0)
			return err_sys(err, errno, "cannot write the stacks");
	}
	return 0;
}

static int write_folded(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	struct folding f = { .counts = MAP_INIT };
	int rc = profile_open(&f.profile, run, options, err);

	if (!rc) {
		rc = profile_each(&f.profile, count_row, &f);
		if (!rc)
			rc = make_lines(&f);
		rc = rc ? err_sys(err, -rc, "cannot count the stacks") : print_lines(&f, out, err);
	}
	map_release(&f.counts);
	map_release(&f.lines);
	profile_release(&f.profile);
	return rc;
}

const struct exchange_format exchange_folded = {
	.name = "folded",
	.extension = ".folded",
	.what = "Folded stacks, one per line, for flame graph tools.",
	.write = write_folded,
	.is_mine = folded_is_mine,
	.read = folded_read,
};
