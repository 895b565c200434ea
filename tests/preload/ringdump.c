/*
 * ringdump: what a ring directory holds, one line a record, for tests.
 *
 *   ringdump DIR [EXE]   records of the processes that ran EXE (a file name), or of all
 *   ringdump --calls     the names of the hook table
 *
 * A line is `PID TID [KIND] CALL field=value...`; fields that are not known are
 * left out. Written apart from the recorder's reader, so that each can be held
 * against the other: it believes nothing that it reads, and sorts by process, then
 * thread, then the order in which the thread wrote.
 */
#include "calls/calls.h"
#include "sonde/shm.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 200000
#define MAX_CHUNKS 20000
#define MAX_PROCESSES 100000
#define MAX_STRINGS 8

struct piece {
	const char *at;
	size_t len;
};

struct file {
	uint64_t id, base;
	struct piece path;
};

struct chunk {
	uint32_t process;
	int32_t pid;
	const struct sonde_chunk *at;
};

static struct file *files;
static size_t file_count;
static struct chunk chunks[MAX_CHUNKS];
static size_t chunk_count;
static struct process {
	uint32_t parent;
	char exe[256];
} processes[MAX_PROCESSES];

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "ringdump: %s '%s'\n", what, name);
	exit(1);
}

/* Reading a record's parts; each returns false when it would leave the record. */

struct cursor {
	const char *at, *end;
};

static bool take(struct cursor *c, void *out, size_t bytes)
{
	if ((size_t)(c->end - c->at) < bytes)
		return false;
	memcpy(out, c->at, bytes);
	c->at += bytes;
	return true;
}

static bool take_string(struct cursor *c, struct piece *out)
{
	uint32_t n;
	const char *start = c->at;
	if (!take(c, &n, sizeof(n)) || (size_t)(c->end - c->at) < n)
		return false;
	out->at = c->at;
	out->len = n;
	size_t whole = (sizeof(n) + n + 7) & ~(size_t)7;
	c->at = whole <= (size_t)(c->end - start) ? start + whole : c->end;
	return true;
}

struct call_view {
	struct sonde_rec_call r;
	int64_t args[32];
	uint64_t base;
	struct piece strings[MAX_STRINGS];
	unsigned arg_count, string_count;
};

static bool view_call(struct cursor c, struct call_view *v)
{
	memset(v, 0, sizeof(*v));
	if (!take(&c, &v->r, sizeof(v->r)) || v->r.args > 32 || v->r.strings > MAX_STRINGS)
		return false;
	v->arg_count = v->r.args;
	if (!take(&c, v->args, 8 * (size_t)v->r.args))
		return false;
	if (!v->r.strings)
		return true;
	if (!take(&c, &v->base, 8))
		return false;
	for (; v->string_count < v->r.strings; v->string_count++)
		if (!take_string(&c, &v->strings[v->string_count]))
			return false;
	return true;
}

/* Files. */

static const struct file *file_of(uint64_t id)
{
	for (size_t i = file_count; i-- > 0;)
		if (files[i].id == id)
			return &files[i];
	return NULL;
}

static void file_add(uint64_t id, uint64_t base, struct piece path)
{
	if (id && file_count < MAX_FILES)
		files[file_count++] = (struct file){ .id = id, .base = base, .path = path };
}

static void print_path(uint64_t base, struct piece path, unsigned depth)
{
	const struct file *f = path.len && path.at[0] == '/' ? NULL : file_of(base);
	if (f && depth < 16) {
		print_path(f->base, f->path, depth + 1);
		if (path.len)
			putchar('/');
	}
	for (size_t i = 0; i < path.len; i++)
		if (path.at[i] >= ' ' && path.at[i] < 127)
			putchar(path.at[i]);
		else
			printf("\\%03o", (unsigned char)path.at[i]);
}

/* Records. */

typedef void visit_fn(const struct chunk *, const struct sonde_record *, struct cursor);

static void walk(const struct chunk *c, visit_fn *visit)
{
	uint64_t tail = c->at->tail < SONDE_CHUNK_BYTES ? c->at->tail : SONDE_CHUNK_BYTES;
	for (uint64_t at = SONDE_CHUNK_FIRST; at + 8 <= tail;) {
		struct sonde_record head;
		memcpy(&head, (const char *)c->at + at, sizeof(head));
		size_t bytes = head.words * 8u;
		if (!bytes || at + bytes > tail)
			return;
		if (head.state == SONDE_DONE || head.state == SONDE_RUNNING)
			visit(c, &head, (struct cursor){ (const char *)c->at + at, (const char *)c->at + at + bytes });
		at += bytes;
	}
}

static void learn(const struct chunk *c, const struct sonde_record *head, struct cursor at)
{
	struct sonde_rec_def def;
	struct call_view v;
	struct piece text;
	if (head->kind == SONDE_REC_FILE && head->call && take(&at, &def, sizeof(def)) && take_string(&at, &text))
		file_add(def.id, def.base, text);
	if (head->kind == SONDE_REC_PROCESS && take(&at, &def, sizeof(def)) && take_string(&at, &text) &&
			c->process < MAX_PROCESSES) {
		const char *slash = memrchr(text.at, '/', text.len);
		const char *name = slash ? slash + 1 : text.at;
		snprintf(processes[c->process].exe, sizeof(processes[0].exe), "%.*s", (int)(text.at + text.len - name),
				name);
	}
	if (head->kind == SONDE_REC_CALL && view_call(at, &v) && v.r.defines && v.string_count)
		file_add(v.r.file, v.base, v.strings[0]);
}

