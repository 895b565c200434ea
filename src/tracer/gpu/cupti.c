/*
 * CUDA: the driver loads us (CUDA_INJECTION64_PATH) and calls InitializeInjection. CUPTI then delivers records of
 * kernels, copies and fills in buffers, from its own thread and at program exit.
 */
#include "tracer/gpu/cupti.h"

#include "sonde/sonde.h"
#include "tracer/gpu/gpu-layer.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

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

static void tell_kernel(const struct cupti_kernel *k)
{
	struct sonde_gpu_command c = command_of(k->device, k->stream, k->start, k->end);
	c.kind = SONDE_GPU_KERNEL;
	c.name = k->name ? k->name : "(kernel)";
	c.items = 1;
	for (int i = 0; i < 3 && c.items != SONDE_NONE; i++)
		if (k->grid[i] < 0 || k->block[i] < 0 ||
				__builtin_mul_overflow(c.items, (int64_t)k->grid[i] * k->block[i], &c.items))
			c.items = SONDE_NONE;
	c.queued_ns = gpu_clock_ns(&device_clock, k->queued); /* 0 unless latency time stamps are enabled: unknown */
	c.submit_ns = gpu_clock_ns(&device_clock, k->submitted);
	gpu_tell(&c);
}

static void tell_copy(const struct cupti_memcpy *m)
{
	/* by CUPTI's numbers; arrays are on the device */
	static const struct {
		enum sonde_gpu_direction direction;
		const char *name;
	} copies[] = { { SONDE_GPU_NOWHERE, "CUDA_COPY" }, { SONDE_GPU_HOST_TO_DEVICE, "CUDA_COPY_H2D" },
		{ SONDE_GPU_DEVICE_TO_HOST, "CUDA_COPY_D2H" }, { SONDE_GPU_HOST_TO_DEVICE, "CUDA_COPY_H2A" },
		{ SONDE_GPU_DEVICE_TO_HOST, "CUDA_COPY_A2H" }, { SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_A2A" },
		{ SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_A2D" }, { SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_D2A" },
		{ SONDE_GPU_DEVICE_TO_DEVICE, "CUDA_COPY_D2D" }, { SONDE_GPU_HOST_TO_HOST, "CUDA_COPY_H2H" },
		{ SONDE_GPU_PEER_TO_PEER, "CUDA_COPY_P2P" } };
	size_t copy = m->copy < sizeof(copies) / sizeof(*copies) ? m->copy : 0;
	struct sonde_gpu_command c = command_of(m->device, m->stream, m->start, m->end);
	c.kind = SONDE_GPU_COPY;
	c.direction = copies[copy].direction;
	c.name = copies[copy].name;
	c.bytes = m->bytes <= INT64_MAX ? (int64_t)m->bytes : SONDE_NONE;
	gpu_tell(&c);
}

static void tell_fill(const struct cupti_memset *m)
{
	struct sonde_gpu_command c = command_of(m->device, m->stream, m->start, m->end);
	c.kind = SONDE_GPU_FILL;
	c.name = "CUDA_MEMSET";
	c.bytes = m->bytes <= INT64_MAX ? (int64_t)m->bytes : SONDE_NONE;
	gpu_tell(&c);
}

static void tell(const struct cupti_record *r)
{
	if (r->kind == CUPTI_KERNEL || r->kind == CUPTI_CONCURRENT_KERNEL)
		tell_kernel((const void *)r);
	else if (r->kind == CUPTI_MEMCPY || r->kind == CUPTI_PEER)
		tell_copy((const void *)r);
	else if (r->kind == CUPTI_MEMSET)
		tell_fill((const void *)r);
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

static void watch_calls(void *library)
{
	int (*subscribe)(void **, cupti_callback *, void *);
	int (*enable)(uint32_t, void *, uint32_t);
	*(void **)(void *)&subscribe = dlsym(library, "cuptiSubscribe");
	*(void **)(void *)&enable = dlsym(library, "cuptiEnableDomain");
	if (!cupti_watch_calls(subscribe, enable))
		sonde_meta("gpu.cuda_calls", "CUPTI reports no calls: another tool may use it");
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
	watch_calls(library);
	atexit(flush_at_exit);
	return 1;
}
