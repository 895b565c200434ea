/*
 * tune-serve: the ask and tell protocol of a study on stdin and stdout (tune/protocol.h).
 */
#ifndef SONDE_CLI_TUNE_SERVE_H
#define SONDE_CLI_TUNE_SERVE_H

#include "tune/study.h"

/* Runs until the input ends; dir NULL: no journal. */
int tune_serve(struct tune_optimizer *o, const struct tune_study *study, const char *dir, struct sonde_err *err);

#endif
