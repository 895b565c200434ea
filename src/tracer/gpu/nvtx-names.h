/* nvtx-names: names of NVTX events, domains and registered strings, and the other attributes of an event. */
#ifndef SONDE_TRACER_GPU_NVTX_NAMES_H
#define SONDE_TRACER_GPU_NVTX_NAMES_H

#include "sonde/sonde.h"
#include "tracer/gpu/nvtx.h"

#define NVTX_NAME_BYTES 256
#define NVTX_NO_MESSAGE "(no message)"

/* A domain or a registered string: its handle is its address. */
struct nvtx_name {
	char bytes[NVTX_NAME_BYTES];
};

/* Convert to UTF-8, truncated to the room; NULL is the empty text. */
void nvtx_narrow(char out[NVTX_NAME_BYTES], const wchar_t *wide);
/* Permanent copy of the one that is not NULL; NULL if out of memory. */
struct nvtx_name *nvtx_keep(const char *text, const wchar_t *wide);
const char *nvtx_category(const struct nvtx_name *domain); /* NULL: the default domain */
/* The name of the event; `room` is the buffer for a wide text. */
const char *nvtx_message(const struct nvtx_event *e, char room[NVTX_NAME_BYTES]);
/* Add its category and payload as arguments. NULL has none. */
void nvtx_add_facts(struct sonde_span *span, const struct nvtx_event *e);

#endif
