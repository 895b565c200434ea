/*
 * NVTX 3: converts ranges and marks to annotations, as if the program had called sonde.h.
 *
 * A pushed range ends on its thread, the last of its domain first; a started one may end on any thread. Domains become
 * categories. push and pop return the same values as without a tool, so the program sees no difference. No memory is
 * freed while the program runs: handles stay valid until it exits.
 */
#include "sonde/sonde.h"
#include "tracer/gpu/gpu-layer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

/*
 * nvtx: our own declarations of the parts of NVTX 3 that an injection library needs.
 *
 * NVTX passes a function that returns export tables by number. The callback table returns an array of slots for each
 * module; the program's calls are dispatched to the functions stored in these slots.
 */

#define NVTX_TABLE_CALLBACKS 1u
enum nvtx_module { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

enum nvtx_core {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A,
	NVTX_MARK_W,
	NVTX_START_EX,
	NVTX_START_A,
	NVTX_START_W,
	NVTX_END,
	NVTX_PUSH_EX,
	NVTX_PUSH_A,
	NVTX_PUSH_W,
	NVTX_POP,
};

enum nvtx_core2 {
	NVTX_DOMAIN_MARK = 1,
	NVTX_DOMAIN_START,
	NVTX_DOMAIN_END,
	NVTX_DOMAIN_PUSH,
	NVTX_DOMAIN_POP,
	NVTX_DOMAIN_STRING_A = 10,
	NVTX_DOMAIN_STRING_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
	NVTX_DOMAIN_DESTROY,
};

#define NVTX_NOT_TRACKED (-2) /* returned by push and pop without a tool */

enum nvtx_message { NVTX_TEXT = 1, NVTX_WIDE = 2, NVTX_REGISTERED = 3 };
enum nvtx_payload { NVTX_UINT64 = 1, NVTX_INT64, NVTX_DOUBLE, NVTX_UINT32, NVTX_INT32, NVTX_FLOAT };

struct nvtx_event { /* version 2 */
	uint16_t version, bytes;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double real;
		uint32_t u32;
		int32_t i32;
		float single;
	} payload;
	int32_t message_type;
	union {
		const char *text;
		const wchar_t *wide;
		const void *registered;
	} message;
};

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t bytes;
	int (*module_places)(enum nvtx_module module, nvtx_function ****places, unsigned *count);
};

typedef const void *nvtx_find_table(uint32_t table);

/* Names of NVTX events, domains and registered strings, and the other attributes of an event. */

#define NVTX_NAME_BYTES 256
#define NVTX_NO_MESSAGE "(no message)"

/* A domain or a registered string: its handle is its address. */
struct nvtx_name {
	char bytes[NVTX_NAME_BYTES];
};

#define DEFAULT_CATEGORY "nvtx"

