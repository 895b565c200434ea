#include "exchange/import-reader.h"

#include "base/cleanup.h"
#include "pfw/gzip-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHAINS_MAX ((size_t)4 << 20)
#define FUNCTIONS_MAX ((size_t)1 << 20)

static void foreign_stacks_init(struct foreign_stacks *s, struct pfw_dims *dims)
{
	*s = (struct foreign_stacks){ .dims = dims };
}

/* The number of a key in a map of at most `max` entries; 0 if it is full. */
static uint64_t number_of(struct foreign_stacks *s, struct map *map, size_t max, const void *key, size_t n,
		bool *is_new)
{
	uint64_t *number = map->count < max ? map_put(map, key, n, is_new) : map_get(map, key, n);

	if (!number) {
		s->refused++;
		return 0;
	}
	if (!*number)
		*number = map->count;
	return *number;
}

static uint64_t module_of(struct foreign_stacks *s, const struct foreign_frame *frame)
{
	static const struct store_module nulls = { .build_id = NULL };
	int64_t key[2] = { pfw_dims_string(s->dims, frame->module ? frame->module : "[unknown]",
					   frame->module ? frame->module_bytes : 9),
		frame->is_kernel };
	bool is_new = false;
	uint64_t number = number_of(s, &s->modules, FUNCTIONS_MAX, key, sizeof(key), &is_new);
	struct store_module row = nulls;

	if (!is_new)
		return number;
	row.module = (int64_t)number;
	row.kind = store_strings_of(&s->dims->sink->strings, frame->is_kernel ? "kernel" : "memory");
	row.path = key[0];
	row.pid = STORE_NULL;
	store_sink_add(s->dims->sink, STORE_TABLE_MODULE, &row);
	return number;
}

static uint64_t function_of(struct foreign_stacks *s, uint64_t module, const struct foreign_frame *frame)
{
	int64_t key[2] = { (int64_t)module, pfw_dims_string(s->dims, frame->function, frame->function_bytes) };
	bool is_new = false;
	uint64_t address = number_of(s, &s->functions, FUNCTIONS_MAX, key, sizeof(key), &is_new);
	struct store_symbol row = { .module = key[0], .start = (int64_t)address, .bytes = 1, .name = key[1] };

	if (is_new)
		store_sink_add(s->dims->sink, STORE_TABLE_SYMBOL, &row);
	return address;
}

int64_t foreign_stack(struct foreign_stacks *s, int64_t parent, const struct foreign_frame *frame)
{
	uint64_t module = module_of(s, frame), address = module ? function_of(s, module, frame) : 0, number;
	int64_t key[3] = { parent, (int64_t)module, (int64_t)address };
	bool is_new = false;
	struct store_stack row = { .parent = parent, .module = key[1], .address = key[2] };

	if (!address)
		return parent;
	number = number_of(s, &s->chains, CHAINS_MAX, key, sizeof(key), &is_new);
	if (!number)
		return parent;
	row.stack = (int64_t)number;
	if (is_new)
		store_sink_add(s->dims->sink, STORE_TABLE_STACK, &row);
	return (int64_t)number;
}

#define FEED_BYTES ((size_t)256 << 10)

/* The bytes of a file, inflated; the buffer grows for a line that does not fit. */
struct foreign_feed {
	int fd;
	struct pfw_gzip *gzip; /* NULL if not compressed */
	uint64_t at;           /* file offset, if not compressed */
	bool is_over;
	char *text; /* filled in from..to */
	size_t from, to, cap;
};

/* Bytes. */

