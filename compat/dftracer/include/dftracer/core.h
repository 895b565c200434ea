/*
 * dftracer/core.h: the functions that bindings of other languages call. Plain C, stable, no macros.
 *
 * All of these do nothing, cheaply, while tracing is off (DFTRACER_ENABLE, or before the first initialize, or after
 * the last finalize). None of them calls malloc, prints or changes errno. Texts are copied before a function returns;
 * they may contain any bytes and have any length.
 *
 * Nesting is per thread: an event belongs to the event that the same thread has entered last. A forked child writes a
 * separate file and starts with no event entered; events that its parent has entered belong to the parent.
 */
#ifndef DFTRACER_CORE_H
#define DFTRACER_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The role of an argument in aggregation; not written to the trace. */
enum dftracer_tag { DFTRACER_TAG_KEY = 0, DFTRACER_TAG_VALUE = 1, DFTRACER_TAG_IGNORE = 2 };

enum dftracer_arg_type {
	DFTRACER_ARG_INT = 1,
	DFTRACER_ARG_FLOAT = 2,
	DFTRACER_ARG_STRING = 3,
	DFTRACER_ARG_JSON = 4 /* text that is already JSON, at most 1 KiB: otherwise null is written */
};

#define DFTRACER_TEXT_ENDS ((size_t)-1) /* as a length: NUL-terminated */

struct dftracer_arg {
	const char *key; /* NUL-terminated */
	uint32_t type;   /* enum dftracer_arg_type */
	uint32_t tag;    /* enum dftracer_tag */
	union {
		int64_t integer;
		double real; /* NaN and infinities are written as null */
		const char *text;
	} value;
	size_t text_bytes; /* of text, or DFTRACER_TEXT_ENDS */
};

/*
 * Start tracing: with the calls of libc bound (depending on DFTRACER_INIT), or without.
 * log_file NULL: DFTRACER_LOG_FILE and a name built from program and pid; else exactly this file.
 * data_dirs NULL: DFTRACER_DATA_DIR; else a colon-separated list of path prefixes.
 * process_id: the pid to write; negative: the real one.
 * Returns 0 if tracing is on (also if it already was: calls are counted, and each needs a finalize), 1 if
 * DFTRACER_ENABLE disables it, else -errno.
 */
int dftracer_initialize(const char *log_file, const char *data_dirs, int process_id);
int dftracer_initialize_no_bind(const char *log_file, const char *data_dirs, int process_id);

/* Write everything and close the file. The next initialize appends to it, or starts the file it names. */
void dftracer_finalize(void);

int dftracer_is_on(void);
/* Nonzero if DFTRACER_INC_METADATA enables arguments. Lets callers skip expensive ones. */
int dftracer_wants_args(void);

/* Microseconds of the real-time clock; monotonic within a process. */
int64_t dftracer_get_time(void);

/*
 * Enter an event: what the thread logs until exit_event is inside it. Returns the id of the event, 0 while off. An
 * event that is entered and left without a log_event is not written.
 */
int64_t dftracer_enter_event(void);
void dftracer_exit_event(void);

/*
 * Log an event. Immediately before exit_event it is the event that was entered (once); else it is a separate event
 * inside it. Times in microseconds, from dftracer_get_time.
 */
void dftracer_log_event(const char *name, const char *category, int64_t start_us, int64_t duration_us,
		const struct dftracer_arg *args, size_t arg_count);

/* Metadata of the process: a CM record. */
void dftracer_log_metadata_event(const char *key, const char *value);

#ifdef __cplusplus
}
#endif
#endif
