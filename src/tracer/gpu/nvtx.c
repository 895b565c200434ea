/*
 * NVTX 3: converts ranges and marks to annotations, as if the program had called sonde.h.
 *
 * A pushed range ends on its thread, the last of its domain first; a started one may end on any thread. Domains become
 * categories. push and pop return the same values as without a tool, so the program sees no difference. No memory is
 * freed while the program runs: handles stay valid until it exits.
 */
#include "tracer/gpu/nvtx.h"

#include "sonde/sonde.h"
#include "tracer/gpu/gpu-layer.h"
#include "tracer/gpu/nvtx-names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX 64
#define STARTED_MAX 65536
#define NO_FRAME UINT32_MAX /* a span outside of the frame stacks */

struct pushed {
	const struct nvtx_name *domain;
	struct sonde_span span;
};

static _Thread_local struct {
	struct pushed *stack; /* DEPTH_MAX entries, allocated at the first push */
	size_t depth;         /* may exceed DEPTH_MAX: deeper ranges are ignored */
} thread;

struct started {
	uint64_t id;
	int32_t tid;
	struct sonde_span span;
	struct started *after;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct started *started;
static uint64_t last_id;
static size_t started_count;

/* Marks. */

static void mark(const struct nvtx_name *domain, const char *name, const struct nvtx_event *e)
{
	struct sonde_span span;
	sonde_instant_begin_(&span.note, SONDE_ARG_BYTES, NULL, name, nvtx_category(domain));
	nvtx_add_facts(&span, e);
	sonde_instant_end(&span);
}

static void domain_mark(const struct nvtx_name *domain, const struct nvtx_event *e)
{
	char room[NVTX_NAME_BYTES];
	mark(domain, nvtx_message(e, room), e);
}

static void mark_event(const struct nvtx_event *e)
{
	domain_mark(NULL, e);
}

static void mark_text(const char *text)
{
	mark(NULL, text ? text : NVTX_NO_MESSAGE, NULL);
}

static void mark_wide(const wchar_t *wide)
{
	char room[NVTX_NAME_BYTES];
	nvtx_narrow(room, wide);
	mark(NULL, room, NULL);
}

/* Pushed ranges. */

static void begin_loose(struct sonde_span *span, const char *name, const char *category)
{
	sonde_note_init_(&span->note, SONDE_ARG_BYTES);
	if (!sonde_is_on())
		return;
	struct sonde_site site = { .name = sonde_api_()->intern(name, SIZE_MAX),
		.category = sonde_api_()->intern(category, SIZE_MAX) };
	sonde_api_()->span_begin_loose(&span->note, &site);
}

static int push(const struct nvtx_name *domain, const char *name, const struct nvtx_event *e)
{
	if (!thread.stack)
		thread.stack = calloc(DEPTH_MAX, sizeof(*thread.stack));
	if (thread.stack && thread.depth < DEPTH_MAX) {
		struct pushed *p = &thread.stack[thread.depth];
		p->domain = domain;
		begin_loose(&p->span, name, nvtx_category(domain));
		nvtx_add_facts(&p->span, e);
	} else {
		gpu_drop();
	}
	thread.depth++;
	return NVTX_NOT_TRACKED;
}

static int domain_push(const struct nvtx_name *domain, const struct nvtx_event *e)
{
	char room[NVTX_NAME_BYTES];
	return push(domain, nvtx_message(e, room), e);
}

static int push_event(const struct nvtx_event *e)
{
	return domain_push(NULL, e);
}

static int pushed_text(const char *text)
{
	return push(NULL, text ? text : NVTX_NO_MESSAGE, NULL);
}

static int push_wide(const wchar_t *wide)
{
	char room[NVTX_NAME_BYTES];
	nvtx_narrow(room, wide);
	return push(NULL, room, NULL);
}

/* The last one pushed in this domain; those of other domains stay. */
static int domain_pop(const struct nvtx_name *domain)
{
	if (thread.depth > DEPTH_MAX || !thread.stack) {
		thread.depth -= thread.depth > 0;
		return NVTX_NOT_TRACKED;
	}
	size_t i = thread.depth;
	while (i > 0 && thread.stack[i - 1].domain != domain)
		i--;
	if (i) {
		sonde_span_end(&thread.stack[i - 1].span);
		memmove(&thread.stack[i - 1], &thread.stack[i], (thread.depth - i) * sizeof(*thread.stack));
		thread.depth--;
	}
	return NVTX_NOT_TRACKED;
}

static int pop(void)
{
	return domain_pop(NULL);
}

/* Started ranges: outside of the frame stacks, and recorded by the thread that ends them. */

static uint64_t start(const struct nvtx_name *domain, const char *name, const struct nvtx_event *e)
{
	struct started *s = started_count < STARTED_MAX ? calloc(1, sizeof(*s)) : NULL;
	if (!s) {
		gpu_drop();
		return 0;
	}
	sonde_instant_begin_(&s->span.note, SONDE_ARG_BYTES, NULL, name, nvtx_category(domain));
	s->span.note.depth = NO_FRAME;
	nvtx_add_facts(&s->span, e);
	s->tid = (int32_t)syscall(SYS_gettid);
	pthread_mutex_lock(&lock);
	uint64_t id = s->id = ++last_id;
	s->after = started;
	started = s;
	started_count++;
	pthread_mutex_unlock(&lock);
	return id;
}

static uint64_t domain_start(const struct nvtx_name *domain, const struct nvtx_event *e)
{
	char room[NVTX_NAME_BYTES];
	return start(domain, nvtx_message(e, room), e);
}

static uint64_t start_event(const struct nvtx_event *e)
{
	return domain_start(NULL, e);
}

static uint64_t start_text(const char *text)
{
	return start(NULL, text ? text : NVTX_NO_MESSAGE, NULL);
}

static uint64_t start_wide(const wchar_t *wide)
{
	char room[NVTX_NAME_BYTES];
	nvtx_narrow(room, wide);
	return start(NULL, room, NULL);
}

static void end(uint64_t id)
{
	struct started *found = NULL;
	pthread_mutex_lock(&lock);
	for (struct started **at = &started; *at; at = &(*at)->after)
		if ((*at)->id == id) {
			found = *at;
			*at = found->after;
			started_count--;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (!found)
		return;
	if (found->tid != (int32_t)syscall(SYS_gettid))
		sonde_arg_int(&found->span, "started_by", found->tid);
	sonde_span_end(&found->span);
	free(found);
}

static void domain_end(const struct nvtx_name *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

/* Domains and strings. */

static struct nvtx_name *create_text(const char *name)
{
	return nvtx_keep(name, NULL);
}

static struct nvtx_name *create_wide(const wchar_t *name)
{
	return nvtx_keep(NULL, name);
}

static struct nvtx_name *string_text(const struct nvtx_name *domain, const char *text)
{
	(void)domain;
	return nvtx_keep(text, NULL);
}

static struct nvtx_name *string_wide(const struct nvtx_name *domain, const wchar_t *wide)
{
	(void)domain;
	return nvtx_keep(NULL, wide);
}

static void destroy(const struct nvtx_name *domain)
{
	(void)domain; /* ranges of it may be unfinished */
}

struct row {
	unsigned place;
	nvtx_function *ours;
};

#define ROW(place, function) \
	{ \
		place, (nvtx_function *)(void *)(function) \
	}

static const struct row core[] = {
	ROW(NVTX_MARK_EX, mark_event),
	ROW(NVTX_MARK_A, mark_text),
	ROW(NVTX_MARK_W, mark_wide),
	ROW(NVTX_START_EX, start_event),
	ROW(NVTX_START_A, start_text),
	ROW(NVTX_START_W, start_wide),
	ROW(NVTX_END, end),
	ROW(NVTX_PUSH_EX, push_event),
	ROW(NVTX_PUSH_A, pushed_text),
	ROW(NVTX_PUSH_W, push_wide),
	ROW(NVTX_POP, pop),
};

static const struct row core2[] = {
	ROW(NVTX_DOMAIN_MARK, domain_mark),
	ROW(NVTX_DOMAIN_START, domain_start),
	ROW(NVTX_DOMAIN_END, domain_end),
	ROW(NVTX_DOMAIN_PUSH, domain_push),
	ROW(NVTX_DOMAIN_POP, domain_pop),
	ROW(NVTX_DOMAIN_STRING_A, string_text),
	ROW(NVTX_DOMAIN_STRING_W, string_wide),
	ROW(NVTX_DOMAIN_CREATE_A, create_text),
	ROW(NVTX_DOMAIN_CREATE_W, create_wide),
	ROW(NVTX_DOMAIN_DESTROY, destroy),
};

static void put(const struct nvtx_callbacks *c, enum nvtx_module module, const struct row *rows, size_t count)
{
	nvtx_function ***places = NULL;
	unsigned size = 0;
	if (!c->module_places(module, &places, &size) || !places)
		return;
	for (size_t i = 0; i < count; i++)
		if (rows[i].place < size && places[rows[i].place])
			*places[rows[i].place] = rows[i].ours;
}

GPU_EXPORT int InitializeInjectionNvtx2(nvtx_find_table *find);
GPU_EXPORT int InitializeInjectionNvtx2(nvtx_find_table *find)
{
	const struct nvtx_callbacks *c = find ? find(NVTX_TABLE_CALLBACKS) : NULL;
	if (!c || c->bytes < sizeof(*c) || !c->module_places || !sonde_is_on())
		return 0;
	put(c, NVTX_MODULE_CORE, core, sizeof(core) / sizeof(*core));
	put(c, NVTX_MODULE_CORE2, core2, sizeof(core2) / sizeof(*core2));
	return 1;
}
