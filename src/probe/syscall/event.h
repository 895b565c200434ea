/*
 * event: the stream of events from the ptrace process to the recorder.
 *
 * An event is followed by its texts, each `text_bytes` long. The ptrace process is ours, so its fields are trusted; the
 * texts come from the program and are not.
 */
#ifndef SONDE_PROBE_SYSCALL_EVENT_H
#define SONDE_PROBE_SYSCALL_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define SYSCALL_TEXTS 3
#define SYSCALL_TEXT_MAX 4096

enum syscall_event_kind {
	SYSCALL_CALL,   /* a call has returned; texts: by its letters; the last: link of a new descriptor */
	SYSCALL_BEGIN,  /* an exec; texts: executable, directory, arguments */
	SYSCALL_FORK,   /* parent forked pid */
	SYSCALL_FD,     /* the process inherited descriptor `ret`; text: its link */
	SYSCALL_END,    /* the process exited; ret: its wait status */
	SYSCALL_LEAVE,  /* after an exec, the tracer records it */
	SYSCALL_FORGET, /* the files of its descriptors are unknown; pid 0: of all that are open now, of any process */
};

struct syscall_event {
	uint32_t bytes; /* including the texts, a multiple of 8 */
	uint16_t kind;
	uint16_t text_bytes[SYSCALL_TEXTS];
	uint8_t has_text[SYSCALL_TEXTS];
	uint8_t is_seekable; /* CALL: the file that it opened */
	uint8_t has_ring;    /* BEGIN, FORK: the tracer also records it */
	uint8_t is_textless; /* CALL: the memory that its arguments point to was not read */
	uint8_t is_foreign;  /* BEGIN, FORK: its calls have other numbers and are not recorded */
	uint8_t zeros[5];
	int32_t pid, tid;
	int32_t parent; /* FORK */
	int32_t number;
	int64_t ts_ns, end_ns;
	int64_t ret;
	int64_t size; /* total of a vector; -1: none */
	uint64_t args[6];
};

/* Can the offset of an opened file be moved? Major number 1 is /dev/null and the like. */
static inline bool syscall_is_seekable(mode_t mode, unsigned major_number)
{
	return S_ISREG(mode) || S_ISBLK(mode) || (S_ISCHR(mode) && major_number == 1);
}

#endif
