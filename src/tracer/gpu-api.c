/* Writes GPU commands to the ring; see sonde/gpu.h. */
#include "sonde/gpu.h"

#include "tracer/intern.h"

static uint32_t name_of(const char *text)
{
	uint32_t id = text ? intern(text, SIZE_MAX) : 0;
	if (id)
		intern_use(id);
	return id;
}

static void command(const struct sonde_gpu_command *c)
{
	if (!tracer_wants(SONDE_CAT_GPU))
		return;
	int kept_errno = errno;
	uint32_t name = name_of(c->name), api = name_of(c->api), device = name_of(c->device);
	struct sonde_rec_gpu *r = ring_reserve(sizeof(*r));
	if (r) {
		r->ticks = tick();
		r->queued_ns = c->queued_ns;
		r->submit_ns = c->submit_ns;
		r->start_ns = c->start_ns;
		r->end_ns = c->end_ns;
		r->error_ns = c->error_ns;
		r->bytes = c->bytes;
		r->items = c->items;
		r->queue = c->queue;
		r->name = name;
		r->api = api;
		r->device = device;
		r->device_id = c->device_id;
		r->tid = c->tid;
		r->status = c->status;
		r->kind = (uint8_t)c->kind;
		r->direction = (uint8_t)c->direction;
		ring_commit(&r->head, sizeof(*r), SONDE_REC_GPU, 0, 0);
	}
	errno = kept_errno;
}

static void drop(void)
{
	if (tracer_wants(SONDE_CAT_GPU))
		ring_drop();
}

EXPORT extern const struct sonde_gpu_api sonde_gpu_api;
EXPORT const struct sonde_gpu_api sonde_gpu_api = {
	.version = SONDE_GPU_API_VERSION,
	.bytes = sizeof(struct sonde_gpu_api),
	.categories = &tracer.categories,
	.command = command,
	.drop = drop,
};
