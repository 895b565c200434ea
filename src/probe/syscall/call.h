/* call: a system call while it is converted to a row; its arguments are decoded by the letters of its row. */
#ifndef SONDE_PROBE_SYSCALL_CALL_H
#define SONDE_PROBE_SYSCALL_CALL_H

#include "probe/probe.h"
#include "probe/syscall/event.h"
#include "probe/syscall/syscall-table.h"
#include "store/schema.h"

#include <sys/un.h>

struct rows_process;

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
