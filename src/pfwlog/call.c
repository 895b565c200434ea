/* Calls as lines, and the files they are about; see pfwlog.h. */
#include "pfwlog/private.h"

#define PATH_ROOM (2 * PFWLOG_PATH_BYTES)

/* Paths. */

/* Without "." and "..", by the letters alone. */
static size_t straighten(char *path, size_t bytes)
{
	size_t out = 0;
	for (size_t in = 0; in < bytes;) {
		size_t n = 1; /* a slash and a name */
		while (in + n < bytes && path[in + n] != '/')
			n++;
		bool is_up = n == 3 && path[in + 1] == '.' && path[in + 2] == '.';
		if (is_up) {
			while (out && path[--out] != '/')
				;
		} else if (n != 1 && !(n == 2 && path[in + 1] == '.')) {
			memmove(path + out, path + in, n);
			out += n;
		}
		in += n;
	}
	if (!out)
		path[out++] = '/';
	return out;
}

static bool is_straight(const char *path, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (path[i] == '/' && (path[i + 1] == '.' || path[i + 1] == '/'))
			return false;
	return n == 1 || path[n - 1] != '/';
}

/* Is it one of this image's files, so that somebody will say what it is? */
static bool is_ours(const struct pfwlog *log, uint64_t file)
{
	return (file << 1 >> 33) == log->state->process;
}

static struct name *file_name(const struct pfwlog *log, uint64_t file)
{
	return is_ours(log, file) ? names_file(&log->names, (uint32_t)file) : NULL;
}

/* A path, joined to the file it is relative to. NULL and *waits: that one is not known yet. */
static struct name *path_name(struct pfwlog *log, const struct store_text *path, uint64_t base, bool is_last_chance,
		bool *waits)
{
	char whole[PATH_ROOM];
	size_t n = 0;
	if (path->bytes && path->data[0] == '/' && is_straight(path->data, path->bytes))
		return names_put(&log->names, path->data, path->bytes);
	if (!path->bytes || path->bytes > PFWLOG_PATH_BYTES - 2)
		return names_put(&log->names, path->data, path->bytes);
	if (path->data[0] != '/' && base) {
		const struct name *dir = file_name(log, base);
		if (!dir && is_ours(log, base) && !is_last_chance) {
			*waits = true;
			return NULL;
		}
		if (dir && dir->bytes && dir->text[0] == '/' && dir->bytes < PFWLOG_PATH_BYTES) {
			memcpy(whole, dir->text, dir->bytes);
			n = dir->bytes;
			whole[n++] = '/';
		}
	}
	memcpy(whole + n, path->data, path->bytes);
	n += path->bytes;
	return names_put(&log->names, whole, whole[0] == '/' ? straighten(whole, n) : n);
}

enum taken log_take_file(struct pfwlog *log, bool is_last_chance)
{
	const struct view *v = &log->view;
	const struct sonde_rec_def *r = view_def(v);
	bool waits = false;
	if (!v->string_count || !is_ours(log, r->id))
		return TAKEN;
	struct store_text path = v->strings[0];
	static const char gone[] = " (deleted)";
	if (path.bytes > sizeof(gone) - 1 &&
			!memcmp(path.data + path.bytes - (sizeof(gone) - 1), gone, sizeof(gone) - 1))
		path.bytes -= sizeof(gone) - 1;
	struct name *name = path.data[0] == '/' || r->base ? path_name(log, &path, r->base, is_last_chance, &waits)
							   : names_put(&log->names, path.data, path.bytes);
	if (waits)
		return WAITS;
	names_set_file(&log->names, (uint32_t)r->id, name);
	return TAKEN;
}

/* Heads. */

