/*
 * CUDA: the driver loads us (CUDA_INJECTION64_PATH) and calls InitializeInjection. CUPTI then delivers records of
 * kernels, copies and fills in buffers, from its own thread and at program exit.
 */
#include "sonde/sonde.h"
#include "tracer/gpu/gpu-layer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * cupti: our own declarations of the parts of CUPTI's activity API that are used.
 *
 * The records are those of CUDA 9 and later (kernels: version 4 on; newer ones only append fields), packed to 8 bytes.
 * CUPTI is searched for when the CUDA driver has loaded us.
 */

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

/*
 * Calls of the CUDA runtime and driver APIs, as spans of the calling thread: CUPTI calls us before and after each. A
 * runtime call contains the driver calls that it makes.
 */

#define DEPTH_MAX 8 /* calls do not nest deeper; excess calls are ignored */

static _Thread_local struct {
	struct sonde_span spans[DEPTH_MAX];
	unsigned depth;
} thread;

static void end(void)
{
	if (thread.depth && --thread.depth < DEPTH_MAX)
		sonde_span_end(&thread.spans[thread.depth]);
}

static void on_call(void *arg, uint32_t domain, uint32_t id, const struct cupti_call *call)
{
	(void)arg, (void)domain, (void)id;
	if (call->site == CUPTI_ENTER) {
		if (thread.depth < DEPTH_MAX)
			sonde_note_begin_(&thread.spans[thread.depth].note, SONDE_ARG_BYTES, NULL,
					call->name ? call->name : "(call)", "cuda");
		else
			gpu_drop();
		thread.depth++;
	} else {
		end();
	}
}

/* Record calls as spans from now on, by cuptiSubscribe and cuptiEnableDomain; NULL: not available. */
static bool cupti_watch_calls(int (*subscribe)(void **, cupti_callback *, void *),
		int (*enable)(uint32_t on, void *subscriber, uint32_t domain))
{
	void *subscriber = NULL;
	if (!subscribe || !enable || subscribe(&subscriber, on_call, NULL))
		return false; /* an older CUPTI, or one with another subscriber */
	bool has_driver = !enable(1, subscriber, CUPTI_DRIVER), has_runtime = !enable(1, subscriber, CUPTI_RUNTIME);
	return has_driver || has_runtime;
}

#define BUFFER_BYTES ((size_t)1 << 20)
#define CLOCK_TRIES 3

#define DECLARE(name, arguments) int(*name) arguments;
static struct {
	CUPTI_FUNCTIONS(DECLARE)
} cupti;

static struct gpu_clock device_clock; /* CUPTI converts the times of all devices to one clock */
static pid_t owner;

static void read_clock(void)
{
	if (!gpu_clock_is_stale(&device_clock, gpu_now_ns()))
		return;
	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t ns = 0;
		int64_t before_ns = gpu_now_ns();
		if (!cupti.cuptiGetTimestamp(&ns) && ns && ns <= INT64_MAX)
			gpu_clock_bracket(&device_clock, (int64_t)ns, before_ns, gpu_now_ns());
	}
}

static struct sonde_gpu_command command_of(uint32_t device, uint32_t stream, uint64_t start, uint64_t end)
{
	return (struct sonde_gpu_command){ .api = "cuda",
		.device_id = (int32_t)device,
		.queue = stream,
		.bytes = SONDE_NONE,
		.items = SONDE_NONE,
		.queued_ns = SONDE_NONE,
		.submit_ns = SONDE_NONE,
		.start_ns = gpu_clock_ns(&device_clock, start),
		.end_ns = gpu_clock_ns(&device_clock, end),
		.error_ns = gpu_clock_error_ns(&device_clock) };
}

