/* Lookup and insertion. name-tables-write.c writes the tables. */
#include "pfw/name-tables.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES 128u /* approximate cost of an entry and its place in a map, without its text */

void pfw_dims_init(struct pfw_dims *d, struct store_sink *sink)
{
	*d = (struct pfw_dims){ .sink = sink };
	pthread_mutex_init(&d->lock, NULL);
}

void pfw_dims_release(struct pfw_dims *d)
{
	map_release(&d->process_numbers);
	map_release(&d->thread_numbers);
	map_release(&d->file_hashes);
	map_release(&d->file_names);
	map_release(&d->call_numbers);
	map_release(&d->texts);
	arena_release(&d->arena);
	free(d->processes);
	free(d->threads);
	free(d->files);
	free(d->calls);
	pthread_mutex_destroy(&d->lock);
}

static bool has_room(struct pfw_dims *d, size_t n)
{
	if (d->bytes + n <= PFW_DIMS_BYTES_MAX)
		return true;
	d->refused++;
	return false;
}

/* Grows the array by one element; NULL if out of room. */
static void *reserve(struct pfw_dims *d, void *array, size_t count, size_t *cap, size_t size)
{
	return has_room(d, ENTRY_BYTES) ? vec_grow(array, cap, size, count + 1, VEC_MAX) : NULL;
}

static int64_t string_locked(struct pfw_dims *d, const char *bytes, size_t n)
{
	struct store_strings *strings = &d->sink->strings;
	size_t before = store_strings_count(strings);

	/* Without room, existing strings are still found. */
	if (n > PFW_NAME_BYTES_MAX ||
			(d->bytes + n + ENTRY_BYTES > PFW_DIMS_BYTES_MAX && !map_get(&strings->ids, bytes, n))) {
		d->refused++;
		return STORE_NULL;
	}
	int64_t id = store_strings_id(strings, bytes, n);
	if (store_strings_count(strings) > before)
		d->bytes += n + ENTRY_BYTES;
	return id ? id : STORE_NULL;
}

int64_t pfw_dims_string(struct pfw_dims *d, const char *bytes, size_t n)
{
	pthread_mutex_lock(&d->lock);
	int64_t id = string_locked(d, bytes, n);
	pthread_mutex_unlock(&d->lock);
	return id;
}

/* Processes. */

static struct pfw_process *make_process(struct pfw_dims *d, const struct pfw_process_key *key)
{
	struct pfw_process **all = reserve(d, d->processes, d->process_count, &d->process_cap, sizeof(*all)), *p;

	if (!all)
		return NULL;
	d->processes = all;
	p = arena_alloc(&d->arena, sizeof(*p));
	uint64_t *place = p ? map_put(&d->process_numbers, key, sizeof(*key), NULL) : NULL;
	if (!place)
		return NULL;
	d->processes[d->process_count++] = p;
	*place = d->process_count;
	d->bytes += ENTRY_BYTES + sizeof(*p);
	p->number = (int64_t)d->process_count;
	p->key = *key;
	p->ppid = p->first_ns = p->last_ns = STORE_NULL;
	p->exe = p->argv = p->exit_code = p->exit_signal = STORE_NULL;
	return p;
}

struct pfw_process *pfw_dims_process(struct pfw_dims *d, const struct pfw_process_key *key)
{
	pthread_mutex_lock(&d->lock);
	uint64_t *number = map_get(&d->process_numbers, key, sizeof(*key));
	struct pfw_process *p = number ? d->processes[*number - 1] : make_process(d, key);
	pthread_mutex_unlock(&d->lock);
	return p;
}

void pfw_dims_started(struct pfw_dims *d, struct pfw_process *p, const struct pfw_process *facts)
{
	pthread_mutex_lock(&d->lock);
	if (p->ppid == STORE_NULL)
		p->ppid = facts->ppid;
	if (!p->has_cmd && facts->has_cmd)
		p->cmd_hash = facts->cmd_hash, p->has_cmd = true;
	if (!p->has_exec && facts->has_exec)
		p->exec_hash = facts->exec_hash, p->has_exec = true;
	if (!p->has_cwd && facts->has_cwd)
		p->cwd_hash = facts->cwd_hash, p->has_cwd = true;
	pthread_mutex_unlock(&d->lock);
}

