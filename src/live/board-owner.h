/*
 * board-owner: finds the process that owns a board, by its pid in our namespace.
 *
 * A program in a container writes its pid in the container's namespace, which here may be another process or none.
 * So the process with that pid is accepted only if it has mapped the board; otherwise the processes of other pid
 * namespaces that have this pid there are searched.
 */
#ifndef SONDE_LIVE_BOARD_OWNER_H
#define SONDE_LIVE_BOARD_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns 0 if the owner has exited. If we may not read a process's mappings, its pid is accepted, except for pid 1,
 * which exists in every container too.
 */
pid_t live_whose(int board_fd, const char *name, pid_t pid);
/*
 * Was the process started with this ring directory? A program can write any pid there, and must not be able to claim
 * processes of others.
 */
bool live_is_started_with(pid_t pid, int dirfd);

#endif
