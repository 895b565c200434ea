#include "jobs.h"

#include "launch/process-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 60000

void assert_ok(int rc, const struct sonde_err *err)
{
	if (rc)
		print_error("%s (%s): %s\n", strerror(-rc), err->text, err->hint);
	assert_int_equal(rc, 0);
}

struct job *started(const struct job_spec *spec)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct job *j = NULL;
	assert_ok(job_start(&j, spec, &err), &err);
	return j;
}

struct heard heard_start(struct job_spec *spec)
{
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	spec->fds[1] = ends[1];
	struct heard h = { .job = started(spec), .out = ends[0] };
	close(ends[1]);
	return h;
}

static bool read_byte(int fd, char *byte)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	return read(fd, byte, 1) == 1;
}

char *heard_text(struct heard *h)
{
	struct buf text = BUF_INIT;
	for (char byte; read_byte(h->out, &byte);)
		buf_addc(&text, byte);
	close(h->out);
	return buf_take(&text);
}

char *heard_line(struct heard *h)
{
	struct buf text = BUF_INIT;
	for (char byte; read_byte(h->out, &byte) && byte != '\n';)
		buf_addc(&text, byte);
	return buf_take(&text);
}

int waited(struct job *j)
{
	struct sonde_err err = SONDE_ERR_INIT;
	assert_ok(job_wait(j, FOR_EVER, &err), &err);
	int status = job_status(j);
	job_free(j);
	return status;
}

bool is_alive(pid_t pid)
{
	struct tree_process p;
	return !tree_process_read(&p, pid) && p.state != 'Z' && p.state != 'X';
}

static bool count(void *arg, const struct tree_process *p)
{
	*(size_t *)arg += p->parent == getpid();
	return true;
}

size_t children_of_ours(void)
{
	size_t n = 0;
	assert_int_equal(tree_scan(count, &n), 0);
	return n;
}
