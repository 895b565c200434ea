/* Writes annotations and functions as lines; see pfwlog.h. */
#include "base/elf-symbols.h"
#include "pfw/log-private.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/*
 * Names of code addresses, from the symbol tables of the mapped files. Each address is looked up once; the results are
 * kept in a table that grows with the number of the program's functions.
 */

#define MODULES_MAX 512
#define FIRST_SLOTS 1024

struct module {
	uint64_t bias, end;
	const struct name *path;
	bool is_read;
	const uint8_t *file;
	size_t file_bytes;
	struct elf_symbols symbols;
};

struct found {
	uint64_t address; /* 0: unused */
	struct name *name;
	const struct name *object;
};

struct code {
	struct module modules[MODULES_MAX];
	size_t module_count;
	struct found *found;
	size_t slots, count;
};

static struct code *code_get(struct code **s)
{
	if (!*s)
		*s = log_memory(sizeof(**s));
	return *s;
}

void code_module(struct code **s, uint64_t bias, uint64_t end, const struct name *path)
{
	struct code *t = code_get(s);
	if (t && path && t->module_count < MODULES_MAX)
		t->modules[t->module_count++] = (struct module){ .bias = bias, .end = end, .path = path };
}

/* Files. */

static void read_module(struct module *m)
{
	struct stat st;
	char path[PFWLOG_PATH_BYTES];
	m->is_read = true;
	if (m->path->bytes >= sizeof(path))
		return;
	memcpy(path, m->path->text, m->path->bytes);
	path[m->path->bytes] = '\0';
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (!sys2(SYS_fstat, fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		m->file_bytes = (size_t)st.st_size;
		m->file = sys_map(m->file_bytes, PROT_READ, MAP_PRIVATE, fd);
		if (m->file)
			elf_symbols(m->file, m->file_bytes, &m->symbols);
	}
	sys_close(fd);
}

static const char *name_in(const struct module *m, uint64_t at)
{
	struct elf_function f;
	for (size_t i = 0; i < m->symbols.count; i++)
		if (elf_function(&m->symbols, i, &f) && at >= f.at && (at < f.end || at == f.at))
			return f.name;
	return NULL;
}

/* Lookup. */

static struct name *lookup(struct code *s, struct names *names, uint64_t address, const struct name **object)
{
	struct module *m = NULL;
	char raw[24], *end;
	const char *text = NULL;
	for (size_t i = 0; i < s->module_count; i++)
		if (address >= s->modules[i].bias && address < s->modules[i].end)
			m = &s->modules[i]; /* the newest mapping wins */
	if (m && !m->is_read)
		read_module(m);
	if (m)
		text = name_in(m, address - m->bias);
	if (m && !text)
		text = name_in(m, address); /* a program linked at a fixed address */
	*object = m ? m->path : NULL;
	if (text)
		return names_put(names, text, strlen(text));
	end = put_hex(PUT(raw, "0x"), address);
	return names_put(names, raw, (size_t)(end - raw));
}

static struct found *slot_of(const struct code *s, uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ull >> 32) & (s->slots - 1);
	while (s->found[i].address && s->found[i].address != address)
		i = (i + 1) & (s->slots - 1);
	return &s->found[i];
}

static bool grow(struct code *s)
{
	struct found *old = s->found;
	size_t old_slots = s->slots;
	size_t slots = s->slots ? 2 * s->slots : FIRST_SLOTS;
	struct found *fresh = log_memory(slots * sizeof(*fresh));
	if (!fresh)
		return false;
	s->found = fresh;
	s->slots = slots;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i].address)
			*slot_of(s, old[i].address) = old[i];
	if (old)
		sys2(SYS_munmap, old, old_slots * sizeof(*old));
	return true;
}

/* The function at a code address; `object` is NULL if unknown. Texts are kept. */
static struct name *code_find(struct code **s, struct names *names, uint64_t address, const struct name **object)
{
	struct code *t = code_get(s);
	if (!t || !address || (2 * t->count >= t->slots && !grow(t)))
		return NULL;
	struct found *f = slot_of(t, address);
	if (!f->address) {
		f->address = address;
		f->name = lookup(t, names, address, &f->object);
		t->count++;
	}
	*object = f->object;
	return f->name;
}

