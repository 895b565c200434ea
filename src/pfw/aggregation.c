/*
 * Aggregated events: one record per name, thread, file and interval (DFTRACER_ENABLE_AGGREGATION), with the count, and
 * the min, max and sum of each number.
 *
 * Aggregates are written with the batch of their events, so a killed process loses none that were committed. One
 * interval may have several records; readers add them up.
 */
#include "pfw/log-private.h"

#include <sys/mman.h>

#define SUMS_MAX 4096u /* a power of two; more start a new batch */
#define PROBES_MAX 64u
#define FIELDS_MAX 7u

struct field {
	const char *name;
	size_t bytes;
	int64_t low, high;
	int64_t sum;
};

struct sum {
	struct sum_key key;
	uint32_t count; /* 0: unused */
	uint32_t field_count;
	const char *head; /* "name":..,"cat":.. */
	size_t head_bytes;
	struct field fields[FIELDS_MAX];
};

struct sums {
	struct sum *table;
	uint32_t used;
	uint16_t order[SUMS_MAX];
};

static bool sums_make(struct pfwlog *log)
{
	struct sums *s = log->sums;
	if (s)
		return s->table != NULL;
	s = log->sums = sys_map(sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!s)
		return false;
	s->table = sys_map(SUMS_MAX * sizeof(*s->table), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	sys3(SYS_madvise, s, sizeof(*s), MADV_DONTFORK);
	if (s->table)
		sys3(SYS_madvise, s->table, SUMS_MAX * sizeof(*s->table), MADV_DONTFORK);
	return s->table != NULL;
}

bool log_is_summed(const struct pfwlog *log, struct rule_event *e)
{
	if (!log->rules)
		return log->state->setup.interval_ns != 0;
	const char *exe = log->state->setup.exe, *slash = strrchr(exe, '/');
	exe = slash ? slash + 1 : exe;
	e->app = (struct rule_value){ .text = exe, .bytes = strlen(exe) };
	e->rank = log->state->setup.rank;
	return rules_hold(log->rules, e);
}

static bool is_same(const struct sum_key *a, const struct sum_key *b)
{
	return a->bucket == b->bucket && a->what == b->what && a->file == b->file && a->pid == b->pid &&
			a->tid == b->tid;
}

static struct sum *find(struct sums *s, const struct sum_key *key)
{
	uint64_t h = ((uint64_t)(uintptr_t)key->what ^ (uint64_t)(uintptr_t)key->file * 31 ^
				     (uint64_t)key->bucket << 7 ^ (uint32_t)key->tid) *
			0x9e3779b97f4a7c15ull;
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		uint32_t at = (uint32_t)((h >> 40) + i) & (SUMS_MAX - 1);
		struct sum *sum = &s->table[at];
		if (sum->count && is_same(&sum->key, key))
			return sum;
		if (sum->count || s->used == SUMS_MAX / 2)
			continue;
		*sum = (struct sum){ .key = *key };
		s->order[s->used++] = (uint16_t)at;
		return sum;
	}
	return NULL;
}

struct sum *log_sum(struct pfwlog *log, const struct sum_key *key, const char *head, size_t head_bytes)
{
	if (!sums_make(log))
		return NULL;
	struct sum *sum = find(log->sums, key);
	if (!sum) {
		log_write_sums(log);
		sum = find(log->sums, key);
	}
	if (!sum)
		return NULL;
	sum->head = head;
	sum->head_bytes = head_bytes;
	sum->count++;
	return sum;
}

void log_sum_add(struct sum *sum, const char *name, size_t bytes, int64_t value)
{
	struct field *f = sum->fields;
	uint32_t i = 0;
	while (i < sum->field_count && !(f[i].bytes == bytes && !memcmp(f[i].name, name, bytes)))
		i++;
	if (i == FIELDS_MAX)
		return;
	if (i == sum->field_count) {
		f[sum->field_count++] = (struct field){ .name = name,
			.bytes = bytes,
			.low = value,
			.high = value,
			.sum = value };
		return;
	}
	f[i].low = value < f[i].low ? value : f[i].low;
	f[i].high = value > f[i].high ? value : f[i].high;
	if (__builtin_add_overflow(f[i].sum, value, &f[i].sum))
		f[i].sum = value > 0 ? INT64_MAX : INT64_MIN;
}

static char *put_field(char *at, const struct field *f, const char *suffix, int64_t value)
{
	at = PUT(at, ",\"");
	at = put_bytes(at, f->name, f->bytes);
	at = put_text(at, suffix);
	at = PUT(at, "\":");
	return put_int(at, value);
}

static void write_sum(struct pfwlog *log, const struct sum *sum)
{
	const struct pfwlog_setup *u = &log->state->setup;
	char *at = line_begin(log, sum->head_bytes + 1024 * FIELDS_MAX);
	if (!at)
		return;
	*at++ = '{';
	at = put_bytes(at, sum->head + 1, sum->head_bytes - 1); /* without the leading comma */
	at = PUT(at, ",\"ts\":");
	at = put_int(at, in_units(log, sum->key.bucket * u->interval_ns));
	at = put_phase(at, u->generation, u->generation == 'E' ? 'A' : 'C'); /* older ones have no aggregates */
	at = put_who(log, at, sum->key.pid, sum->key.tid);
	at = put_bytes(at, log->host, log->host_bytes);
	if (sum->key.file) {
		at = put_hash(PUT(at, ",\"fhash\":"), sum->key.file->hash, log->names.is_hex);
	}
	at = PUT(at, ",\"dft_cnt\":");
	at = put_uint(at, sum->count);
	for (uint32_t i = 0; i < sum->field_count; i++) {
		const struct field *f = &sum->fields[i];
		if (u->generation == 'E' && f->low == f->high && sum->count == 1) {
			at = put_field(at, f, "", f->low);
			continue;
		}
		at = put_field(at, f, "_min", f->low);
		at = put_field(at, f, "_max", f->high);
		at = put_field(at, f, "_sum", f->sum);
	}
	line_end(log, PUT(at, "}}"));
}

void log_write_sums(struct pfwlog *log)
{
	struct sums *s = log->sums;
	if (!s || !s->table)
		return;
	for (uint32_t i = 0; i < s->used; i++) {
		write_sum(log, &s->table[s->order[i]]);
		s->table[s->order[i]].count = 0;
	}
	s->used = 0;
}

void log_sums_free(struct pfwlog *log)
{
	if (log->sums && log->sums->table)
		sys2(SYS_munmap, log->sums->table, SUMS_MAX * sizeof(*log->sums->table));
	if (log->sums)
		sys2(SYS_munmap, log->sums, sizeof(*log->sums));
}
