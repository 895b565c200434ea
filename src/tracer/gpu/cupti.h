/*
 * cupti: our own declarations of the parts of CUPTI's activity API that are used.
 *
 * The records are those of CUDA 9 and later (kernels: version 4 on; newer ones only append fields), packed to 8 bytes.
 * CUPTI is searched for when the CUDA driver has loaded us.
 */
#ifndef SONDE_TRACER_GPU_CUPTI_H
#define SONDE_TRACER_GPU_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_KERNEL = 3,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_PEER = 22,
};

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache, shared;
	uint16_t registers;
	uint32_t partition_asked, partition_used;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t shared_static, shared_dynamic;
	uint32_t local_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
};

struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
};

_Static_assert(offsetof(struct cupti_kernel, start) == 16 && offsetof(struct cupti_kernel, name) == 104 &&
				offsetof(struct cupti_kernel, submitted) == 128,
		"CUPTI's layout of kernels");
_Static_assert(offsetof(struct cupti_memcpy, bytes) == 8 && offsetof(struct cupti_memcpy, stream) == 40,
		"CUPTI's layout of copies");

typedef void cupti_request(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

/* Call data of a callback; more fields follow. */
struct cupti_call {
	int32_t site;
	const char *name;
};
enum { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };     /* of site */
enum { CUPTI_DRIVER = 1, CUPTI_RUNTIME = 2 }; /* domains */
typedef void cupti_callback(void *arg, uint32_t domain, uint32_t id, const struct cupti_call *call);

#define CUPTI_FLUSH_ALL 1u /* also unfinished activities */

/* X(result type is int, name, arguments) */
#define CUPTI_FUNCTIONS(X) \
	X(cuptiActivityRegisterCallbacks, (cupti_request *, cupti_complete *)) \
	X(cuptiActivityEnable, (uint32_t kind)) \
	X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, struct cupti_record * *record)) \
	X(cuptiActivityFlushAll, (uint32_t flags)) \
	X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped)) \
	X(cuptiGetTimestamp, (uint64_t * ns))

/* Record calls as spans from now on, by cuptiSubscribe and cuptiEnableDomain; NULL: not available. */
bool cupti_watch_calls(int (*subscribe)(void **, cupti_callback *, void *),
		int (*enable)(uint32_t on, void *subscriber, uint32_t domain));

#endif
