/*
 * emit: converts ring records to rows of the run's tables.
 *
 * One function per kind of record, selected by a table in emit.c: calls in emit-calls.c, annotations in
 * emit-annotations.c, GPU commands in emit-gpu.c. A record that refers to an undefined string waits: see drain.h.
 * Numbers in a record come from the program and may be invalid.
 */
#ifndef SONDE_RECORD_EMIT_H
#define SONDE_RECORD_EMIT_H

#include "record/drain.h"

enum emit_result { EMIT_DONE, EMIT_WAIT };
enum emit_result emit_record(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance);
/* The store's id of a name of the ring. Returns false if it is not defined yet, unless this is the last chance. */
bool emit_name(struct drain *d, struct drain_process *p, uint64_t id, bool is_last_chance, int64_t *name);
/* Count one more event of the chunk's thread, which was alive at end_ns. */
void emit_count(struct drain *d, struct drain_process *p, const struct drain_chunk *c, int64_t ts_ns, int64_t end_ns);
/* A definition, from a record or from the table define. */
enum define_kind { DEFINE_NAME = 1, DEFINE_EXE, DEFINE_CWD, DEFINE_ARGV };
void emit_define(struct drain *d, uint32_t process, enum define_kind kind, uint64_t id, const struct store_text *text);
void drain_define(struct drain *d, struct drain_process *p, enum define_kind kind, uint64_t id,
		const struct store_text *text);
void emit_open_span(struct drain *d, struct drain_process *p, const struct drain_chunk *c,
		const struct sonde_open_span *span, uint32_t depth, int64_t end_ns);

/* Private to emit*.c. */
typedef enum emit_result emit_fn(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance);
emit_fn emit_call, emit_plain_call, emit_exec;                                  /* emit-calls.c */
emit_fn emit_span, emit_func, emit_instant, emit_counter, emit_step, emit_meta; /* emit-annotations.c */
emit_fn emit_gpu;                                                               /* emit-gpu.c */

#define EMIT_NS_MAX (INT64_MAX / 4) /* 73 years: times in a ring may be invalid, and are added and subtracted */
/* Find or create the entry of a thread of the process; NULL if out of memory. */
struct drain_thread *emit_thread(struct drain_process *p, int32_t pid, int32_t tid, int64_t now_ns);
int64_t emit_ns(struct drain *d, uint64_t ticks);
int64_t emit_string(struct drain *d, const struct store_text *t);

#endif
