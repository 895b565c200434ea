#include "probe/proc/counters.h"

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

static void write(struct counters *c, struct counter *k, int64_t ts_ns)
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
		write(c, k, k->read_ns);
	k->last = value;
	k->read_ns = c->now_ns;
	write(c, k, c->now_ns);
}

void counter_finish(struct counters *c, struct counter *k)
{
	if (k->read_ns && k->read_ns != k->written_ns)
		write(c, k, k->read_ns);
}

void counters_release(struct counters *c)
{
	map_release(&c->known);
}