/* Threads: each worker adds its counts. */

static struct pfw_thread *thread_locked(struct pfw_dims *d, const struct pfw_thread *seen)
{
	int64_t key[2] = { seen->process->number, seen->tid };
	uint64_t *number = map_get(&d->thread_numbers, key, sizeof(key));
	struct pfw_thread *all;

	if (number)
		return &d->threads[*number - 1];
	all = reserve(d, d->threads, d->thread_count, &d->thread_cap, sizeof(*all));
	if (!all)
		return NULL;
	d->threads = all;
	number = map_put(&d->thread_numbers, key, sizeof(key), NULL);
	if (!number)
		return NULL;
	d->threads[d->thread_count] = (struct pfw_thread){ .process = seen->process,
		.tid = seen->tid,
		.first_ns = STORE_NULL,
		.last_ns = STORE_NULL,
		.name = STORE_NULL };
	*number = ++d->thread_count;
	d->bytes += ENTRY_BYTES;
	return &d->threads[d->thread_count - 1];
}

static void widen(int64_t *first, int64_t *last, const struct pfw_thread *seen)
{
	if (seen->first_ns == STORE_NULL)
		return;
	if (*first == STORE_NULL || seen->first_ns < *first)
		*first = seen->first_ns;
	if (*last == STORE_NULL || seen->last_ns > *last)
		*last = seen->last_ns;
}

void pfw_dims_thread(struct pfw_dims *d, const struct pfw_thread *seen)
{
	pthread_mutex_lock(&d->lock);
	struct pfw_process *p = d->processes[seen->process->number - 1];
	widen(&p->first_ns, &p->last_ns, seen);
	p->events += seen->events;
	struct pfw_thread *t = thread_locked(d, seen);
	if (t) {
		widen(&t->first_ns, &t->last_ns, seen);
		t->events += seen->events;
		if (t->name == STORE_NULL)
			t->name = seen->name;
	}
	pthread_mutex_unlock(&d->lock);
}

void pfw_dims_meta(struct pfw_dims *d, const struct store_meta *row)
{
	pthread_mutex_lock(&d->lock);
	store_sink_add(d->sink, STORE_TABLE_META, row);
	pthread_mutex_unlock(&d->lock);
}

/* Files and other texts that hashes refer to. */

static void hash_key(uint64_t key[2], char kind, const struct pfw_process *p, uint64_t hash)
{
	key[0] = (hash <= PFW_SHORT_HASH_MAX && p ? (uint64_t)p->number : 0) << 8 | (unsigned char)kind;
	key[1] = hash;
}

static int64_t file_at(struct pfw_dims *d, struct map *map, const void *key, size_t n, const struct pfw_file *file)
{
	uint64_t *number = map_get(map, key, n);
	struct pfw_file *all;

	if (number)
		return (int64_t)*number;
	all = reserve(d, d->files, d->file_count, &d->file_cap, sizeof(*all));
	if (!all)
		return STORE_NULL;
	d->files = all;
	number = map_put(map, key, n, NULL);
	if (!number)
		return STORE_NULL;
	d->files[d->file_count] = *file;
	*number = ++d->file_count;
	d->bytes += ENTRY_BYTES;
	return (int64_t)*number;
}

static int64_t hashed_file(struct pfw_dims *d, const struct pfw_process *p, uint64_t hash)
{
	struct pfw_file file = { .name = STORE_NULL, .hash = (int64_t)hash };
	uint64_t key[2];

	hash_key(key, 'F', p, hash);
	return file_at(d, &d->file_hashes, key, sizeof(key), &file);
}

int64_t pfw_dims_file(struct pfw_dims *d, const struct pfw_process *p, uint64_t hash)
{
	pthread_mutex_lock(&d->lock);
	int64_t id = hashed_file(d, p, hash);
	pthread_mutex_unlock(&d->lock);
	return id;
}

