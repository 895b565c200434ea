/*
 * tree: the processes of a run as a family tree.
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
 * Parents before their children, children in the order of their numbers; the
 * caller frees *rows. Processes are loaded. Hostile tables in which processes
 * descend from themselves give each once, too.
 */
int model_tree(const struct model_run *run, struct model_tree_row **rows, size_t *count, struct sonde_err *err);

#endif
