/* The machine's counters as SOFA's mpstat, diskstat, netstat, vmstat and nvsmi files; see sofa.h. */
#include "base/map.h"
#include "base/vec.h"
#include "exchange/sofa.h"
#include "model/dimensions.h"
#include "model/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Device commands, the calls that submit them, and block device requests in SOFA's format; see sofa.h. */

static int copy_kind(const struct sofa_events *e, const struct store_gpu *row)
{
	static const struct {
		const char *direction;
		int kind;
	} kinds[] = { { "host-to-device", 1 }, { "device-to-host", 2 }, { "device-to-device", 8 },
		{ "peer-to-peer", 10 } };
	const char *direction = model_cname(e->sofa->run, row->direction);

	for (size_t i = 0; direction && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].direction, direction))
			return kinds[i].kind;
	return 0;
}

void sofa_put_command(struct sofa_events *e, const void *data)
{
	static const char *const words[] = { [1] = "H2D", [2] = "D2H", [8] = "D2D", [10] = "P2P" };
	const struct store_gpu *row = data;
	int64_t device = row->device_id == STORE_NULL ? 0 : row->device_id, bytes = row->bytes > 0 ? row->bytes : 0;
	const char *word = model_cname(e->sofa->run, row->name);
	int kind = copy_kind(e, row);
	struct sofa_row out = SOFA_ROW_INIT;
	char name[512];

	if (kind)
		snprintf(name, sizeof(name), "CUDA_COPY_%s_%" PRId64 "B", words[kind], bytes);
	else
		snprintf(name, sizeof(name), "[gpu%" PRId64 "]%s", device, word ? word : "?");
	out.timestamp = sofa_seconds(e->sofa, row->ts_ns);
	out.event = (double)bytes * 100 + 17;
	out.duration = row->dur_ns == STORE_NULL ? -1 : (double)row->dur_ns / 1e9;
	out.device = device;
	out.copy_kind = kind;
	out.payload = (double)bytes;
	out.bandwidth = kind && row->dur_ns > 0 ? (double)bytes / (double)row->dur_ns : -1;
	out.source = kind == 1 ? 0 : kind ? device + 1 : -1;
	out.destination = kind == 2 ? 0 : kind ? device + 1 : -1;
	out.pid = row->pid;
	out.tid = row->queue;
	out.name = name;
	sofa_put(&e->csv, &out);
}

/* Tracers of CUDA calls record them as spans of the category "cuda". */
void sofa_put_api(struct sofa_events *e, const void *data)
{
	const struct store_span *row = data;
	const char *category = model_cname(e->sofa->run, row->category), *word = model_cname(e->sofa->run, row->name);
	struct sofa_row out = SOFA_ROW_INIT;
	char name[512];

	if (!category || strcmp(category, "cuda") != 0)
		return;
	snprintf(name, sizeof(name), "[CUDA_API]%s", word ? word : "?");
	out.timestamp = sofa_seconds(e->sofa, row->ts_ns);
	out.duration = row->dur_ns == STORE_NULL ? -1 : (double)row->dur_ns / 1e9;
	out.pid = row->pid;
	out.tid = row->tid;
	out.name = name;
	sofa_put(&e->csv, &out);
}

void sofa_put_request(struct sofa_events *e, const void *data)
{
	const struct store_block *row = data;
	const char *device = model_cname(e->sofa->run, row->device), *rw = model_cname(e->sofa->run, row->rw);
	struct sofa_row out = SOFA_ROW_INIT;
	char name[128];

	snprintf(name, sizeof(name), "blktrace:%s:%s", rw ? rw : "?", device ? device : "?");
	out.timestamp = sofa_seconds(e->sofa, row->ts_ns);
	out.event = 0;
	out.duration = sofa_or_unused(row->sector);
	out.payload = sofa_or_unused(row->bytes);
	out.pid = row->pid;
	out.tid = row->tid;
	out.name = name;
	sofa_put(&e->csv, &out);
	if (row->dur_ns == STORE_NULL)
		return;
	out.event = 1;
	out.duration = (double)row->dur_ns / 1e9;
	out.bandwidth = row->dur_ns > 0 ? out.payload * 1e9 / (double)row->dur_ns : -1;
	sofa_put(&e->csv, &out);
}

