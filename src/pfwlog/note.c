/* Annotations, metadata and functions as lines; see pfwlog.h. */
#include "pfwlog/private.h"

#include <fcntl.h>
#include <sys/stat.h>

#define FAR_BYTES_MAX ((uint64_t)64 << 20) /* of one argument in the file `text` */
#define TYPES_MAX 12
#define SUM_KEY_BYTES_MAX 64u

static const char *const type_names[TYPES_MAX] = { "UNKNOWN", "DFTRACER", "C_APP", "LIBC_IO", "HIP", "HDF5", "PYTHON",
	"PSUTIL", "FINSTRUMENT", "CPP_APP", "MPI", "CUDA" };

enum taken log_take_string(struct pfwlog *log)
{
	const struct view *v = &log->view;
	if (v->string_count)
		names_set_string(&log->names, view_def(v)->id,
				names_put(&log->names, v->strings[0].data, v->strings[0].bytes));
	return TAKEN;
}

/* Arguments: a head, and for texts their bytes behind it. */

struct arg {
	struct sonde_arg head;
	const char *text;
	size_t bytes;
};

static bool is_text(uint32_t type)
{
	return type == SONDE_ARG_STR || type == PFWLOG_ARG_JSON || type == PFWLOG_ARG_FAR;
}

/* The next of them from *at on; false at the end, or where they make no sense. */
static bool next_arg(const struct view *v, size_t *at, struct arg *arg)
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

/* Are all names known? */
static bool knows_keys(const struct pfwlog *log, size_t at, unsigned count)
{
	struct arg arg;
	for (unsigned i = 0; i < count && next_arg(&log->view, &at, &arg); i++)
		if (!names_string(&log->names, arg.head.key))
			return false;
	return true;
}

/* Room for `bytes` more in the line and a good deal behind it; where it goes on. NULL: there is no memory. */
static char *line_need(struct pfwlog *log, char *at, size_t bytes)
{
	size_t used = (size_t)(at - log->text.data), kept = log->text.len;
	log->text.len = used;
	bool is_there = text_need(&log->text, LINE_ROOM + bytes);
	log->text.len = kept;
	return is_there ? log->text.data + used : NULL;
}

/* A long text, out of its file straight into the line. */
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

static char *put_value(struct pfwlog *log, char *at, const struct arg *arg)
{
	switch (arg->head.type) {
	case SONDE_ARG_INT:
		return put_int(at, arg->head.value.i);
	case SONDE_ARG_UINT:
		return put_uint(at, arg->head.value.u);
	case SONDE_ARG_STR:
		return put_json(at, arg->text, arg->bytes);
	case PFWLOG_ARG_JSON:
		return is_json(arg->text, arg->bytes) ? put_bytes(at, arg->text, arg->bytes)
						      : put_json(at, arg->text, arg->bytes);
	case PFWLOG_ARG_FAR:
		return put_far(log, at, arg);
	default:
		return PUT(at, "null");
	}
}

/* ,"key":value for each. */
static char *put_all(struct pfwlog *log, char *at, size_t from, unsigned count)
{
	struct arg arg;
	for (unsigned i = 0; i < count && next_arg(&log->view, &from, &arg); i++) {
		const struct name *key = names_string(&log->names, arg.head.key);
		char *room = line_need(log, at, LINE_JSON_ROOM(key ? key->bytes : 1) + LINE_JSON_ROOM(arg.bytes));
		if (!room)
			return at;
		at = room;
		*at++ = ',';
		at = key ? put_json(at, key->text, key->bytes) : PUT(at, "\"?\"");
		*at++ = ':';
		at = put_value(log, at, &arg);
	}
	return at;
}

/* Events. */

static bool has_member(const char *object, const char *key, size_t n)
{
	for (const char *p = object; *p; p++)
		if (*p == '"' && !strncmp(p + 1, key, n) && p[1 + n] == '"' && p[2 + n] == ':')
			return true;
	return false;
}

/* "C_APP":1 in what `end` says was used. */
static void note_used(struct pfwlog *log, const char *name, size_t n)
{
	char *used = log->state->used, line[256], *at = line;
	size_t len = strlen(used);
	if (n > 64 || has_member(used, name, n) || len + LINE_JSON_ROOM(n) + 4 > sizeof(log->state->used))
		return;
	if (len)
		*at++ = ',';
	at = put_json(at, name, n);
	at = PUT(at, ":1");
	*at++ = '\0';
	if (len + (size_t)(at - line) <= sizeof(log->state->used))
		memcpy(used + len, line, (size_t)(at - line));
}

