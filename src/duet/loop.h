/*
 * loop: the runner of iterations inside programs, which tell of them on an inherited descriptor (see sonde/duet.h).
 *
 * A run is one process a side. We are the barrier: a side that asks to begin is let go when the design has it so,
 * one at
 * a time (seq, rmit), both together (sync) or at once (async). When a side ends or dies the other is told to stop;
 * a side
 * that keeps the other waiting longer than the time-out ends the run.
 */
#ifndef SONDE_DUET_LOOP_H
#define SONDE_DUET_LOOP_H

#include "duet/run-commands.h"

#define DUET_LOOP_FD "SONDE_DUET_FD"

/* The exec tells commands, CPUs, interruption and time-out. */
struct duet_runner duet_loop_runner(struct duet_exec *e);

/* What a line of a program says; for tests. */
enum duet_word { DUET_WORD_WRONG, DUET_WORD_BEGIN, DUET_WORD_END };
/* now_ns: when it came, for what it does not tell; granted_ns: when it was let go. */
enum duet_word duet_loop_line(const char *line, int64_t granted_ns, int64_t now_ns, struct duet_iteration *it);

#endif