/* Of processes DFTracer tells what starts them; later generations tell more. */
static bool is_process_call_written(unsigned call, char generation)
{
	switch (call) {
	case CALL_fork:
	case CALL_vfork:
	case CALL_forkpty:
	case CALL_daemon:
	case CALL_execve:
	case CALL_execv:
	case CALL_execvp:
	case CALL_execvpe:
	case CALL_execl:
	case CALL_execlp:
	case CALL_execle:
	case CALL_execveat:
	case CALL_fexecve:
	case CALL_posix_spawn:
	case CALL_posix_spawnp:
	case CALL_system:
	case CALL_popen:
	case CALL_pclose:
		return true;
	case CALL_exit:
	case CALL__exit:
		return generation >= 'D';
	case CALL_wait:
	case CALL_waitpid:
		return generation >= 'E';
	default:
		return false;
	}
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

/* ,"name": for each plain argument; a name that the line has already gets another. */
static void make_arg_pieces(struct call_head *h, const char *names, char *at)
{
	for (unsigned i = 0; i < 4 && *names; i++) {
		size_t n = 0;
		while (names[n] && names[n] != ',')
			n++;
		if ((size_t)(at - h->text) + n + 10 > sizeof(h->text))
			return;
		h->arg_at[i] = (uint8_t)(at - h->text);
		h->has_count |= is_word(names, n, "count");
		at = PUT(at, ",\"");
		if (is_word(names, n, "fd") || is_word(names, n, "offset"))
			at = PUT(at, "arg_");
		at = put_bytes(at, names, n);
		at = PUT(at, "\":");
		h->arg_bytes[i] = (uint8_t)(at - h->text - h->arg_at[i]);
		names += n + (names[n] == ',');
	}
}

static const struct call_head *head_of(struct pfwlog *log, unsigned call)
{
	struct call_head *h = &log->heads[call];
	const struct call_info *info = &call_info[call];
	const struct pfwlog_setup *u = &log->state->setup;
	if (h->is_made)
		return h;
	char *at = PUT(h->text, ",\"name\":\"");
	at = put_text(at, info->name);
	at = put_text(at, info->category == SONDE_CAT_STDIO ? "\",\"cat\":\"STDIO\"" : "\",\"cat\":\"POSIX\"");
	if (u->generation == 'E')
		at = PUT(at, ",\"type\":3");
	h->head_bytes = (uint8_t)(at - h->text);
	make_arg_pieces(h, info->arg_names, at);
	h->is_written = (info->category & u->categories) != 0 &&
			(info->category != SONDE_CAT_PROCESS || is_process_call_written(call, u->generation));
	h->is_made = true;
	return h;
}

/* Lines. */

struct call_line {
	const struct sonde_rec_call *r;
	const struct call_head *head;
	struct name *file, *file2;
	const struct store_text *text; /* the call's text that is no path */
	unsigned args;                 /* plain ones */
};

static char *put_args(struct pfwlog *log, char *at, const struct walk *w, const struct call_line *l)
{
	const struct sonde_rec_call *r = l->r;
	bool is_open_ended = r->flags & SONDE_CALL_NO_END;
	at = put_bytes(at, log->host, log->host_bytes);
	at = PUT(at, ",\"p_idx\":");
	at = put_int(at, w->parent);
	at = PUT(at, ",\"level\":");
	at = put_uint(at, w->level + 1);
	if (!is_open_ended && r->ret != SONDE_NONE) {
		at = PUT(at, ",\"ret\":");
		at = put_int(at, r->ret);
	}
	if (r->size != SONDE_NONE) {
		at = l->head->has_count ? PUT(at, ",\"size\":") : PUT(at, ",\"count\":");
		at = put_int(at, r->size);
	}
	if (r->offset != SONDE_NONE) {
		at = PUT(at, ",\"offset\":");
		at = put_int(at, r->offset);
	}
	if (r->fd >= 0) {
		at = PUT(at, ",\"fd\":");
		at = put_int(at, r->fd);
	}
	if (l->file) {
		at = PUT(at, ",\"fhash\":");
		at = put_hash(log, at, l->file->hash);
	}
	if (l->file2) {
		at = PUT(at, ",\"newpath\":");
		at = put_hash(log, at, l->file2->hash);
	}
	for (unsigned i = 0; i < l->args && i < 4; i++)
		if (l->head->arg_bytes[i]) {
			at = put_bytes(at, l->head->text + l->head->arg_at[i], l->head->arg_bytes[i]);
			at = put_int(at, log->view.args[i]);
		}
	if (l->text) {
		at = PUT(at, ",\"mode\":");
		at = put_name(log, at, l->text->data, l->text->bytes);
	}
	if (r->head.errnum && !is_open_ended) {
		at = PUT(at, ",\"errno\":");
		at = put_uint(at, r->head.errnum);
	}
	return PUT(at, "}}");
}

/* The numbers of a call; names are those that its line has. */
static void sum_call(struct pfwlog *log, const struct walk *w, const struct call_line *l, int64_t start_ns, int64_t dur)
{
	const struct sonde_rec_call *r = l->r;
	const struct sum_key key = { .bucket = start_ns / log->state->setup.interval_ns,
		.what = l->head,
		.file = l->file,
		.pid = w->pid,
		.tid = w->tid };
	struct sum *sum = log_sum(log, &key, l->head->text, l->head->head_bytes);
	if (!sum)
		return;
	log_sum_add(sum, "dur", 3, dur);
	if (!log->state->setup.has_args)
		return;
	if (r->ret != SONDE_NONE && !(r->flags & SONDE_CALL_NO_END))
		log_sum_add(sum, "ret", 3, r->ret);
	if (r->size != SONDE_NONE)
		log_sum_add(sum, l->head->has_count ? "size" : "count", l->head->has_count ? 4 : 5, r->size);
	for (unsigned i = 0; i < l->args && i < 4; i++)
		if (l->head->arg_bytes[i]) /* ,"name": */
			log_sum_add(sum, l->head->text + l->head->arg_at[i] + 2, l->head->arg_bytes[i] - 4u,
					log->view.args[i]);
}

static void count_event(struct pfwlog *log, int64_t end_ns)
{
	log->now.events++;
	if (end_ns > log->now.last_ns)
		log->now.last_ns = end_ns;
}

static void write_call(struct pfwlog *log, const struct walk *w, const struct call_line *l)
{
	const struct sonde_rec_call *r = l->r;
	int64_t start_ns = real_ns(log, r->ticks), end_ns = real_ns(log, r->ticks + r->dur_ticks);
	int64_t start = in_units(log, start_ns), end = in_units(log, end_ns);
	bool is_endless = r->flags & SONDE_CALL_NO_END || end < start;
	count_event(log, end_ns);
	if (log->state->setup.interval_ns) {
		sum_call(log, w, l, start_ns, is_endless ? 0 : end - start);
		return;
	}
	char *at = line_begin(log, l->text ? LINE_JSON_ROOM(l->text->bytes) : 0);
	if (!at)
		return;
	at = PUT(at, "{\"id\":");
	at = put_uint(at, log_next_id(log));
	at = put_bytes(at, l->head->text, l->head->head_bytes);
	at = put_who_when(log, at, w->pid, w->tid);
	at = put_int(at, start);
	at = PUT(at, ",\"dur\":");
	at = put_int(at, is_endless ? 0 : end - start);
	at = put_bytes(at, log->phase_x, log->phase_x_bytes);
	if (log->state->setup.has_args)
		at = put_args(log, at, w, l);
	else
		*at++ = '}';
	line_end(log, at);
}

/* The file of a call: what its path says, or what its descriptor is. */
static enum taken find_file(struct pfwlog *log, struct call_line *l, bool is_last_chance)
{
	const struct view *v = &log->view;
	const struct sonde_rec_call *r = l->r;
	bool waits = false, has_path = (r->flags & SONDE_CALL_PATH) && v->string_count;
	if (has_path && (r->defines || r->fd < 0 || !r->file))
		l->file = path_name(log, &v->strings[0], v->base, is_last_chance, &waits);
	else
		l->file = file_name(log, r->file);
	if (waits || (!l->file && !has_path && r->file && is_ours(log, r->file) && !is_last_chance))
		return WAITS;
	if (has_path && r->defines && is_ours(log, r->file))
		names_set_file(&log->names, (uint32_t)r->file, l->file);
	if ((r->flags & SONDE_CALL_PATH2) && v->string_count > 1 && v->arg_count)
		l->file2 = path_name(log, &v->strings[1], (uint64_t)v->args[v->arg_count - 1], is_last_chance, &waits);
	return waits ? WAITS : TAKEN;
}

enum taken log_take_call(struct pfwlog *log, struct walk *w, bool is_last_chance)
{
	const struct view *v = &log->view;
	struct call_line l = { .r = view_call(v) };
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
	if (call_info[l.r->head.call].category == SONDE_CAT_PROCESS &&
			!strncmp(call_info[l.r->head.call].name, "exec", 4))
		l.args = 0; /* whether another tracer will see it is of no interest here */
	l.text = v->string_count > paths ? &v->strings[paths] : NULL;
	log_announce_thread(log, w->pid, w->tid);
	if (l.file)
		log_announce(log, l.file, true, w->pid, w->tid);
	if (l.file2)
		log_announce(log, l.file2, true, w->pid, w->tid);
	write_call(log, w, &l);
	return TAKEN;
}