static void use_type(struct pfwlog *log, unsigned type)
{
	if (log->state->setup.generation == 'E' && type < TYPES_MAX)
		note_used(log, type_names[type], strlen(type_names[type]));
}

/* ,"name":..,"cat":..,"type":.. as a text that stays; NULL: there is no room. */
static const struct name *sum_head(struct pfwlog *log, const struct name *name, const struct name *category,
		unsigned type)
{
	char *start = line_begin(log, LINE_JSON_ROOM(name->bytes) + LINE_JSON_ROOM(category ? category->bytes : 0));
	if (!start)
		return NULL;
	char *at = PUT(start, ",\"name\":");
	at = put_name(log, at, name->text, name->bytes);
	at = PUT(at, ",\"cat\":");
	at = put_name(log, at, category ? category->text : "", category ? category->bytes : 0);
	if (log->state->setup.generation == 'E')
		at = put_uint(PUT(at, ",\"type\":"), type);
	return names_put(&log->names, start, (size_t)(at - start)); /* the line itself is not begun */
}

static bool is_plain_key(const struct name *key)
{
	for (uint32_t i = 0; i < key->bytes; i++)
		if (key->text[i] < 0x20 || key->text[i] == '"' || key->text[i] == '\\' || key->text[i] == 0x7f)
			return false;
	return key->bytes <= SUM_KEY_BYTES_MAX;
}

/* An event of the program's own; of its arguments the whole numbers. */
static void sum_event(struct pfwlog *log, const struct walk *w, const struct name *head, int64_t start_ns, int64_t dur,
		size_t from, unsigned count)
{
	const struct sum_key key = { .bucket = start_ns / log->state->setup.interval_ns,
		.what = head,
		.pid = w->pid,
		.tid = w->tid };
	struct sum *sum = head ? log_sum(log, &key, head->text, head->bytes) : NULL;
	struct arg arg;
	if (!sum)
		return;
	log_sum_add(sum, "dur", 3, dur);
	for (unsigned i = 0; log->state->setup.has_args && i < count && next_arg(&log->view, &from, &arg); i++) {
		const struct name *name = names_string(&log->names, arg.head.key);
		if (name && arg.head.type == SONDE_ARG_INT && is_plain_key(name))
			log_sum_add(sum, name->text, name->bytes, arg.head.value.i);
	}
}

/* What rules may ask of an event of the program's own. */
struct asked {
	const struct pfwlog *log;
	size_t from;
	unsigned count;
};

static bool find_arg(const void *of, const char *key, size_t n, struct rule_value *value)
{
	const struct asked *a = of;
	size_t at = a->from;
	struct arg arg;
	for (unsigned i = 0; i < a->count && next_arg(&a->log->view, &at, &arg); i++) {
		const struct name *name = names_string(&a->log->names, arg.head.key);
		if (!name || name->bytes != n || memcmp(name->text, key, n) != 0)
			continue;
		bool is_word = arg.head.type == SONDE_ARG_STR;
		*value = (struct rule_value){ .text = is_word ? arg.text : NULL,
			.bytes = arg.bytes,
			.number = arg.head.value.i };
		return is_word || arg.head.type == SONDE_ARG_INT;
	}
	return false;
}

static bool is_summed(const struct pfwlog *log, const struct name *name, const struct name *category, int64_t start,
		int64_t dur, const struct asked *args)
{
	if (!log->state->setup.interval_ns)
		return false;
	struct rule_event e = { .name = { .text = name->text, .bytes = name->bytes },
		.cat = { .text = category ? category->text : "", .bytes = category ? category->bytes : 0 },
		.ts = start,
		.dur = dur,
		.arg = find_arg,
		.of = args };
	return log_is_summed(log, &e);
}

