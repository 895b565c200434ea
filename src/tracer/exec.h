/*
 * exec: starting another program, seen or unseen.
 *
 * Before a program is started its file is looked at. One that the loader would
 * not put libsonde into (static, another C library or machine, set-user-id) gets
 * the environment exactly as the program gave it, and the record says that it
 * runs unseen and why; any other gets ours added.
 */
#ifndef SONDE_TRACER_EXEC_H
#define SONDE_TRACER_EXEC_H

#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>

/* The program has installed a system call filter, which its children inherit. */
extern bool exec_is_filtered __attribute__((visibility("hidden")));

/* Why `path` would run unseen. *error is that of looking at it: 0 also says that `path` can be read. */
enum sonde_untraced exec_peek(int dirfd, const char *path, int *error);

/*
 * What execvp would run: writes its path, false when there is none. A file with a
 * slash is itself. As much room as this takes is found on the stack, which may be
 * small in a child that shares memory and in a signal handler.
 */
size_t exec_find_room(const char *file);
bool exec_find(const char *file, char *path, size_t bytes);

/* One exec, whatever its form: all come down to these four. */
enum exec_form { EXEC_PATH, EXEC_SEARCH, EXEC_AT, EXEC_FD };

struct exec {
	enum exec_form form;
	int call;  /* row of the hook table */
	int dirfd; /* AT: the directory; FD: the program */
	int flags; /* AT */
	const char *path;
	char *const *argv;
	char *const *envp;
};
int exec_do(const struct exec *e);

/* Before a fork: what a child will ask for is found once, and not by every child for itself. */
void exec_prepare(void);

/* Room for env_inject on the stack, or a mapping when that is too small. */
#define EXEC_ROOM 64
struct exec_room {
	char *stack[EXEC_ROOM];
	char **at;
	size_t bytes; /* mapped */
};
char **exec_room_take(struct exec_room *room, char *const envp[]); /* NULL: there is none */
void exec_room_release(struct exec_room *room);
void exec_vfork_ended(void); /* release what a vfork child took and could not give back */

#endif
