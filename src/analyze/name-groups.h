/*
 * groups: functions and kernels whose names hold a word, as groups with a
 * colour ("memcpy:red,_fw_:royalblue", SOFA's filters). Private to analyze/.
 */
#ifndef SONDE_ANALYZE_NAME_GROUPS_H
#define SONDE_ANALYZE_NAME_GROUPS_H

#include "analyze/pass.h"

#define GROUPS_MAX 64

struct groups {
	size_t count;
	struct group {
		const char *word, *colour; /* colour "": none was given */
		int64_t ns, count;
	} groups[GROUPS_MAX];
};

/* text NULL: none. In a's arena. 0, -E2BIG or -ENOMEM. */
int groups_parse(struct groups *g, struct analyze *a, const char *text);
/* Something of this name took so long; each group that its name meets counts it. */
void groups_add(struct groups *g, const char *name, int64_t ns, int64_t count);
/* As the table "groups". */
void groups_show(const struct groups *g, struct analyze_section *s, int64_t all_ns);

#endif