static void put_event(struct pfwlog *log, const struct walk *w, const struct pfwlog_rec_event *r,
		const struct name *name, const struct name *category)
{
	bool is_real = r->flags & PFWLOG_EVENT_REAL;
	int64_t start_ns = is_real ? (int64_t)r->start : real_ns(log, r->start);
	int64_t end_ns = is_real ? start_ns + (int64_t)r->dur : real_ns(log, r->start + r->dur);
	int64_t start = in_units(log, start_ns), end = in_units(log, end_ns);
	log->now.events++;
	if (end_ns > log->now.last_ns)
		log->now.last_ns = end_ns;
	const struct asked args = { .log = log, .from = sizeof(*r), .count = r->head.call };
	if (is_summed(log, name, category, start, end - start, &args)) {
		sum_event(log, w, sum_head(log, name, category, r->type), start_ns, end - start, sizeof(*r),
				r->head.call);
		return;
	}
	size_t names_room = LINE_JSON_ROOM(name->bytes) + LINE_JSON_ROOM(category ? category->bytes : 0);
	char *at = line_begin(log, names_room);
	if (!at)
		return;
	at = PUT(at, "{\"id\":");
	at = put_uint(at, r->id);
	at = PUT(at, ",\"name\":");
	at = put_name(log, at, name->text, name->bytes);
	at = PUT(at, ",\"cat\":");
	at = put_name(log, at, category ? category->text : "", category ? category->bytes : 0);
	if (log->state->setup.generation == 'E') {
		at = PUT(at, ",\"type\":");
		at = put_uint(at, r->type);
	}
	at = put_who_when(log, at, w->pid, w->tid);
	at = put_int(at, start);
	at = PUT(at, ",\"dur\":");
	at = put_int(at, end - start);
	at = put_bytes(at, log->phase_x, log->phase_x_bytes);
	if (log->state->setup.has_args) {
		at = put_bytes(at, log->host, log->host_bytes);
		at = PUT(at, ",\"p_idx\":");
		at = put_int(at, r->parent);
		at = PUT(at, ",\"level\":");
		at = put_uint(at, r->level);
		at = put_all(log, at, sizeof(*r), r->head.call);
		*at++ = '}';
	}
	*at++ = '}';
	line_end(log, at);
}

static enum taken take_event(struct pfwlog *log, struct walk *w, bool is_last_chance)
{
	static const struct name unknown = { .bytes = 0 };
	const struct pfwlog_rec_event *r = (const void *)log->view.bytes;
	if (log->view.len < sizeof(*r))
		return TAKEN;
	const struct name *name = names_string(&log->names, r->name);
	const struct name *category = r->category ? names_string(&log->names, r->category) : NULL;
	bool is_known = name && (category || !r->category) && knows_keys(log, sizeof(*r), r->head.call);
	if (!is_known && !is_last_chance)
		return WAITS;
	log_announce_thread(log, w->pid, w->tid);
	use_type(log, r->type);
	put_event(log, w, r, name ? name : &unknown, category);
	if (r->flags & PFWLOG_EVENT_LEAVES) {
		w->parent = r->parent;
		w->level = r->level ? r->level - 1u : 0;
	}
	return TAKEN;
}

/* Metadata. */

static bool is_letters(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((text[i] < 'A' || text[i] > 'Z') && (text[i] < 'a' || text[i] > 'z') && text[i] != '_')
			return false;
	return n > 0;
}

static enum taken take_meta(struct pfwlog *log, const struct walk *w, bool is_last_chance)
{
	const struct pfwlog_rec_meta *r = (const void *)log->view.bytes;
	const struct name *name = names_string(&log->names, r->name);
	char kind[16] = "CM";
	if ((!name || !knows_keys(log, sizeof(*r), r->head.call)) && !is_last_chance)
		return WAITS;
	if (name && name->bytes < sizeof(kind) && is_letters(name->text, name->bytes)) {
		memcpy(kind, name->text, name->bytes);
		kind[name->bytes] = '\0';
	}
	char *at = line_begin(log, 0);
	if (!at)
		return TAKEN;
	at = put_own_head(log, at, log->state->setup.generation != 'E', kind, w->pid, w->tid);
	at = put_bytes(at, log->phase_m, log->phase_m_bytes);
	at = put_bytes(at, log->host, log->host_bytes);
	at = put_all(log, at, sizeof(*r), r->head.call);
	line_end(log, PUT(at, "}}"));
	return TAKEN;
}

/* A new value of an app fact takes the place of the old one: the last member of a name is what readers see, so the
 * old one is cut out. */
static void forget_fact(char *app, const char *key, size_t n)
{
	for (char *p = app; *p; p++) {
		bool is_start = p == app || p[-1] == ',';
		if (!is_start || strncmp(p, key, n) || p[n] != ':')
			continue;
		char *end = p + n + 1;
		bool is_inside = false;
		for (; *end && (is_inside || *end != ','); end++) {
			if (*end == '\\' && end[1])
				end++;
			else if (*end == '"')
				is_inside = !is_inside;
		}
		if (*end)
			end++;
		else if (p > app)
			p--;
		memmove(p, end, strlen(end) + 1);
		return;
	}
}

