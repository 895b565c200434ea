/*
 * annotations: writes annotations to the ring. These functions implement sonde.h's spans, instants, counters, steps
 * and metadata; api.c exports them.
 *
 * One record per span, written at its end; an unfinished span is in the thread's frames. A record that does not fit is
 * dropped and counted; the frames stay consistent.
 */
#ifndef SONDE_TRACER_ANNOTATIONS_H
#define SONDE_TRACER_ANNOTATIONS_H

#include "sonde/sonde.h"
#include "tracer/intern.h"

struct names {
	uint32_t name, category;
};

/* Look up the names, define them in the ring, cache them in the site if there is one. The thread has a chunk. */
struct names names_find(struct sonde_site *site, const char *name, const char *category);

/* The ids of a call site's names; after a fork they are defined again. The thread has a chunk. */
ALWAYS_INLINE struct names names_of(struct sonde_site *site, const char *name, const char *category)
{
	if (likely(site && __atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE) == thread.epoch))
		return (struct names){ site->name, site->category };
	return names_find(site, name, category);
}

void note_span_begin(struct sonde_note *note, struct sonde_site *site, const char *name, const char *category);
void note_span_begin_loose(struct sonde_note *note, struct sonde_site *site);
void note_span_end(struct sonde_note *note);
void note_instant_begin(struct sonde_note *note, struct sonde_site *site, const char *name, const char *category);
void note_instant_end(struct sonde_note *note);
void note_arg(struct sonde_note *note, struct sonde_site *site, const char *key, uint32_t type, uint64_t bits,
		const char *text);
void note_counter(struct sonde_site *site, const char *name, double value);
void note_step(struct sonde_site *site, const char *name, int64_t index, double value);
void note_meta(struct sonde_site *site, const char *key, const char *text, size_t bytes);

#endif
