/*
 * launcher: where a trial's command runs when that is not here.
 *
 * A launcher puts words before the command: its own, and those of `sonde-trial`, which
 * runs the command on the other side and leaves what it used and how it ended in a file
 * of the trial's directory. So the time that a trial waits for its turn is not measured.
 * That directory, the program and its files must be the same over there.
 *
 * Killed without a word we cannot end what runs there: so a file of that directory is
 * renewed while we live, and sonde-trial ends the tree when it is not for TUNE_ALIVE_NS.
 */
#ifndef SONDE_TUNE_LAUNCHER_H
#define SONDE_TUNE_LAUNCHER_H

#include "tune/trial-run.h"

#define TUNE_ALIVE_NS INT64_C(20000000000)
#define TUNE_LAUNCHER_END_NS \
	INT64_C(20000000000) /* a launcher that is asked to end has so long to end what is elsewhere */

struct tune_launcher {
	const struct tune_launcher_kind *kind;
	char **options;    /* words for the launcher's program, ended by NULL */
	const char *trial; /* the path of sonde-trial */
};

/* "slurm", with words for srun behind it: "slurm -p fast -c 4". -EINVAL: there is no such launcher. */
int tune_launcher_parse(struct tune_launcher *l, const char *text, struct arena *arena, struct sonde_err *err);
/* Say that we live, if it is time to: every second or so. */
void tune_launcher_beat(struct tune_run *r);
/* The command with the launcher's words before it; in the run's arena. NULL: no memory. */
char **tune_launcher_words(struct tune_run *r, char *const argv[]);
/*
 * What the other side has left: usage, status as waitpid tells it, whether its time was up. False: nothing, the
 * launcher itself failed.
 */
bool tune_launcher_poll(struct tune_run *r, struct job_usage *usage, int *status);

#endif
