/*
 * rows: system calls of a process as rows of the table io.
 *
 * Which file a descriptor is and where it stands is kept here for each process, by the
 * tracer's rules (src/tracer/fds.h): a new identity at each open, passed on by dup and
 * fork; an offset is told only while it is provably the descriptor's own.
 */
#ifndef SONDE_PROBE_SYSCALL_SYSCALL_ROWS_H
#define SONDE_PROBE_SYSCALL_SYSCALL_ROWS_H

#include "probe/probe.h"
#include "probe/syscall/event.h"

struct syscall_rows {
	struct probe_host *host;
	uint64_t rows, filtered, images;
	uint64_t foreign; /* images whose calls have other numbers */
	uint64_t unnamed; /* calls that were given a path which was not seen */
	/* private */
	struct rows_process **slots;
	uint64_t next_file;
	int64_t *call_ids; /* by number and variant; 0: not asked for yet */
};

int syscall_rows_init(struct syscall_rows *r, struct probe_host *host);
void syscall_rows_release(struct syscall_rows *r);
/* The texts follow the event. */
void syscall_rows_take(struct syscall_rows *r, const struct syscall_event *e);

#endif
