/*
 * image: tracing in this process: start and stop it, continue in forked children, finish before exit or exec.
 */
#ifndef DFTRACER_IMAGE_H
#define DFTRACER_IMAGE_H

#include "pfw/pfwlog.h"
#include "settings.h"

#include <stdbool.h>
#include <stdint.h>

/* Arguments of an initialization. */
struct image_options {
	const char *log_file;  /* NULL: from the settings */
	const char *data_dirs; /* NULL: from the settings */
	int process_id;        /* negative: the real one */
	bool is_preload;
	bool is_binding; /* record calls, not only annotations */
};

/* 0: on; 1: not enabled; else -errno. Counted: each needs an image_end. */
int image_begin(const struct image_options *wish);
void image_end(void);
/* The process exits: finish regardless of the count. */
void image_finish(void);

bool image_is_on(void);
extern struct settings image_settings;
extern bool image_has_args;
int64_t image_real_minus_mono_ns(void);

/*
 * logname: the name of a log, and what its first records contain about the process.
 *
 *   C      <LOG_FILE>-<exe>-<pid>-{app|preload}.pfw[.gz]
 *   D, E   <LOG_FILE>-<16 digits: hash of exe-host-pid>-{app|preload}.pfw[.gz]
 *
 * or exactly the file passed to initialize; a forked child of that process gets -<pid> before the suffix.
 */

/* Fill in host, program, command, directory, date, processors and rank. */
void log_name_describe(struct pfwlog_setup *setup, const struct settings *settings, bool is_bound);

/* Build the path; log_file NULL: from the settings. 0 or -errno. */
int log_name_make(struct pfwlog_setup *setup, const char *log_file, const struct settings *settings, bool is_preload);

/* In a forked child; uses only raw system calls. */
void log_name_of_child(struct pfwlog_setup *setup, int32_t pid);

/*
 * helper: the thread that writes this process's log from its ring.
 *
 * It is not a libc thread: it is created by clone, with a separate descriptor table (so that the program neither sees
 * nor closes its descriptors, nor shares its own with it), a separate current directory, and all signals blocked.
 * libc does not count it, so a single-threaded program stays single-threaded to libc. It calls nothing that uses
 * thread-local state.
 *
 * It sleeps until a chunk is full, and also polls. After a fork the child has none until helper_start. While the
 * program changes the credentials, namespaces or seccomp filters of its threads it does not run either: helper_stop,
 * and a later helper_poke starts another.
 */

/* Start it for the tracer's ring, with this setup; waits until the log is open. 0 or -errno. */
int helper_start(const struct pfwlog_setup *setup, const struct pfwlog_clock *clock);

/* Wake it up; cheap, callable by any thread, signals blocked. */
void helper_poke(void);

/* Wait until all records are consumed and the thread has exited; the log stays unfinished. */
void helper_stop(void);

/*
 * Wait until all records are consumed, the log is complete and the thread has exited. Returns the bytes and stores
 * the events that the log had before its `end`; -1 if it has no log.
 */
int64_t helper_finish(uint64_t *events);

/* In a forked child: the thread does not exist there. */
void helper_forget(void);

#endif
