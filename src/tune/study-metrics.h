/*
 * study-metrics: parses `objective`, `objectives` and `limits` of a study file: the sources of
 * metrics.
 */
#ifndef SONDE_TUNE_STUDY_METRICS_H
#define SONDE_TUNE_STUDY_METRICS_H

#include "config/config.h"
#include "tune/study.h"

int tune_take_objective(struct config_reader *r, yaml_node_t *node, void *study);
int tune_take_objectives(struct config_reader *r, yaml_node_t *list, void *study);
int tune_take_limits(struct config_reader *r, yaml_node_t *list, void *study);

/* Calls `take` for each item of a list; `what` names the list in errors. */
int tune_take_list(struct config_reader *r, yaml_node_t *list, const char *what, void *into,
		int (*take)(struct config_reader *, yaml_node_t *, void *));
/* Checks that the regular expression is valid and has that many capture groups. */
int tune_check_regex(struct config_reader *r, yaml_node_t *at, const char *text, size_t groups);

#endif
