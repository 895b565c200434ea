/*
 * A stand-in for CUPTI's activity interface, as its documentation fixes it: records of
 * known content in a buffer that is asked for, handed over when flushed. Its clock is
 * CLOCK_MONOTONIC plus an hour, so that times are only right when it was compared.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define HOUR_NS 3600000000000ull

/* CUpti_ActivityKernel9, CUpti_ActivityMemcpy5, CUpti_ActivityMemset4, as far as they have been the same. */
struct kernel {
	uint32_t kind;
	uint8_t cacheConfig, sharedMemoryConfig;
	uint16_t registersPerThread;
	uint32_t partitionedRequested, partitionedExecuted;
	uint64_t start, end, completed;
	uint32_t deviceId, contextId, streamId;
	int32_t gridX, gridY, gridZ, blockX, blockY, blockZ, staticShared, dynamicShared;
	uint32_t localPerThread, localTotal, correlationId;
	int64_t gridId;
	const char *name;
	void *reserved0;
	uint64_t queued, submitted;
	uint8_t rest[96];
};

struct copy {
	uint32_t kind;
	uint8_t copyKind, srcKind, dstKind, flags;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId, correlationId, runtimeCorrelationId, pad;
	uint8_t rest[40];
};

struct fill {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId, correlationId;
	uint8_t rest[48];
};

static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint32_t enabled[64], enabled_count;

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + HOUR_NS;
}

EXPORT int cuptiGetTimestamp(uint64_t *ns)
{
	*ns = now();
	return 0;
}

EXPORT int cuptiActivityRegisterCallbacks(void (*r)(uint8_t **, size_t *, size_t *),
		void (*c)(void *, uint32_t, uint8_t *, size_t, size_t))
{
	request = r;
	complete = c;
	return 0;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	enabled[enabled_count++ % 64] = kind;
	return 0;
}

static int is_enabled(uint32_t kind)
{
	for (uint32_t i = 0; i < enabled_count; i++)
		if (enabled[i] == kind)
			return 1;
	return 0;
}

static size_t bytes_of(uint32_t kind)
{
	return kind == 10 ? sizeof(struct kernel) : kind == 1 || kind == 22 ? sizeof(struct copy) : sizeof(struct fill);
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + bytes_of(*(uint32_t *)*record) : buffer;
	if (next >= buffer + valid)
		return 12; /* CUPTI_ERROR_MAX_LIMIT_REACHED */
	*record = next;
	return 0;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = 2;
	return 0;
}

/* CUpti_CallbackData: its beginning. */
struct call {
	int32_t callbackSite;
	const char *functionName;
	const void *functionParams;
};

static void (*callback)(void *, uint32_t, uint32_t, const struct call *);
static void *callback_arg;
static uint32_t domains;

EXPORT int cuptiSubscribe(void **subscriber, void (*f)(void *, uint32_t, uint32_t, const struct call *), void *arg)
{
	callback = f;
	callback_arg = arg;
	*subscriber = &callback;
	return 0;
}

EXPORT int cuptiEnableDomain(uint32_t on, void *subscriber, uint32_t domain)
{
	if (subscriber != &callback || !on)
		return 1;
	domains |= 1u << domain;
	return 0;
}

/* What the fake driver calls before (0) and after (1) each call of its program. */
EXPORT void fake_cupti_call(uint32_t domain, int32_t site, const char *name);
EXPORT void fake_cupti_call(uint32_t domain, int32_t site, const char *name)
{
	struct call c = { .callbackSite = site, .functionName = name };
	if (callback && domains & 1u << domain)
		callback(callback_arg, domain, 9, &c);
}

static uint8_t *buffer, *at;
static size_t room;
static uint64_t began;

/* What the fake driver calls for each command of its program. */
EXPORT void fake_cupti_record(uint32_t kind, uint32_t what, uint64_t bytes, const char *name);
EXPORT void fake_cupti_record(uint32_t kind, uint32_t what, uint64_t bytes, const char *name)
{
	size_t records;
	if (!request || !is_enabled(kind))
		return;
	if (!buffer) {
		request(&buffer, &room, &records);
		at = buffer;
	}
	began = now();
	struct kernel k = { .kind = kind,
		.deviceId = 1,
		.streamId = 7,
		.gridX = 4,
		.gridY = 2,
		.gridZ = 1,
		.blockX = 32,
		.blockY = 1,
		.blockZ = 1,
		.start = began,
		.end = began + 5000,
		.name = name };
	struct copy c = { .kind = kind,
		.copyKind = (uint8_t)what,
		.bytes = bytes,
		.start = began,
		.end = began + 2000,
		.deviceId = 0,
		.streamId = 3 };
	struct fill f = { .kind = kind,
		.value = what,
		.bytes = bytes,
		.start = began,
		.end = began + 1000,
		.deviceId = 0,
		.streamId = 3 };
	const void *from = kind == 10 ? (void *)&k : kind == 2 ? (void *)&f : (void *)&c;
	memcpy(at, from, bytes_of(kind));
	at += bytes_of(kind);
}

EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
	(void)flags;
	if (buffer)
		complete(NULL, 0, buffer, room, (size_t)(at - buffer));
	buffer = NULL;
	return 0;
}
