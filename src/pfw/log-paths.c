/* Paths and their files; see pfwlog.h. */
#include "pfw/log-private.h"

#define PATH_ROOM (2 * PFWLOG_PATH_BYTES)

/* Removes "." and ".." lexically. */
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

bool log_is_ours(const struct pfwlog *log, uint64_t file)
{
	return (file << 1 >> 33) == log->state->process;
}

struct name *log_file_name(const struct pfwlog *log, uint64_t file)
{
	return log_is_ours(log, file) ? names_file(&log->names, (uint32_t)file) : NULL;
}

struct name *log_path_name(struct pfwlog *log, const struct store_text *path, uint64_t base, bool is_last_chance,
		bool *waits)
{
	char whole[PATH_ROOM];
	size_t n = 0;
	if (path->bytes && path->data[0] == '/' && is_straight(path->data, path->bytes))
		return names_put(&log->names, path->data, path->bytes);
	if (!path->bytes || path->bytes > PFWLOG_PATH_BYTES - 2)
		return names_put(&log->names, path->data, path->bytes);
	if (path->data[0] != '/' && base) {
		const struct name *dir = log_file_name(log, base);
		if (!dir && log_is_ours(log, base) && !is_last_chance) {
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
	const struct ring_record *v = &log->ring_record;
	const struct sonde_rec_def *r = ring_record_def(v);
	bool waits = false;
	if (!v->string_count || !log_is_ours(log, r->id))
		return TAKEN;
	struct store_text path = v->strings[0];
	static const char gone[] = " (deleted)";
	if (path.bytes > sizeof(gone) - 1 &&
			!memcmp(path.data + path.bytes - (sizeof(gone) - 1), gone, sizeof(gone) - 1))
		path.bytes -= sizeof(gone) - 1;
	struct name *name = path.data[0] == '/' || r->base ? log_path_name(log, &path, r->base, is_last_chance, &waits)
							   : names_put(&log->names, path.data, path.bytes);
	if (waits)
		return WAITS;
	names_set_file(&log->names, (uint32_t)r->id, name);
	return TAKEN;
}
