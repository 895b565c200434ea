/*
 * syscall-rows: system calls of a process as rows of the table io.
 *
 * The file and offset of each descriptor are tracked per process, by the tracer's
 * rules (src/tracer/fds.h): a new identity at each open, inherited by dup and fork; an
 * offset is reported only while it is provably used by one thread.
 */
#ifndef SONDE_PROBE_SYSCALL_SYSCALL_ROWS_H
#define SONDE_PROBE_SYSCALL_SYSCALL_ROWS_H

#include "probe/probe.h"
#include "probe/syscall/event.h"
#include "probe/syscall/syscall-table.h"
#include "store/schema.h"

#include <sys/un.h>

struct syscall_rows {
	struct probe_host *host;
	uint64_t rows, filtered, images;
	uint64_t foreign; /* processes with other call numbers (i386) */
	uint64_t unnamed; /* calls with a path that was not read */
	/* private */
	struct rows_process **slots;
	uint64_t next_file;
	int64_t *call_ids; /* by number and variant; 0: not looked up yet */
};

int syscall_rows_init(struct syscall_rows *r, struct probe_host *host);
void syscall_rows_release(struct syscall_rows *r);
/* The texts follow the event. */
void syscall_rows_add(struct syscall_rows *r, const struct syscall_event *e);

/* Private: a system call while it is converted to a row; its arguments are decoded by the letters of its row. */
struct call {
	const struct syscall_event *event;
	const struct syscall_row *row;
	struct rows_process *process;
	struct store_io io;
	int errnum, fd, dirfd, dirfd2, open_flags;
	struct store_text path, path2, text;
	bool has_path, has_path2, has_text, has_fd;
	bool is_left_out; /* by a filter */
	unsigned args;
	char address[sizeof(((struct sockaddr_un *)0)->sun_path) + 2];
};

struct store_text call_text(const struct syscall_event *e, unsigned i); /* text i of an event; null if missing */
void call_add_arg(struct call *c, int64_t value);
void call_result(struct call *c); /* call first: failed calls have other arguments */
void call_arguments(struct call *c);
bool call_is_unwanted(const struct call *c, const struct probe_options *o); /* too short, or excluded by its path */

#endif