static void note_fact(struct pfwlog *log)
{
	const struct pfwlog_rec_meta *r = (const void *)log->view.bytes;
	const struct name *key;
	struct arg arg;
	size_t at = sizeof(*r);
	char line[2048], *end = line;
	if (!next_arg(&log->view, &at, &arg) || !(key = names_string(&log->names, arg.head.key)))
		return;
	if (r->type == 0) {
		note_used(log, key->text, key->bytes);
		return;
	}
	if (LINE_JSON_ROOM(key->bytes) + LINE_JSON_ROOM(arg.bytes) + 32 > sizeof(line) ||
			arg.head.type == PFWLOG_ARG_FAR)
		return;
	char *app = log->state->app;
	end = put_json(end, key->text, key->bytes);
	forget_fact(app, line, (size_t)(end - line));
	*end++ = ':';
	end = put_value(log, end, &arg);
	size_t len = strlen(app), n = (size_t)(end - line);
	if (len + n + 2 > sizeof(log->state->app))
		return;
	if (len)
		app[len++] = ',';
	memcpy(app + len, line, n);
	app[len + n] = '\0';
}

enum taken log_take_own(struct pfwlog *log, struct walk *w, bool is_last_chance)
{
	const struct view *v = &log->view;
	const struct pfwlog_rec_context *context = (const void *)v->bytes;
	const struct pfwlog_rec_meta *meta = (const void *)v->bytes;
	if (v->head->kind == PFWLOG_REC_EVENT)
		return take_event(log, w, is_last_chance);
	if (v->len < sizeof(*meta))
		return TAKEN;
	if (v->head->kind == PFWLOG_REC_CONTEXT) {
		w->parent = context->id;
		w->level = context->level;
		return TAKEN;
	}
	if (v->head->kind == PFWLOG_REC_META)
		return take_meta(log, w, is_last_chance);
	if (!knows_keys(log, sizeof(*meta), meta->head.call) && !is_last_chance)
		return WAITS;
	note_fact(log);
	return TAKEN;
}

/* Functions. */

enum taken log_take_func(struct pfwlog *log, struct walk *w)
{
	const struct sonde_rec_note *n = view_note(&log->view);
	const struct name *object = NULL, *name = code_find(&log->code, &log->names, n->name, &object);
	static const char category[] = ",\"cat\":\"FUNC\"";
	int64_t start = in_units(log, real_ns(log, n->ticks)),
		end = in_units(log, real_ns(log, n->ticks + n->dur_ticks));
	if (!name)
		return TAKEN;
	log_announce_thread(log, w->pid, w->tid);
	use_type(log, PFWLOG_FUNC);
	log->now.events++;
	const struct name *cat = log->state->setup.interval_ns ? names_put(&log->names, "FUNC", 4) : NULL;
	if (is_summed(log, name, cat, start, end - start, &(struct asked){ .log = log })) {
		sum_event(log, w, sum_head(log, name, cat, PFWLOG_FUNC), real_ns(log, n->ticks), end - start, 0, 0);
		return TAKEN;
	}
	char *at = line_begin(log, LINE_JSON_ROOM(name->bytes) + LINE_JSON_ROOM(object ? object->bytes : 0));
	if (!at)
		return TAKEN;
	at = PUT(at, "{\"id\":");
	at = put_uint(at, log_next_id(log));
	at = PUT(at, ",\"name\":");
	at = put_name(log, at, name->text, name->bytes);
	at = PUT(at, category);
	if (log->state->setup.generation == 'E')
		at = PUT(at, ",\"type\":8");
	at = put_who_when(log, at, w->pid, w->tid);
	at = put_int(at, start);
	at = PUT(at, ",\"dur\":");
	at = put_int(at, end - start);
	at = put_bytes(at, log->phase_x, log->phase_x_bytes);
	if (log->state->setup.has_args) {
		at = put_bytes(at, log->host, log->host_bytes);
		at = PUT(at, ",\"p_idx\":");
		at = put_int(at, w->parent);
		at = PUT(at, ",\"level\":");
		at = put_uint(at, w->level + n->depth + 1);
		if (object) {
			at = PUT(at, ",\"so\":");
			at = put_name(log, at, object->text, object->bytes);
		}
		*at++ = '}';
	}
	*at++ = '}';
	line_end(log, at);
	return TAKEN;
}
