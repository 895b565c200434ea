/*
 * image: who sees what a program does: the tracer, or only the kernel.
 *
 * The tracer's hooks are in libc. A static program has no libc to preload to, a Go
 * program does not use it for its files, one with another loader or a cleared
 * environment does not load libsonde: of these system calls are the only witnesses.
 */
#ifndef SONDE_PROBE_SYSCALL_EXEC_IMAGE_H
#define SONDE_PROBE_SYSCALL_EXEC_IMAGE_H

#include <stdbool.h>
#include <sys/types.h>

enum image_kind {
	IMAGE_UNSEEN, /* the tracer is not in it */
	IMAGE_GO,     /* it is, but sees little */
	IMAGE_TRACED,
};

/* Of a process that has just executed its program, and stands still. */
enum image_kind image_kind_of(pid_t pid);
bool image_is_go(int fd);         /* an ELF file that a Go compiler made */
bool image_is_foreign(pid_t pid); /* its calls have other numbers than ours: i386's */

#endif
