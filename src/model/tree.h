/*
 * tree: the process tree of a run.
 */
#ifndef SONDE_MODEL_TREE_H
#define SONDE_MODEL_TREE_H

#include "base/err.h"
#include "model/dimensions.h"

struct model_tree_row {
	const struct store_process *process;
	unsigned depth; /* 0: its parent is not in the run */
};

/*
 * Parents come before their children, children are ordered by number; the caller frees *rows. Processes must be
 * loaded. Hostile tables in which processes descend from themselves list each once, too.
 */
int model_tree(const struct model_run *run, struct model_tree_row **rows, size_t *count, struct sonde_err *err);

#endif
