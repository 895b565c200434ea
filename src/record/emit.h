/*
 * emit: converts ring records to rows of the run's tables.
 *
 * One function per kind of record, selected by a table in emit.c: calls in emit-calls.c, annotations in
 * emit-annotations.c, with GPU commands. A record that refers to an undefined string waits: see drain.h.
 * Numbers in a record come from the program and may be invalid.
 */
#ifndef SONDE_RECORD_EMIT_H
#define SONDE_RECORD_EMIT_H

#include "record/drain.h"
#include "store/strings.h"

#include <stddef.h>
#include <stdint.h>

enum emit_result { EMIT_DONE, EMIT_WAIT };
enum emit_result emit_record(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance);
/* The store's id of a name of the ring. Returns false if it is not defined yet, unless this is the last chance. */
bool emit_name(struct drain *d, struct drain_process *p, uint64_t id, bool is_last_chance, int64_t *name);
/* Count one more event of the chunk's thread, which was alive at end_ns. */
void emit_count(struct drain *d, struct drain_process *p, const struct drain_chunk *c, int64_t ts_ns, int64_t end_ns);
/* A definition, from a record or from the table define. */
enum define_kind { DEFINE_NAME = 1, DEFINE_EXE, DEFINE_CWD, DEFINE_ARGV };
void drain_define(struct drain *d, struct drain_process *p, enum define_kind kind, uint64_t id,
		const struct store_text *text);
void emit_open_span(struct drain *d, struct drain_process *p, const struct drain_chunk *c,
		const struct sonde_open_span *span, uint32_t depth, int64_t end_ns);

/* Private to emit*.c. */
typedef enum emit_result emit_fn(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance);
emit_fn emit_call, emit_plain_call, emit_exec;                                  /* emit-calls.c */
emit_fn emit_span, emit_func, emit_instant, emit_counter, emit_step, emit_meta; /* emit-annotations.c */
emit_fn emit_gpu;

#define EMIT_NS_MAX (INT64_MAX / 4) /* 73 years: times in a ring may be invalid, and are added and subtracted */
/* The columns of a row that say whose it is. */
#define EMIT_OF(p, c) .process = (p)->number, .pid = (c)->pid, .tid = (c)->tid
/* Find or create the entry of a thread of the process; NULL if out of memory. */
struct drain_thread *emit_thread(struct drain_process *p, int32_t pid, int32_t tid, int64_t now_ns);
int64_t emit_ns(struct drain *d, uint64_t ticks);
int64_t emit_string(struct drain *d, const struct store_text *t);

/*
 * symbols.c: names of code addresses, for functions traced by -finstrument-functions.
 *
 * A process reports its module mappings; names come from the modules' symbol tables, each read once. Files are
 * untrusted: their size is bounded, and an unreadable one yields `path+0x123`.
 */

struct symbols;

/* Add a module at [bias, end); the first one creates *s. */
void symbols_add(struct symbols **s, uint64_t bias, uint64_t end, const char *path, size_t path_bytes);
/* String id of the function that contains `address`. */
int64_t symbols_name(struct symbols **s, struct store_strings *strings, uint64_t address);
void symbols_free(struct symbols *s); /* accepts NULL */

#endif
