#include "probe/proc/series.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/procfs.h"
#include "base/vec.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of sampled values. */

void counter_init(struct counters *c, struct counter *k, const char *name, const char *unit, bool is_total, int64_t pid)
{
	bool is_new = false;
	*k = (struct counter){ .name = store_strings_of(&c->sink->strings, name), .pid = pid, .is_total = is_total };
	map_put_int(&c->known, (uint64_t)k->name, &is_new);
	if (!is_new)
		return;
	struct store_series row = { .name = k->name,
		.unit = store_strings_of(&c->sink->strings, unit),
		.is_total = is_total };
	store_sink_add(c->sink, STORE_TABLE_SERIES, &row);
}

static void write_row(struct counters *c, struct counter *k, int64_t ts_ns)
{
	struct store_counter row = { .ts_ns = ts_ns,
		.process = STORE_NULL,
		.pid = k->pid,
		.tid = STORE_NULL,
		.name = k->name,
		.value = k->last };
	store_sink_add(c->sink, STORE_TABLE_COUNTER, &row);
	k->written_ns = ts_ns;
	c->rows++;
}

void counter_set(struct counters *c, struct counter *k, double value)
{
	bool is_first = !k->read_ns;
	if (is_first && k->is_total && !k->has_base)
		k->base = value;
	value -= k->base;
	if (!is_first && value == k->last) {
		k->read_ns = c->now_ns;
		return;
	}
	if (!is_first && k->read_ns != k->written_ns)
		write_row(c, k, k->read_ns);
	k->last = value;
	k->read_ns = c->now_ns;
	write_row(c, k, c->now_ns);
}

void counter_finish(struct counters *c, struct counter *k)
{
	if (k->read_ns && k->read_ns != k->written_ns)
		write_row(c, k, k->read_ns);
}

void counters_release(struct counters *c)
{
	map_release(&c->known);
}

/* Files. */

#define LINES_MAX 8192
#define TEXT_BYTES_MAX ((size_t)4 << 20)
#define TEXT_BYTES_FIRST 16384

/* Scales that only the system knows. */
#define TICK 0
#define PAGE (-1)
#define TOTAL true
#define LEVEL false

const struct series_metric series_metrics[] = {
#define SERIES_METRIC(id, name, help) [SERIES_##id] = { name, help },
#include "probe/proc/series.def"
};

