/*
 * Converts strace's output to rows: calls, signals, processes and the files of their descriptors; see strace-private.h.
 */
#include "calls/calls-find.h"
#include "calls/calls.h"
#include "calls/syscalls.h"
#include "exchange/strace-private.h"
#include "model/run-model.h"
#include "pfw/event-parse.h"
#include "pfw/line-parse.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The meaning of the arguments of system calls, from the table of calls. */

/* Argument positions, from 0; -1 if the call has none. */
struct strace_shape {
	const char *name; /* the kernel's name */
	signed char fd, dir, path, dir2, path2, size, offset;
	signed char target; /* destination descriptor of a copy */
	enum syscall_effect effect;
};

#define SYSCALL(kernel_name, name, letters, effect) { #kernel_name, letters, SYSCALL_##effect },
#define SYSNAME SYSCALL
static const struct {
	const char *name, *letters;
	enum syscall_effect effect;
} rows[] = {
#include "calls/calls-each.h"
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static struct strace_shape shapes[ROWS]; /* sorted by name */

static signed char place_of(const char *letters, char letter)
{
	const char *at = strchr(letters, letter);

	return at ? (signed char)(at - letters) : -1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct strace_shape *)a)->name, ((const struct strace_shape *)b)->name);
}

static void make_shapes(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		const char *letters = rows[i].letters;
		signed char listener = place_of(letters, 'l');

		shapes[i] = (struct strace_shape){ .name = rows[i].name,
			.fd = listener >= 0 ? listener : place_of(letters, 'f'),
			.dir = place_of(letters, 'd'),
			.path = place_of(letters, 'p'),
			.dir2 = place_of(letters, 'D'),
			.path2 = place_of(letters, 'P'),
			.size = place_of(letters, 's'),
			.offset = place_of(letters, 'o'),
			.target = rows[i].effect == SYSCALL_COPIES ? place_of(letters, 'a') : (signed char)-1,
			.effect = rows[i].effect };
	}
	qsort(shapes, ROWS, sizeof(*shapes), by_name);
}

struct word {
	const char *text;
	size_t n;
};

static int compare(const void *key, const void *row)
{
	const struct word *word = key;
	const char *name = ((const struct strace_shape *)row)->name;
	int order = strncmp(word->text, name, word->n);

	return order ? order : name[word->n] ? -1 : 0;
}

/* NULL: an unknown system call. */
static const struct strace_shape *strace_shape(const char *name, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct word word = { name, n };

	pthread_once(&once, make_shapes);
	return bsearch(&word, shapes, ROWS, sizeof(*shapes), compare);
}

#define THREADS_MAX ((size_t)1 << 20)
#define OPEN_FILES_MAX ((size_t)1 << 20)
#define PARENTS_MAX 16 /* ancestors that are searched for a descriptor */

/* Processes and threads. */

static int64_t pid_of(struct strace_reader *r, int64_t tid)
{
	const uint64_t *pid = map_get_int(&r->pids, (uint64_t)tid);

	return pid && *pid ? (int64_t)*pid - 1 : tid;
}

static bool has_word(const struct strace_text *text, const char *word)
{
	return memmem(text->at, text->n, word, strlen(word)) != NULL;
}

/* Records a child after a call that created a thread or a process. */
static void record_child(struct strace_reader *r, int64_t pid, const struct strace_text *name,
		const struct strace_call *c)
{
	bool is_thread = has_word(&c->all, "CLONE_THREAD");
	const struct call_info *info = calls_find(name->at, name->n);

	if (!info || info->kind != CALL_KIND_FORK || c->ret <= 0)
		return;
	if (is_thread) {
		uint64_t *place = r->pids.count < THREADS_MAX ? map_put_int(&r->pids, (uint64_t)c->ret, NULL) : NULL;
		if (place)
			*place = (uint64_t)pid + 1;
		return;
	}
	struct pfw_process *child = foreign_process(r->f, c->ret);
	if (child)
		child->ppid = pid;
}

/* Files. */

static void know_file(struct strace_reader *r, int64_t pid, int64_t fd, int64_t path)
{
	int64_t key[2] = { pid, fd };
	uint64_t *place = r->files.count < OPEN_FILES_MAX ? map_put(&r->files, key, sizeof(key), NULL)
							  : map_get(&r->files, key, sizeof(key));

	if (place)
		*place = path == STORE_NULL ? 0 : (uint64_t)path + 1;
}

