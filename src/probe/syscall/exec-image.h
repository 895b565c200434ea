/*
 * exec-image: whether the tracer can record a program, or only the kernel.
 *
 * The tracer's hooks are in libc. A static program cannot preload libsonde, a Go
 * program does not use libc for its files, one with another loader or a cleared
 * environment does not load libsonde: for these only system calls are visible.
 */
#ifndef SONDE_PROBE_SYSCALL_EXEC_IMAGE_H
#define SONDE_PROBE_SYSCALL_EXEC_IMAGE_H

#include <stdbool.h>
#include <sys/types.h>

enum image_kind {
	IMAGE_UNSEEN, /* the tracer is not loaded */
	IMAGE_GO,     /* it is loaded, but sees little */
	IMAGE_TRACED,
};

/* For a process that is stopped after its exec. */
enum image_kind image_kind_of(pid_t pid);
bool image_is_go(int fd);         /* an ELF file built by a Go compiler */
bool image_is_foreign(pid_t pid); /* its calls have other numbers than ours: i386's */

#endif
