/* Converts library calls to rows; see emit.h. Calls that create or wait for processes also update the process table. */
#include "base/vec.h"
#include "calls/calls-find.h"
#include "calls/calls-hash.h"
#include "record/emit.h"

#include <string.h>
#include <sys/wait.h>

/* Categories that system call tracing reports too. */
#define ELSEWHERE ((uint32_t)(SONDE_CAT_ALL & ~(SONDE_CAT_PROCESS | SONDE_CAT_LIBC | SONDE_CAT_SPAN | SONDE_CAT_FUNC)))

static int64_t null_if(int64_t value, int64_t none)
{
	return value == none ? STORE_NULL : value;
}

/* The row in the table of the library that wrote the ring; NULL: the program wrote an invalid number. */
static const struct call_info *info_of(const struct drain_process *p, unsigned call)
{
	return call < p->calls->count ? &p->calls->rows[call] : NULL;
}

static int64_t call_id(struct drain *d, struct ring_calls *calls, unsigned call)
{
	if (call >= calls->count)
		return STORE_NULL;
	if (!calls->ids[call]) {
		const struct call_info *info = &calls->rows[call];
		struct store_strings *strings = &d->sink->strings;
		struct store_text names = { .data = call_arg_names(info), .bytes = strlen(call_arg_names(info)) };
		struct store_text text;
		text.data = call_text_name(info, &text.bytes);
		calls->ids[call] = store_strings_of(strings, info->name);
		struct store_call row = { .call = calls->ids[call],
			.category = store_strings_of(strings, call_category_word(info->category)),
			.arg_names = &names,
			.kind = store_strings_of(strings, call_kind_word(info->kind)),
			.bytes_from = store_strings_of(strings, call_bytes_word(info->bytes)),
			.wait = store_strings_of(strings, call_wait_word(info->wait)),
			.text_name = &text };
		/* A run has one row for a name. If builds differ in it, the first that was called decides. */
		bool is_new = false;
		map_put_int(&d->call_names, (uint64_t)row.call, &is_new);
		if (is_new)
			store_sink_add(d->sink, STORE_TABLE_CALL, &row);
	}
	return calls->ids[call];
}

int64_t drain_call_id(struct drain *d, const char *name, uint32_t categories)
{
	struct ring_calls *ours = ring_calls_find(&d->calls, d->ring, CALLS_HASH, NULL);
	for (unsigned i = 0; ours && i < CALL_COUNT; i++)
		if (!strcmp(call_info[i].name, name))
			return call_info[i].mask & categories ? call_id(d, ours, i) : STORE_NULL;
	return STORE_NULL;
}

/* The file of the row; a path that opened something defines that file. */
static int64_t call_file(struct drain *d, const struct ring_record *v)
{
	const struct sonde_rec_call *r = ring_record_call(v);
	int64_t file = r->file ? (int64_t)(r->file & INT64_MAX) : STORE_NULL;
	if (!(r->flags & SONDE_CALL_PATH) || !v->string_count)
		return file;
	int64_t name = emit_string(d, &v->strings[0]);
	int64_t base = (int64_t)(v->base & INT64_MAX);
	if (!r->defines)
		return r->file && r->fd >= 0 ? file : store_sink_path(d->sink, base, name);
	store_sink_file(d->sink, file, base, name);
	return file;
}

