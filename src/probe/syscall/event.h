/*
 * event: what the watcher of system calls tells the recorder, one after the other in a stream.
 *
 * Behind an event are its texts, each `text_bytes` long. The watcher is a process of
 * ours, so its words are believed; what they quote of the program is not.
 */
#ifndef SONDE_PROBE_SYSCALL_EVENT_H
#define SONDE_PROBE_SYSCALL_EVENT_H

#include <stdint.h>

#define SYSCALL_TEXTS 3
#define SYSCALL_TEXT_MAX 4096

enum syscall_event_kind {
	SYSCALL_CALL,   /* a call has returned; texts: as its letters say; the last: what a new descriptor is */
	SYSCALL_BEGIN,  /* an image begins by exec; texts: program, directory, arguments */
	SYSCALL_FORK,   /* pid was made by parent */
	SYSCALL_FD,     /* the image has inherited descriptor `ret`; text: what it is */
	SYSCALL_END,    /* the process has ended; ret: its wait status */
	SYSCALL_LEAVE,  /* its new image is the tracer's to see */
	SYSCALL_FORGET, /* which files its descriptors are cannot be told; pid 0: everybody's, until they open others */
};

struct syscall_event {
	uint32_t bytes; /* with the texts, a multiple of 8 */
	uint16_t kind;
	uint16_t text_bytes[SYSCALL_TEXTS];
	uint8_t has_text[SYSCALL_TEXTS];
	uint8_t is_seekable; /* CALL: what it opened */
	uint8_t has_ring;    /* BEGIN, FORK: the tracer knows the image too */
	uint8_t is_textless; /* CALL: what its arguments point to was not seen */
	uint8_t is_foreign;  /* BEGIN, FORK: its calls have other numbers, and are not told */
	uint8_t zeros[5];
	int32_t pid, tid;
	int32_t parent; /* FORK */
	int32_t number;
	int64_t ts_ns, end_ns;
	int64_t ret;
	int64_t size; /* of a vector, all together; -1: none */
	uint64_t args[6];
};

#endif
