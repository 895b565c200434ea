/*
 * What a record means: rows of the run's tables. One function a kind, chosen by
 * a table. See drain.h for when a record has to wait.
 */
#include "base/json.h"
#include "record/drain.h"
#include "record/symbols.h"
#include "tracer/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

_Static_assert(CALL_COUNT <= sizeof(((struct drain *)0)->call_ids) / sizeof(int64_t), "call_ids is too small");

#define NAMES_MAX (1u << 20)
/* What system calls tell as well. */
#define ELSEWHERE ((uint32_t)(SONDE_CAT_ALL & ~(SONDE_CAT_PROCESS | SONDE_CAT_LIBC | SONDE_CAT_SPAN | SONDE_CAT_FUNC)))
#define NS_MAX (INT64_MAX / 4) /* 73 years: times in a ring may be nonsense, and we add and subtract them */

static int64_t ns_of(struct drain *d, uint64_t ticks)
{
	int64_t ns = d->ring->control->clock == SONDE_CLOCK_TICKS ? tick_line_ns(&d->line, ticks) : (int64_t)ticks;
	return ns < 0 ? 0 : ns > NS_MAX ? NS_MAX : ns;
}

static int64_t null_if(int64_t value, int64_t none)
{
	return value == none ? STORE_NULL : value;
}

static int64_t string_id(struct drain *d, const struct store_text *t)
{
	return store_strings_id(&d->sink->strings, t->data, t->bytes);
}

/* The thread's entry; most records are of the thread of the record before. */
static struct drain_thread *thread_of(struct drain_process *p, int32_t pid, int32_t tid, int64_t now_ns)
{
	size_t hint = p->thread_hint;
	if (hint < p->thread_count && p->threads[hint].tid == tid && p->threads[hint].pid == pid)
		return &p->threads[hint];
	for (size_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid == tid && p->threads[i].pid == pid) {
			p->thread_hint = i;
			return &p->threads[i];
		}
	if (p->thread_count == p->thread_cap) {
		size_t cap = p->thread_cap ? 2 * p->thread_cap : 4;
		struct drain_thread *more = realloc(p->threads, cap * sizeof(*more));
		if (!more)
			return NULL;
		p->threads = more;
		p->thread_cap = cap;
	}
	p->thread_hint = p->thread_count;
	p->threads[p->thread_count] = (struct drain_thread){ .pid = pid, .tid = tid, .start_ns = now_ns };
	return &p->threads[p->thread_count++];
}

void emit_count(struct drain *d, struct drain_process *p, const struct drain_chunk *c, int64_t ts_ns, int64_t end_ns)
{
	struct drain_thread *t = thread_of(p, c->pid, c->tid, ts_ns);
	d->events++;
	p->events++;
	if (!t)
		return;
	t->events++;
	if (end_ns > t->last_ns)
		t->last_ns = end_ns;
}

void drain_count(struct drain *d, const struct store_io *row)
{
	struct drain_process *p = drain_by_pid(d, (int32_t)row->pid);
	struct drain_thread *t = p ? thread_of(p, (int32_t)row->pid, (int32_t)row->tid, row->ts_ns) : NULL;
	if (!t)
		return;
	p->events++;
	t->events++;
	if (row->ts_ns + row->dur_ns > t->last_ns)
		t->last_ns = row->ts_ns + row->dur_ns;
}

/* Calls. */

static int64_t call_id(struct drain *d, unsigned call)
{
	if (call >= CALL_COUNT)
		return STORE_NULL;
	if (!d->call_ids[call]) {
		static const char *const categories[] = { "data", "open", "meta", "dir", "sync", "map", "stdio", "net",
			"process", "aio", "libc", "span", "function", "stdio" };
		const struct call_info *info = &call_info[call];
		struct store_text names = { .data = info->arg_names, .bytes = strlen(info->arg_names) };
		d->call_ids[call] = store_strings_of(&d->sink->strings, info->name);
		struct store_call row = { .call = d->call_ids[call],
			.category = store_strings_of(&d->sink->strings, categories[__builtin_ctz(info->category)]),
			.arg_names = &names };
		store_sink_add(d->sink, STORE_TABLE_CALL, &row);
	}
	return d->call_ids[call];
}

