/*
 * The run that a command reads, and its buffered output. A ring directory is converted to a temporary run directory
 * while it is opened.
 */
#include <jansson.h>

#include "cli/open-run.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "model/dimensions.h"
#include "record/record.h"
#include "store/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_entry(const char *dir, const char *name)
{
	CLEANUP(cleanup_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int import(const char *ring, const char *dir, struct model_run **run, struct sonde_err *err)
{
	struct record_result result = RECORD_RESULT_INIT;
	int rc = record_import_ring(ring, dir, &result, err);

	record_result_release(&result);
	if (rc == 0)
		rc = model_run_open(run, dir, err);
	if (rc < 0)
		return rc;
	/* Mapped and loaded data remain valid after the files are removed. */
	rc = model_load(*run, MODEL_NAMES, err);
	if (rc == 0)
		rc = model_run_show_as(*run, ring, err);
	if (rc < 0)
		model_run_free(*run);
	return rc;
}

int cli_open_run(struct cli_context *ctx, struct model_run **run)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;
	const char *name = ctx->arg_count ? ctx->args[0] : NULL, *place = getenv("TMPDIR");
	int rc;

	if (!name || !has_entry(name, "control") || has_entry(name, "run.json"))
		return model_run_open(run, name, ctx->err);
	buf_addf(&dir, "%s/sonde-XXXXXX", place && *place ? place : "/tmp");
	if (buf_error(&dir) < 0 || !mkdtemp(dir.data)) {
		err_sys(ctx->err, errno, "cannot create the directory '%s' for the rings", dir.data);
		err_hint(ctx->err, "set TMPDIR to a writable directory");
		return -EIO;
	}
	rc = import(name, dir.data, run, ctx->err);
	fs_remove_tree(AT_FDCWD, dir.data);
	return rc;
}

int cli_write_run_json(int dirfd, const json_t *members, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	json_t *whole = json_pack("{s:i}", STORE_RUN_KEY, STORE_RUN_VERSION); /* the version comes first */
	char *dumped;

	json_object_update(whole, (json_t *)(uintptr_t)members);
	dumped = json_dumps(whole, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	buf_adds(&text, dumped ? dumped : "");
	buf_addc(&text, '\n');
	free(dumped);
	json_decref(whole);
	return store_run_write_json(dirfd, &text, err);
}

void cli_run_range(const struct model_run *run, int64_t from, int64_t to, int64_t *from_ns, int64_t *to_ns)
{
	int64_t start_ns = model_run_start_ns(run);

	if (start_ns == STORE_NULL)
		start_ns = 0;
	if (__builtin_add_overflow(start_ns, from, from_ns))
		*from_ns = INT64_MAX;
	if (!to || __builtin_add_overflow(start_ns, to, to_ns))
		*to_ns = INT64_MAX;
}

/* Output. */

#define PIECE_BYTES 65536

void out_init(struct out *o)
{
	*o = (struct out)OUT_INIT;
	signal(SIGPIPE, SIG_IGN);
}

void out_release(struct out *o)
{
	buf_release(&o->text);
}

static void write_text(struct out *o)
{
	if (!o->error)
		o->error = buf_error(&o->text);
	if (!o->error)
		o->error = fs_write_all(STDOUT_FILENO, o->text.data, o->text.len);
	buf_reset(&o->text);
}

bool out_is_over(struct out *o)
{
	if (o->text.len >= PIECE_BYTES)
		write_text(o);
	return o->error < 0;
}

int out_finish(struct out *o, struct sonde_err *err)
{
	write_text(o);
	if (!o->error || o->error == -EPIPE)
		return 0;
	return err_sys(err, -o->error, "cannot write to standard output");
}
