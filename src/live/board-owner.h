/*
 * whose: the process that a board is of, by the number that it has here.
 *
 * A program in a container tells the number that it has there, which here is another process's or nobody's. So the
 * process with the number is believed when it has the board mapped; else it is looked for among those of other
 * namespaces that have that number within.
 */
#ifndef SONDE_LIVE_BOARD_OWNER_H
#define SONDE_LIVE_BOARD_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* 0: nobody's any more. Where we may not look at what a process has mapped its number is believed, but for the first
 * process's, which every container has too. */
pid_t live_whose(int board_fd, const char *name, pid_t pid);
/* Was it started with this ring directory as its own? A program can write there what it likes, and must not make
 * others' processes its own. */
bool live_is_started_with(pid_t pid, int dirfd);

#endif
