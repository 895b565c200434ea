/* studies: a study from text, for tests. */
#ifndef SONDE_TEST_TUNE_STUDIES_H
#define SONDE_TEST_TUNE_STUDIES_H

#include "tune/study.h"

#include <math.h>
#include <string.h>

#define MIXED \
	"params:\n" \
	"  - {name: x, type: float, low: 0, high: 1, default: 0.5}\n" \
	"  - {name: n, type: int, low: 1, high: 64, log: true}\n" \
	"  - {name: mode, type: categorical, choices: [a, b, c]}\n" \
	"  - {name: k, type: int, low: 1, high: 16, active_if: {mode: [b]}}\n" \
	"  - {name: sync, type: ordinal, choices: [OFF, NORMAL, FULL], default: FULL}\n" \
	"  - {name: fast, type: bool}\n" \
	"objective: {name: value, goal: minimize}\n"

static inline int parse(struct tune_study *study, const char *text, struct arena *arena, struct sonde_err *err)
{
	return tune_study_parse(study, "s.yml", text, strlen(text), arena, err);
}

/* An optimizer of the study, as the commands make it. */
static inline int make(struct tune_optimizer *o, const struct tune_study *study, uint64_t seed)
{
	struct tune_options how;

	tune_study_options(study, &how);
	how.seed = seed;
	return tune_optimizer_init(o, &study->space, &how, NULL);
}

#endif
