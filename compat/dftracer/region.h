/*
 * region: annotations of the program, and what a thread is inside of.
 *
 * An event that is entered gets its number at once and tells the ring that what follows in this
 * thread is inside of it; the event itself is recorded when it ends. Nesting is each thread's
 * own. A forked child begins outside of everything.
 */
#ifndef DFTRACER_REGION_H
#define DFTRACER_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARGS_BYTES 8192u

/* Arguments as a record will hold them. */
struct args {
	uint32_t count, bytes, room, lost;
	char *data; /* 8-aligned */
};

void args_int(struct args *a, const char *key, int64_t value);
void args_hex(struct args *a, const char *key, uint64_t value);
void args_real(struct args *a, const char *key, double value);
void args_text(struct args *a, const char *key, const char *text, size_t bytes); /* SIZE_MAX: up to the NUL */
void args_json(struct args *a, const char *key, const char *text, size_t bytes);

/* Enter and leave; 0: nothing is recorded. */
uint32_t region_enter(int32_t *parent, uint32_t *level);
/* Leave the event, and whatever was entered after it and not left. False: this thread is not inside of it. */
bool region_leave(uint32_t id);
/* Leave the last. */
void region_leave_last(void);

struct event {
	uint32_t name, category; /* by region_name; category 0: none */
	uint64_t start, dur;     /* ticks; is_real: ns of the day's clock */
	uint32_t id;
	int32_t parent;
	uint32_t level;
	uint8_t type; /* enum pfwlog_type */
	bool is_real, is_left;
};
uint32_t region_name(const char *text); /* a text's number */
void region_record(const struct event *e, struct args *args);

/* The number, parent and level of an event that is logged now: the one that was entered last, unless it has been. */
void region_place(struct event *e);

/* A metadata record, or a fact for the record `end`. */
void region_meta(const char *kind, uint32_t type, struct args *args);
void region_fact(bool is_app, struct args *args);

/* For the tracer: this thread goes on in another chunk; this is a forked child. */
void region_chunk_taken(void);
void region_forget(void);

#endif
