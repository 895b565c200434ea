/*
 * The GPU probe: samples the devices' counters several times a second. GPU operations
 * of programs (the table gpu) come from the ring, written by the library that the GPU
 * runtimes load (src/tracer/gpu); they are counted here, so that one line covers all
 * GPU data.
 */
#include "probe/gpu/gpu.h"

#include "base/json.h"
#include "probe/probe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INTERVAL_NS_MIN 50000000 /* devices update their counters at most about 20 times a second */

const struct probe_ops probe_gpu;

struct gpu_counters {
	struct counters counters;
	struct gpu_devices {
		struct counter values[GPU_VALUE_COUNT];
	} * devices;   /* GPU_DEVICES_MAX, allocated at the first reading */
	unsigned seen; /* devices: highest index + 1 */
};

struct gpu {
	struct probe_host *host;
	const struct gpu_source *source; /* NULL: none available */
	void *state;
	struct sonde_err absent; /* the reason if source is NULL */
	struct gpu_counters counters;
	int64_t interval_ns, due_ns;
	uint64_t told;
};

static const struct gpu_source *const sources[] = { &gpu_nvml, &gpu_smi, &gpu_tegra };
#define SOURCES (sizeof(sources) / sizeof(*sources))

#define NAME(name, unit) #name,
#define UNIT(name, unit) unit,

/* Ignores devices beyond GPU_DEVICES_MAX. */
static void count(void *arg, const struct gpu_reading *r)
{
	struct gpu_counters *g = arg;
	static const char *const names[] = { GPU_VALUES(NAME) }, *const units[] = { GPU_VALUES(UNIT) };
	if (!g->devices)
		g->devices = calloc(GPU_DEVICES_MAX, sizeof(*g->devices));
	if (!g->devices || r->device >= GPU_DEVICES_MAX)
		return;
	for (size_t i = 0; i < GPU_VALUE_COUNT; i++) {
		struct counter *k = &g->devices[r->device].values[i];
		char name[64];
		if (!isfinite(r->values[i]))
			continue;
		if (!k->name) {
			snprintf(name, sizeof(name), "gpu.%u.%s", r->device, names[i]);
			counter_init(&g->counters, k, name, units[i], false, STORE_NULL);
		}
		counter_set(&g->counters, k, r->values[i]);
		g->seen = r->device >= g->seen ? r->device + 1 : g->seen;
	}
}

static int open_gpu(struct probe_host *host, void **state, struct sonde_err *err)
{
	struct gpu *g = calloc(1, sizeof(*g));
	if (!g)
		return err_sys(err, ENOMEM, "cannot read counters of devices");
	g->host = host;
	g->counters.counters.sink = host->sink;
	g->interval_ns = 1000000000 / (host->options.rate_hz ? host->options.rate_hz : 10);
	if (g->interval_ns < INTERVAL_NS_MIN)
		g->interval_ns = INTERVAL_NS_MIN;
	*state = g;
	return 0;
}

const struct gpu_source *gpu_find(void **state, unsigned interval_ms, struct sonde_err *err)
{
	char said[128] = "";
	size_t used = 0;
	for (size_t i = 0; i < SOURCES; i++) {
		struct sonde_err why = SONDE_ERR_INIT;
		if (!sources[i]->open(state, interval_ms, &why))
			return sources[i];
		if (used < sizeof(said))
			used += (size_t)snprintf(said + used, sizeof(said) - used, "%s%s", i ? ", " : "", why.text);
	}
	err_set(err, ENODEV, "no GPU with readable counters: %s", said);
	return NULL;
}

static uint64_t count_rows(struct gpu *g)
{
	uint64_t rows = g->counters.counters.rows + store_sink_table_rows(g->host->sink, STORE_TABLE_GPU);
	uint64_t fresh = rows - g->told;
	g->told = rows;
	return fresh;
}

static void close_source(struct gpu *g)
{
	if (g->source)
		g->source->free(g->state);
	g->source = NULL;
}

static void read_source(struct gpu *g, int64_t now_ns)
{
	g->counters.counters.now_ns = now_ns;
	if (!g->source || g->source->read(g->state, count, &g->counters))
		return;
	if (!g->counters.seen)
		err_set(&g->absent, ENODEV, "no GPU found: %s reports none", g->source->name);
	close_source(g);
}

static int attach_gpu(void *state, struct sonde_err *err)
{
	struct gpu *g = state;
	g->source = gpu_find(&g->state, (unsigned)(g->interval_ns / 1000000), &g->absent);
	if (!g->source && g->host->target.kind != PROBE_COMMAND) {
		*err = g->absent; /* GPU operations are recorded for a command only */
		return -ENODEV;
	}
	return 0;
}

static size_t fds_gpu(void *state, int *fds, size_t room)
{
	const struct gpu *g = state;
	if (!g->source || !g->source->fd || !room)
		return 0;
	fds[0] = g->source->fd(g->state);
	return 1;
}

static int64_t due_gpu(void *state)
{
	const struct gpu *g = state;
	return g->source && !g->source->fd ? g->due_ns : INT64_MAX;
}

static uint64_t pass_gpu(void *state, int64_t now_ns)
{
	struct gpu *g = state;
	if (g->source && (g->source->fd || now_ns >= g->due_ns)) {
		read_source(g, now_ns);
		g->due_ns = now_ns + g->interval_ns;
	}
	return count_rows(g);
}

static void finish_gpu(void *state, int64_t now_ns)
{
	struct gpu *g = state;
	read_source(g, now_ns);
	for (unsigned i = 0; i < g->counters.seen; i++)
		for (size_t k = 0; k < GPU_VALUE_COUNT; k++)
			counter_finish(&g->counters.counters, &g->counters.devices[i].values[k]);
	count_rows(g);
	if (g->source && !g->counters.seen)
		err_set(&g->absent, ENODEV, "no GPU found: %s reports none", g->source->name);
	probe_count(g->host, &probe_gpu, g->told, 0);
	if (!g->told)
		probe_absent(g->host, &probe_gpu, &g->absent);
	else if (g->absent.text[0])
		probe_remark(g->host, &probe_gpu, &g->absent);
}

static void report_gpu(void *state, struct json *j)
{
	const struct gpu *g = state;
	if (g->source)
		json_kstr(j, "source", g->source->name);
	if (g->counters.seen)
		json_kuint(j, "devices", g->counters.seen);
	json_kuint(j, "commands", store_sink_table_rows(g->host->sink, STORE_TABLE_GPU));
}

static void free_gpu(void *state)
{
	struct gpu *g = state;
	close_source(g);
	counters_release(&g->counters.counters);
	free(g->counters.devices);
	free(g);
}

const struct probe_ops probe_gpu = {
	.name = "gpu",
	.doc = "GPU activity: OpenCL and CUDA commands, NVTX ranges, NVIDIA counters",
	.open = open_gpu,
	.attach = attach_gpu,
	.fds = fds_gpu,
	.due_ns = due_gpu,
	.pass = pass_gpu,
	.finish = finish_gpu,
	.report = report_gpu,
	.free = free_gpu,
};