static int64_t file_of(struct strace_reader *r, int64_t pid, int64_t fd)
{
	for (int i = 0; i < PARENTS_MAX && fd >= 0; i++) {
		int64_t key[2] = { pid, fd };
		const uint64_t *place = map_get(&r->files, key, sizeof(key));
		const struct pfw_process *p = place ? NULL : foreign_process(r->f, pid);

		if (place)
			return *place ? (int64_t)*place - 1 : STORE_NULL;
		if (!p || p->ppid == STORE_NULL || p->ppid == pid)
			break;
		pid = p->ppid;
	}
	return STORE_NULL;
}

static const struct strace_text *arg_of(const struct strace_call *c, int place)
{
	return place >= 0 && (unsigned)place < c->count ? &c->args[place] : NULL;
}

static int64_t number_of(const struct strace_call *c, int place)
{
	const struct strace_text *arg = arg_of(c, place);

	return arg ? strace_number(arg) : STORE_NULL;
}

/* The path of a descriptor: from -y, or from the call that opened it. */
static int64_t descriptor_path(struct strace_reader *r, int64_t pid, const struct strace_text *arg)
{
	struct strace_text told = strace_decoration(arg);

	return told.at ? foreign_string(r->f, told.at, told.n) : file_of(r, pid, strace_number(arg));
}

/* A path argument, joined to its directory if that is known. */
static int64_t path_of(struct strace_reader *r, int64_t pid, const struct strace_call *c, int dir, int path)
{
	const struct strace_text *arg = arg_of(c, path), *dir_arg = arg_of(c, dir);
	struct store_text base = { .data = NULL }, name;

	buf_reset(&r->path);
	buf_reset(&r->path2);
	if (!arg || !strace_string(arg, &r->path))
		return STORE_NULL;
	int64_t id = dir_arg ? descriptor_path(r, pid, dir_arg) : STORE_NULL;
	if (id > 0)
		base.data = map_key(&r->f->sink->strings.ids, (size_t)id - 1, &base.bytes);
	name = (struct store_text){ .data = r->path.data, .bytes = r->path.len };
	if (!name.bytes)
		return id;
	model_path_join(&r->path2, base.data ? &base : NULL, &name);
	return buf_error(&r->path2) ? STORE_NULL : foreign_string(r->f, r->path2.data, r->path2.len);
}

static bool is_named(const struct strace_text *name, const char *word)
{
	return name->n == strlen(word) && !memcmp(name->at, word, name->n);
}

/* Rows. */

static int64_t file_id(struct strace_reader *r, int64_t path)
{
	return path == STORE_NULL ? STORE_NULL : pfw_dims_named_file(r->f->dims, path);
}

static const struct store_text *arguments(struct strace_reader *r, const struct strace_call *c, struct store_text *text)
{
	buf_reset(&r->args);
	if (!c->all.n)
		return NULL;
	buf_adds(&r->args, "{\"arguments\":");
	pfw_encode(&r->args, c->all.at, c->all.n);
	buf_addc(&r->args, '}');
	*text = (struct store_text){ .data = r->args.data, .bytes = r->args.len };
	return buf_error(&r->args) ? NULL : text;
}

/* execve defines the program of a process. */
static void record_program(struct strace_reader *r, struct pfw_process *p, const struct strace_text *name,
		const struct strace_call *c, int64_t path)
{
	const struct strace_text *list = arg_of(c, 1);
	struct strace_call words;

	if (!p || !is_named(name, "execve") || c->ret != 0)
		return;
	p->exe = path;
	if (!list || list->n < 2 || *list->at != '[')
		return;
	buf_reset(&r->text);
	/* The list is split like arguments: its closing bracket would be taken for theirs. */
	buf_add(&r->text, list->at + 1, list->n - 2);
	buf_addc(&r->text, ')');
	if (!strace_call_parse(&words, r->text.data, r->text.len))
		return;
	buf_reset(&r->path);
	for (unsigned i = 0; i < words.count; i++) {
		strace_string(&words.args[i], &r->path);
		buf_addc(&r->path, '\0');
	}
	p->argv = buf_error(&r->path) ? STORE_NULL : foreign_string(r->f, r->path.data, r->path.len);
}

