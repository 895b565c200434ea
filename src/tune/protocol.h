/*
 * protocol: ask and tell as JSON lines, for programs that measure by themselves.
 *
 *	{"ask":1}                      {"id":7,"params":{"x":0.3,"mode":"b"}}
 *	{"tell":7,"value":1.25}        no response
 *	{"tell":7,"failed":true}       no response
 *	{"best":true}                  {"params":{...},"value":...,"lo":...,"hi":...}
 *
 * {"ask":n} is answered by n lines. {"tell":..,"values":[..]} is for several objectives,
 * "limits":{name: number} for limited metrics, "repeats":n for means, "cut":true for a trial that
 * was stopped early, "answer":true requests the response {"told":7}. {"add":{params}} adds the
 * client's own trial, with the response of an ask; {"open":true} lists the trials without a result,
 * then {"end":true}. An invalid request is answered by {"error":"...","hint":"..."} and has no
 * effect.
 */
#ifndef SONDE_TUNE_PROTOCOL_H
#define SONDE_TUNE_PROTOCOL_H

#include "base/buf.h"
#include "tune/study.h"

enum { TUNE_LINE_MAX = 1 << 20 };

struct tune_journal;
/*
 * Handles one request line and appends one or more response lines to `out`. Asked and told trials are written to the
 * journal, unless NULL, before the response. Fails only if the journal cannot be written or memory is exhausted.
 */
int tune_answer(struct tune_optimizer *o, const struct tune_study *study, struct tune_journal *journal,
		const char *line, size_t size, struct buf *out, struct sonde_err *err);

struct json;
struct json_t;
/* {"x":0.3,"mode":"b"}: the active parameters of a point; and one value. */
void tune_write_params(struct json *j, const struct tune_space *space, const double *point);
void tune_write_value(struct json *j, const struct tune_param *p, double value);
/* The reverse; -EINVAL if invalid. */
int tune_read_params(const struct tune_space *space, struct json_t *object, double *point, struct sonde_err *err);

#endif