/* Convert to UTF-8, truncated to the room; NULL is the empty text. */
static void nvtx_narrow(char out[NVTX_NAME_BYTES], const wchar_t *wide)
{
	size_t n = 0;
	for (; wide && *wide && n + 4 < NVTX_NAME_BYTES; wide++) {
		uint32_t c = (uint32_t)*wide;
		if (c < 0x80) {
			out[n++] = (char)c;
		} else if (c < 0x800) {
			out[n++] = (char)(0xc0 | c >> 6);
			out[n++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			out[n++] = (char)(0xe0 | c >> 12);
			out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[n++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x110000) {
			out[n++] = (char)(0xf0 | c >> 18);
			out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
			out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[n++] = (char)(0x80 | (c & 0x3f));
		}
	}
	out[n] = '\0';
}

/* Permanent copy of the one that is not NULL; NULL if out of memory. */
static struct nvtx_name *nvtx_keep(const char *text, const wchar_t *wide)
{
	struct nvtx_name *t = calloc(1, sizeof(*t));
	if (t && wide)
		nvtx_narrow(t->bytes, wide);
	else if (t)
		snprintf(t->bytes, sizeof(t->bytes), "%s", text ? text : "");
	return t;
}

/* NULL: the default domain */
static const char *nvtx_category(const struct nvtx_name *domain)
{
	return domain && domain->bytes[0] ? domain->bytes : DEFAULT_CATEGORY;
}

/* The name of the event; `room` is the buffer for a wide text. */
static const char *nvtx_message(const struct nvtx_event *e, char room[NVTX_NAME_BYTES])
{
	const struct nvtx_name *registered;
	if (!e || e->bytes < sizeof(*e)) /* another version's may be shorter */
		return NVTX_NO_MESSAGE;
	switch (e->message_type) {
	case NVTX_TEXT:
		return e->message.text ? e->message.text : NVTX_NO_MESSAGE;
	case NVTX_WIDE:
		nvtx_narrow(room, e->message.wide);
		return room;
	case NVTX_REGISTERED:
		registered = e->message.registered;
		return registered ? registered->bytes : NVTX_NO_MESSAGE;
	default:
		return NVTX_NO_MESSAGE;
	}
}

/* One argument of each type: the narrower values are widened. */

static void payload_uint(struct sonde_span *span, uint64_t value)
{
	sonde_arg_uint(span, "payload", value);
}

static void payload_int(struct sonde_span *span, int64_t value)
{
	sonde_arg_int(span, "payload", value);
}

static void payload_real(struct sonde_span *span, double value)
{
	sonde_arg_real(span, "payload", value);
}

/* Add its category and payload as arguments. NULL has none. */
static void nvtx_add_facts(struct sonde_span *span, const struct nvtx_event *e)
{
	if (!e || e->bytes < sizeof(*e))
		return;
	if (e->category)
		sonde_arg_uint(span, "category", e->category);
	switch (e->payload_type) {
	case NVTX_UINT64:
		payload_uint(span, e->payload.u64);
		break;
	case NVTX_INT64:
		payload_int(span, e->payload.i64);
		break;
	case NVTX_DOUBLE:
		payload_real(span, e->payload.real);
		break;
	case NVTX_UINT32:
		payload_uint(span, e->payload.u32);
		break;
	case NVTX_INT32:
		payload_int(span, e->payload.i32);
		break;
	case NVTX_FLOAT:
		payload_real(span, (double)e->payload.single);
		break;
	default:
		break;
	}
}

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

/* The four functions of the API for one verb: of a domain, and of the default domain by event, text and wide text. */
#define FORMS(type, verb, RETURN) \
	static type domain_##verb(const struct nvtx_name *domain, const struct nvtx_event *e) \
	{ \
		char room[NVTX_NAME_BYTES]; \
		RETURN verb(domain, nvtx_message(e, room), e); \
	} \
	static type verb##_event(const struct nvtx_event *e) \
	{ \
		RETURN domain_##verb(NULL, e); \
	} \
	static type verb##_text(const char *text) \
	{ \
		RETURN verb(NULL, text ? text : NVTX_NO_MESSAGE, NULL); \
	} \
	static type verb##_wide(const wchar_t *wide) \
	{ \
		char room[NVTX_NAME_BYTES]; \
		nvtx_narrow(room, wide); \
		RETURN verb(NULL, room, NULL); \
	}

static void mark(const struct nvtx_name *domain, const char *name, const struct nvtx_event *e)
{
	struct sonde_span span;
	sonde_instant_begin_(&span.note, SONDE_ARG_BYTES, NULL, name, nvtx_category(domain));
	nvtx_add_facts(&span, e);
	sonde_instant_end(&span);
}

FORMS(void, mark, )

/* Pushed ranges. */

static int push(const struct nvtx_name *domain, const char *name, const struct nvtx_event *e)
{
	if (!thread.stack)
		thread.stack = calloc(DEPTH_MAX, sizeof(*thread.stack));
	if (thread.stack && thread.depth < DEPTH_MAX) {
		struct pushed *p = &thread.stack[thread.depth];
		p->domain = domain;
		const char *category = nvtx_category(domain);
		sonde_note_init_(&p->span.note, SONDE_ARG_BYTES);
		if (sonde_is_on()) {
			struct sonde_site site = { .name = sonde_api_()->intern(name, SIZE_MAX),
				.category = sonde_api_()->intern(category, SIZE_MAX) };
			sonde_api_()->span_begin_loose(&p->span.note, &site);
		}
		nvtx_add_facts(&p->span, e);
	} else {
		gpu_drop();
	}
	thread.depth++;
	return NVTX_NOT_TRACKED;
}

FORMS(int, push, return )

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

FORMS(uint64_t, start, return )

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
	ROW(NVTX_PUSH_A, push_text),
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