static void tell(const struct cupti_record *r)
{
	if (r->kind == CUPTI_KERNEL || r->kind == CUPTI_CONCURRENT_KERNEL) {
		const struct cupti_kernel *k = (const void *)r;
		struct sonde_gpu_command c = command_of(k->device, k->stream, k->start, k->end);
		c.kind = SONDE_GPU_KERNEL;
		c.name = k->name ? k->name : "(kernel)";
		c.items = 1;
		for (int i = 0; i < 3 && c.items != SONDE_NONE; i++)
			if (k->grid[i] < 0 || k->block[i] < 0 ||
					__builtin_mul_overflow(c.items, (int64_t)k->grid[i] * k->block[i], &c.items))
				c.items = SONDE_NONE;
		c.queued_ns = gpu_clock_ns(&device_clock,
				k->queued); /* 0 unless latency time stamps are enabled: unknown */
		c.submit_ns = gpu_clock_ns(&device_clock, k->submitted);
		gpu_emit(&c);
	} else if (r->kind == CUPTI_MEMCPY || r->kind == CUPTI_PEER) {
		const struct cupti_memcpy *m = (const void *)r;
		/* by CUPTI's numbers; arrays are on the device */
		static const struct {
			enum sonde_gpu_direction direction;
			const char *name;
		} copies[] = { { SONDE_GPU_NOWHERE, "CUDA_COPY" }, { SONDE_GPU_HOST_TO_DEVICE, "CUDA_COPY_H2D" },
			{ SONDE_GPU_DEVICE_TO_HOST, "CUDA_COPY_D2H" }, { SONDE_GPU_HOST_TO_DEVICE, "CUDA_COPY_H2A" },
			{ SONDE_GPU_DEVICE_TO_HOST, "CUDA_COPY_A2H" }, { SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_A2A" },
			{ SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_A2D" },
			{ SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_D2A" },
			{ SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_D2D" }, { SONDE_GPU_HOST_TO_HOST, "CUDA_COPY_H2H" },
			{ SONDE_GPU_PEER_TO_PEER, "CUDA_COPY_P2P" } };
		size_t copy = m->copy < sizeof(copies) / sizeof(*copies) ? m->copy : 0;
		struct sonde_gpu_command c = command_of(m->device, m->stream, m->start, m->end);
		c.kind = SONDE_GPU_COPY;
		c.direction = copies[copy].direction;
		c.name = copies[copy].name;
		c.bytes = m->bytes <= INT64_MAX ? (int64_t)m->bytes : SONDE_NONE;
		gpu_emit(&c);
	} else if (r->kind == CUPTI_MEMSET) {
		const struct cupti_memset *m = (const void *)r;
		struct sonde_gpu_command c = command_of(m->device, m->stream, m->start, m->end);
		c.kind = SONDE_GPU_FILL;
		c.name = "CUDA_MEMSET";
		c.bytes = m->bytes <= INT64_MAX ? (int64_t)m->bytes : SONDE_NONE;
		gpu_emit(&c);
	}
}

static void buffer_wanted(uint8_t **buffer, size_t *bytes, size_t *records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*records = 0; /* unlimited */
}

static void buffer_full(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	struct cupti_record *record = NULL;
	size_t dropped = 0;
	(void)bytes;
	read_clock();
	while (valid && !cupti.cuptiActivityGetNextRecord(buffer, valid, &record) && record)
		tell(record);
	if (!cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped))
		while (dropped--)
			gpu_drop();
	free(buffer);
}

static void flush_at_exit(void)
{
	if (getpid() == owner)
		cupti.cuptiActivityFlushAll(CUPTI_FLUSH_ALL);
}

/* The newest first; the plain name exists in development installations. */
static bool find_cupti(void **found)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
	void *library = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	bool has_all = true;
#define FIND(name, arguments) has_all &= (*(void **)(void *)&cupti.name = dlsym(library, #name)) != NULL;
	CUPTI_FUNCTIONS(FIND)
	*found = library;
	return has_all;
}

GPU_EXPORT int InitializeInjection(void);
GPU_EXPORT int InitializeInjection(void)
{
	static const uint32_t kinds[] = { CUPTI_CONCURRENT_KERNEL, CUPTI_MEMCPY, CUPTI_PEER, CUPTI_MEMSET };
	if (!gpu_is_on() || owner)
		return 1; /* the driver continues without us */
	void *library;
	if (!find_cupti(&library) || cupti.cuptiActivityRegisterCallbacks(buffer_wanted, buffer_full)) {
		sonde_meta("gpu.cuda", "no CUPTI that works was found: kernels and copies are not recorded");
		return 1;
	}
	owner = getpid();
	read_clock();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cupti.cuptiActivityEnable(kinds[i]); /* an unsupported kind is not recorded */
	int (*subscribe)(void **, cupti_callback *, void *);
	int (*enable)(uint32_t, void *, uint32_t);
	*(void **)(void *)&subscribe = dlsym(library, "cuptiSubscribe");
	*(void **)(void *)&enable = dlsym(library, "cuptiEnableDomain");
	if (!cupti_watch_calls(subscribe, enable))
		sonde_meta("gpu.cuda_calls", "CUPTI reports no calls: another tool may use it");
	atexit(flush_at_exit);
	return 1;
}
