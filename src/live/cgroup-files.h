/*
 * group-files: the files of a control group that a scrape reads, found once and kept open, since looking for a name
 * costs more than reading. Filled with zeroes, none has been looked for.
 */
#ifndef SONDE_LIVE_CGROUP_FILES_H
#define SONDE_LIVE_CGROUP_FILES_H

#include "live/container-id.h"

#include <stdint.h>

enum live_group_file {
	GROUP_CPU_STAT,
	GROUP_MEMORY,
	GROUP_CPU_PRESSURE,
	GROUP_MEMORY_PRESSURE,
	GROUP_IO_PRESSURE,
	GROUP_V1_CPUACCT_STAT,
	GROUP_V1_CPU_STAT,
	GROUP_V1_MEMORY,
	LIVE_GROUP_FILES
};

#define LIVE_GROUP_TEXT_BYTES 1024
#define LIVE_PRESSURES 3 /* the files of pressure, from GROUP_CPU_PRESSURE on */

struct live_group_files {          /* private */
	int fds[LIVE_GROUP_FILES]; /* 0: not looked for; -1: it is not there */
	uint32_t reads[LIVE_GROUP_FILES];
	struct { /* what was read last, and 1 + the machine's own then; 0: nothing was */
		double seconds, node_at;
	} pressure[LIVE_PRESSURES];
};

/* What it says now, as much as there is room for; "" when it is not there. */
void live_group_read(struct live_group_files *f, const struct live_cgroup *dirs, enum live_group_file file,
		char text[LIVE_GROUP_TEXT_BYTES]);
void live_group_close(struct live_group_files *f);

#endif