const struct series_file series_files[SERIES_FILES] = {
#define SERIES_FILE(id, scope, controller, prefix, path, format) \
	[SERIES_FILE_##id] = { SERIES_##scope, CGROUP_##controller, prefix, path, SERIES_##format },
#include "probe/proc/series.def"
};

const struct series_row series_rows[] = {
#define SERIES(file, key, column, name, unit, kind, scale, metric, ...) \
	{ SERIES_FILE_##file, key, column, name, unit, kind, scale, SERIES_##metric, { __VA_ARGS__ } },
#include "probe/proc/series.def"
};

const size_t series_count = sizeof(series_rows) / sizeof(*series_rows);

const struct series_row *series_of_file(enum series_file_id file, size_t *count)
{
	size_t first = 0;
	while (series_rows[first].file != file)
		first++;
	for (*count = 0; first + *count < series_count && series_rows[first + *count].file == file;)
		++*count;
	return &series_rows[first];
}

double series_scale(const struct series_row *s)
{
	return s->scale == TICK            ? 1e9 / (double)sysconf(_SC_CLK_TCK)
			: s->scale == PAGE ? (double)sysconf(_SC_PAGESIZE)
					   : s->scale;
}

double series_value(const struct series_row *s, const char *text)
{
	uint64_t value;
	return proc_number(text, s->key, s->column, &value) ? (double)value * series_scale(s) : NAN;
}

static const char *next_line(const char *at, const char *end)
{
	const char *nl = memchr(at, '\n', (size_t)(end - at));
	return nl ? nl + 1 : end;
}

/* Devices are usually in the order of the last reading. */
static struct series_line *line_of(struct series_reader *r, const char *key, size_t bytes)
{
	if (bytes >= SERIES_KEY_BYTES)
		bytes = SERIES_KEY_BYTES - 1;
	for (size_t i = 0; i < r->count; i++) {
		size_t at = (r->hint + i) % r->count;
		if (!strncmp(r->lines[at].key, key, bytes) && !r->lines[at].key[bytes]) {
			r->hint = at + 1;
			return &r->lines[at];
		}
	}
	if (!VEC_GROW(r->lines, r->cap, r->count + 1, LINES_MAX))
		return NULL;
	struct series_line *l = &r->lines[r->count++];
	*l = (struct series_line){ 0 };
	memcpy(l->key, key, bytes);
	return l;
}

/* A counter gets its name with its first value: one that never has a value is not in the run. */
static void set(struct series_reader *r, struct counters *c, struct series_line *l, size_t row, uint64_t value)
{
	const struct series_row *s = &r->rows[row];
	struct counter *k = &l->counters[row];
	char name[128];
	if (!k->name) {
		snprintf(name, sizeof(name), "%s.%s%s%s", series_files[s->file].prefix, l->key, *l->key ? "." : "",
				s->name);
		counter_init(c, k, name, s->unit, s->is_total, STORE_NULL);
	}
	counter_set(c, k, (double)value * series_scale(s));
}

/* The line of a device: one pass over its numbers, since the rows are in the order of the columns. */
static void read_device(struct series_reader *r, struct counters *c, const char *key, size_t bytes, const char *numbers)
{
	struct series_line *l = line_of(r, key, bytes);
	char *at = (char *)(uintptr_t)numbers, *end;
	unsigned column = 0;
	for (size_t row = 0; l && row < r->row_count; column++, at = end) {
		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			return;
		uint64_t value = strtoull(at, &end, 10);
		if (column == r->rows[row].column)
			set(r, c, l, row++, value);
	}
}

/* Only the lines "cpu0 1 2 3 ..." and "cpu", which is their sum. */
static void read_cpus(struct series_reader *r, struct counters *c, const char *at, const char *end)
{
	for (; at < end && !strncmp(at, "cpu", 3); at = next_line(at, end)) {
		size_t digits = strspn(at + 3, "0123456789");
		read_device(r, c, digits ? at + 3 : "all", digits ? digits : 3, at + 3 + digits);
	}
}

/* "   8       0 sda 1 2 3": devices without any I/O are left out. */
static void read_disks(struct series_reader *r, struct counters *c, const char *at, const char *end)
{
	for (; at < end; at = next_line(at, end)) {
		const char *key = at;
		for (int numbers = 0; numbers < 2; numbers++) {
			key += strspn(key, " ");
			key += strspn(key, "0123456789");
		}
		key += strspn(key, " ");
		size_t bytes = strcspn(key, " \n");
		if (strncmp(key + bytes, " 0 0 0 0 0 0 0 0 ", 17) != 0)
			read_device(r, c, key, bytes, key + bytes);
	}
}

/* "  eth0: 1 2 3", below two header lines. */
static void read_interfaces(struct series_reader *r, struct counters *c, const char *at, const char *end)
{
	for (at = next_line(next_line(at, end), end); at < end; at = next_line(at, end)) {
		const char *key = at + strspn(at, " ");
		size_t bytes = strcspn(key, ":\n");
		if (key[bytes] == ':')
			read_device(r, c, key, bytes, key + bytes + 1);
	}
}

/* Keys are usually in the order of the rows; if not, they are searched. */
static void read_keys(struct series_reader *r, struct counters *c, const char *at, const char *end)
{
	struct series_line *l = line_of(r, "", 0);
	size_t next = 0;
	uint64_t value;
	for (; l && at < end; at = next_line(at, end)) {
		for (size_t tried = 0; tried < r->row_count; tried++) {
			size_t row = (next + tried) % r->row_count;
			const char *key = r->rows[row].key;
			size_t bytes = key ? strlen(key) : 0;
			if (key && (*at != *key || strncmp(at, key, bytes) != 0 || !strchr(" :\t", at[bytes])))
				continue;
			if (proc_number(at, key, r->rows[row].column, &value))
				set(r, c, l, row, value);
			next = row + 1;
			break;
		}
	}
}

struct series_reader series_reader_of(enum series_file_id file)
{
	struct series_reader r = { .file = file, .fd = -1 };
	r.rows = series_of_file(file, &r.row_count);
	return r;
}

bool series_open(struct series_reader *r, enum series_file_id file, const char *dir)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	buf_addf(&path, "%s%s%s", dir ? dir : "", dir ? "/" : "", series_files[file].path);
	*r = series_reader_of(file);
	r->fd = open(path.data, O_RDONLY | O_CLOEXEC);
	return r->fd >= 0;
}

/* Opens the files of a scope; dirs has a directory for each controller, "" if it is not mounted. */
static size_t open_scope(struct series_reader *out, size_t room, enum series_scope scope, const struct cgroup_map *dirs,
		bool has_v2_cpu)
{
	size_t n = 0;
	for (enum series_file_id i = 0; i < SERIES_FILES && n < room; i++) {
		const struct series_file *f = &series_files[i];
		/* Both hierarchies may be mounted: v2 then counts the CPU time of v1's cpuacct too. */
		if (f->scope == scope && *dirs->base[f->controller] && !(has_v2_cpu && f->controller == CGROUP_CPUACCT))
			n += series_open(&out[n], i, dirs->base[f->controller]);
	}
	return n;
}

size_t series_open_cgroups(struct series_reader *out, size_t room, pid_t pid, const char *dir)
{
	CLEANUP(buf_release) struct buf groups = BUF_INIT, mounts = BUF_INIT;
	struct cgroup_map map = { 0 };
	char path[32];
	if (dir) {
		for (int i = 0; i < CGROUP_CONTROLLERS; i++)
			snprintf(map.base[i], sizeof(map.base[i]), "%s", dir);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
		if (fs_read_file(AT_FDCWD, path, 65536, &groups, NULL) ||
				fs_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_BYTES_MAX, &mounts, NULL))
			return 0;
		cgroup_map_parse(&map, mounts.data, groups.data);
	}
	size_t n = open_scope(out, room, SERIES_CGROUP2, &map, false);
	/* In one directory the files are of one version: cpu.stat of v1 has the same name and another layout. */
	if (dir && n)
		return n;
	return n + open_scope(out + n, room - n, SERIES_CGROUP1, &map, n && out[0].file == SERIES_FILE_GROUP_CPU);
}

