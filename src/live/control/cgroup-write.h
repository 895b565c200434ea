/* group: the files of an application's control group, v1 or v2, and what their values mean. */
#ifndef SONDE_LIVE_CONTROL_CGROUP_WRITE_H
#define SONDE_LIVE_CONTROL_CGROUP_WRITE_H

#include "base/err.h"
#include "launch/cgroup.h"
#include "live/control/change.h"
#include "live/rules/action.h"

/* By one of its processes, or by the path of its group within the hierarchies. A group is ours to set when it was made
 * by sonde for one application, or is named in the rules; never the one that we are in. */
int group_of_process(struct cgroup_map *m, pid_t pid, struct sonde_err *err);
int group_of_path(struct cgroup_map *m, const char *path, struct sonde_err *err);
/* Where an action of this kind writes. */
int group_place(const struct cgroup_map *m, enum action_kind kind, struct change_place *place, struct sonde_err *err);
/* A value as the file wants it, and back; what is no number there (max) is infinite. */
void group_text(const struct change_place *place, enum action_kind kind, double value, char text[CHANGE_TEXT_BYTES]);
double group_value(const struct change_place *place, enum action_kind kind, const char *text);
/* The processes in it now; returns how many there are, at most max are told. */
size_t group_processes(const struct cgroup_map *m, pid_t *pids, size_t max);

#endif