/* The totals of a device (a CPU, a disk, an interface), by the suffixes of counter names. */
#define FIELDS_MAX 12

struct kind {
	const char *file, *prefix; /* prefix "": fields are whole names of a single device */
	bool is_level;             /* values are gauges, not totals */
	const char *fields[FIELDS_MAX + 1];
	void (*put)(struct csv *c, const char *thing, double timestamp, double seconds, const double *deltas);
};

/* One device: its totals at the last written row, and now. */
struct thing {
	int64_t last_ns;
	double before[FIELDS_MAX], now[FIELDS_MAX];
};

struct counting {
	const struct kind *kind;
	struct csv *csv;
	const struct sofa *sofa;
	struct map numbers; /* device name -> index in things, from 1 */
	struct map series;  /* string id -> thing * FIELDS_MAX + field + 1; 0: not used */
	struct thing *things;
	size_t cap;
};

enum { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_IDLE, CPU_IOWAIT, CPU_IRQ, CPU_SOFTIRQ };

/* The number of a core; -1: all cores. */
static int64_t core_of(const char *thing)
{
	char *end;
	long number = strtol(thing, &end, 10);

	return *thing && !*end ? number : -1;
}

static void put_cpu(struct csv *c, const char *thing, double timestamp, double seconds, const double *d)
{
	struct sofa_row row = SOFA_ROW_INIT;
	double usr = d[CPU_USER] + d[CPU_NICE], sys = d[CPU_SYSTEM], irq = d[CPU_IRQ] + d[CPU_SOFTIRQ];
	double all = usr + sys + irq + d[CPU_IDLE] + d[CPU_IOWAIT];
	char name[128];

	if (all <= 0)
		return;
	snprintf(name, sizeof(name), "mpstat:%s|%.1f|%.1f|%.1f|%.1f|%.1f|", thing, 100 * usr / all, 100 * sys / all,
			100 * d[CPU_IDLE] / all, 100 * d[CPU_IOWAIT] / all, 100 * irq / all);
	row.timestamp = timestamp;
	row.event = (double)core_of(thing);
	row.device = core_of(thing);
	row.duration = (usr + sys + irq) / 1e9;
	row.payload = seconds;
	row.name = name;
	sofa_put(c, &row);
}

static void put_flow(struct csv *c, const char *kind, const char *thing, int event, double timestamp, double seconds,
		double bytes, double unit)
{
	struct sofa_row row = SOFA_ROW_INIT;
	char name[128];

	snprintf(name, sizeof(name), "%s:%s", kind, thing);
	row.timestamp = timestamp;
	row.event = event;
	row.duration = seconds;
	row.payload = bytes;
	row.bandwidth = seconds > 0 ? bytes / seconds / unit : 0;
	row.name = name;
	sofa_put(c, &row);
}

static void put_disk(struct csv *c, const char *thing, double timestamp, double seconds, const double *d)
{
	put_flow(c, "disk_read", thing, 0, timestamp, seconds, d[0], 1e6);
	put_flow(c, "disk_write", thing, 1, timestamp, seconds, d[1], 1e6);
}

static void put_net(struct csv *c, const char *thing, double timestamp, double seconds, const double *d)
{
	put_flow(c, "tx", thing, 0, timestamp, seconds, d[0], 1);
	put_flow(c, "rx", thing, 1, timestamp, seconds, d[1], 1);
}

enum { VM_IN, VM_OUT, VM_INTERRUPTS, VM_SWITCHES, VM_WAIT, VM_STOLEN, VM_USER, VM_SYSTEM, VM_NICE, VM_IDLE, VM_IRQ };

