/*
 * cgroup-files: the files of a cgroup that a scrape reads. They are opened once and kept open, because a path lookup
 * costs more than a read. All zeroes: none was opened yet.
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
#define LIVE_PRESSURES 3 /* the pressure files, from GROUP_CPU_PRESSURE on */

struct live_group_files {          /* private */
	int fds[LIVE_GROUP_FILES]; /* 0: not opened yet; -1: missing */
	uint32_t reads[LIVE_GROUP_FILES];
	struct { /* last value, and 1 + the machine's own value at that time; 0: never read */
		double seconds, node_at;
	} pressure[LIVE_PRESSURES];
};

/* Reads the file, truncated to the buffer; "" if it is missing. */
void live_group_read(struct live_group_files *f, const struct live_cgroup *dirs, enum live_group_file file,
		char text[LIVE_GROUP_TEXT_BYTES]);
void live_group_close(struct live_group_files *f);

#endif
