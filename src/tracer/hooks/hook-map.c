/*
 * Wrappers for memory-mapped files. The addresses of file mappings are kept in a small hash table, so that the
 * allocator's own mappings cost nothing and an munmap can report its file.
 */
#include "tracer/hook.h"

#include <sys/mman.h>

#include "calls/map.def"

#define MAPPINGS_MAX 8192 /* a power of two */
#define PROBES_MAX 16

static struct mapping {
	uintptr_t at; /* atomic; 0 free */
	uint64_t file;
} mappings[MAPPINGS_MAX];

static struct mapping *slot_of(uintptr_t at, uintptr_t wanted)
{
	size_t first = (at >> 12) * 0x9e3779b97f4a7c15ull >> 51;
	for (size_t i = 0; i < PROBES_MAX; i++) {
		struct mapping *m = &mappings[(first + i) % MAPPINGS_MAX];
		if (__atomic_load_n(&m->at, __ATOMIC_ACQUIRE) == wanted)
			return m;
	}
	return NULL;
}

static void mapping_add(const void *at, uint64_t file)
{
	uintptr_t is_free = 0;
	struct mapping *m = slot_of((uintptr_t)at, (uintptr_t)at);
	if (!m)
		m = slot_of((uintptr_t)at, 0);
	if (m &&
			(m->at ||
					__atomic_compare_exchange_n(&m->at, &is_free, (uintptr_t)at, false,
							__ATOMIC_RELEASE, __ATOMIC_RELAXED)))
		m->file = file;
}

static struct mapping *mapping_of(const void *at)
{
	return at ? slot_of((uintptr_t)at, (uintptr_t)at) : NULL;
}

static void mapping_drop(struct mapping *m)
{
	__atomic_store_n(&m->at, 0, __ATOMIC_RELEASE);
}

#define MMAP(name) \
	EXPORT void *name(void *at, size_t n, int prot, int flags, int fd, off_t offset) \
	{ \
		void *(*next)(void *, size_t, int, int, int, off_t) = next_function(CALL_##name); \
		if ((flags & MAP_ANONYMOUS) || !tracer_wants(SONDE_CAT_MAP)) \
			return next(at, n, prot, flags, fd, offset); \
		uint64_t start = tick(); \
		void *result = next(at, n, prot, flags, fd, offset); \
		uint64_t end = tick(); \
		uint64_t file = fds_file(fd); \
		if (result != MAP_FAILED) \
			mapping_add(result, file); \
		call_done_on(CALL_##name, start, end, RET_M(result), ERROR_M(result), file, \
				CALL(.fd = fd, .size = (int64_t)n, .offset = offset, \
						ARGS3((uintptr_t)at, prot, flags))); \
		return result; \
	}
MMAP(mmap)
MMAP(mmap64)

EXPORT int munmap(void *at, size_t n)
{
	int (*next)(void *, size_t) = next_function(CALL_munmap);
	struct mapping *m;
	if (!tracer_wants(SONDE_CAT_MAP) || !(m = mapping_of(at)))
		return next(at, n);
	uint64_t file = m->file;
	mapping_drop(m);
	uint64_t start = tick();
	int result = next(at, n);
	uint64_t end = tick();
	if (result)
		mapping_add(at, file);
	call_done_on(CALL_munmap, start, end, result, ERROR_I(result), file,
			CALL(.size = (int64_t)n, ARGS1((uintptr_t)at)));
	return result;
}

EXPORT void *mremap(void *at, size_t n, size_t new_n, int flags, ...)
{
	void *(*next)(void *, size_t, size_t, int, ...) = next_function(CALL_mremap);
	va_list ap;
	va_start(ap, flags);
	void *to = va_arg(ap, void *);
	va_end(ap);
	struct mapping *m;
	if (!tracer_wants(SONDE_CAT_MAP) || !(m = mapping_of(at)))
		return next(at, n, new_n, flags, to);
	uint64_t file = m->file;
	mapping_drop(m);
	uint64_t start = tick();
	void *result = next(at, n, new_n, flags, to);
	uint64_t end = tick();
	mapping_add(result == MAP_FAILED ? at : result, file);
	call_done_on(CALL_mremap, start, end, RET_M(result), ERROR_M(result), file,
			CALL(.size = (int64_t)n, ARGS3((uintptr_t)at, new_n, flags)));
	return result;
}

EXPORT int msync(void *at, size_t n, int flags)
{
	int (*next)(void *, size_t, int) = next_function(CALL_msync);
	if (!tracer_wants(SONDE_CAT_MAP))
		return next(at, n, flags);
	uint64_t start = tick();
	int result = next(at, n, flags);
	uint64_t end = tick();
	struct mapping *m = mapping_of(at);
	call_done_on(CALL_msync, start, end, result, ERROR_I(result), m ? m->file : 0,
			CALL(.size = (int64_t)n, ARGS2((uintptr_t)at, flags)));
	return result;
}

/* For anonymous memory these calls belong to the allocator. */
#define ON_MAPPING(name, failure, parameters, arguments, ...) \
	EXPORT int name parameters \
	{ \
		int(*next) parameters = (int(*) parameters)next_function(CALL_##name); \
		const struct mapping *m; \
		if (!tracer_wants(SONDE_CAT_MAP) || !(m = mapping_of(at))) \
			return next arguments; \
		uint64_t file = m->file; \
		uint64_t start = tick(); \
		int result = next arguments; \
		call_done_on(CALL_##name, start, tick(), result, ERROR_##failure(result), file, \
				CALL(.size = (int64_t)n, __VA_ARGS__)); \
		return result; \
	}
ON_MAPPING(madvise, I, (void *at, size_t n, int advice), (at, n, advice), ARGS2((uintptr_t)at, advice))
ON_MAPPING(posix_madvise, E, (void *at, size_t n, int advice), (at, n, advice), ARGS2((uintptr_t)at, advice))
ON_MAPPING(mprotect, I, (void *at, size_t n, int prot), (at, n, prot), ARGS2((uintptr_t)at, prot))
ON_MAPPING(mlock, I, (const void *at, size_t n), (at, n), ARGS1((uintptr_t)at))
ON_MAPPING(mlock2, I, (const void *at, size_t n, unsigned flags), (at, n, flags), ARGS2((uintptr_t)at, flags))
ON_MAPPING(munlock, I, (const void *at, size_t n), (at, n), ARGS1((uintptr_t)at))
