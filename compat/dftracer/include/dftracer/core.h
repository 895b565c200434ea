/*
 * dftracer/core.h: what other languages' bindings call. Plain C, stable, no macros.
 *
 * All of these do nothing, cheaply, while tracing is off (DFTRACER_ENABLE, or no
 * initialization yet, or after the last finalize). None of them allocates with
 * malloc, prints or changes errno. Texts are copied before a function returns; they
 * may hold any bytes and be of any length.
 *
 * Nesting is a thread's own: an event belongs to the event that the same thread has
 * entered last. A forked child writes a file of its own and begins with no event
 * entered; events that its parent has entered are the parent's.
 */
#ifndef DFTRACER_CORE_H
#define DFTRACER_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an argument is to aggregation; the trace does not say it. */
enum dftracer_tag { DFTRACER_TAG_KEY = 0, DFTRACER_TAG_VALUE = 1, DFTRACER_TAG_IGNORE = 2 };

enum dftracer_arg_type {
	DFTRACER_ARG_INT = 1,
	DFTRACER_ARG_FLOAT = 2,
	DFTRACER_ARG_STRING = 3,
	DFTRACER_ARG_JSON = 4 /* text that is JSON already, at most 1 KiB of it: else null is written */
};

#define DFTRACER_TEXT_ENDS ((size_t)-1) /* as a length: up to the NUL */

struct dftracer_arg {
	const char *key; /* ends with a NUL */
	uint32_t type;   /* enum dftracer_arg_type */
	uint32_t tag;    /* enum dftracer_tag */
	union {
		int64_t integer;
		double real; /* not a number and infinities are written as null */
		const char *text;
	} value;
	size_t text_bytes; /* of text, or DFTRACER_TEXT_ENDS */
};

/*
 * Start tracing: with the calls of libc bound (as DFTRACER_INIT says), or without.
 * log_file NULL: DFTRACER_LOG_FILE and a name made of program and pid; else exactly this file.
 * data_dirs NULL: DFTRACER_DATA_DIR; else a list of path prefixes with colons between.
 * process_id: what to write as the pid; below 0 the true one.
 * Returns 0 when tracing is on (also when it already was: the call is counted and needs a
 * finalize of its own), 1 when DFTRACER_ENABLE says no, else a negative errno.
 */
int dftracer_initialize(const char *log_file, const char *data_dirs, int process_id);
int dftracer_initialize_no_bind(const char *log_file, const char *data_dirs, int process_id);

/* Write everything and close the file. The next initialize appends to it, or starts the file it names. */
void dftracer_finalize(void);

int dftracer_is_on(void);
/* Does DFTRACER_INC_METADATA ask for arguments? Whoever makes them with effort may want to know. */
int dftracer_wants_args(void);

/* Microseconds of the day's clock, never going back while the process runs. */
int64_t dftracer_get_time(void);

/*
 * Around an event: what the thread logs in between is inside it. The id of the event,
 * 0 while off. An event that is entered and left without a log_event leaves no trace.
 */
int64_t dftracer_enter_event(void);
void dftracer_exit_event(void);

/*
 * Log an event. Right before its exit_event it is the event that was entered (once); else it
 * is one of its own inside of it. Times in microseconds, from dftracer_get_time.
 */
void dftracer_log_event(const char *name, const char *category, int64_t start_us, int64_t duration_us,
		const struct dftracer_arg *args, size_t arg_count);

/* A fact about the process: a CM record. */
void dftracer_log_metadata_event(const char *key, const char *value);

#ifdef __cplusplus
}
#endif
#endif
