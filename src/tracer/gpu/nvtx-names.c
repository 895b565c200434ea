#include "tracer/gpu/nvtx-names.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_CATEGORY "nvtx"

void nvtx_narrow(char out[NVTX_NAME_BYTES], const wchar_t *wide)
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

struct nvtx_name *nvtx_keep(const char *text, const wchar_t *wide)
{
	struct nvtx_name *t = calloc(1, sizeof(*t));
	if (t && wide)
		nvtx_narrow(t->bytes, wide);
	else if (t)
		snprintf(t->bytes, sizeof(t->bytes), "%s", text ? text : "");
	return t;
}

const char *nvtx_category(const struct nvtx_name *domain)
{
	return domain && domain->bytes[0] ? domain->bytes : DEFAULT_CATEGORY;
}

const char *nvtx_message(const struct nvtx_event *e, char room[NVTX_NAME_BYTES])
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

void nvtx_add_facts(struct sonde_span *span, const struct nvtx_event *e)
{
	if (!e || e->bytes < sizeof(*e))
		return;
	if (e->category)
		sonde_arg_uint(span, "category", e->category);
	switch (e->payload_type) {
	case NVTX_UINT64:
		sonde_arg_uint(span, "payload", e->payload.u64);
		break;
	case NVTX_INT64:
		sonde_arg_int(span, "payload", e->payload.i64);
		break;
	case NVTX_DOUBLE:
		sonde_arg_real(span, "payload", e->payload.real);
		break;
	case NVTX_UINT32:
		sonde_arg_uint(span, "payload", e->payload.u32);
		break;
	case NVTX_INT32:
		sonde_arg_int(span, "payload", e->payload.i32);
		break;
	case NVTX_FLOAT:
		sonde_arg_real(span, "payload", (double)e->payload.single);
		break;
	default:
		break;
	}
}
