/*
 * region: annotations of the program, and the nesting of events in each thread.
 *
 * An event gets its number when it is entered, and the ring records that the following events of the thread are
 * inside it; the event itself is recorded when it ends. Nesting is per thread. A forked child starts outside of all
 * events.
 */
#ifndef DFTRACER_REGION_H
#define DFTRACER_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARGS_BYTES 8192u

/* Arguments in the layout of a record. */
struct args {
	uint32_t count, bytes, room, lost;
	char *data; /* 8-aligned */
};

void args_int(struct args *a, const char *key, int64_t value);
void args_hex(struct args *a, const char *key, uint64_t value);
void args_real(struct args *a, const char *key, double value);
void args_text(struct args *a, const char *key, const char *text, size_t bytes); /* SIZE_MAX: NUL-terminated */
void args_json(struct args *a, const char *key, const char *text, size_t bytes);

/* Enter an event; 0 if nothing is recorded. */
uint32_t region_enter(int32_t *parent, uint32_t *level);
/* Leave the event, and all events entered after it. False if this thread is not inside it. */
bool region_leave(uint32_t id);
/* Leave the event entered last. */
void region_leave_last(void);

struct event {
	uint32_t name, category; /* from region_name; category 0: none */
	uint64_t start, dur;     /* ticks; is_real: ns of the real-time clock */
	uint32_t id;
	int32_t parent;
	uint32_t level;
	uint8_t type; /* enum pfwlog_type */
	bool is_real, is_left;
};
uint32_t region_name(const char *text); /* a text's number */
void region_record(const struct event *e, struct args *args);

/*
 * The number, parent and level of an event that is logged now: those of the event entered last, unless it was logged.
 */
void region_place(struct event *e);

/* Write a metadata record, or metadata for the record `end`. */
void region_meta(const char *kind, uint32_t type, struct args *args);
void region_fact(bool is_app, struct args *args);

/* For the tracer: this thread got another chunk; this is a forked child. */
void region_chunk_taken(void);
void region_forget(void);

#endif