/* SOFA's eight series, one after the other: KiB, interrupts and context switches per second, shares of CPU time. */
static void put_machine(struct csv *c, const char *thing, double timestamp, double seconds, const double *d)
{
	double all = d[VM_WAIT] + d[VM_STOLEN] + d[VM_USER] + d[VM_SYSTEM] + d[VM_NICE] + d[VM_IDLE] + d[VM_IRQ] +
			d[VM_IRQ + 1];
	double share = all > 0 ? 100 / all : 0;
	double values[] = { d[VM_IN] / 1024 / seconds, d[VM_OUT] / 1024 / seconds, d[VM_INTERRUPTS] / seconds,
		d[VM_SWITCHES] / seconds, d[VM_WAIT] * share, d[VM_STOLEN] * share, (d[VM_USER] + d[VM_NICE]) * share,
		d[VM_SYSTEM] * share };
	static const char *const names[] = { "bi", "bo", "in", "cs", "wa", "st", "usr", "sys" };

	(void)thing;
	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct sofa_row row = SOFA_ROW_INIT;
		char name[32];

		snprintf(name, sizeof(name), "vmstat:%s", names[i]);
		row.timestamp = timestamp;
		row.event = i;
		row.duration = values[i];
		row.name = name;
		sofa_put(c, &row);
	}
}

/* Utilization of a device: SOFA's sm, mem, enc and dec. */
static void put_device(struct csv *c, const char *thing, double timestamp, double seconds, const double *d)
{
	static const char *const names[] = { "sm", "mem", "enc", "dec" };

	(void)seconds;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct sofa_row row = SOFA_ROW_INIT;
		char name[64];

		if (isnan(d[i]))
			continue; /* not available */
		snprintf(name, sizeof(name), "nvsmi:%s:%s", thing, names[i]);
		row.timestamp = timestamp;
		row.event = i;
		row.duration = d[i];
		row.device = core_of(thing);
		row.name = name;
		sofa_put(c, &row);
	}
}

static const struct kind kinds[] = {
	{ "mpstat.csv", "cpu.", false,
			{ "user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns" },
			put_cpu },
	{ "diskstat.csv", "disk.", false, { "read_bytes", "write_bytes" }, put_disk },
	{ "netstat.csv", "net.", false, { "tx_bytes", "rx_bytes" }, put_net },
	{ "vmstat.csv", "", false,
			{ "vm.page_in_bytes", "vm.page_out_bytes", "sched.interrupts", "sched.switches",
					"cpu.all.iowait_ns", "cpu.all.steal_ns", "cpu.all.user_ns", "cpu.all.system_ns",
					"cpu.all.nice_ns", "cpu.all.idle_ns", "cpu.all.irq_ns", "cpu.all.softirq_ns" },
			put_machine },
	{ "nvsmi_trace.csv", "gpu.", true,
			{ "util_percent", "memory_util_percent", "encoder_percent", "decoder_percent" }, put_device },
};

static struct thing *thing_of(struct counting *k, const char *name, size_t n, uint64_t *number)
{
	uint64_t *place = map_put(&k->numbers, name, n, NULL);

	if (!place)
		return NULL;
	if (!*place) {
		if (!VEC_GROW(k->things, k->cap, k->numbers.count, VEC_MAX))
			return NULL;
		*place = k->numbers.count;
		k->things[*place - 1] = (struct thing){ .last_ns = STORE_NULL };
		for (unsigned i = 0; i < FIELDS_MAX && k->kind->is_level; i++)
			k->things[*place - 1].now[i] = NAN;
	}
	*number = *place;
	return &k->things[*place - 1];
}