static size_t read_plain(struct foreign *f, char *place, size_t n)
{
	struct foreign_feed *feed = f->feed;
	ssize_t got;

	do
		got = pread(feed->fd, place, n, (off_t)feed->at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		f->part->error = errno;
	if (got <= 0)
		feed->is_over = true;
	else
		feed->at += (uint64_t)got;
	return got > 0 ? (size_t)got : 0;
}

static size_t read_packed(struct foreign *f, char *place, size_t n)
{
	struct foreign_feed *feed = f->feed;
	struct pfw_part *part = f->part;
	size_t got = 0;

	while (got == 0 && !feed->is_over) {
		part->status = pfw_gzip_read(feed->gzip, place, n, &got);
		part->members += part->status == PFW_GZIP_MEMBER;
		feed->is_over = part->status != PFW_GZIP_MORE && part->status != PFW_GZIP_MEMBER;
	}
	if (feed->is_over) {
		part->error = part->status == PFW_GZIP_FAILED ? pfw_gzip_error(feed->gzip) : 0;
		part->where = pfw_gzip_position(feed->gzip);
	}
	return got;
}

static size_t read_more(struct foreign *f, char *place, size_t n)
{
	if (f->feed->is_over || n == 0)
		return 0;
	size_t got = f->feed->gzip ? read_packed(f, place, n) : read_plain(f, place, n);
	f->part->text_bytes += got;
	return got;
}

size_t foreign_read(struct foreign *f, void *place, size_t n)
{
	struct foreign_feed *feed = f->feed;
	size_t left = feed->to - feed->from, some = left < n ? left : n;

	memcpy(place, feed->text + feed->from, some);
	feed->from += some;
	while (some < n) {
		size_t got = read_more(f, (char *)place + some, n - some);

		if (!got)
			break;
		some += got;
	}
	return some;
}

/* Lines. */

/* Reads more text after the existing text; returns false at the end. One byte is reserved for a NUL. */
static bool fill(struct foreign *f)
{
	struct foreign_feed *feed = f->feed;

	if (feed->from) {
		memmove(feed->text, feed->text + feed->from, feed->to - feed->from);
		feed->to -= feed->from;
		feed->from = 0;
	}
	if (feed->to + 1 >= feed->cap) {
		char *grown = realloc(feed->text, 2 * feed->cap);

		if (!grown) {
			f->part->error = ENOMEM;
			feed->is_over = true;
			return false;
		}
		feed->text = grown;
		feed->cap *= 2;
	}
	size_t got = read_more(f, feed->text + feed->to, feed->cap - feed->to - 1);
	feed->to += got;
	return got > 0;
}

/* Skips the rest of a line that was only partly read. */
static void skip_line(struct foreign *f)
{
	struct foreign_feed *feed = f->feed;
	const char *newline;

	f->counts->too_long++;
	foreign_lost(f, PFW_TOO_LONG, 0, feed->text + feed->from, feed->to - feed->from);
	do {
		feed->from = feed->to = 0;
		if (!fill(f))
			return;
		newline = memchr(feed->text, '\n', feed->to);
	} while (!newline);
	feed->from = (size_t)(newline - feed->text) + 1;
}

bool foreign_line(struct foreign *f, char **line, size_t *n)
{
	struct foreign_feed *feed = f->feed;
	size_t looked = 0;
	char *newline;

	for (;;) {
		newline = memchr(feed->text + feed->from + looked, '\n', feed->to - feed->from - looked);
		if (newline)
			break;
		looked = feed->to - feed->from;
		if (looked > PFW_LINE_BYTES_MAX) {
			f->line++;
			f->counts->lines++;
			skip_line(f);
			looked = 0;
		} else if (!fill(f)) {
			if (feed->from == feed->to)
				return false;
			newline = feed->text + feed->to; /* the last line has no newline */
			break;
		}
	}
	*newline = '\0';
	*line = feed->text + feed->from;
	*n = (size_t)(newline - *line);
	feed->from += *n + (newline < feed->text + feed->to);
	if (*n && (*line)[*n - 1] == '\r')
		(*line)[--*n] = '\0';
	f->line++;
	f->counts->lines += *n > 0;
	return true;
}

void foreign_lost(struct foreign *f, const char *reason, size_t where, const char *text, size_t n)
{
	struct pfw_lost_line lost = { .part = f->part,
		.line = f->line ? f->line - 1 : 0,
		.reason = reason,
		.where = where,
		.bytes = n };

	f->counts->invalid += strcmp(reason, PFW_TOO_LONG) != 0;
	pfw_lost_add(&f->im->pool.lost, &lost, text);
}

/* Dimensions. */

struct pfw_process *foreign_process(struct foreign *f, int64_t pid)
{
	struct pfw_process_key key = { PFW_HOST_NONE, 0, pid };

	return pid == STORE_NULL ? NULL : pfw_cache_process(f->cache, &key);
}

int64_t foreign_string(struct foreign *f, const char *bytes, size_t n)
{
	return pfw_cache_string(f->cache, bytes, n);
}

int64_t foreign_name(struct foreign *f, const char *text)
{
	return foreign_string(f, text, strlen(text));
}

void foreign_add(struct foreign *f, enum store_table_id table, const void *row)
{
	store_sink_add(f->sink, table, row);
}

int64_t foreign_duration(struct foreign *f, int64_t ts_ns, int64_t dur_ns)
{
	int64_t end_ns;

	if (dur_ns == STORE_NULL || (dur_ns >= 0 && !__builtin_add_overflow(ts_ns, dur_ns, &end_ns)))
		return dur_ns;
	f->counts->odd_durations++;
	return STORE_NULL;
}

void foreign_count_event(struct foreign *f, struct pfw_process *p, int64_t tid, int64_t ts_ns, int64_t dur_ns)
{
	pfw_thread_count_event(pfw_cache_thread(f->cache, p, tid), ts_ns, dur_ns);
}

void foreign_time(struct foreign *f, int64_t ts_ns)
{
	struct import_result *r = f->im->result;

	if (r->first_ns == STORE_NULL || ts_ns < r->first_ns)
		r->first_ns = ts_ns;
	if (r->last_ns == STORE_NULL || ts_ns > r->last_ns)
		r->last_ns = ts_ns;
}

void foreign_thread_name(struct foreign *f, struct pfw_process *p, int64_t tid, int64_t name)
{
	struct pfw_thread *t = pfw_cache_thread(f->cache, p, tid);

	if (t)
		t->name = name;
}

/* Files. */

static int open_feed(struct foreign_feed *feed, struct pfw_input *in)
{
	char head[PFW_GZIP_HEAD_BYTES];
	struct stat st;

	*feed = (struct foreign_feed){ .fd = pfw_input_open(in), .cap = FEED_BYTES };
	if (feed->fd < 0)
		return feed->fd;
	if (fstat(feed->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ESPIPE;
	in->bytes = (uint64_t)st.st_size;
	in->is_gzip = pread(feed->fd, head, sizeof(head), 0) == sizeof(head) && pfw_gzip_is_head(head, sizeof(head));
	feed->text = malloc(feed->cap);
	if (!feed->text)
		return -ENOMEM;
	int rc = in->is_gzip ? pfw_gzip_open(&feed->gzip, feed->fd, 0) : 0;
	return rc;
}

static void close_feed(struct foreign_feed *feed)
{
	pfw_gzip_free(feed->gzip);
	free(feed->text);
	if (feed->fd >= 0)
		close(feed->fd);
}

const struct exchange_format *foreign_recognise(const char *path)
{
	struct pfw_input in = { .path = (char *)(uintptr_t)path };
	struct pfw_part part = { .input = &in };
	struct foreign_feed feed;
	struct foreign f = { .part = &part, .feed = &feed };
	const struct exchange_format *found = NULL;
	CLEANUP(cleanup_free) char *head = malloc(FOREIGN_HEAD_BYTES + 1);
	size_t n = 0;

	if (open_feed(&feed, &in) == 0 && head)
		n = foreign_read(&f, head, FOREIGN_HEAD_BYTES);
	close_feed(&feed);
	if (n)
		head[n] = '\0';
	for (size_t i = 1; n && !found && exchange_reader_names[i]; i++)
		if (exchange_readers[i]->is_mine && exchange_readers[i]->is_mine(head, n))
			found = exchange_readers[i];
	return found;
}

static int read_input(struct foreign *f, struct pfw_input *in)
{
	struct foreign_feed feed;
	int rc = open_feed(&feed, in);

	in->error = -rc;
	in->part_count = rc == 0;
	f->part->input = in;
	f->part->status = PFW_GZIP_END;
	f->feed = &feed;
	f->path = in->path;
	f->line = 0;
	if (rc == 0)
		rc = f->format->read(f);
	else
		rc = rc == -ENOMEM ? rc : 0; /* read errors are reported at the end */
	f->im->pool.all_bytes += in->bytes;
	f->im->pool.text_bytes += f->part->text_bytes;
	close_feed(&feed);
	f->feed = NULL;
	return rc;
}

static int read_inputs(struct foreign *f)
{
	struct pfw_import *im = f->im;
	uint64_t all_bytes = 0;
	struct stat st;
	int rc = 0;

	im->pool.parts = calloc(im->inputs.count + 1, sizeof(*im->pool.parts));
	if (!im->pool.parts)
		return -ENOMEM;
	im->pool.part_count = im->inputs.count;
	for (size_t i = 0; i < im->inputs.count; i++)
		all_bytes += stat(im->inputs.items[i].path, &st) == 0 ? (uint64_t)st.st_size : 0;
	for (size_t i = 0; rc == 0 && i < im->inputs.count; i++) {
		im->inputs.items[i].first_part = i;
		f->part = &im->pool.parts[i];
		f->source_number = (int64_t)i;
		rc = read_input(f, &im->inputs.items[i]);
		if (im->options->progress)
			im->options->progress(im->options->arg, im->pool.all_bytes, all_bytes);
	}
	return rc;
}

int foreign_read_all(struct pfw_import *im, const struct exchange_format *format, struct sonde_err *err)
{
	CLEANUP(cleanup_free) struct pfw_cache *cache = malloc(sizeof(*cache));
	struct foreign_stacks stacks;
	struct foreign f = { .im = im,
		.format = format,
		.counts = &im->pool.counts,
		.dims = &im->dims,
		.cache = cache,
		.sink = &im->sink,
		.stacks = &stacks,
		.unit_ns = import_unit_ns(im->options->unit) };
	int rc = store_sink_open(&im->sink, im->run.tablesfd, err);

	if (rc < 0)
		return rc;
	pfw_dims_init(&im->dims, &im->sink);
	im->dims.is_foreign = true;
	foreign_stacks_init(&stacks, &im->dims);
	if (cache)
		pfw_cache_init(cache, &im->dims);
	rc = cache ? read_inputs(&f) : -ENOMEM;
	if (cache)
		pfw_cache_release(cache);
	im->dims.refused += stacks.refused;
	im->has_day_clock = f.has_day_clock;
	map_release(&stacks.modules);
	map_release(&stacks.functions);
	map_release(&stacks.chains);
	return rc < 0 ? err_sys(err, -rc, "cannot import") : 0;
}