int64_t drain_call_id(struct drain *d, const char *name, uint32_t categories)
{
	for (unsigned i = 0; i < CALL_COUNT; i++)
		if (!strcmp(call_info[i].name, name))
			return call_info[i].category & categories ? call_id(d, i) : STORE_NULL;
	return STORE_NULL;
}

/* Which file the row is about; a path that opened something defines that file. */
static int64_t call_file(struct drain *d, const struct view *v)
{
	const struct sonde_rec_call *r = view_call(v);
	int64_t file = r->file ? (int64_t)(r->file & INT64_MAX) : STORE_NULL;
	if (!(r->flags & SONDE_CALL_PATH) || !v->string_count)
		return file;
	int64_t name = string_id(d, &v->strings[0]);
	int64_t base = (int64_t)(v->base & INT64_MAX);
	if (!r->defines)
		return r->file && r->fd >= 0 ? file : store_sink_path(d->sink, base, name);
	store_sink_file(d->sink, file, base, name);
	return file;
}

static void note_wait(struct drain *d, const struct view *v)
{
	const struct sonde_rec_call *r = view_call(v);
	const char *names = r->head.call < CALL_COUNT ? call_info[r->head.call].arg_names : "";
	unsigned i = 0;
	for (const char *at = names; at && *at; i++) {
		if (!strncmp(at, "status", 6) && (at[6] == ',' || !at[6]) && i < v->arg_count && r->ret > 0 &&
				!r->head.errnum)
			if (WIFEXITED(v->args[i]) || WIFSIGNALED(v->args[i]))
				drain_exited(d, (pid_t)r->ret, (int)v->args[i]);
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
}

static void note_child(struct drain *d, const struct drain_process *mother, int32_t pid, uint32_t why, char *path)
{
	uint64_t *at = map_put_int(&d->blind_by_pid, (uint64_t)(uint32_t)pid, NULL);
	if (!at)
		return;
	if (!*at) {
		if (d->blind_count == d->blind_cap) {
			size_t cap = d->blind_cap ? 2 * d->blind_cap : 16;
			struct drain_blind *more = realloc(d->blind, cap * sizeof(*more));
			if (!more)
				return;
			d->blind = more;
			d->blind_cap = cap;
		}
		*at = ++d->blind_count;
	}
	d->blind[*at - 1] = (struct drain_blind){ .pid = pid,
		.mother = mother,
		.why = why,
		.path = path,
		.start_ns = ns_of(d, view_call(&d->view)->ticks) };
}

/* An exec is about to be tried: by the image itself, or by a vfork child on its memory. */
static void note_exec(struct drain *d, struct drain_process *p, const struct drain_chunk *c, const struct view *v)
{
	uint32_t why = v->arg_count ? (uint32_t)v->args[0] : 0;
	char *path = v->string_count ? arena_copy(&d->arena, v->strings[0].data, v->strings[0].bytes) : NULL;
	if (!path)
		return;
	if (c->pid != p->pid) {
		note_child(d, p, c->pid, why, path);
	} else {
		p->exec_path = path;
		p->exec_blind = why;
	}
}

static void note_failed_exec(struct drain *d, struct drain_process *p, const struct drain_chunk *c)
{
	if (c->pid == p->pid)
		p->exec_path = NULL;
	else
		note_child(d, p, c->pid, 0, NULL);
}

/* posix_spawn's plain arguments are the child and why it will be blind. */
static void note_spawn(struct drain *d, const struct drain_process *p, const struct view *v)
{
	if (v->arg_count >= 2 && v->args[0] > 0 && !view_call(v)->head.errnum && v->string_count)
		note_child(d, p, (int32_t)v->args[0], (uint32_t)v->args[1],
				arena_copy(&d->arena, v->strings[0].data, v->strings[0].bytes));
}

static bool is_exec(unsigned call)
{
	return call < CALL_COUNT &&
			(!strncmp(call_info[call].name, "exec", 4) || !strcmp(call_info[call].name, "fexecve"));
}

static enum emit_result emit_call(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct view *v = &d->view;
	const struct sonde_rec_call *r = view_call(v);
	struct store_io row = store_io_nulls;
	bool has_path2 = (r->flags & SONDE_CALL_PATH2) && v->string_count > 1 && v->arg_count > 0;
	unsigned args = v->arg_count - has_path2;
	unsigned texts = (r->flags & SONDE_CALL_PATH ? 1 : 0) + has_path2;
	row.ts_ns = ns_of(d, r->ticks);
	row.dur_ns = r->flags & SONDE_CALL_NO_END ? STORE_NULL : ns_of(d, r->ticks + r->dur_ticks) - row.ts_ns;
	row.process = p->number;
	row.pid = c->pid;
	row.tid = c->tid;
	row.call = call_id(d, r->head.call);
	row.file = call_file(d, v);
	if (has_path2)
		row.file2 = store_sink_path(d->sink, (int64_t)((uint64_t)v->args[args] & INT64_MAX),
				string_id(d, &v->strings[1]));
	row.fd = null_if(r->fd, -1);
	row.ret = r->flags & SONDE_CALL_NO_END ? STORE_NULL : r->ret;
	row.errnum = r->flags & SONDE_CALL_NO_END ? STORE_NULL : r->head.errnum;
	row.size = r->size;
	row.offset = r->offset;
	row.flags = r->flags;
	int64_t *const fields[] = { &row.arg0, &row.arg1, &row.arg2, &row.arg3 };
	for (unsigned i = 0; i < args && i < 4; i++)
		*fields[i] = v->args[i];
	if (v->string_count > texts)
		row.text = &v->strings[texts];
	if (p->is_elsewhere && r->head.call < CALL_COUNT && call_info[r->head.call].category & ELSEWHERE)
		return EMIT_DONE;
	emit_count(d, p, c, row.ts_ns, row.ts_ns + (row.dur_ns == STORE_NULL ? 0 : row.dur_ns));
	store_sink_add(d->sink, STORE_TABLE_IO, &row);
	return EMIT_DONE;
}

/* Who connects to whom: connect has family and port as arguments, accept the listener before them. */
static void note_peer(struct drain *d, const struct drain_chunk *c)
{
	const struct view *v = &d->view;
	const struct sonde_rec_call *r = view_call(v);
	bool is_accept = r->head.call == CALL_accept || r->head.call == CALL_accept4;
	if (!is_accept && r->head.call != CALL_connect && r->head.call != CALL___connect)
		return;
	char address[64];
	unsigned at = is_accept;
	if (v->arg_count < at + 2 || !v->string_count || v->strings[0].bytes >= sizeof(address))
		return;
	memcpy(address, v->strings[0].data, v->strings[0].bytes);
	address[v->strings[0].bytes] = '\0';
	int64_t ts_ns = ns_of(d, r->ticks);
	struct probe_peer peer = { .ts_ns = ts_ns,
		.dur_ns = ns_of(d, r->ticks + r->dur_ticks) - ts_ns,
		.pid = c->pid,
		.is_accept = is_accept,
		.family = (int)v->args[at],
		.port = v->args[at + 1],
		.address = address };
	probe_saw_peer(d->probes, &peer);
}

static enum emit_result emit_plain_call(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	const struct sonde_rec_call *r = view_call(&d->view);
	if (r->head.call < CALL_COUNT && call_info[r->head.call].category == SONDE_CAT_PROCESS) {
		note_wait(d, &d->view);
		if (is_exec(r->head.call))
			note_failed_exec(d, p, c);
		if (r->head.call == CALL_posix_spawn || r->head.call == CALL_posix_spawnp)
			note_spawn(d, p, &d->view);
		if ((r->head.call == CALL_fork || r->head.call == CALL__Fork) && r->ret > 0)
			note_child(d, p, (int32_t)r->ret, SONDE_BLIND_NO, NULL);
	}
	if (d->probes && r->head.call < CALL_COUNT && call_info[r->head.call].category == SONDE_CAT_NET)
		note_peer(d, c);
	return emit_call(d, p, c, is_last_chance);
}

static enum emit_result emit_exec(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	note_exec(d, p, c, &d->view);
	return emit_call(d, p, c, is_last_chance);
}

/* Annotations. */

bool emit_name(struct drain *d, struct drain_process *p, uint64_t id, bool is_last_chance, int64_t *name)
{
	*name = STORE_NULL;
	if (!id)
		return true;
	if (id < p->name_cap && p->names[id]) {
		*name = p->names[id];
		return true;
	}
	if (is_last_chance)
		*name = store_strings_of(&d->sink->strings, "?");
	return is_last_chance;
}

static void key_text(struct drain *d, int64_t id, char name[128])
{
	size_t len = 0;
	const char *text = id == STORE_NULL || id < 1 ? NULL : map_key(&d->sink->strings.ids, (size_t)id - 1, &len);
	snprintf(name, 128, "%.*s", text ? (int)(len < 127 ? len : 127) : 1, text ? text : "?");
}

static bool args_text(struct drain *d, struct drain_process *p, bool is_last_chance, struct store_text *out)
{
	const struct view *v = &d->view;
	struct sonde_arg arg;
	struct store_text text = { 0 };
	struct json j;
	size_t at = 0;
	buf_reset(&d->scratch);
	json_init(&j, &d->scratch, false);
	json_object(&j);
	for (unsigned i = 0; i < v->head->call && view_next_arg(v, &at, &arg, &text); i++) {
		int64_t key;
		char name[128];
		if (!emit_name(d, p, arg.key, is_last_chance, &key))
			return false;
		key_text(d, key, name);
		json_key(&j, name);
		if (arg.type == SONDE_ARG_INT)
			json_int(&j, arg.value.i);
		else if (arg.type == SONDE_ARG_UINT)
			json_uint(&j, arg.value.u);
		else if (arg.type == SONDE_ARG_REAL)
			json_real(&j, arg.value.r);
		else if (arg.type == SONDE_ARG_STR)
			json_strn(&j, text.data, text.bytes);
		else
			json_null(&j);
	}
	json_end(&j);
	*out = (struct store_text){ .data = d->scratch.data, .bytes = d->scratch.len };
	return true;
}

struct note {
	int64_t ts_ns, name, category;
	struct store_text args;
	bool has_args;
};

static bool note_of(struct drain *d, struct drain_process *p, bool is_last_chance, struct note *n)
{
	const struct sonde_rec_note *r = view_note(&d->view);
	n->ts_ns = ns_of(d, r->ticks);
	n->has_args = r->head.call > 0;
	return emit_name(d, p, r->name, is_last_chance, &n->name) &&
			emit_name(d, p, r->category, is_last_chance, &n->category) &&
			(!n->has_args || args_text(d, p, is_last_chance, &n->args));
}

static enum emit_result emit_span(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_note *r = view_note(&d->view);
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	int64_t end_ns = ns_of(d, r->ticks + r->dur_ticks);
	struct store_span row = { .ts_ns = n.ts_ns,
		.dur_ns = end_ns - n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.category = n.category,
		.depth = r->depth,
		.id = STORE_NULL,
		.parent = STORE_NULL,
		.args = n.has_args ? &n.args : NULL };
	emit_count(d, p, c, n.ts_ns, end_ns);
	store_sink_add(d->sink, STORE_TABLE_SPAN, &row);
	return EMIT_DONE;
}

static enum emit_result emit_func(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_note *r = view_note(&d->view);
	int64_t ts_ns = ns_of(d, r->ticks), end_ns = ns_of(d, r->ticks + r->dur_ticks);
	struct store_span row = { .ts_ns = ts_ns,
		.dur_ns = end_ns - ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = symbols_name(&p->symbols, &d->sink->strings, r->name),
		.category = store_strings_of(&d->sink->strings, "function"),
		.depth = r->depth,
		.id = STORE_NULL,
		.parent = STORE_NULL };
	emit_count(d, p, c, ts_ns, end_ns);
	store_sink_add(d->sink, STORE_TABLE_SPAN, &row);
	return EMIT_DONE;
}

void emit_open_span(struct drain *d, struct drain_process *p, const struct drain_chunk *c,
		const struct sonde_open_span *span, uint32_t depth, int64_t end_ns)
{
	struct store_span row = { .ts_ns = ns_of(d, span->ticks),
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.category = STORE_NULL,
		.depth = depth,
		.id = STORE_NULL,
		.parent = STORE_NULL,
		.is_open = 1 };
	struct drain_thread *t = thread_of(p, c->pid, c->tid, row.ts_ns);
	if (d->epollfd < 0 && t)
		end_ns = t->last_ns; /* nobody saw it end: the last that is known */
	row.dur_ns = end_ns > row.ts_ns ? end_ns - row.ts_ns : 0;
	if (span->what >> 63)
		row.name = symbols_name(&p->symbols, &d->sink->strings, span->what & INT64_MAX);
	else
		emit_name(d, p, span->what, true, &row.name);
	emit_count(d, p, c, row.ts_ns, row.ts_ns);
	store_sink_add(d->sink, STORE_TABLE_SPAN, &row);
}

static enum emit_result emit_instant(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	struct store_mark row = { .ts_ns = n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.category = n.category,
		.args = n.has_args ? &n.args : NULL };
	emit_count(d, p, c, n.ts_ns, n.ts_ns);
	store_sink_add(d->sink, STORE_TABLE_MARK, &row);
	return EMIT_DONE;
}

static enum emit_result emit_counter(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	struct store_counter row = { .ts_ns = n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.value = view_note(&d->view)->value };
	emit_count(d, p, c, n.ts_ns, n.ts_ns);
	store_sink_add(d->sink, STORE_TABLE_COUNTER, &row);
	return EMIT_DONE;
}

static enum emit_result emit_step(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	struct store_step row = { .ts_ns = n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.index = view_note(&d->view)->index,
		.value = view_note(&d->view)->value };
	emit_count(d, p, c, n.ts_ns, n.ts_ns);
	if (d->step)
		d->step(d->step_arg, &row);
	else
		store_sink_add(d->sink, STORE_TABLE_STEP, &row);
	return EMIT_DONE;
}

static enum emit_result emit_meta(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct view *v = &d->view;
	struct sonde_arg arg;
	struct store_text value = { 0 };
	size_t at = 0;
	struct note n;
	if (!emit_name(d, p, view_note(v)->name, is_last_chance, &n.name))
		return EMIT_WAIT;
	if (!view_next_arg(v, &at, &arg, &value))
		return EMIT_DONE;
	char number[32];
	if (arg.type != SONDE_ARG_STR) {
		int len = arg.type == SONDE_ARG_REAL ? snprintf(number, sizeof(number), "%.17g", arg.value.r)
						     : snprintf(number, sizeof(number), "%lld", (long long)arg.value.i);
		value = (struct store_text){ .data = number, .bytes = (size_t)len };
	}
	struct store_meta row = { .process = p->number, .pid = c->pid, .key = n.name, .value = &value };
	d->events++;
	p->events++;
	store_sink_add(d->sink, STORE_TABLE_META, &row);
	return EMIT_DONE;
}

/* Definitions. */

void emit_define(struct drain *d, uint32_t process, enum define_kind kind, uint64_t id, const struct store_text *text)
{
	struct store_define row = { .process = process, .kind = kind, .id = (int64_t)id, .string = string_id(d, text) };
	store_sink_add(d->sink, STORE_TABLE_DEFINE, &row);
}

/* Names are numbered from 1 as they come: an array serves, up to a number that no honest process reaches. */
static bool has_room_for_name(struct drain_process *p, uint64_t id)
{
	if (id < p->name_cap)
		return true;
	if (id >= NAMES_MAX)
		return false;
	size_t cap = p->name_cap ? p->name_cap : 64;
	while (cap <= id)
		cap *= 2;
	int64_t *more = realloc(p->names, cap * sizeof(*more));
	if (!more)
		return false;
	memset(more + p->name_cap, 0, (cap - p->name_cap) * sizeof(*more));
	p->names = more;
	p->name_cap = cap;
	return true;
}

void drain_know(struct drain *d, struct drain_process *p, enum define_kind kind, uint64_t id,
		const struct store_text *text)
{
	if (kind == DEFINE_NAME) {
		if (has_room_for_name(p, id))
			p->names[id] = string_id(d, text);
	} else if (kind == DEFINE_EXE) {
		p->exe = string_id(d, text);
	} else if (kind == DEFINE_CWD) {
		p->cwd = string_id(d, text);
	} else if (kind == DEFINE_ARGV) {
		p->argv.data = arena_copy(&d->arena, text->data, text->bytes);
		p->argv.bytes = text->bytes;
	}
}

static enum emit_result take_string(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	const struct view *v = &d->view;
	if (v->string_count) {
		drain_know(d, p, DEFINE_NAME, view_def(v)->id, &v->strings[0]);
		emit_define(d, p->number, DEFINE_NAME, view_def(v)->id, &v->strings[0]);
	}
	return EMIT_DONE;
}

static enum emit_result take_file(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_def *r = view_def(&d->view);
	if (d->view.string_count)
		store_sink_file(d->sink, (int64_t)(r->id & INT64_MAX), (int64_t)(r->base & INT64_MAX),
				string_id(d, &d->view.strings[0]));
	return EMIT_DONE;
}

static enum emit_result take_process(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	const struct view *v = &d->view;
	for (unsigned i = 0; i < v->string_count && i < 3; i++) {
		drain_know(d, p, DEFINE_EXE + i, 0, &v->strings[i]);
		emit_define(d, p->number, DEFINE_EXE + i, 0, &v->strings[i]);
	}
	return EMIT_DONE;
}

static enum emit_result take_who(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	c->pid = view_who(&d->view)->pid;
	c->tid = view_who(&d->view)->tid;
	return EMIT_DONE;
}

static enum emit_result take_module(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	const struct sonde_rec_def *r = view_def(&d->view);
	if (d->view.string_count)
		symbols_add(&p->symbols, r->id, r->base, d->view.strings[0].data, d->view.strings[0].bytes);
	return EMIT_DONE;
}

typedef enum emit_result emit_fn(struct drain *, struct drain_process *, struct drain_chunk *, bool);

static emit_fn *const emit[SONDE_REC_KINDS] = {
	[SONDE_REC_CALL] = emit_plain_call,
	[SONDE_REC_RUN] = emit_call,
	[SONDE_REC_EXEC] = emit_exec,
	[SONDE_REC_SPAN] = emit_span,
	[SONDE_REC_INSTANT] = emit_instant,
	[SONDE_REC_COUNTER] = emit_counter,
	[SONDE_REC_STEP] = emit_step,
	[SONDE_REC_META] = emit_meta,
	[SONDE_REC_FUNC] = emit_func,
	[SONDE_REC_STRING] = take_string,
	[SONDE_REC_FILE] = take_file,
	[SONDE_REC_PROCESS] = take_process,
	[SONDE_REC_WHO] = take_who,
	[SONDE_REC_MODULE] = take_module,
	[SONDE_REC_GPU] = emit_gpu,
};

enum emit_result emit_record(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	return emit[d->view.head->kind](d, p, c, is_last_chance);
}