static void print_args(const char *names, const struct call_view *v, unsigned count)
{
	for (unsigned i = 0; i < count && *names; i++) {
		size_t n = strcspn(names, ",");
		printf(" %.*s=%lld", (int)n, names, (long long)v->args[i]);
		names += n + (names[n] == ',');
	}
}

static void print_call(const struct sonde_record *head, const struct call_view *v)
{
	static const char *const kinds[SONDE_REC_KINDS] = { [SONDE_REC_CALL] = "",
		[SONDE_REC_RUN] = "RUN ",
		[SONDE_REC_EXEC] = "EXEC " };
	const struct call_info *info = head->call < CALL_COUNT ? &call_info[head->call] : NULL;
	bool has_path2 = (v->r.flags & SONDE_CALL_PATH2) && v->string_count > 1 && v->arg_count;
	unsigned text = (v->r.flags & SONDE_CALL_PATH ? 1 : 0) + has_path2;
	printf("%s%s", kinds[head->kind], info ? info->name : "?");
	if (v->r.fd >= 0)
		printf(" fd=%d", v->r.fd);
	const struct file *f = file_of(v->r.file);
	if ((v->r.flags & SONDE_CALL_PATH) && v->string_count) {
		printf(" path=");
		print_path(v->base, v->strings[0], 0);
	} else if (f) {
		printf(" path=");
		print_path(f->base, f->path, 0);
	}
	if (has_path2) {
		printf(" path2=");
		print_path((uint64_t)v->args[v->arg_count - 1], v->strings[1], 0);
	}
	if (v->string_count > text) {
		printf(" text=");
		print_path(0, v->strings[text], 0);
	}
	if (v->r.size != SONDE_NONE)
		printf(" size=%lld", (long long)v->r.size);
	if (v->r.offset != SONDE_NONE)
		printf(" offset=%lld", (long long)v->r.offset);
	if (v->r.ret != SONDE_NONE)
		printf(" ret=%lld", (long long)v->r.ret);
	if (head->errnum)
		printf(" errno=%s", strerrorname_np(head->errnum) ? strerrorname_np(head->errnum) : "?");
	print_args(info ? call_arg_names(info) : "", v, v->arg_count - has_path2);
	printf("%s%s\n", v->r.flags & SONDE_CALL_NO_END ? " no_end" : "",
			v->r.flags & SONDE_CALL_UNTRACED ? " blind" : "");
}

static int32_t who_pid, who_tid;

static void print_record(const struct chunk *c, const struct sonde_record *head, struct cursor at)
{
	struct sonde_rec_who who;
	struct call_view v;
	if (head->kind == SONDE_REC_WHO && take(&at, &who, sizeof(who))) {
		who_pid = who.pid;
		who_tid = who.tid;
	}
	if ((head->kind == SONDE_REC_CALL || head->kind == SONDE_REC_RUN || head->kind == SONDE_REC_EXEC) &&
			view_call(at, &v)) {
		printf("%d %d ", who_pid, who_tid);
		print_call(head, &v);
	}
}

/* Segments. */

static void read_segment(const char *dir, const char *name)
{
	char path[8192];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		fail("cannot open", path);
	size_t bytes = (size_t)st.st_size;
	const struct sonde_segment *s = bytes < SONDE_SEGMENT_HEAD_BYTES
			? MAP_FAILED
			: mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (s == MAP_FAILED || s->magic != SONDE_SEGMENT_MAGIC || s->version != SONDE_SHM_VERSION ||
			s->kind != SONDE_SEGMENT_RING || s->process >= MAX_PROCESSES)
		return;
	processes[s->process].parent = s->parent < s->process ? s->parent : 0;
	for (uint32_t i = 0; i < s->chunk_count && i < SONDE_CHUNKS_MAX; i++) {
		size_t at = SONDE_SEGMENT_HEAD_BYTES + (size_t)i * SONDE_CHUNK_BYTES;
		if (at + SONDE_CHUNK_BYTES > bytes || chunk_count == MAX_CHUNKS)
			return;
		const struct sonde_chunk *c = (const void *)((const char *)s + at);
		if (c->tail)
			chunks[chunk_count++] = (struct chunk){ .process = s->process, .pid = s->pid, .at = c };
	}
}

static int by_writer(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->at->tid != y->at->tid)
		return x->at->tid < y->at->tid ? -1 : 1;
	return x->at->start_ticks < y->at->start_ticks ? -1 : x->at->start_ticks > y->at->start_ticks;
}

static bool is_wanted(uint32_t process, const char *exe)
{
	while (process && !processes[process].exe[0])
		process = processes[process].parent;
	return !exe || !strcmp(processes[process].exe, exe);
}

static int list_calls(void)
{
	for (unsigned i = 0; i < CALL_COUNT; i++)
		if (call_info[i].mask != SONDE_CAT_DFTRACER) /* libdftracer's tests show those */
			puts(call_info[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--calls"))
		return list_calls();
	if (argc < 2)
		fail("usage: ringdump DIR [EXE], not", argv[0]);
	DIR *dir = opendir(argv[1]);
	if (!dir)
		fail("cannot open", argv[1]);
	files = calloc(MAX_FILES, sizeof(*files));
	for (struct dirent *e; files && (e = readdir(dir));)
		if (strchr("0123456789", e->d_name[0]))
			read_segment(argv[1], e->d_name);
	qsort(chunks, chunk_count, sizeof(*chunks), by_writer);
	for (size_t i = 0; i < chunk_count; i++)
		walk(&chunks[i], learn);
	for (size_t i = 0; i < chunk_count; i++) {
		who_pid = chunks[i].pid;
		who_tid = chunks[i].at->tid;
		if (is_wanted(chunks[i].process, argc > 2 ? argv[2] : NULL))
			walk(&chunks[i], print_record);
	}
	return 0;
}
