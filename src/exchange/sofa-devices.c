/* Device commands, the calls that submit them, and block device requests in SOFA's format; see sofa.h. */
#include "exchange/sofa.h"
#include "model/dimensions.h"

#include <inttypes.h>
#include <string.h>

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
