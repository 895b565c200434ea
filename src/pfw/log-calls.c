/* Writes calls as lines; see pfwlog.h. */
#include "base/jsonscan.h"
#include "pfw/log-private.h"

#include <fcntl.h>

/* Heads. */

/* Later generations of the format include more calls. */
static bool is_written_in(const struct call_info *info, char generation)
{
	switch (info->dft) {
	case CALL_DFT_NO:
	case CALL_DFT_SEEN:
		return false;
	case CALL_DFT_D:
		return generation >= 'D';
	case CALL_DFT_E:
		return generation >= 'E';
	default:
		return true;
	}
}

/* DFTracer has two categories of calls, POSIX and STDIO. */
static bool is_stdio(unsigned call)
{
	return call_info[call].category == CALL_CATEGORY_STDIO;
}

static bool is_exec(unsigned call)
{
	return call_info[call].kind == CALL_KIND_EXEC;
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

static const struct call_head *head_of(struct pfwlog *log, unsigned call)
{
	struct call_head *h = &log->heads[call];
	const struct call_info *info = &call_info[call];
	const struct pfwlog_setup *u = &log->state->setup;
	if (h->is_made)
		return h;
	char *at = put_title(h->text, info->name, strlen(info->name), is_stdio(call) ? "STDIO" : "POSIX", 5, false);
	if (u->generation == 'E')
		at = PUT(at, ",\"type\":3");
	h->bytes = (uint8_t)(at - h->text);
	line_args_init(&h->args, call_arg_names(info));
	h->is_written = (info->mask & u->categories) != 0 && is_written_in(info, u->generation);
	h->is_made = true;
	return h;
}

/* Lines. */

struct call_line {
	const struct sonde_rec_call *r;
	const struct call_head *head;
	struct name *file, *file2;
	const struct store_text *text; /* the text argument that is not a path */
	const int64_t *values;         /* plain arguments */
	unsigned args;
};

static char *put_args(struct pfwlog *log, char *at, const struct walk *w, const struct call_line *l)
{
	const struct sonde_rec_call *r = l->r;
	bool is_open_ended = r->flags & SONDE_CALL_NO_END;
	struct line_call c = { .parent = w->parent,
		.level = (int64_t)w->level + 1,
		.ret = is_open_ended ? SONDE_NONE : r->ret,
		.size = r->size,
		.offset = r->offset,
		.fd = r->fd >= 0 ? r->fd : SONDE_NONE,
		.errnum = is_open_ended ? 0 : r->head.errnum,
		.file = l->file ? &l->file->hash : NULL,
		.file2 = l->file2 ? &l->file2->hash : NULL,
		.has_count = l->head->args.has_count,
		.names = &l->head->args,
		.values = l->values,
		.count = l->args,
		.is_exec = is_exec(r->head.call),
		.is_hex = log->names.is_hex,
		.is_strict = log->state->setup.is_strict };
	if (l->text) {
		c.text = l->text->data;
		c.text_bytes = l->text->bytes;
		c.text_key = call_text_name(&call_info[r->head.call], &c.text_key_bytes);
	}
	at = put_bytes(at, log->host, log->host_bytes);
	return PUT(put_call(at, &c), "}}");
}

/* Aggregates the numbers of a call, under their names in the line. */
static void sum_call(struct pfwlog *log, const struct walk *w, const struct call_line *l, int64_t start_ns, int64_t dur)
{
	const struct sonde_rec_call *r = l->r;
	const struct sum_key key = { .bucket = start_ns / log->state->setup.interval_ns,
		.what = l->head,
		.file = l->file,
		.pid = w->pid,
		.tid = w->tid };
	struct sum *sum = log_sum(log, &key, l->head->text, l->head->bytes);
	if (!sum)
		return;
	log_sum_add(sum, "dur", 3, dur);
	if (!log->state->setup.has_args)
		return;
	if (r->ret != SONDE_NONE && !(r->flags & SONDE_CALL_NO_END))
		log_sum_add(sum, "ret", 3, r->ret);
	if (r->size != SONDE_NONE)
		log_sum_add(sum, l->head->args.has_count ? "size" : "count", l->head->args.has_count ? 4 : 5, r->size);
	for (unsigned i = 0; i < l->args && i < 4; i++)
		if (l->head->args.bytes[i]) /* ,"name": */
			log_sum_add(sum, l->head->args.text[i] + 2, l->head->args.bytes[i] - 4u, l->values[i]);
}

/* The fields of a call that rules can test. */
static bool find_arg(const void *of, const char *key, size_t n, struct rule_value *value)
{
	const struct call_line *l = of;
	const struct sonde_rec_call *r = l->r;
	const struct {
		const char *key;
		int64_t number;
	} known[] = { { "ret", r->flags & SONDE_CALL_NO_END ? SONDE_NONE : r->ret }, { "offset", r->offset },
		{ "fd", r->fd >= 0 ? r->fd : SONDE_NONE }, { l->head->args.has_count ? "size" : "count", r->size } };
	*value = (struct rule_value){ .text = NULL };
	if (is_word(key, n, "fname") && l->file) {
		*value = (struct rule_value){ .text = l->file->text, .bytes = l->file->bytes };
		return true;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is_word(key, n, known[i].key)) {
			value->number = known[i].number;
			return value->number != SONDE_NONE;
		}
	for (unsigned i = 0; i < l->args && i < 4; i++)
		if (l->head->args.bytes[i] == n + 4u && !memcmp(l->head->args.text[i] + 2, key, n)) {
			value->number = l->values[i];
			return true;
		}
	return false;
}

static bool is_summed(struct pfwlog *log, const struct call_line *l, int64_t start, int64_t dur)
{
	if (!log->state->setup.interval_ns)
		return false;
	const char *name = call_info[l->r->head.call].name;
	struct rule_event e = { .name = { .text = name, .bytes = strlen(name) },
		.cat = { .text = is_stdio(l->r->head.call) ? "STDIO" : "POSIX", .bytes = 5 },
		.ts = start,
		.dur = dur,
		.arg = find_arg,
		.of = l };
	return log_is_summed(log, &e);
}

static void write_call(struct pfwlog *log, const struct walk *w, const struct call_line *l)
{
	const struct sonde_rec_call *r = l->r;
	int64_t start_ns = real_ns(log, r->ticks), end_ns = real_ns(log, r->ticks + r->dur_ticks);
	int64_t start = in_units(log, start_ns), end = in_units(log, end_ns);
	bool is_endless = r->flags & SONDE_CALL_NO_END || end < start;
	log->now.events++;
	if (end_ns > log->now.last_ns)
		log->now.last_ns = end_ns;
	if (is_summed(log, l, start, is_endless ? 0 : end - start)) {
		sum_call(log, w, l, start_ns, is_endless ? 0 : end - start);
		return;
	}
	char *at = line_begin(log, l->text ? LINE_JSON_ROOM(l->text->bytes) : 0);
	if (!at)
		return;
	at = PUT(at, "{\"id\":");
	at = put_uint(at, log_next_id(log));
	at = put_bytes(at, l->head->text, l->head->bytes);
	at = put_who_when(log, at, w->pid, w->tid);
	at = put_int(at, start);
	at = PUT(at, ",\"dur\":");
	at = put_int(at, is_endless ? 0 : end - start);
	at = put_phase(at, log->state->setup.generation, 'X');
	if (log->state->setup.has_args)
		at = put_args(log, at, w, l);
	else
		*at++ = '}';
	line_end(log, at);
}

/* The file of a call: from its path or its descriptor. */
static enum taken find_file(struct pfwlog *log, struct call_line *l, bool is_last_chance)
{
	const struct ring_record *v = &log->ring_record;
	const struct sonde_rec_call *r = l->r;
	bool waits = false, has_path = (r->flags & SONDE_CALL_PATH) && v->string_count;
	if (has_path && (r->defines || r->fd < 0 || !r->file))
		l->file = log_path_name(log, &v->strings[0], v->base, is_last_chance, &waits);
	else
		l->file = log_file_name(log, r->file);
	if (waits || (!l->file && !has_path && r->file && log_is_ours(log, r->file) && !is_last_chance))
		return WAITS;
	if (has_path && r->defines && log_is_ours(log, r->file))
		names_set_file(&log->names, (uint32_t)r->file, l->file);
	if ((r->flags & SONDE_CALL_PATH2) && v->string_count > 1 && v->arg_count)
		l->file2 = log_path_name(log, &v->strings[1], (uint64_t)v->args[v->arg_count - 1], is_last_chance,
				&waits);
	return waits ? WAITS : TAKEN;
}

/* Generations D and E write the hashes of the arguments of exec. */
static void announce_args(struct pfwlog *log, const struct store_text *texts, int32_t pid, int32_t tid)
{
	const char *list = texts->data, *text;
	size_t left = texts->bytes, n;
	if (!log->names.is_hex || !log->state->setup.has_args || !line_next_text(&list, &left, &text, &n))
		return;
	while (line_next_text(&list, &left, &text, &n)) {
		struct name *name = names_put(&log->names, text, n);
		if (name)
			log_announce(log, name, false, pid, tid);
	}
}

enum taken log_on_call(struct pfwlog *log, struct walk *w, bool is_last_chance)
{
	const struct ring_record *v = &log->ring_record;
	struct call_line l = { .r = ring_record_call(v), .values = v->args };
	if (l.r->head.call >= CALL_COUNT)
		return TAKEN;
	l.head = head_of(log, l.r->head.call);
	if (find_file(log, &l, is_last_chance) == WAITS)
		return WAITS;
	if (!l.head->is_written)
		return TAKEN;
	bool has_path2 = (l.r->flags & SONDE_CALL_PATH2) && v->string_count > 1 && v->arg_count;
	unsigned paths = (l.r->flags & SONDE_CALL_PATH ? 1 : 0) + has_path2;
	l.args = v->arg_count - has_path2;
	if (is_exec(l.r->head.call))
		l.args = 0; /* irrelevant here: whether another tracer records it */
	l.text = v->string_count > paths ? &v->strings[paths] : NULL;
	log_announce_thread(log, w->pid, w->tid);
	if (l.file)
		log_announce(log, l.file, true, w->pid, w->tid);
	if (l.file2)
		log_announce(log, l.file2, true, w->pid, w->tid);
	if (l.text && is_exec(l.r->head.call))
		announce_args(log, l.text, w->pid, w->tid);
	write_call(log, w, &l);
	return TAKEN;
}

/* Reads arguments and writes them as members of a line. */

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
