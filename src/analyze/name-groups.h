/*
 * name-groups: groups of functions and kernels with a word in their names, and a colour ("memcpy:red,_fw_:royalblue",
 * SOFA's filters). Private to analyze/.
 */
#ifndef SONDE_ANALYZE_NAME_GROUPS_H
#define SONDE_ANALYZE_NAME_GROUPS_H

#include "analyze/pass.h"

#define GROUPS_MAX 64

struct groups {
	size_t count;
	struct group {
		const char *word, *colour; /* colour "": not given */
		int64_t ns, count;
	} groups[GROUPS_MAX];
};

/* text NULL: no groups. Allocates in a's arena. 0, -E2BIG or -ENOMEM. */
int groups_parse(struct groups *g, struct analyze *a, const char *text);
/* Adds the time to each group that matches the name. */
void groups_add(struct groups *g, const char *name, int64_t ns, int64_t count);
/* Adds the table "groups". */
void groups_show(const struct groups *g, struct analyze_section *s, int64_t all_ns);

#endif
