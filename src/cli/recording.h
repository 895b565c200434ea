/*
 * recording: the options that record and stat share, and the recording itself.
 */
#ifndef SONDE_CLI_RECORDING_H
#define SONDE_CLI_RECORDING_H

#include "cli/isolation-options.h"
#include "record/record.h"

#define RECORDING_TIMED_OUT 124
#define RECORDING_FAILED 125

struct recording_options {
	const char *dir;
	const char *name;
	struct cli_list probes;
	struct cli_list include;
	struct cli_list exclude;
	struct cli_list only;
	struct cli_list without;
	int64_t min_dur_ns;
	int overflow;
	uint64_t memory;
	uint64_t process_memory;
	const char *ring;
	bool follow;
	bool is_shell;
	bool is_forced;
	bool is_verbose;
	bool is_quiet;
	int64_t freq;
	int64_t rate;
	int stacks;
	struct cli_list events;
	bool has_net;
	bool has_packets;
	bool has_syscalls;
	int calls_by;
	int64_t pid;
	const char *cgroup;
	bool is_all_cpus;
	int64_t duration_ns;
	int64_t timeout_ns;
	struct isolation_options place;
	struct cli_list cpu_filters;
	struct cli_list gpu_filters;
	struct cli_list hosts;
	const char *shell;
	const char *remote;
};

extern const struct cli_option recording_rows[];
extern const struct cli_exit_code recording_exit_codes[];

/* Called with a finished run before the command returns. */
typedef int recording_look(const char *run, struct sonde_err *err);
/*
 * Records according to the options of ctx, here or on hosts, then calls `look` with the run; if it is NULL, prints a
 * summary. Returns only on failure if a program was started here: its exit status becomes ours.
 */
int recording_do(struct cli_context *ctx, recording_look *look);

void recording_report(const struct record_result *r); /* prints the summary of a recording */

/* recording-hosts.c: a task of srun records its part of one run; the first one waits for all (record/slurm-task.h). */
struct record_step;
int recording_step_begin(struct cli_context *ctx, struct record_step *s, struct record_options *ro);
/* result->path is the joined run for the first task, and empty for the others. */
void recording_step_end(struct record_step *s, int exit_code, struct record_result *result);

/* recording-hosts.c: records on --hosts. *status is an exit code. */
int recording_hosts(struct cli_context *ctx, bool is_silent, int *status, struct buf *path);

#endif
