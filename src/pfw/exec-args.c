/*
 * Arguments of exec: up to six, arg0 to arg5, as DFTracer writes them. In the ring they are one text: the file name
 * first, each terminated by NUL. Generations D and E write their hashes.
 */
#include "pfw/log-private.h"

/* Gets the next text of the list; returns false at the end. */
static bool next_text(struct store_text *list, struct store_text *text)
{
	const char *end = list->bytes ? memchr(list->data, 0, list->bytes) : NULL;
	if (!end)
		return false;
	*text = (struct store_text){ .data = list->data, .bytes = (size_t)(end - list->data) };
	list->data = end + 1;
	list->bytes -= text->bytes + 1;
	return true;
}

void log_announce_args(struct pfwlog *log, const struct store_text *texts, int32_t pid, int32_t tid)
{
	struct store_text list = *texts, text;
	if (log->state->setup.generation < 'D' || !log->state->setup.has_args || !next_text(&list, &text))
		return;
	while (next_text(&list, &text)) {
		struct name *name = names_put(&log->names, text.data, text.bytes);
		if (name)
			log_announce(log, name, false, pid, tid);
	}
}

char *put_exec_args(struct pfwlog *log, char *at, const struct store_text *texts)
{
	struct store_text list = *texts, text;
	if (!next_text(&list, &text))
		return at;
	if (text.bytes) {
		at = PUT(at, ",\"file\":");
		at = put_name(log, at, text.data, text.bytes);
	}
	for (unsigned i = 0; i < EXEC_ARGS_MAX && next_text(&list, &text); i++) {
		at = PUT(at, ",\"arg");
		at = put_uint(at, i);
		at = PUT(at, "\":");
		const struct name *name = log->state->setup.generation < 'D'
				? NULL
				: names_put(&log->names, text.data, text.bytes);
		at = name ? put_hash(log, at, name->hash) : put_name(log, at, text.data, text.bytes);
	}
	return at;
}
