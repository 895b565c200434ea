/* Table of the files that counters are read from, and parsers of their formats. See procfile.h. */
#include "probe/proc/procfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_MAX 8192

static const char *next_line(const char *at, const char *end)
{
	const char *nl = memchr(at, '\n', (size_t)(end - at));
	return nl ? nl + 1 : end;
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* Faster than strtoull, and a reading has hundreds of numbers. The text is NUL-terminated. */
static const char *take_number(const char *at, double *value)
{
	uint64_t v = 0;
	at = skip_blanks(at);
	for (; *at >= '0' && *at <= '9'; at++)
		v = v * 10 + (uint64_t)(*at - '0');
	*value = (double)v;
	return at;
}

static struct feed_line *add_line(struct feed *f, const char *key, size_t bytes)
{
	if (f->count == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 8;
		struct feed_line *more = cap <= LINES_MAX ? realloc(f->lines, cap * sizeof(*more)) : NULL;
		if (!more)
			return NULL;
		f->lines = more;
		f->cap = cap;
	}
	struct feed_line *l = &f->lines[f->count++];
	memset(l, 0, sizeof(*l));
	memcpy(l->key, key, bytes);
	return l;
}

/* Lines are usually in the order of the last reading. */
static struct feed_line *line_of(struct feed *f, const char *key, size_t bytes)
{
	if (bytes >= FEED_KEY_BYTES)
		bytes = FEED_KEY_BYTES - 1;
	for (size_t i = 0; i < f->count; i++) {
		size_t at = (f->hint + i) % f->count;
		if (!strncmp(f->lines[at].key, key, bytes) && !f->lines[at].key[bytes]) {
			f->hint = at + 1;
			return &f->lines[at];
		}
	}
	return add_line(f, key, bytes);
}

static void set(struct feed *f, struct counters *c, struct counter *k, const char *key, const struct feed_field *d,
		double value)
{
	char name[128];
	if (!k->name) {
		if (key && *key)
			snprintf(name, sizeof(name), "%s.%s.%s", f->kind->prefix, key, d->name);
		else
			snprintf(name, sizeof(name), "%s.%s", f->kind->prefix, d->name);
		counter_init(c, k, name, d->unit, d->is_total, STORE_NULL);
	}
	counter_set(c, k, value * (d->scale != 0 ? d->scale : 1e9 / (double)sysconf(_SC_CLK_TCK)));
}

/* Reads the numbers of a line, by the column of each field. */
static void take_columns(struct feed *f, struct counters *c, struct feed_line *l, const char *at, const char *end)
{
	double value;
	unsigned column = 0;
	for (const struct feed_field *d = f->kind->fields; d->name && at < end; column++) {
		at = skip_blanks(at);
		if (*at < '0' || *at > '9')
			return;
		at = take_number(at, &value);
		if (column == d->column) {
			set(f, c, &l->counters[d - f->kind->fields], l->key, d, value);
			d++;
		}
	}
}

/* /proc/stat: only the lines "cpu0 1 2 3 ..."; "cpu" without a number is the sum. */
static void read_cpus(struct feed *f, struct counters *c, const char *at, const char *end)
{
	for (; at < end && !strncmp(at, "cpu", 3); at = next_line(at, end)) {
		const char *key = at + 3, *numbers = key;
		while (*numbers >= '0' && *numbers <= '9')
			numbers++;
		struct feed_line *l = numbers > key ? line_of(f, key, (size_t)(numbers - key)) : line_of(f, "all", 3);
		if (l)
			take_columns(f, c, l, numbers, next_line(at, end));
	}
}

/* "   8       0 sda 1 2 3": devices without any I/O are left out. */
static void read_disks(struct feed *f, struct counters *c, const char *at, const char *end)
{
	double skipped;
	for (; at < end; at = next_line(at, end)) {
		const char *key = skip_blanks(take_number(take_number(at, &skipped), &skipped));
		size_t bytes = strcspn(key, " \n");
		if (!strncmp(key + bytes, " 0 0 0 0 0 0 0 0 ", 17))
			continue;
		struct feed_line *l = line_of(f, key, bytes);
		if (l)
			take_columns(f, c, l, key + bytes, next_line(at, end));
	}
}

/* "  eth0: 1 2 3", below two header lines. */
static void read_interfaces(struct feed *f, struct counters *c, const char *at, const char *end)
{
	for (at = next_line(next_line(at, end), end); at < end; at = next_line(at, end)) {
		const char *key = skip_blanks(at);
		size_t bytes = strcspn(key, ":\n");
		struct feed_line *l = key[bytes] == ':' ? line_of(f, key, bytes) : NULL;
		if (l)
			take_columns(f, c, l, key + bytes + 1, next_line(at, end));
	}
}

static size_t field_count(const struct feed_kind *k)
{
	size_t n = 0;
	while (k->fields[n].name)
		n++;
	return n;
}

static bool is_key(const char *at, const char *key)
{
	if (*at != *key)
		return false;
	size_t bytes = strlen(key);
	return !strncmp(at, key, bytes) && (at[bytes] == ' ' || at[bytes] == ':' || at[bytes] == '\t');
}

/* "key value" or "Key:  value kB". Fields are usually in the order of the file; if not, they are searched. */
static void read_pairs(struct feed *f, struct counters *c, const char *at, const char *end)
{
	const struct feed_field *fields = f->kind->fields;
	size_t count = field_count(f->kind), next = 0;
	if (!f->pairs && count)
		f->pairs = calloc(count, sizeof(*f->pairs));
	for (; f->pairs && at < end; at = next_line(at, end)) {
		size_t i = next;
		if (i >= count || !is_key(at, fields[i].key))
			for (i = 0; i < count && !is_key(at, fields[i].key); i++)
				;
		if (i == count)
			continue;
		double value;
		const char *number = skip_blanks(at + strlen(fields[i].key) + (at[strlen(fields[i].key)] == ':'));
		if (*number < '0' || *number > '9')
			continue;
		take_number(number, &value);
		set(f, c, &f->pairs[i], NULL, &fields[i], value);
		next = i + 1;
	}
}

/* A file with one number; "max" is skipped. */
static void read_number(struct feed *f, struct counters *c, const char *at, const char *end)
{
	double value;
	if (!f->pairs)
		f->pairs = calloc(1, sizeof(*f->pairs));
	if (!f->pairs || at >= end || *at < '0' || *at > '9')
		return;
	take_number(at, &value);
	set(f, c, &f->pairs[0], NULL, &f->kind->fields[0], value);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123": total is exact, in microseconds; the averages are not used. */
static void read_pressure(struct feed *f, struct counters *c, const char *at, const char *end)
{
	for (; at < end; at = next_line(at, end)) {
		struct feed_line *l = line_of(f, at, strcspn(at, " \n"));
		const char *total = strstr(at, "total=");
		double value;
		if (!l || !total || total >= next_line(at, end))
			continue;
		take_number(total + 6, &value);
		set(f, c, &l->counters[0], l->key, &f->kind->fields[0], value);
	}
}

/* clang-format off */
#define TICK 0 /* length of a tick: from sysconf */
#define KIB 1024.0
#define SECTOR 512.0
#define MS 1e6
#define US 1e3
#define TOTAL(column, name, unit, scale) { NULL, column, name, unit, true, scale }
#define COUNT(key, name, unit, scale) { key, 0, name, unit, true, scale }
#define LEVEL(key, name, unit, scale) { key, 0, name, unit, false, scale }
#define END { NULL, 0, NULL, NULL, false, 0 }

static const struct feed_field cpu_fields[] = {
	TOTAL(0, "user_ns", "ns", TICK), TOTAL(1, "nice_ns", "ns", TICK), TOTAL(2, "system_ns", "ns", TICK),
	TOTAL(3, "idle_ns", "ns", TICK), TOTAL(4, "iowait_ns", "ns", TICK), TOTAL(5, "irq_ns", "ns", TICK),
	TOTAL(6, "softirq_ns", "ns", TICK), TOTAL(7, "steal_ns", "ns", TICK), TOTAL(8, "guest_ns", "ns", TICK), END
};

static const struct feed_field stat_fields[] = {
	COUNT("intr", "interrupts", "interrupts", 1), COUNT("ctxt", "switches", "switches", 1),
	COUNT("processes", "forks", "forks", 1),
	LEVEL("procs_running", "running", "threads", 1), LEVEL("procs_blocked", "blocked", "threads", 1), END
};

static const struct feed_field memory_fields[] = {
	LEVEL("MemTotal", "total_bytes", "bytes", KIB), LEVEL("MemFree", "free_bytes", "bytes", KIB),
	LEVEL("MemAvailable", "available_bytes", "bytes", KIB), LEVEL("Buffers", "buffers_bytes", "bytes", KIB),
	LEVEL("Cached", "cached_bytes", "bytes", KIB), LEVEL("SwapTotal", "swap_total_bytes", "bytes", KIB),
	LEVEL("SwapFree", "swap_free_bytes", "bytes", KIB), LEVEL("Dirty", "dirty_bytes", "bytes", KIB),
	LEVEL("Writeback", "writeback_bytes", "bytes", KIB), LEVEL("AnonPages", "anonymous_bytes", "bytes", KIB),
	LEVEL("Mapped", "mapped_bytes", "bytes", KIB), LEVEL("Shmem", "shared_bytes", "bytes", KIB),
	LEVEL("Slab", "slab_bytes", "bytes", KIB), END
};

static const struct feed_field vm_fields[] = {
	COUNT("pgpgin", "page_in_bytes", "bytes", KIB), COUNT("pgpgout", "page_out_bytes", "bytes", KIB),
	COUNT("pswpin", "swap_in_pages", "pages", 1), COUNT("pswpout", "swap_out_pages", "pages", 1),
	COUNT("pgfault", "faults", "faults", 1), COUNT("pgmajfault", "major_faults", "faults", 1),
	COUNT("pgscan_kswapd", "scanned_kswapd_pages", "pages", 1),
	COUNT("pgscan_direct", "scanned_direct_pages", "pages", 1),
	COUNT("oom_kill", "oom_kills", "kills", 1), END
};

static const struct feed_field disk_fields[] = {
	TOTAL(0, "reads", "reads", 1), TOTAL(2, "read_bytes", "bytes", SECTOR), TOTAL(3, "read_ns", "ns", MS),
	TOTAL(4, "writes", "writes", 1), TOTAL(6, "write_bytes", "bytes", SECTOR), TOTAL(7, "write_ns", "ns", MS),
	{ NULL, 8, "in_flight", "requests", false, 1 }, TOTAL(9, "busy_ns", "ns", MS), END
};

static const struct feed_field interface_fields[] = {
	TOTAL(0, "rx_bytes", "bytes", 1), TOTAL(1, "rx_packets", "packets", 1), TOTAL(2, "rx_errors", "packets", 1),
	TOTAL(3, "rx_dropped", "packets", 1), TOTAL(8, "tx_bytes", "bytes", 1), TOTAL(9, "tx_packets", "packets", 1),
	TOTAL(10, "tx_errors", "packets", 1), TOTAL(11, "tx_dropped", "packets", 1), END
};

static const struct feed_field pressure_fields[] = { TOTAL(0, "stall_ns", "ns", US), END };

const struct feed_kind feed_kinds[] = {
	{ "cpu", "/proc/stat", read_cpus, cpu_fields },
	{ "sched", "/proc/stat", read_pairs, stat_fields },
	{ "memory", "/proc/meminfo", read_pairs, memory_fields },
	{ "vm", "/proc/vmstat", read_pairs, vm_fields },
	{ "disk", "/proc/diskstats", read_disks, disk_fields },
	{ "net", "/proc/net/dev", read_interfaces, interface_fields },
	{ "pressure.cpu", "/proc/pressure/cpu", read_pressure, pressure_fields },
	{ "pressure.memory", "/proc/pressure/memory", read_pressure, pressure_fields },
	{ "pressure.io", "/proc/pressure/io", read_pressure, pressure_fields },
	{ NULL, NULL, NULL, NULL },
};

static const struct feed_field v2_cpu_fields[] = {
	COUNT("usage_usec", "usage_ns", "ns", US), COUNT("user_usec", "user_ns", "ns", US),
	COUNT("system_usec", "system_ns", "ns", US), COUNT("nr_periods", "periods", "periods", 1),
	COUNT("nr_throttled", "throttled_periods", "periods", 1), COUNT("throttled_usec", "throttled_ns", "ns", US), END
};
static const struct feed_field memory_now_fields[] = { LEVEL(NULL, "memory_bytes", "bytes", 1), END };
static const struct feed_field pids_fields[] = { LEVEL(NULL, "pids", "tasks", 1), END };
static const struct feed_field usage_fields[] = { COUNT(NULL, "usage_ns", "ns", 1), END };
static const struct feed_field v1_cpu_fields[] = {
	COUNT("nr_periods", "periods", "periods", 1), COUNT("nr_throttled", "throttled_periods", "periods", 1),
	COUNT("throttled_time", "throttled_ns", "ns", 1), END
};

const struct feed_kind feed_group_v2[] = {
	{ "cgroup.cpu", "cpu.stat", read_pairs, v2_cpu_fields },
	{ "cgroup", "memory.current", read_number, memory_now_fields },
	{ "cgroup", "pids.current", read_number, pids_fields },
	{ "cgroup.pressure.cpu", "cpu.pressure", read_pressure, pressure_fields },
	{ "cgroup.pressure.memory", "memory.pressure", read_pressure, pressure_fields },
	{ "cgroup.pressure.io", "io.pressure", read_pressure, pressure_fields },
	{ NULL, NULL, NULL, NULL },
};

const struct feed_kind feed_group_v1[] = {
	{ "cgroup.cpu", "cpuacct.usage", read_number, usage_fields },
	{ "cgroup.cpu", "cpu.stat", read_pairs, v1_cpu_fields },
	{ "cgroup", "memory.usage_in_bytes", read_number, memory_now_fields },
	{ "cgroup", "pids.current", read_number, pids_fields },
	{ NULL, NULL, NULL, NULL },
};
const char *const feed_group_v1_controllers[] = { "cpuacct", "cpu", "memory", "pids" };
/* clang-format on */