static void on_wait(struct drain *d, const struct ring_record *v, const struct call_info *info)
{
	const struct sonde_rec_call *r = ring_record_call(v);
	const char *names = call_arg_names(info);
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

static void on_child(struct drain *d, const struct drain_process *parent, int32_t pid, uint32_t why, char *path)
{
	uint64_t *at = map_put_int(&d->untraced_by_pid, (uint64_t)(uint32_t)pid, NULL);
	if (!at)
		return;
	if (!*at) {
		if (!VEC_GROW(d->untraced, d->untraced_cap, d->untraced_count + 1, VEC_MAX))
			return;
		*at = ++d->untraced_count;
	}
	d->untraced[*at - 1] = (struct untraced_child){ .pid = pid,
		.parent = parent,
		.why = why,
		.path = path,
		.start_ns = emit_ns(d, ring_record_call(&d->ring_record)->ticks) };
}

enum emit_result emit_call(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct ring_record *v = &d->ring_record;
	const struct sonde_rec_call *r = ring_record_call(v);
	const struct call_info *info = info_of(p, r->head.call);
	struct store_io row = store_io_nulls;
	bool has_path2 = (r->flags & SONDE_CALL_PATH2) && v->string_count > 1 && v->arg_count > 0;
	bool has_target = info && info->kind == CALL_KIND_COPY && v->arg_count > 0;
	unsigned args = v->arg_count - (has_path2 || has_target);
	unsigned texts = (r->flags & SONDE_CALL_PATH ? 1 : 0) + has_path2;
	row.ts_ns = emit_ns(d, r->ticks);
	row.dur_ns = r->flags & SONDE_CALL_NO_END ? STORE_NULL : emit_ns(d, r->ticks + r->dur_ticks) - row.ts_ns;
	row.process = p->number;
	row.pid = c->pid;
	row.tid = c->tid;
	row.call = call_id(d, p->calls, r->head.call);
	row.file = call_file(d, v);
	if (has_path2)
		row.file2 = store_sink_path(d->sink, (int64_t)((uint64_t)v->args[args] & INT64_MAX),
				emit_string(d, &v->strings[1]));
	else if (has_target)
		row.file2 = null_if((int64_t)((uint64_t)v->args[args] & INT64_MAX), 0);
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
	if (p->has_kernel_calls && info && info->mask & ELSEWHERE)
		return EMIT_DONE;
	emit_count(d, p, c, row.ts_ns, row.ts_ns + (row.dur_ns == STORE_NULL ? 0 : row.dur_ns));
	store_sink_add(d->sink, STORE_TABLE_IO, &row);
	return EMIT_DONE;
}

/* Address family and port of the peer are arguments of connect; accept has the listening socket before them. */
static void on_peer(struct drain *d, const struct drain_chunk *c, bool is_accept)
{
	const struct ring_record *v = &d->ring_record;
	const struct sonde_rec_call *r = ring_record_call(v);
	char address[64];
	unsigned at = is_accept;
	if (v->arg_count < at + 2 || !v->string_count || v->strings[0].bytes >= sizeof(address))
		return;
	memcpy(address, v->strings[0].data, v->strings[0].bytes);
	address[v->strings[0].bytes] = '\0';
	int64_t ts_ns = emit_ns(d, r->ticks);
	struct probe_peer peer = { .ts_ns = ts_ns,
		.dur_ns = emit_ns(d, r->ticks + r->dur_ticks) - ts_ns,
		.pid = c->pid,
		.is_accept = is_accept,
		.family = (int)v->args[at],
		.port = v->args[at + 1],
		.address = address };
	probe_on_peer(d->probes, &peer);
}

enum emit_result emit_plain_call(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_call *r = ring_record_call(&d->ring_record);
	const struct call_info *info = info_of(p, r->head.call);
	if (info && info->category == CALL_CATEGORY_PROCESS) {
		on_wait(d, &d->ring_record, info);
		if (info->kind == CALL_KIND_EXEC) {
			if (c->pid == p->pid)
				p->exec_path = NULL;
			else
				on_child(d, p, c->pid, 0, NULL);
		} else if (!strncmp(info->name, "posix_spawn", 11)) {
			/* posix_spawn's plain arguments are the child's pid and why it will be untraced. */
			if (d->ring_record.arg_count >= 2 && d->ring_record.args[0] > 0 &&
					!ring_record_call(&d->ring_record)->head.errnum && d->ring_record.string_count)
				on_child(d, p, (int32_t)d->ring_record.args[0], (uint32_t)d->ring_record.args[1],
						arena_copy(&d->arena, d->ring_record.strings[0].data,
								d->ring_record.strings[0].bytes));
		} else if ((!strcmp(info->name, "fork") || !strcmp(info->name, "_Fork")) && r->ret > 0) {
			on_child(d, p, (int32_t)r->ret, SONDE_UNTRACED_NO, NULL);
		}
	}
	if (d->probes && info && (info->kind == CALL_KIND_CONNECT || info->kind == CALL_KIND_ACCEPT))
		on_peer(d, c, info->kind == CALL_KIND_ACCEPT);
	return emit_call(d, p, c, is_last_chance);
}

enum emit_result emit_exec(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	/* An exec attempt, by the process itself or by a vfork child in its memory. */
	uint32_t why = d->ring_record.arg_count ? (uint32_t)d->ring_record.args[0] : 0;
	char *path = d->ring_record.string_count
			? arena_copy(&d->arena, d->ring_record.strings[0].data, d->ring_record.strings[0].bytes)
			: NULL;
	if (path) {
		if (c->pid != p->pid) {
			on_child(d, p, c->pid, why, path);
		} else {
			p->exec_path = path;
			p->exec_untraced = why;
		}
	}
	return emit_call(d, p, c, is_last_chance);
}
