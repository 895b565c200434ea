/* cgroup-write: the files of an application's cgroup, v1 or v2, and the conversion of their values. */
#ifndef SONDE_LIVE_CONTROL_CGROUP_WRITE_H
#define SONDE_LIVE_CONTROL_CGROUP_WRITE_H

#include "base/err.h"
#include "launch/cgroup.h"
#include "live/control/change.h"
#include "live/rules/action.h"

/*
 * Finds the cgroup by one of its processes, or by its path in the hierarchies. Only a cgroup that sonde created for
 * one application, or that the rules file names, may be set; never the one we are in.
 */
int group_of_process(struct cgroup_map *m, pid_t pid, struct sonde_err *err);
int group_of_path(struct cgroup_map *m, const char *path, struct sonde_err *err);
/* The file that an action of this kind writes. */
int group_place(const struct cgroup_map *m, enum action_kind kind, struct change_place *place, struct sonde_err *err);
/* Converts a value to the file's format and back; a value that is not a number (max) is infinite. */
void group_text(const struct change_place *place, enum action_kind kind, double value, char text[CHANGE_TEXT_BYTES]);
double group_value(const struct change_place *place, enum action_kind kind, const char *text);
/* Returns the number of processes in it, of which up to max are stored. */
size_t group_processes(const struct cgroup_map *m, pid_t *pids, size_t max);

#endif
