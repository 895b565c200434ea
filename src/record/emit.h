/*
 * emit: what a record of a ring means: rows of the run's tables.
 *
 * One function a kind of record, chosen by a table in emit.c; those of calls are in
 * emit-calls.c, of annotations in emit-annotations.c, of devices in emit-gpu.c. A record that
 * names a string which has not come yet waits: see drain.h. Numbers in it come from the
 * program, so any may be nonsense.
 */
#ifndef SONDE_RECORD_EMIT_H
#define SONDE_RECORD_EMIT_H

#include "record/drain.h"

enum emit_result { EMIT_DONE, EMIT_WAIT };
enum emit_result emit_record(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance);
/* The store's id of a name of the ring; false: it has not come yet, unless this is the last chance. */
bool emit_name(struct drain *d, struct drain_process *p, uint64_t id, bool is_last_chance, int64_t *name);
/* One more event of the chunk's thread, which was seen alive at end_ns. */
void emit_count(struct drain *d, struct drain_process *p, const struct drain_chunk *c, int64_t ts_ns, int64_t end_ns);
/* A definition, from a record or from the table define. */
enum define_kind { DEFINE_NAME = 1, DEFINE_EXE, DEFINE_CWD, DEFINE_ARGV };
void emit_define(struct drain *d, uint32_t process, enum define_kind kind, uint64_t id, const struct store_text *text);
void drain_define(struct drain *d, struct drain_process *p, enum define_kind kind, uint64_t id,
		const struct store_text *text);
void emit_open_span(struct drain *d, struct drain_process *p, const struct drain_chunk *c,
		const struct sonde_open_span *span, uint32_t depth, int64_t end_ns);

/* Shared by emit's own files. */
typedef enum emit_result emit_fn(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance);
emit_fn emit_call, emit_plain_call, emit_exec;                                  /* emit-calls.c */
emit_fn emit_span, emit_func, emit_instant, emit_counter, emit_step, emit_meta; /* emit-annotations.c */
emit_fn emit_gpu;                                                               /* emit-gpu.c */

#define EMIT_NS_MAX (INT64_MAX / 4) /* 73 years: times in a ring may be nonsense, and we add and subtract them */
/* The entry of a thread of the process, made when there is none; NULL: no memory. */
struct drain_thread *emit_thread(struct drain_process *p, int32_t pid, int32_t tid, int64_t now_ns);
int64_t emit_ns(struct drain *d, uint64_t ticks);
int64_t emit_string(struct drain *d, const struct store_text *t);

#endif
