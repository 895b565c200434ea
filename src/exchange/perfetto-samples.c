/*
 * CPU samples in Perfetto traces: one packet each; its stack is a number that earlier packets define frame by frame.
 * See perfetto-tracks.h.
 */
#include "exchange/perfetto-tracks.h"
#include "exchange/proto.h"
#include "exchange/stack-profile.h"
#include "model/dimensions.h"

#include <errno.h>
#include <string.h>

/* Fields of Perfetto's messages, by the names in its protos/. */
enum {
	PACKET_TIME = 8,
	PACKET_INTERNED = 12,
	PACKET_SAMPLE = 66,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_PATH = 17,
	INTERNED_SOURCE = 18,
	INTERNED_MAPPING = 19,
	STRING_ID = 1,
	STRING_TEXT = 2,
	FRAME_ID = 1,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_ADDRESS = 4,
	FRAME_SOURCE = 5,
	FRAME_LINE = 6,
	MAPPING_ID = 1,
	MAPPING_PATH = 7,
	STACK_ID = 1,
	STACK_FRAME = 2,
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_STACK = 4,
	SAMPLE_MODE = 5,
	SAMPLE_COUNT = 6,
	MODE_KERNEL = 1,
	MODE_USER = 2
};

struct sampling {
	struct perfetto *p;
	struct profile profile;
	struct map functions, modules, sources, frames, stacks; /* defined item -> its number */
	struct buf interned, item, stack;
};

static uint64_t number_of(struct sampling *s, struct map *map, const void *key, size_t n, bool *is_new)
{
	uint64_t *number = map_put(map, key, n, is_new);

	if (!number) {
		s->p->error = s->p->error ? s->p->error : -ENOMEM;
		*is_new = false;
		return 0;
	}
	if (*is_new)
		*number = map->count;
	return *number;
}

static uint64_t text_number(struct sampling *s, struct map *map, unsigned field, const char *text)
{
	bool is_new;
	uint64_t number = number_of(s, map, text, strlen(text), &is_new);

	if (is_new) {
		buf_reset(&s->item);
		proto_uint(&s->item, STRING_ID, number);
		proto_str(&s->item, STRING_TEXT, text);
		proto_message(&s->interned, field, &s->item);
	}
	return number;
}

/* A module is a mapping with the same number as its path. */
static uint64_t module_number(struct sampling *s, const char *path)
{
	size_t before = s->modules.count;
	uint64_t number = text_number(s, &s->modules, INTERNED_PATH, path);

	if (s->modules.count > before) {
		buf_reset(&s->item);
		proto_uint(&s->item, MAPPING_ID, number);
		proto_uint(&s->item, MAPPING_PATH, number);
		proto_message(&s->interned, INTERNED_MAPPING, &s->item);
	}
	return number;
}

/* A frame of a mapping needs an address in it; others, like Python's, are identified by their source. */
static int add_frame(void *arg, const struct model_frame *frame)
{
	struct sampling *s = arg;
	bool has_place = frame->module && frame->address, is_new;
	uint64_t key[5] = { text_number(s, &s->functions, INTERNED_FUNCTION, model_frame_label(frame)),
		has_place ? module_number(s, frame->module) : 0, has_place ? frame->address : 0,
		frame->source ? text_number(s, &s->sources, INTERNED_SOURCE, frame->source) : 0,
		frame->line > 0 && frame->line <= UINT32_MAX ? (uint64_t)frame->line : 0 };
	static const unsigned fields[] = { FRAME_FUNCTION, FRAME_MAPPING, FRAME_ADDRESS, FRAME_SOURCE, FRAME_LINE };
	uint64_t number = number_of(s, &s->frames, key, sizeof(key), &is_new);

	if (is_new) {
		buf_reset(&s->item);
		proto_uint(&s->item, FRAME_ID, number);
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			if (key[i])
				proto_uint(&s->item, fields[i], key[i]);
		proto_message(&s->interned, INTERNED_FRAME, &s->item);
	}
	proto_uint(&s->stack, STACK_FRAME, number);
	return 0;
}

/* The outermost frame comes first. 0 if the stack is empty. */
static uint64_t stack_number(struct sampling *s, int64_t stack)
{
	bool is_new;

	if (stack == STORE_NULL)
		return 0;
	uint64_t number = number_of(s, &s->stacks, &stack, sizeof(stack), &is_new);
	if (!is_new)
		return number;
	buf_reset(&s->interned);
	buf_reset(&s->stack);
	proto_uint(&s->stack, STACK_ID, number);
	profile_frames(&s->profile, stack, add_frame, s);
	proto_message(&s->interned, INTERNED_STACK, &s->stack);
	proto_message(&s->p->packet, PACKET_INTERNED, &s->interned);
	perfetto_packet(s->p);
	return number;
}

static int write_sample(void *arg, const struct store_sample *row, int64_t name)
{
	struct sampling *s = arg;
	uint64_t stack = stack_number(s, row->stack);

	(void)name;
	perfetto_thread(s->p, row->pid, row->tid); /* defines its name */
	buf_reset(&s->item);
	if (row->cpu != STORE_NULL)
		proto_uint(&s->item, SAMPLE_CPU, (uint32_t)row->cpu);
	proto_uint(&s->item, SAMPLE_PID, (uint32_t)row->pid);
	proto_uint(&s->item, SAMPLE_TID, (uint32_t)row->tid);
	if (stack)
		proto_uint(&s->item, SAMPLE_STACK, stack);
	proto_uint(&s->item, SAMPLE_MODE, row->is_kernel == 1 ? MODE_KERNEL : MODE_USER);
	if (row->count >= 0)
		proto_int(&s->item, SAMPLE_COUNT, row->count);
	proto_uint(&s->p->packet, PACKET_TIME, row->ts_ns > 0 ? (uint64_t)row->ts_ns : 0);
	proto_message(&s->p->packet, PACKET_SAMPLE, &s->item);
	perfetto_packet(s->p);
	return s->p->error;
}

int perfetto_samples(struct perfetto *p, const struct exchange_options *options, struct sonde_err *err)
{
	struct sampling s = { .p = p, .interned = BUF_INIT, .item = BUF_INIT, .stack = BUF_INIT };
	struct map *const maps[] = { &s.functions, &s.modules, &s.sources, &s.frames, &s.stacks };
	int rc = profile_open(&s.profile, p->run, options, err);

	if (rc == 0 && profile_each(&s.profile, write_sample, &s) < 0)
		p->error = p->error ? p->error : -ENOMEM;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		map_release(maps[i]);
	buf_release(&s.interned);
	buf_release(&s.item);
	buf_release(&s.stack);
	profile_release(&s.profile);
	return rc;
}