/* "disk.sda.read_bytes" is field 0 of "sda". */
static uint64_t series_of(struct counting *k, int64_t id)
{
	const char *name = model_cname(k->sofa->run, id), *dot, *from;
	size_t prefix = strlen(k->kind->prefix);
	uint64_t number;

	if (!name || strncmp(name, k->kind->prefix, prefix) != 0)
		return 0;
	from = name + prefix;
	for (unsigned i = 0; !prefix && k->kind->fields[i]; i++)
		if (!strcmp(name, k->kind->fields[i]) && thing_of(k, "", 0, &number))
			return (number - 1) * FIELDS_MAX + i + 1;
	dot = strrchr(from, '.');
	for (unsigned i = 0; dot && dot > from && k->kind->fields[i]; i++)
		if (!strcmp(dot + 1, k->kind->fields[i]) && thing_of(k, from, (size_t)(dot - from), &number))
			return (number - 1) * FIELDS_MAX + i + 1;
	return 0;
}

/* Writes the difference since the device's last row. */
static void put_thing(struct counting *k, size_t number, int64_t ts_ns)
{
	struct thing *t = &k->things[number];
	double deltas[FIELDS_MAX];
	double seconds = t->last_ns == STORE_NULL ? 0 : (double)(ts_ns - t->last_ns) / 1e9;

	for (unsigned i = 0; i < FIELDS_MAX; i++)
		deltas[i] = k->kind->is_level ? t->now[i] : t->now[i] - t->before[i];
	if (k->kind->is_level || seconds > 0)
		k->kind->put(k->csv, map_key(&k->numbers, number, NULL), sofa_seconds(k->sofa, ts_ns), seconds, deltas);
	memcpy(t->before, t->now, sizeof(t->now));
	t->last_ns = ts_ns;
}

static int take_row(struct counting *k, const struct store_counter *row)
{
	bool is_new;
	uint64_t *series = map_put_int(&k->series, (uint64_t)row->name, &is_new);

	if (!series)
		return -ENOMEM;
	if (is_new)
		*series = series_of(k, row->name);
	if (*series && !isnan(row->value))
		k->things[(*series - 1) / FIELDS_MAX].now[(*series - 1) % FIELDS_MAX] = row->value;
	return 0;
}

/* The values of one reading have the same time. A row per device is written when the next reading starts. */
static int count_rows(struct counting *k, struct model_rows *rows, struct sonde_err *err)
{
	int64_t ts_ns = STORE_NULL;
	const void *next;
	int rc;

	while ((rc = model_rows_next(rows, &next, err)) == 0 && next && !k->csv->error) {
		const struct store_counter *row = next;

		if (row->process != STORE_NULL || row->pid != STORE_NULL)
			continue;
		for (size_t i = 0; ts_ns != STORE_NULL && row->ts_ns != ts_ns && i < k->numbers.count; i++)
			put_thing(k, i, ts_ns);
		ts_ns = row->ts_ns;
		rc = take_row(k, row);
		if (rc < 0)
			return err_sys(err, -rc, "cannot read the counters");
	}
	for (size_t i = 0; rc == 0 && ts_ns != STORE_NULL && i < k->numbers.count; i++)
		put_thing(k, i, ts_ns);
	return rc;
}

static int write_kind(const struct sofa *s, const struct kind *kind, struct sonde_err *err)
{
	struct csv csv;
	struct counting k = { .kind = kind, .csv = &csv, .sofa = s };
	struct model_rows *rows;
	int rc = sofa_open(s, &csv, kind->file, err), close_rc;

	if (rc < 0)
		return rc;
	rc = model_rows_open(&rows, model_table(s->run, STORE_TABLE_COUNTER), &s->options->range, err);
	if (rc == 0) {
		rc = count_rows(&k, rows, err);
		model_rows_free(rows);
	}
	close_rc = sofa_close(&csv, kind->file, err);
	map_release(&k.numbers);
	map_release(&k.series);
	free(k.things);
	return rc < 0 ? rc : close_rc;
}

int sofa_write_counters(const struct sofa *s, struct sonde_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
		rc = write_kind(s, &kinds[i], err);
	return rc;
}
