/* The functions of libsonde that sonde.h finds by name. */
#include "tracer/annotations.h"
#include "tracer/metrics-board.h"

EXPORT const struct sonde_api sonde_api = {
	.version = SONDE_API_VERSION,
	.bytes = sizeof(struct sonde_api),
	.categories = &tracer.categories,
	.start = tracer_init,
	.intern = intern,
	.span_begin = note_span_begin,
	.span_begin_loose = note_span_begin_loose,
	.span_end = note_span_end,
	.instant_begin = note_instant_begin,
	.instant_end = note_instant_end,
	.arg = note_arg,
	.counter = note_counter,
	.step = note_step,
	.meta = note_meta,
	.metric = board_metric,
	.knob = board_knob,
};
