#include "record/ring-decode.h"

#include <string.h>

/*
 * A reservation that was never written is all zeros; records may follow it, up to the reserved size. Beyond that,
 * pages are not touched: most processes are short-lived and leave them unused.
 */
static uint32_t skip_zeros(const struct sonde_chunk *c, uint32_t at)
{
	uint64_t tail = __atomic_load_n(&c->tail, __ATOMIC_RELAXED);
	uint32_t end = tail < SONDE_CHUNK_BYTES ? (uint32_t)tail & ~7u : SONDE_CHUNK_BYTES;
	while (at < end && !*(const uint64_t *)(const void *)((const char *)c + at))
		at += 8;
	return at < end ? at : SONDE_CHUNK_BYTES;
}

enum ring_step ring_chunk_next(const struct sonde_chunk *c, uint32_t *at, bool is_closed, uint64_t *head)
{
	uint32_t next = *at;
	while (next < SONDE_CHUNK_BYTES) {
		*head = __atomic_load_n((const uint64_t *)(const void *)((const char *)c + next), __ATOMIC_ACQUIRE);
		if (*head)
			break;
		next = is_closed ? skip_zeros(c, next) : SONDE_CHUNK_BYTES;
	}
	if (next >= SONDE_CHUNK_BYTES)
		return RING_NOTHING; /* *at stays: a writer may still fill it */
	*at = next;
	unsigned state = ring_head_state(*head);
	if ((state == SONDE_PENDING || state == SONDE_RUNNING) && !is_closed)
		return RING_UNFINISHED;
	if (!ring_head_bytes(*head) || ring_head_bytes(*head) > SONDE_CHUNK_BYTES - next)
		return RING_BROKEN;
	return RING_RECORD;
}

static const size_t least_bytes[SONDE_REC_KINDS] = {
	[SONDE_REC_CALL] = sizeof(struct sonde_rec_call),
	[SONDE_REC_RUN] = sizeof(struct sonde_rec_call) + 8,
	[SONDE_REC_EXEC] = sizeof(struct sonde_rec_call),
	[SONDE_REC_SPAN] = SONDE_NOTE_SHORT_BYTES,
	[SONDE_REC_INSTANT] = SONDE_NOTE_SHORT_BYTES,
	[SONDE_REC_COUNTER] = sizeof(struct sonde_rec_note),
	[SONDE_REC_STEP] = sizeof(struct sonde_rec_note),
	[SONDE_REC_META] = sizeof(struct sonde_rec_note),
	[SONDE_REC_FUNC] = SONDE_NOTE_SHORT_BYTES,
	[SONDE_REC_STRING] = sizeof(struct sonde_rec_def),
	[SONDE_REC_FILE] = sizeof(struct sonde_rec_def),
	[SONDE_REC_PROCESS] = sizeof(struct sonde_rec_def),
	[SONDE_REC_WHO] = sizeof(struct sonde_rec_who),
	[SONDE_REC_MODULE] = sizeof(struct sonde_rec_def),
	[SONDE_REC_GPU] = sizeof(struct sonde_rec_gpu),
	[SONDE_REC_BRIEF] = sizeof(struct sonde_rec_brief),
};

static bool read_strings(struct ring_record *v, size_t at, unsigned count)
{
	if (count > VIEW_STRINGS_MAX)
		return false;
	for (unsigned i = 0; i < count; i++) {
		struct sonde_string s;
		if (at + sizeof(s) > v->len)
			return false;
		memcpy(&s, v->bytes + at, sizeof(s));
		if (s.bytes > v->len - at - sizeof(s))
			return false;
		v->strings[i] = (struct store_text){ .data = v->bytes + at + sizeof(s), .bytes = s.bytes };
		at += (sizeof(s) + s.bytes + 7) & ~(size_t)7;
	}
	v->string_count = count;
	return true;
}

static bool read_call(struct ring_record *v)
{
	const struct sonde_rec_call *c = ring_record_call(v);
	size_t at = sizeof(*c) + 8 * (size_t)c->args;
	if (at > v->len)
		return false;
	v->args = (const int64_t *)(const void *)(v->bytes + sizeof(*c));
	v->arg_count = c->args;
	if (!c->strings)
		return true;
	if (at + 8 > v->len)
		return false;
	memcpy(&v->base, v->bytes + at, 8);
	return read_strings(v, at + 8, c->strings);
}

/*
 * A brief span is expanded to a span. Field by field: a copy of the whole struct would read what was just written in
 * smaller pieces, which stalls store forwarding.
 */
static bool read_brief(struct ring_record *v)
{
	struct sonde_rec_note *note = (void *)v->bytes;
	const struct sonde_rec_brief *brief = (const void *)v->bytes;
	const uint32_t dur_ticks = brief->dur_ticks, category = brief->category;
	note->name = note->head.call;
	note->depth = note->head.errnum;
	note->head.words = SONDE_NOTE_SHORT_BYTES / 8;
	note->head.kind = SONDE_REC_SPAN;
	note->head.call = note->head.errnum = 0;
	note->dur_ticks = dur_ticks;
	note->category = category;
	v->len = SONDE_NOTE_SHORT_BYTES;
	return true;
}

/* Word by word: most records are short, and are read in words. */
static void copy_words(char *to, const void *from, size_t words)
{
	for (size_t i = 0; i < words; i++)
		((uint64_t *)(void *)to)[i] = ((const volatile uint64_t *)from)[i];
}

bool ring_record_read(struct ring_record *v, const void *from, size_t words)
{
	v->len = words * 8;
	v->head = (const void *)v->bytes;
	v->string_count = v->arg_count = 0;
	v->base = 0;
	if (v->len < sizeof(*v->head) || v->len > sizeof(v->bytes))
		return false;
	copy_words(v->bytes, from, words);
	if (v->head->words != words || v->head->kind >= SONDE_REC_KINDS || !least_bytes[v->head->kind] ||
			v->len < least_bytes[v->head->kind])
		return false;
	switch (v->head->kind) {
	case SONDE_REC_CALL:
	case SONDE_REC_RUN:
	case SONDE_REC_EXEC:
		return read_call(v);
	case SONDE_REC_STRING:
	case SONDE_REC_FILE:
	case SONDE_REC_PROCESS:
	case SONDE_REC_MODULE:
		return read_strings(v, sizeof(struct sonde_rec_def), v->head->call);
	case SONDE_REC_BRIEF:
		return read_brief(v);
	default:
		return true;
	}
}

bool ring_record_next_arg(const struct ring_record *v, size_t *at, struct sonde_arg *arg, struct store_text *text)
{
	size_t from = sizeof(struct sonde_rec_note) + *at;
	if (from + sizeof(*arg) > v->len)
		return false;
	memcpy(arg, v->bytes + from, sizeof(*arg));
	*at += sizeof(*arg);
	if (arg->type != SONDE_ARG_STR)
		return true;
	if (arg->value.u > v->len - from - sizeof(*arg))
		return false;
	*text = (struct store_text){ .data = v->bytes + from + sizeof(*arg), .bytes = (size_t)arg->value.u };
	*at += (arg->value.u + 7) & ~(uint64_t)7;
	return true;
}
