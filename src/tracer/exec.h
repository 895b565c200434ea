/*
 * exec: executes another program, traced or untraced.
 *
 * The file of the program is inspected first. If the loader would not load libsonde into it (static, another C library
 * or machine, set-user-id), it gets the environment unchanged, and the record contains why it is untraced. Any other
 * program gets our variables added.
 */
#ifndef SONDE_TRACER_EXEC_H
#define SONDE_TRACER_EXEC_H

#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>

/* The program has installed a seccomp filter, which its children inherit. */
extern bool exec_is_filtered __attribute__((visibility("hidden")));

/* Why `path` would be untraced. *error is the error of the inspection: 0 also means that `path` is readable. */
enum sonde_untraced exec_peek(int dirfd, const char *path, int *error);

/*
 * The program that execvp would execute: writes its path, false if not found. A file with a slash is not searched for.
 * exec_find_room returns the bytes needed on the stack, which may be small in a vfork child and in a signal handler.
 */
size_t exec_find_room(const char *file);
bool exec_find(const char *file, char *path, size_t bytes);

/* One exec; all functions of the family reduce to these four forms. */
enum exec_form { EXEC_PATH, EXEC_SEARCH, EXEC_AT, EXEC_FD };

struct exec {
	enum exec_form form;
	int call;  /* row of the call table */
	int dirfd; /* AT: the directory; FD: the program */
	int flags; /* AT */
	const char *path;
	char *const *argv;
	char *const *envp;
};
int exec_do(const struct exec *e);

/* Before a fork: computed once here, instead of in every child. */
void exec_prepare(void);

/* Room for env_inject on the stack, or a mapping if that is too small. */
#define EXEC_ROOM 64
struct exec_room {
	char *stack[EXEC_ROOM];
	char **at;
	size_t bytes; /* mapped */
};
char **exec_room_take(struct exec_room *room, char *const envp[]); /* NULL: out of memory */
void exec_room_release(struct exec_room *room);
void exec_vfork_ended(void); /* release the memory of a vfork child, which cannot do so after its exec */

#endif
