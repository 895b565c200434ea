/*
 * The record of changes, a small JSON file:
 *
 *	{ "version": 1, "changes": [ { "step": "perf", "before": "2", "after": "1" } ] }
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "doctor/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION 1
#define FILE_BYTES_MAX 65536
#define CHANGES_MAX (sizeof(((struct setup_record *)0)->changes) / sizeof(struct setup_change))

static void release_json(json_t **value)
{
	json_decref(*value);
}

static int broken(const char *path, const char *why, struct sonde_err *err)
{
	err_set(err, EBADMSG, "'%s' is not a record of changes: %s", path, why);
	err_hint(err, "move the file away; the values it held cannot be restored by --undo then");
	return -EBADMSG;
}

static int take_change(struct setup_record *record, json_t *value, struct arena *arena)
{
	const char *id, *before, *after;

	if (json_unpack(value, "{s:s, s:s, s:s}", "step", &id, "before", &before, "after", &after))
		return -EBADMSG;
	id = arena_strdup(arena, id);
	before = arena_strdup(arena, before);
	after = arena_strdup(arena, after);
	return id && before && after ? setup_record_add(record, id, before, after) : -ENOMEM;
}

int setup_record_load(struct setup_record *record, const char *path, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(release_json) json_t *root = NULL;
	json_t *changes;
	json_error_t why;
	int version, rc = fs_read_file(AT_FDCWD, path, FILE_BYTES_MAX, &text, err);

	*record = (struct setup_record){ .count = 0 };
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	root = json_loadb(text.data, text.len, 0, &why);
	if (!root || json_unpack_ex(root, &why, 0, "{s:i, s:o}", "version", &version, "changes", &changes))
		return broken(path, why.text, err);
	if (version != VERSION)
		return broken(path, "it is of another version of sonde", err);
	for (size_t i = 0; i < json_array_size(changes) && !rc; i++)
		rc = take_change(record, json_array_get(changes, i), arena);
	return rc ? broken(path, "a change lacks its values", err) : 0;
}

static int make_parent(const char *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;

	buf_add(&dir, path, (size_t)(strrchr(path, '/') - path));
	return fs_mkdir_p(dir.data, 0755, err);
}

int setup_record_save(const struct setup_record *record, const char *path, struct sonde_err *err)
{
	CLEANUP(release_json) json_t *root = json_pack("{s:i, s:[]}", "version", VERSION, "changes");
	CLEANUP(cleanup_free) char *text = NULL;
	int rc = 0;

	if (record->count == 0)
		return unlink(path) == 0 || errno == ENOENT ? 0 : err_sys(err, errno, "cannot remove '%s'", path);
	for (size_t i = 0; i < record->count && !rc; i++) {
		const struct setup_change *change = &record->changes[i];

		rc = json_array_append_new(json_object_get(root, "changes"),
				json_pack("{s:s, s:s, s:s}", "step", change->id, "before", change->before, "after",
						change->after));
	}
	text = rc ? NULL : json_dumps(root, JSON_INDENT(2));
	if (!text)
		return err_sys(err, ENOMEM, "cannot write '%s'", path);
	rc = make_parent(path, err);
	return rc ? rc : fs_replace_file(AT_FDCWD, path, text, strlen(text), err);
}

int setup_record_add(struct setup_record *record, const char *id, const char *before, const char *after)
{
	struct setup_change *change = setup_record_find(record, id);

	if (!change && record->count == CHANGES_MAX)
		return -ENOSPC;
	if (!change) {
		change = &record->changes[record->count++];
		*change = (struct setup_change){ .id = id, .before = before };
	}
	change->after = after;
	return 0;
}

struct setup_change *setup_record_find(struct setup_record *record, const char *id)
{
	for (size_t i = 0; i < record->count; i++)
		if (strcmp(record->changes[i].id, id) == 0)
			return &record->changes[i];
	return NULL;
}

void setup_record_remove(struct setup_record *record, const char *id)
{
	struct setup_change *change = setup_record_find(record, id);

	if (!change)
		return;
	record->count--;
	memmove(change, change + 1, (size_t)(record->changes + record->count - change) * sizeof(*change));
}
