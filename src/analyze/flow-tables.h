/* flows: traffic as the packets of a run tell it: a matrix of hosts and one of processes. Private to analyze/. */
#ifndef SONDE_ANALYZE_FLOW_TABLES_H
#define SONDE_ANALYZE_FLOW_TABLES_H

#include "analyze/pass.h"

struct flows {
	int by_host, by_process;
};

void flows_plan(struct analyze *a, struct flows *f);
/* Fields and tables of a section; the run has the table flow. */
int flows_show(struct analyze *a, const struct flows *f, struct analyze_section *s, struct sonde_err *err);

#endif
