/*
 * protocol: a study as a conversation in JSON lines, for programs that measure
 * by themselves.
 *
 *	{"ask":1}                      {"id":7,"params":{"x":0.3,"mode":"b"}}
 *	{"tell":7,"value":1.25}        nothing
 *	{"tell":7,"failed":true}       nothing
 *	{"best":true}                  {"params":{...},"value":...,"lo":...,"hi":...}
 *
 * {"ask":n} answers n lines. {"tell":..,"values":[..]} is for several objectives,
 * "limits":{name: number} for limited metrics, "repeats":n for means, "cut":true for a
 * trial that was stopped early, "answer":true for {"told":7} as its answer. {"add":{params}} is
 * a trial of one's own, answered as one asked for; {"open":true} answers the trials not told, then {"end":true}.
 * What cannot be done is answered by {"error":"...","hint":"..."} and changes nothing.
 */
#ifndef SONDE_TUNE_PROTOCOL_H
#define SONDE_TUNE_PROTOCOL_H

#include "base/buf.h"
#include "tune/study.h"

enum { TUNE_LINE_MAX = 1 << 20 };

struct tune_journal;
/*
 * Answer one line, as one or more lines appended to `out`. What is asked for and told is in the journal, unless that is
 * NULL, before it is answered; only a journal that cannot be written and a want of memory fail.
 */
int tune_answer(struct tune_optimizer *o, const struct tune_study *study, struct tune_journal *journal,
		const char *line, size_t size, struct buf *out, struct sonde_err *err);

struct json;
struct json_t;
/* {"x":0.3,"mode":"b"}: the active parameters of a point; and one value. */
void tune_write_params(struct json *j, const struct tune_space *space, const double *point);
void tune_write_value(struct json *j, const struct tune_param *p, double value);
/* The same back; -EINVAL. */
int tune_read_params(const struct tune_space *space, struct json_t *object, double *point, struct sonde_err *err);

#endif
