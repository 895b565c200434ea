/* Reads arguments and writes them as members of a line. */
#include "pfw/log-args.h"

#include "base/jsonscan.h"

#include <fcntl.h>

#define FAR_BYTES_MAX ((uint64_t)64 << 20) /* maximum size of an argument in the file `text` */

static bool is_text(uint32_t type)
{
	return type == SONDE_ARG_STR || type == PFWLOG_ARG_JSON || type == PFWLOG_ARG_FAR;
}

bool args_next(const struct ring_record *v, size_t *at, struct arg *arg)
{
	if (*at + sizeof(arg->head) > v->len)
		return false;
	memcpy(&arg->head, v->bytes + *at, sizeof(arg->head));
	*at += sizeof(arg->head);
	arg->text = v->bytes + *at;
	arg->bytes = 0;
	if (!is_text(arg->head.type))
		return true;
	if (arg->head.value.u > v->len - *at)
		return false;
	arg->bytes = (size_t)arg->head.value.u;
	*at += (arg->bytes + 7) & ~(size_t)7;
	return true;
}

bool args_known(const struct pfwlog *log, size_t at, unsigned count)
{
	struct arg arg;
	for (unsigned i = 0; i < count && args_next(&log->ring_record, &at, &arg); i++)
		if (!names_string(&log->names, arg.head.key))
			return false;
	return true;
}

/* Reserves `bytes` more in the line, plus LINE_ROOM; returns the write position. NULL if out of memory. */
static char *line_need(struct pfwlog *log, char *at, size_t bytes)
{
	size_t used = (size_t)(at - log->text.data), kept = log->text.len;
	log->text.len = used;
	bool is_there = text_need(&log->text, LINE_ROOM + bytes);
	log->text.len = kept;
	return is_there ? log->text.data + used : NULL;
}

/* Copies a long text from the file `text` into the line. */
static char *put_far(struct pfwlog *log, char *at, const struct arg *arg)
{
	uint64_t place[2];
	if (arg->bytes != sizeof(place))
		return PUT(at, "null");
	memcpy(place, arg->text, sizeof(place));
	if (log->textfd < 0)
		log->textfd = (int)sys4(SYS_openat, log->dirfd, "text", O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	size_t n = place[1] < FAR_BYTES_MAX ? (size_t)place[1] : 0;
	char *room = log->textfd < 0 || !n ? NULL : line_need(log, at, LINE_JSON_ROOM(n) + n);
	if (!room)
		return PUT(at, "null");
	at = room;
	char *raw = log->text.data + log->text.room - n;
	for (size_t got = 0; got < n;) {
		long more = sys4(SYS_pread64, log->textfd, raw + got, n - got, place[0] + got);
		if (more <= 0)
			return PUT(at, "null");
		got += (size_t)more;
	}
	return put_json(at, raw, n);
}

char *args_put_value(struct pfwlog *log, char *at, const struct arg *arg)
{
	switch (arg->head.type) {
	case SONDE_ARG_INT:
		return put_int(at, arg->head.value.i);
	case SONDE_ARG_UINT:
		return put_uint(at, arg->head.value.u);
	case SONDE_ARG_STR:
		return put_json(at, arg->text, arg->bytes);
	case PFWLOG_ARG_JSON:
		return jsonscan_is_value(arg->text, arg->bytes) ? put_bytes(at, arg->text, arg->bytes)
								: put_json(at, arg->text, arg->bytes);
	case PFWLOG_ARG_FAR:
		return put_far(log, at, arg);
	default:
		return PUT(at, "null");
	}
}

char *args_put(struct pfwlog *log, char *at, size_t from, unsigned count)
{
	struct arg arg;
	for (unsigned i = 0; i < count && args_next(&log->ring_record, &from, &arg); i++) {
		const struct name *key = names_string(&log->names, arg.head.key);
		char *room = line_need(log, at, LINE_JSON_ROOM(key ? key->bytes : 1) + LINE_JSON_ROOM(arg.bytes));
		if (!room)
			return at;
		at = room;
		*at++ = ',';
		at = key ? put_json(at, key->text, key->bytes) : PUT(at, "\"?\"");
		*at++ = ':';
		at = args_put_value(log, at, &arg);
	}
	return at;
}
