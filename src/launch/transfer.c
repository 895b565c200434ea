#include "launch/transfer.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int memory_file(const char *name, struct sonde_err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? err_sys(err, errno, "cannot create a memory file") : fd;
}

int transfer_start(struct job **job, const struct buf *request, int out, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int in = memory_file("request", err);
	CLEANUP(buf_release) struct buf program = BUF_INIT;
	char *argv[2] = { NULL };
	struct job_spec spec = JOB_SPEC_INIT;
	int rc = in < 0 ? in : fs_prefix(&program, err);

	if (rc < 0)
		return rc;
	buf_adds(&program, "/libexec/sonde/sonde-transfer");
	argv[0] = program.data;
	spec.argv = argv;
	spec.fds[0] = in;
	spec.fds[1] = out;
	rc = fs_write_all(in, request->data, request->len);
	if (rc < 0 || lseek(in, 0, SEEK_SET) < 0)
		return err_sys(err, rc < 0 ? -rc : errno, "cannot write the request");
	return job_start(job, &spec, err);
}

int transfer_parse(const char *text, struct transfer_answer *answer)
{
	json_t *root = json_loads(text, 0, NULL);
	const char *error = json_string_value(json_object_get(root, "error"));

	*answer = (struct transfer_answer){ .status = (long)json_integer_value(json_object_get(root, "status")),
		.bytes = json_integer_value(json_object_get(root, "bytes")),
		.whole = -1 };
	if (json_is_integer(json_object_get(root, "whole")))
		answer->whole = json_integer_value(json_object_get(root, "whole"));
	snprintf(answer->error, sizeof(answer->error), "%s", error ? error : "");
	if (!root)
		snprintf(answer->error, sizeof(answer->error), "the transfer was cut short");
	json_decref(root);
	return root ? 0 : -EBADMSG;
}

int transfer_run(const struct buf *request, struct transfer_answer *answer, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int out = memory_file("answer", err);
	struct job *job = NULL;
	char text[1024];
	ssize_t n;
	int rc = out < 0 ? out : transfer_start(&job, request, out, err);

	if (rc == 0)
		rc = job_wait(job, INT64_MAX, err);
	job_free(job);
	if (rc < 0)
		return rc;
	n = pread(out, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	transfer_parse(text, answer);
	return answer->status ? 0 : err_set(err, EIO, "%s", *answer->error ? answer->error : "no response");
}
