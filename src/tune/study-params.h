/*
 * study-params: parses `params` and `constraints` of a study file.
 */
#ifndef SONDE_TUNE_STUDY_PARAMS_H
#define SONDE_TUNE_STUDY_PARAMS_H

#include "config/config.h"
#include "tune/study.h"

int tune_take_params(struct config_reader *r, yaml_node_t *list, void *study);
int tune_take_constraints(struct config_reader *r, yaml_node_t *list, struct tune_space *space);

#endif
