/*
 * conflicts: may two copies of the programs run at the same time? One recorded execution of each shows it. Whatever
 * the recording cannot show (an untraced process, lost events) counts as a conflict.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "duet/steps.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "model/run-model.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct finder {
	struct arena *arena;
	const char *reason; /* NULL: none so far */
};

/*
 * Calls, by the start of their names, that take a port or a lock, or change something that another process can see.
 */
static const char *const shared_calls[] = { "bind", "listen", "flock", "lockf", "mkdir", "rmdir", "unlink", "remove",
	"rename", "link", "symlink", "truncate", "ftruncate", "mknod", "__xmknod", "mkfifo", "fallocate",
	"posix_fallocate", "chmod", "fchmod", "chown", "fchown", "lchown", "utime", "futim", "setxattr", "fsetxattr",
	"shm_", "sem_open", "mq_", "sync_file" };

static bool is_shared_call(const struct model_call *call, const struct store_io *row)
{
	const int64_t args[] = { row->arg0, row->arg1, row->arg2, row->arg3 };

	for (size_t i = 0; i < sizeof(shared_calls) / sizeof(*shared_calls); i++)
		if (!strncmp(call->name->data, shared_calls[i], strlen(shared_calls[i])))
			return true;
	for (int i = 0; i < MODEL_ARGS_MAX; i++) {
		const char *name = call->arg_names[i];

		/* Locks; and the page cache of a file dropped, which the other copy may read. */
		if (name && !strncmp(call->name->data, "fcntl", 5) && !strcmp(name, "cmd") &&
				(args[i] == F_SETLK || args[i] == F_SETLKW || args[i] == F_OFD_SETLK ||
						args[i] == F_OFD_SETLKW || args[i] == F_SETLEASE))
			return true;
		if (name && !strncmp(call->name->data, "posix_fadvise", 13) && !strcmp(name, "advice") &&
				args[i] == POSIX_FADV_DONTNEED)
			return true;
	}
	return false;
}

/* Does it write, or open for writing? */
static bool is_writing(const struct model_call *call, const struct store_io *row)
{
	const int64_t args[] = { row->arg0, row->arg1, row->arg2, row->arg3 };

	if (call->kind == CALL_KIND_WRITE || call->kind == CALL_KIND_COPY)
		return true;
	for (int i = 0; i < MODEL_ARGS_MAX && call->kind == CALL_KIND_OPEN; i++)
		if (call->arg_names[i] && !strcmp(call->arg_names[i], "flags") && args[i] != STORE_NULL &&
				((args[i] & O_ACCMODE) != O_RDONLY || args[i] & (O_CREAT | O_TRUNC)))
			return true;
	/* The mode of fopen; a text has no end mark. */
	return call->kind == CALL_KIND_OPEN && row->text &&
			(memchr(row->text->data, 'w', row->text->bytes) ||
					memchr(row->text->data, 'a', row->text->bytes) ||
					memchr(row->text->data, '+', row->text->bytes));
}

/* A file that another process can see: not a pipe, a socket, a terminal or /dev/null. */
static bool is_shared_path(const struct store_text *path)
{
	static const char dev[] = "/dev/", shm[] = "/dev/shm/", proc[] = "/proc/";

	return path->data && path->data[0] == '/' && strncmp(path->data, proc, sizeof(proc) - 1) != 0 &&
			(strncmp(path->data, dev, sizeof(dev) - 1) != 0 || !strncmp(path->data, shm, sizeof(shm) - 1));
}

/* Events that are missing in the recording: of untraced processes, dropped or damaged. */
static int64_t count_missing(const char *dir)
{
	static const char *const keys[] = { "blind_processes", "dropped", "damaged", "filtered" };
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	json_t *root, *probe;
	int64_t missing = 0;
	size_t i;

	buf_addf(&path, "%s/run.json", dir);
	root = json_load_file(path.data, 0, NULL);
	json_array_foreach(json_object_get(root, "probes"), i, probe)
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			missing += json_integer_value(json_object_get(probe, keys[k]));
	if (!root)
		missing = 1;
	json_decref(root);
	return missing;
}

static int find_in(void *arg, enum duet_side side, const char *dir, struct sonde_err *err)
{
	static const struct model_rows_opts every_row;
	struct finder *f = arg;
	struct model_rows *rows = NULL;
	struct model_run *run = NULL;
	const struct store_io *row;
	int rc = model_run_open(&run, dir, err);

	if (!rc)
		rc = model_load(run, MODEL_CALLS | MODEL_FILES, err);
	if (!rc)
		rc = model_rows_open(&rows, model_table(run, STORE_TABLE_IO), &every_row, err);
	while (!rc && !f->reason && !(rc = model_rows_next(rows, (const void **)&row, err)) && row) {
		const struct model_call *call = model_call(run, row->call);
		struct store_text path = model_file_path(run,
				call && call->kind == CALL_KIND_COPY ? row->file2 : row->file);

		if (!call)
			continue;
		if (is_shared_call(call, row))
			f->reason = arena_printf(f->arena, "%c calls %s", "AB"[side], call -> name -> data);
		else if (is_writing(call, row) && is_shared_path(&path))
			f->reason = arena_printf(f->arena, "%c writes '%.*s'", "AB"[side], (int)path.bytes, path.data);
	}
	if (!rc && !f->reason && count_missing(dir))
		f->reason = arena_printf(f->arena, "%c has processes that cannot be traced", "AB"[side]);
	model_rows_free(rows);
	model_run_free(run);
	return rc;
}

int duet_conflict_find(struct duet_steps *s, struct arena *arena, const char **reason, struct sonde_err *err)
{
	static const struct duet_turn turn;
	struct finder f = { .arena = arena };
	int rc = duet_steps_record(s, &turn, find_in, &f, err);

	*reason = f.reason;
	return rc;
}
