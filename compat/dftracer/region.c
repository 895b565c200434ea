#include "region.h"

#include "pfw/line-write.h"
#include "pfw/pfwlog.h"
#include "tracer/intern.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NEST_MAX 250         /* nested events with stored ids */
#define NEST_BLOCKS_ADOPT 32 /* with fewer nests, new threads do not check for dead owners */
#define ADOPTION_PROBES 16
#define ID_BLOCK 16
#define NEAR_BYTES 512u /* longer texts are stored in the file `text` instead of the record */

/* The events that one thread has entered. Never unmapped: reused for a new thread after its owner died. */
struct nest {
	struct nest *next;
	uint32_t owner; /* tid; atomic */
	uint32_t epoch; /* of the process it belongs to */
	uint32_t depth;
	uint32_t id_next, id_end;
	struct entry {
		uint32_t id;
		uint32_t is_logged;
	} entry[NEST_MAX];
};

static struct nest *nests, *cursor;
static uint32_t nest_count;
static _Thread_local struct nest *mine __attribute__((tls_model("initial-exec")));

/* Nests. */

static bool nest_take(struct nest *n, int32_t tid)
{
	uint32_t owner = __atomic_load_n(&n->owner, __ATOMIC_RELAXED);
	if (sys3(SYS_tgkill, tracer.pid, owner, 0) != -ESRCH)
		return false;
	return __atomic_compare_exchange_n(&n->owner, &owner, (uint32_t)tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static struct nest *nest_adopt(int32_t tid)
{
	struct nest *n = __atomic_load_n(&cursor, __ATOMIC_ACQUIRE);
	for (unsigned probe = 0; probe < ADOPTION_PROBES; probe++) {
		if (!n)
			n = __atomic_load_n(&nests, __ATOMIC_ACQUIRE);
		if (!n || nest_take(n, tid))
			return n;
		n = n->next;
		__atomic_store_n(&cursor, n, __ATOMIC_RELEASE);
	}
	return NULL;
}

static struct nest *nest_new(int32_t tid)
{
	struct nest *n = sys_map(sizeof(*n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!n)
		return NULL;
	n->owner = (uint32_t)tid;
	n->next = __atomic_load_n(&nests, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&nests, &n->next, n, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	__atomic_fetch_add(&nest_count, 1, __ATOMIC_RELAXED);
	return n;
}

/* The caller's thread must have a chunk. */
static struct nest *nest_get(void)
{
	struct nest *n = mine;
	if (unlikely(!n)) {
		if (tracer.is_seccomped)
			return NULL;
		n = nest_count >= NEST_BLOCKS_ADOPT ? nest_adopt(thread.tid) : NULL;
		if (!n)
			n = nest_new(thread.tid);
		if (!n)
			return NULL;
		n->epoch = EPOCH_NEVER;
		mine = n;
	}
	if (unlikely(n->epoch != thread.epoch)) {
		n->epoch = thread.epoch;
		n->owner = (uint32_t)thread.tid;
		n->depth = n->id_next = n->id_end = 0;
	}
	return n;
}

/* In a child the nests of other threads have no owner. */
void region_forget(void)
{
	for (struct nest *n = nests; n; n = n->next)
		n->epoch = EPOCH_NEVER;
}

static uint32_t id_new(struct nest *n)
{
	if (n->id_next == n->id_end) {
		n->id_next = (uint32_t)__atomic_fetch_add(&tracer.control->reserved[PFWLOG_NEXT_ID], ID_BLOCK,
				__ATOMIC_RELAXED);
		n->id_end = n->id_next + ID_BLOCK;
	}
	return n->id_next++;
}

static int32_t id_at(const struct nest *n, uint32_t depth)
{
	if (!depth)
		return -1;
	return (int32_t)n->entry[depth <= NEST_MAX ? depth - 1 : NEST_MAX - 1].id;
}

static void put_context(int32_t id, uint32_t level)
{
	struct pfwlog_rec_context *r = ring_reserve(sizeof(*r));
	if (!r)
		return;
	r->id = id;
	r->level = level;
	ring_commit(&r->head, sizeof(*r), PFWLOG_REC_CONTEXT, 0, 0);
}

void region_chunk_taken(void)
{
	const struct nest *n = mine;
	if (n && n->depth && n->epoch == tracer.epoch)
		put_context(id_at(n, n->depth), n->depth);
}

uint32_t region_enter(int32_t *parent, uint32_t *level)
{
	struct nest *n = tracer_wants(SONDE_CAT_SPAN) ? nest_get() : NULL;
	if (!n)
		return 0;
	uint32_t id = id_new(n);
	*parent = id_at(n, n->depth);
	*level = n->depth + 1;
	if (n->depth < NEST_MAX)
		n->entry[n->depth] = (struct entry){ .id = id };
	n->depth++;
	put_context((int32_t)id, n->depth);
	return id;
}

bool region_leave(uint32_t id)
{
	struct nest *n = mine;
	if (!n || n->epoch != tracer.alive->epoch)
		return false;
	for (uint32_t at = n->depth < NEST_MAX ? n->depth : NEST_MAX; at-- > 0;)
		if (n->entry[at].id == id) {
			n->depth = at;
			return true;
		}
	return false;
}

void region_leave_last(void)
{
	struct nest *n = tracer_wants(SONDE_CAT_SPAN) ? nest_get() : NULL;
	if (!n || !n->depth)
		return;
	n->depth--;
	put_context(id_at(n, n->depth), n->depth);
}

void region_place(struct event *e)
{
	struct nest *n = nest_get();
	e->id = 0;
	e->parent = -1;
	e->level = 1;
	if (!n)
		return;
	struct entry *top = n->depth && n->depth <= NEST_MAX ? &n->entry[n->depth - 1] : NULL;
	if (top && !top->is_logged) {
		top->is_logged = 1;
		e->id = top->id;
		e->parent = id_at(n, n->depth - 1);
		e->level = n->depth;
		return;
	}
	e->id = id_new(n);
	e->parent = id_at(n, n->depth);
	e->level = n->depth + 1;
}

/* Arguments. The caller's thread must have a chunk. */

static struct sonde_arg *args_new(struct args *a, const char *key, uint32_t type, size_t text_bytes)
{
	size_t bytes = sizeof(struct sonde_arg) + ((text_bytes + 7) & ~(size_t)7);
	if (!(tracer.categories & SONDE_CAT_SPAN) || a->bytes + bytes > a->room) {
		a->lost++;
		return NULL;
	}
	struct sonde_arg *arg = (void *)(a->data + a->bytes);
	a->bytes += (uint32_t)bytes;
	a->count++;
	arg->key = intern(key ? key : "?", SIZE_MAX);
	arg->type = type;
	arg->value.u = text_bytes;
	return arg;
}

void args_int(struct args *a, const char *key, int64_t value)
{
	struct sonde_arg *arg = args_new(a, key, SONDE_ARG_INT, 0);
	if (arg)
		arg->value.i = value;
}

void args_json(struct args *a, const char *key, const char *text, size_t bytes)
{
	struct sonde_arg *arg = args_new(a, key, PFWLOG_ARG_JSON, bytes);
	if (arg)
		memcpy(arg + 1, text, bytes);
}

void args_hex(struct args *a, const char *key, uint64_t value)
{
	char text[24], *end = text;
	*end++ = '"';
	end = put_hex(end, value);
	*end++ = '"';
	args_json(a, key, text, (size_t)(end - text));
}

void args_real(struct args *a, const char *key, double value)
{
	char text[40];
	if (!__builtin_isfinite(value)) {
		args_json(a, key, "null", 4);
		return;
	}
	int n = snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		n = snprintf(text, sizeof(text), "%.17g", value);
	for (int i = 0; i < n; i++)
		if (text[i] == ',')
			text[i] = '.'; /* the decimal separator of a locale */
	args_json(a, key, text, (size_t)n);
}

/* Store a long text in the file `text` of the ring; false on failure. */
static bool put_away(const char *text, size_t bytes, uint64_t place[2])
{
	char path[PATH_BYTES_MAX + 8];
	if (tracer.is_seccomped)
		return false;
	*put_text(put_text(path, tracer.ring_dir), "/text") = '\0';
	int fd = sys_open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	place[0] = __atomic_fetch_add(&tracer.control->reserved[PFWLOG_TEXT_END], bytes, __ATOMIC_RELAXED);
	place[1] = bytes;
	size_t done = 0;
	for (long n; done < bytes && (n = sys4(SYS_pwrite64, fd, text + done, bytes - done, place[0] + done)) > 0;)
		done += (size_t)n;
	sys_close(fd);
	return done == bytes;
}

void args_text(struct args *a, const char *key, const char *text, size_t bytes)
{
	uint64_t place[2];
	if (!text)
		text = "(null)", bytes = 6;
	if (bytes == SIZE_MAX)
		bytes = strlen(text);
	if (bytes > NEAR_BYTES && put_away(text, bytes, place)) {
		struct sonde_arg *far = args_new(a, key, PFWLOG_ARG_FAR, sizeof(place));
		if (far)
			memcpy(far + 1, place, sizeof(place));
		return;
	}
	struct sonde_arg *arg = args_new(a, key, SONDE_ARG_STR, bytes < NEAR_BYTES ? bytes : NEAR_BYTES);
	if (arg)
		arg->value.u = cut_copy((char *)(arg + 1), text, bytes, NEAR_BYTES);
}

/* Define the keys in the ring; after a fork they are defined again. */
static void use_keys(const struct args *a)
{
	for (uint32_t at = 0; at + sizeof(struct sonde_arg) <= a->bytes;) {
		const struct sonde_arg *arg = (const void *)(a->data + at);
		intern_use(arg->key);
		at += (uint32_t)sizeof(*arg);
		if (arg->type == SONDE_ARG_STR || arg->type == PFWLOG_ARG_JSON || arg->type == PFWLOG_ARG_FAR)
			at += ((uint32_t)arg->value.u + 7) & ~7u;
	}
}

/* Records. */

uint32_t region_name(const char *text)
{
	return intern(text, SIZE_MAX);
}

void region_record(const struct event *e, struct args *args)
{
	if (args && args->lost) {
		args->room += sizeof(struct sonde_arg); /* reserved for it */
		args_int(args, "args_lost", args->lost);
		args->lost = 0;
	}
	intern_use(e->name);
	if (e->category)
		intern_use(e->category);
	if (args)
		use_keys(args);
	size_t bytes = sizeof(struct pfwlog_rec_event) + (args ? args->bytes : 0);
	struct pfwlog_rec_event *r = ring_reserve(bytes);
	if (!r)
		return;
	r->start = e->start;
	r->dur = e->dur;
	r->name = e->name;
	r->category = e->category;
	r->id = e->id;
	r->parent = e->parent;
	r->level = (uint16_t)e->level;
	r->type = e->type;
	r->flags = (e->is_real ? PFWLOG_EVENT_REAL : 0) | (e->is_left ? PFWLOG_EVENT_LEAVES : 0);
	r->reserved = 0;
	if (args && args->bytes)
		memcpy(r + 1, args->data, args->bytes);
	ring_commit(&r->head, bytes, PFWLOG_REC_EVENT, args ? (uint16_t)args->count : 0, 0);
}

static void record_meta(uint8_t kind, const char *name, uint32_t type, struct args *args)
{
	uint32_t id = intern(name, SIZE_MAX);
	intern_use(id);
	use_keys(args);
	size_t bytes = sizeof(struct pfwlog_rec_meta) + args->bytes;
	struct pfwlog_rec_meta *r = ring_reserve(bytes);
	if (!r)
		return;
	r->name = id;
	r->type = type;
	memcpy(r + 1, args->data, args->bytes);
	ring_commit(&r->head, bytes, kind, (uint16_t)args->count, 0);
}

void region_meta(const char *kind, uint32_t type, struct args *args)
{
	if (tracer_wants(SONDE_CAT_SPAN))
		record_meta(PFWLOG_REC_META, kind, type, args);
}

void region_fact(bool is_app, struct args *args)
{
	if (tracer_wants(SONDE_CAT_SPAN))
		record_meta(PFWLOG_REC_FACT, is_app ? "app" : "used", is_app, args);
}