void series_parse(struct series_reader *r, struct counters *c, const struct buf *text)
{
	static void (*const formats[])(struct series_reader *, struct counters *, const char *, const char *) = {
		[SERIES_KEYS] = read_keys,
		[SERIES_CPUS] = read_cpus,
		[SERIES_DISKS] = read_disks,
		[SERIES_INTERFACES] = read_interfaces,
	};
	r->hint = 0;
	formats[series_files[r->file].format](r, c, text->data, text->data + text->len);
}

void series_close(struct series_reader *r, struct counters *c)
{
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->row_count; k++)
			counter_finish(c, &r->lines[i].counters[k]);
	if (r->fd >= 0)
		close(r->fd);
	free(r->lines);
}

bool series_text(int fd, struct buf *room)
{
	buf_reset(room);
	for (;;) {
		if (!buf_reserve(room, room->len + TEXT_BYTES_FIRST) || room->len > TEXT_BYTES_MAX)
			return false;
		size_t space = room->cap - room->len - 1;
		ssize_t n = pread(fd, room->data + room->len, space, (off_t)room->len);
		if (n < 0)
			return false;
		room->len += (size_t)n;
		room->data[room->len] = '\0';
		if ((size_t)n < space) /* a short read is the end of these files */
			return true;
	}
}