void code_free(struct code *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->module_count; i++)
		if (s->modules[i].file)
			sys2(SYS_munmap, s->modules[i].file, s->modules[i].file_bytes);
	if (s->found)
		sys2(SYS_munmap, s->found, s->slots * sizeof(*s->found));
	sys2(SYS_munmap, s, sizeof(*s));
}

#define TYPES_MAX 12
#define SUM_KEY_BYTES_MAX 64u

static const char *const type_names[TYPES_MAX] = { "UNKNOWN", "DFTRACER", "C_APP", "LIBC_IO", "HIP", "HDF5", "PYTHON",
	"PSUTIL", "FINSTRUMENT", "CPP_APP", "MPI", "CUDA" };

enum taken log_on_string(struct pfwlog *log)
{
	const struct ring_record *v = &log->ring_record;
	if (v->string_count)
		names_set_string(&log->names, ring_record_def(v)->id,
				names_put(&log->names, v->strings[0].data, v->strings[0].bytes));
	return TAKEN;
}

static void use_type(struct pfwlog *log, unsigned type)
{
	if (log->state->setup.generation == 'E' && type < TYPES_MAX)
		log_record_used(log, type_names[type], strlen(type_names[type]));
}

/* Interns ,"name":..,"cat":..,"type":.. as a text; NULL if out of room. */
static const struct name *sum_head(struct pfwlog *log, const struct name *name, const struct name *category,
		unsigned type)
{
	char *start = line_begin(log, LINE_JSON_ROOM(name->bytes) + LINE_JSON_ROOM(category ? category->bytes : 0));
	if (!start)
		return NULL;
	char *at = put_title(start, name->text, name->bytes, category ? category->text : "",
			category ? category->bytes : 0, log->state->setup.is_strict);
	if (log->state->setup.generation == 'E')
		at = PUT_INT(at, "type", type);
	return names_put(&log->names, start, (size_t)(at - start)); /* not committed as a line */
}

static bool is_plain_key(const struct name *key)
{
	for (uint32_t i = 0; i < key->bytes; i++)
		if (key->text[i] < 0x20 || key->text[i] == '"' || key->text[i] == '\\' || key->text[i] == 0x7f)
			return false;
	return key->bytes <= SUM_KEY_BYTES_MAX;
}

/* Aggregates an event of the program, with its integer arguments. */
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
	for (unsigned i = 0; log->state->setup.has_args && i < count && args_next(&log->ring_record, &from, &arg);
			i++) {
		const struct name *name = names_string(&log->names, arg.head.key);
		if (name && arg.head.type == SONDE_ARG_INT && is_plain_key(name))
			log_sum_add(sum, name->text, name->bytes, arg.head.value.i);
	}
}

