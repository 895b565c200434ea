/*
 * Calls of the CUDA runtime and driver APIs, as spans of the calling thread: CUPTI calls us before and after each. A
 * runtime call contains the driver calls that it makes.
 */
#include "tracer/gpu/cupti.h"

#include "sonde/sonde.h"
#include "tracer/gpu/gpu-layer.h"

#include <stddef.h>

#define DEPTH_MAX 8 /* calls do not nest deeper; excess calls are ignored */

static _Thread_local struct {
	struct sonde_span spans[DEPTH_MAX];
	unsigned depth;
} thread;

static void begin(const char *name)
{
	if (thread.depth < DEPTH_MAX)
		sonde_note_begin_(&thread.spans[thread.depth].note, SONDE_ARG_BYTES, NULL, name ? name : "(call)",
				"cuda");
	else
		gpu_drop();
	thread.depth++;
}

static void end(void)
{
	if (thread.depth && --thread.depth < DEPTH_MAX)
		sonde_span_end(&thread.spans[thread.depth]);
}

static void on_call(void *arg, uint32_t domain, uint32_t id, const struct cupti_call *call)
{
	(void)arg, (void)domain, (void)id;
	if (call->site == CUPTI_ENTER)
		begin(call->name);
	else
		end();
}

bool cupti_watch_calls(int (*subscribe)(void **, cupti_callback *, void *),
		int (*enable)(uint32_t on, void *subscriber, uint32_t domain))
{
	void *subscriber = NULL;
	if (!subscribe || !enable || subscribe(&subscriber, on_call, NULL))
		return false; /* an older CUPTI, or one with another subscriber */
	bool has_driver = !enable(1, subscriber, CUPTI_DRIVER), has_runtime = !enable(1, subscriber, CUPTI_RUNTIME);
	return has_driver || has_runtime;
}
