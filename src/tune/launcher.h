/*
 * launcher: runs trials on other hosts.
 *
 * A launcher prepends words to the command: its own, and those of `sonde-trial`, which runs the
 * command on the other host and writes resource usage and exit status to a file in the trial's
 * directory. So time in the batch queue is not measured. That directory, the program and its files
 * must have the same paths there.
 *
 * If sonde is killed it cannot stop the remote process. So it touches a file in that directory
 * while it runs, and sonde-trial kills the process tree when the file has not changed for
 * TUNE_ALIVE_NS.
 */
#ifndef SONDE_TUNE_LAUNCHER_H
#define SONDE_TUNE_LAUNCHER_H

#include "tune/trial-run.h"

#define TUNE_ALIVE_NS INT64_C(20000000000)
#define TUNE_LAUNCHER_END_NS \
	INT64_C(20000000000) /* how long a launcher may take to stop its remote job after a signal */

struct tune_launcher {
	const struct tune_launcher_kind *kind;
	char **options;    /* arguments for the launcher's program, NULL-terminated */
	const char *trial; /* the path of sonde-trial */
};

/* "slurm", optionally with srun options: "slurm -p fast -c 4". -EINVAL: unknown launcher. */
int tune_launcher_parse(struct tune_launcher *l, const char *text, struct arena *arena, struct sonde_err *err);
/* Touches the heartbeat file if due, about every second. */
void tune_launcher_beat(struct tune_run *r);
/* The command with the launcher's words prepended, in the run's arena. NULL if out of memory. */
char **tune_launcher_words(struct tune_run *r, char *const argv[]);
/*
 * Reads the result of the remote side: usage, wait status, whether it timed out. False if there is none: the launcher
 * itself failed.
 */
bool tune_launcher_poll(struct tune_run *r, struct job_usage *usage, int *status);

#endif
