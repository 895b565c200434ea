/*
 * The part of a study file under `objective`, `objectives` and `limits`: where numbers come from.
 */
#ifndef SONDE_TUNE_STUDY_METRICS_H
#define SONDE_TUNE_STUDY_METRICS_H

#include "config/config.h"
#include "tune/study.h"

int tune_take_objective(struct config_reader *r, yaml_node_t *node, void *study);
int tune_take_objectives(struct config_reader *r, yaml_node_t *list, void *study);
int tune_take_limits(struct config_reader *r, yaml_node_t *list, void *study);

/* Each item of a list by `take`; `what` names the list in errors. */
int tune_take_list(struct config_reader *r, yaml_node_t *list, const char *what, void *into,
		int (*take)(struct config_reader *, yaml_node_t *, void *));
/* A regular expression that can be used and has groups to take. */
int tune_check_regex(struct config_reader *r, yaml_node_t *at, const char *text, size_t groups);

#endif