/* The fields of a program's event that rules can test. */
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
	for (unsigned i = 0; i < a->count && args_next(&a->log->ring_record, &at, &arg); i++) {
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

/* Common to the lines of annotations and functions. */
struct event_line {
	uint64_t id;
	const struct name *name;
	const char *category;
	size_t category_bytes;
	unsigned type;
	int64_t start, dur; /* in the log's units */
	int64_t parent;
	uint64_t level;
};

/* Writes the line up to its further arguments, if the log has arguments. */
static char *put_line(struct pfwlog *log, char *at, const struct walk *w, const struct event_line *e)
{
	at = put_uint(PUT(at, "{\"id\":"), e->id);
	at = put_title(at, e->name->text, e->name->bytes, e->category, e->category_bytes, log->state->setup.is_strict);
	if (log->state->setup.generation == 'E')
		at = PUT_INT(at, "type", e->type);
	at = put_int(put_who_when(log, at, w->pid, w->tid), e->start);
	at = PUT_INT(at, "dur", e->dur);
	at = put_phase(at, log->state->setup.generation, 'X');
	if (log->state->setup.has_args) {
		at = put_bytes(at, log->host, log->host_bytes);
		at = PUT_INT(at, "p_idx", e->parent);
		at = put_uint(PUT(at, ",\"level\":"), e->level);
	}
	return at;
}

static void end_line(struct pfwlog *log, char *at)
{
	if (log->state->setup.has_args)
		*at++ = '}';
	*at++ = '}';
	line_end(log, at);
}

static void put_event(struct pfwlog *log, const struct walk *w, const struct pfwlog_rec_event *r,
		const struct name *name, const struct name *category)
{
	bool is_real = r->flags & PFWLOG_EVENT_REAL;
	int64_t start_ns = is_real ? (int64_t)r->start : real_ns(log, r->start);
	int64_t end_ns = is_real ? (int64_t)(r->start + r->dur) : real_ns(log, r->start + r->dur);
	int64_t start = in_units(log, start_ns);
	int64_t dur = (int64_t)((uint64_t)in_units(log, end_ns) - (uint64_t)start); /* the program chooses both */
	log->now.events++;
	if (end_ns > log->now.last_ns)
		log->now.last_ns = end_ns;
	const struct asked args = { .log = log, .from = sizeof(*r), .count = r->head.call };
	if (is_summed(log, name, category, start, dur, &args)) {
		sum_event(log, w, sum_head(log, name, category, r->type), start_ns, dur, sizeof(*r), r->head.call);
		return;
	}
	const struct event_line e = { .id = r->id,
		.name = name,
		.category = category ? category->text : "",
		.category_bytes = category ? category->bytes : 0,
		.type = r->type,
		.start = start,
		.dur = dur,
		.parent = r->parent,
		.level = r->level };
	char *at = line_begin(log, LINE_JSON_ROOM(name->bytes) + LINE_JSON_ROOM(e.category_bytes));
	if (!at)
		return;
	at = put_line(log, at, w, &e);
	end_line(log, log->state->setup.has_args ? args_put(log, at, sizeof(*r), r->head.call) : at);
}

enum taken log_on_own(struct pfwlog *log, struct walk *w, bool is_last_chance)
{
	const struct ring_record *v = &log->ring_record;
	const struct pfwlog_rec_context *context = (const void *)v->bytes;
	const struct pfwlog_rec_meta *meta = (const void *)v->bytes;
	if (v->head->kind == PFWLOG_REC_EVENT) {
		static const struct name unknown = { .bytes = 0 };
		const struct pfwlog_rec_event *r = (const void *)log->ring_record.bytes;
		if (log->ring_record.len < sizeof(*r))
			return TAKEN;
		const struct name *name = names_string(&log->names, r->name);
		const struct name *category = r->category ? names_string(&log->names, r->category) : NULL;
		bool is_known = name && (category || !r->category) && args_known(log, sizeof(*r), r->head.call);
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
	if (v->len < sizeof(*meta))
		return TAKEN;
	if (v->head->kind == PFWLOG_REC_CONTEXT) {
		w->parent = context->id;
		w->level = context->level;
		return TAKEN;
	}
	if (v->head->kind == PFWLOG_REC_META)
		return log_on_meta(log, w, is_last_chance);
	if (!args_known(log, sizeof(*meta), meta->head.call) && !is_last_chance)
		return WAITS;
	log_record_fact(log);
	return TAKEN;
}

/* Functions. */

enum taken log_on_func(struct pfwlog *log, struct walk *w)
{
	const struct sonde_rec_note *n = ring_record_note(&log->ring_record);
	const struct name *object = NULL, *name = code_find(&log->code, &log->names, n->name, &object);
	static const char category[] = "FUNC";
	int64_t start = in_units(log, real_ns(log, n->ticks)),
		end = in_units(log, real_ns(log, n->ticks + n->dur_ticks));
	if (!name)
		return TAKEN;
	log_announce_thread(log, w->pid, w->tid);
	use_type(log, PFWLOG_FUNC);
	log->now.events++;
	const struct name *cat = log->state->setup.interval_ns ? names_put(&log->names, category, sizeof(category) - 1)
							       : NULL;
	if (is_summed(log, name, cat, start, end - start, &(struct asked){ .log = log })) {
		sum_event(log, w, sum_head(log, name, cat, PFWLOG_FUNC), real_ns(log, n->ticks), end - start, 0, 0);
		return TAKEN;
	}
	const struct event_line e = { .id = log_next_id(log),
		.name = name,
		.category = category,
		.category_bytes = sizeof(category) - 1,
		.type = PFWLOG_FUNC,
		.start = start,
		.dur = end - start,
		.parent = w->parent,
		.level = w->level + n->depth + 1 };
	char *at = line_begin(log, LINE_JSON_ROOM(name->bytes) + LINE_JSON_ROOM(object ? object->bytes : 0));
	if (!at)
		return TAKEN;
	at = put_line(log, at, w, &e);
	if (object && log->state->setup.has_args)
		at = put_name(PUT(at, ",\"so\":"), object->text, object->bytes, log->state->setup.is_strict);
	end_line(log, at);
	return TAKEN;
}
