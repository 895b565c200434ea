/* flow-tables: traffic matrices of hosts and of processes, from captured packets. Private to analyze/. */
#ifndef SONDE_ANALYZE_FLOW_TABLES_H
#define SONDE_ANALYZE_FLOW_TABLES_H

#include "analyze/pass.h"

struct flows {
	int by_host, by_process;
};

void flows_plan(struct analyze *a, struct flows *f);
/* Adds fields and tables to a section; the run must have the table flow. */
int flows_show(struct analyze *a, const struct flows *f, struct analyze_section *s, struct sonde_err *err);

#endif
