/*
 * info: data of `sonde info` for its text and JSON output.
 */
#ifndef SONDE_CLI_INFO_H
#define SONDE_CLI_INFO_H

#include "base/buf.h"
#include "model/dimensions.h"
#include "model/run-model.h"
#include "model/totals.h"
#include "model/tree.h"
#include "result/term.h"

struct info {
	struct model_run *run;
	bool is_all; /* no list is truncated */
	struct model_tree_row *processes;
	size_t process_count;
	struct model_totals totals;
	char **losses; /* sentences */
	size_t loss_count;
};

#define INFO_ROWS_SHOWN 10      /* of calls and files */
#define INFO_PROCESSES_SHOWN 20 /* of processes */

/* The number of rows to print out of count. */
size_t info_shown(const struct info *info, size_t count, size_t usual);

/* Text output in progress. */
struct info_page {
	const struct info *info;
	struct buf *out;
	const struct term *term;
	int error;
};

void info_add_heading(struct info_page *p, const char *text);
/* info-lists.c: processes, tables, calls, files. */
void info_add_lists(struct info_page *p);
/* Appends the arguments quoted for a shell, or the program's path. */
void info_command(struct buf *out, const struct info *info, const struct store_process *process);
/* "exit 0", "SIGKILL"; nothing if neither is known. */
void info_exit_words(struct buf *out, int64_t code, int64_t signal);

/* 0 or -ENOMEM. */
int info_write_text(const struct info *info, struct buf *out, const struct term *term);
int info_write_json(const struct info *info, struct buf *out);

#endif
