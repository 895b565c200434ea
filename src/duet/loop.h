/*
 * loop: the runner for iterations inside programs, which report them on an inherited descriptor (see sonde/duet.h).
 *
 * A run is one process per side. The runner is the barrier: a side that requests to start is released as the design
 * requires, one at a time (seq, rmit), both together (sync) or immediately (async). When a side ends or dies, the
 * other gets a stop message; a side that keeps the other waiting longer than the timeout ends the run.
 */
#ifndef SONDE_DUET_LOOP_H
#define SONDE_DUET_LOOP_H

#include "duet/run-commands.h"

#define DUET_LOOP_FD "SONDE_DUET_FD"

/* The duet_exec has the commands, CPUs, interruption and timeout. */
struct duet_runner duet_loop_runner(struct duet_exec *e);

/* Parses a line from a program; for tests. */
enum duet_word { DUET_WORD_WRONG, DUET_WORD_BEGIN, DUET_WORD_END };
/* now_ns: time of receipt, for times that the line omits; granted_ns: when the side was released. */
enum duet_word duet_loop_line(const char *line, int64_t granted_ns, int64_t now_ns, struct duet_iteration *it);

#endif