int64_t pfw_dims_named_file(struct pfw_dims *d, int64_t name)
{
	struct pfw_file file = { .name = name, .hash = STORE_NULL };

	if (name == STORE_NULL)
		return STORE_NULL;
	pthread_mutex_lock(&d->lock);
	int64_t id = file_at(d, &d->file_names, &name, sizeof(name), &file);
	pthread_mutex_unlock(&d->lock);
	return id;
}

static void define_text(struct pfw_dims *d, const uint64_t key[2], int64_t text)
{
	bool is_new = false;
	uint64_t *place = map_get(&d->texts, key, 2 * sizeof(*key));

	if (!place && has_room(d, ENTRY_BYTES))
		place = map_put(&d->texts, key, 2 * sizeof(*key), &is_new);
	if (!place)
		return;
	if (is_new)
		*place = (uint64_t)text;
	else if (*place != (uint64_t)text)
		d->conflicts++;
}

void pfw_dims_define(struct pfw_dims *d, char kind, const struct pfw_process *p, uint64_t hash, int64_t text)
{
	uint64_t key[2];

	if (text == STORE_NULL)
		return;
	hash_key(key, kind, p, hash);
	pthread_mutex_lock(&d->lock);
	if (kind == 'F') {
		int64_t id = hashed_file(d, p, hash);
		struct pfw_file *file = id == STORE_NULL ? NULL : &d->files[id - 1];
		if (file && file->name == STORE_NULL)
			file->name = text;
		else if (file && file->name != text)
			d->conflicts++;
	} else {
		define_text(d, key, text);
	}
	pthread_mutex_unlock(&d->lock);
}

int64_t pfw_dims_text(const struct pfw_dims *d, char kind, const struct pfw_process *p, uint64_t hash)
{
	uint64_t key[2], *place;

	hash_key(key, kind, p, hash);
	place = map_get(kind == 'F' ? &d->file_hashes : &d->texts, key, sizeof(key));
	if (!place)
		return STORE_NULL;
	return kind == 'F' ? d->files[*place - 1].name : (int64_t)*place;
}

/* Calls. */

static struct pfw_call *make_call(struct pfw_dims *d, int64_t name, int64_t category)
{
	struct pfw_call **all = reserve(d, d->calls, d->call_count, &d->call_cap, sizeof(*all)), *call;

	if (!all)
		return NULL;
	d->calls = all;
	call = arena_alloc(&d->arena, sizeof(*call));
	uint64_t *place = call ? map_put_int(&d->call_numbers, (uint64_t)name, NULL) : NULL;
	if (!place)
		return NULL;
	call->name = name;
	call->category = category;
	d->calls[d->call_count++] = call;
	*place = d->call_count;
	d->bytes += ENTRY_BYTES + sizeof(*call);
	return call;
}

struct pfw_call *pfw_dims_call(struct pfw_dims *d, int64_t name, int64_t category)
{
	if (name == STORE_NULL)
		return NULL;
	pthread_mutex_lock(&d->lock);
	uint64_t *number = map_get_int(&d->call_numbers, (uint64_t)name);
	struct pfw_call *call = number ? d->calls[*number - 1] : make_call(d, name, category);
	pthread_mutex_unlock(&d->lock);
	return call;
}

static bool is_plain_name(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (name[i] == ',' || name[i] == '"' || name[i] == '\\' || (unsigned char)name[i] < 0x21 ||
				(unsigned char)name[i] > 0x7e)
			return false;
	return n > 0 && n < PFW_ARG_NAME_MAX;
}

int pfw_dims_call_arg(struct pfw_dims *d, struct pfw_call *call, const char *name, size_t n)
{
	int place = -1;

	if (!call || !is_plain_name(name, n))
		return -1;
	pthread_mutex_lock(&d->lock);
	for (unsigned i = 0; i < call->arg_count && place < 0; i++)
		if (strlen(call->arg_names[i]) == n && !memcmp(call->arg_names[i], name, n))
			place = (int)i;
	if (place < 0 && call->arg_count < PFW_CALL_ARGS_MAX) {
		place = (int)call->arg_count++;
		memcpy(call->arg_names[place], name, n);
	}
	pthread_mutex_unlock(&d->lock);
	return place;
}