void strace_add_call(struct strace_reader *r, int64_t tid, int64_t ts_ns, const struct strace_text *name,
		const struct strace_call *c)
{
	const struct strace_shape *shape = strace_shape(name->at, name->n);
	int64_t pid = pid_of(r, tid), path = STORE_NULL, path2 = STORE_NULL;
	struct pfw_process *p = foreign_process(r->f, pid);
	struct store_io row = store_io_nulls;
	const char *category = pfw_call_category(name->at, name->n, false);
	struct store_text args;

	row.ts_ns = ts_ns;
	row.dur_ns = foreign_duration(r->f, ts_ns, c->dur_ns);
	row.process = p ? p->number : STORE_NULL;
	row.pid = pid;
	row.tid = tid;
	row.call = foreign_string(r->f, name->at, name->n);
	row.ret = c->ret;
	row.errnum = c->ret == STORE_NULL ? STORE_NULL : c->errnum;
	row.flags = 0;
	if (shape) {
		row.fd = number_of(c, shape->fd);
		row.size = number_of(c, shape->size);
		row.offset = number_of(c, shape->offset);
		path = path_of(r, pid, c, shape->dir, shape->path);
		path2 = path_of(r, pid, c, shape->dir2, shape->path2);
		if (path == STORE_NULL && arg_of(c, shape->fd))
			path = descriptor_path(r, pid, arg_of(c, shape->fd));
		if (arg_of(c, shape->target))
			path2 = descriptor_path(r, pid, arg_of(c, shape->target));
	}
	row.file = file_id(r, path);
	row.file2 = file_id(r, path2);
	row.args = arguments(r, c, &args);
	pfw_dims_call(r->f->dims, row.call, foreign_name(r->f, category));
	foreign_add(r->f, STORE_TABLE_IO, &row);
	r->f->counts->events++;
	r->f->counts->calls++;
	foreign_count_event(r->f, p, tid, ts_ns, row.dur_ns);
	/* Updates the descriptor table after the call. */
	bool is_fcntl_dup = shape && shape->effect == SYSCALL_CONTROLS && has_word(&c->all, "F_DUPFD");
	if (shape && c->ret >= 0) {
		if (shape->effect == SYSCALL_OPENS)
			know_file(r, pid, c->ret, c->what.at ? foreign_string(r->f, c->what.at, c->what.n) : path);
		else if (shape->effect == SYSCALL_CLOSES)
			know_file(r, pid, number_of(c, 0), STORE_NULL);
		else if (shape->effect == SYSCALL_DUPS || shape->effect == SYSCALL_DUPS_TO || is_fcntl_dup)
			know_file(r, pid, c->ret, path);
	}
	record_child(r, pid, name, c);
	record_program(r, p, name, c, path);
}

void strace_add_signal(struct strace_reader *r, const struct strace_line *l, int64_t tid)
{
	struct pfw_process *p = foreign_process(r->f, pid_of(r, tid));
	struct store_mark row = store_mark_nulls;

	row.ts_ns = l->ts_ns;
	row.process = p ? p->number : STORE_NULL;
	row.pid = pid_of(r, tid);
	row.tid = tid;
	row.name = foreign_string(r->f, l->name.at, l->name.n);
	row.category = foreign_name(r->f, "signal");
	foreign_add(r->f, STORE_TABLE_MARK, &row);
	r->f->counts->events++;
	foreign_count_event(r->f, p, tid, l->ts_ns, STORE_NULL);
}

static int64_t signal_number(const struct strace_text *name)
{
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);

		if (known && name->n == strlen(known) + 3 && !memcmp(name->at + 3, known, name->n - 3))
			return i;
	}
	return STORE_NULL;
}

void strace_note_end(struct strace_reader *r, const struct strace_line *l, int64_t tid)
{
	struct pfw_process *p = foreign_process(r->f, pid_of(r, tid));

	if (!p || pid_of(r, tid) != tid)
		return;
	if (l->kind == STRACE_EXITED)
		p->exit_code = l->value;
	else
		p->exit_signal = signal_number(&l->name);
	r->f->counts->metadata++;
}
