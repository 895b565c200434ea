/* sinks: a sink in a directory of its own, and its rows when it is closed. */
#ifndef SONDE_TEST_PROBE_SINKS_H
#define SONDE_TEST_PROBE_SINKS_H

#include "support.h"

#include "store/sink.h"
#include "store/table-read.h"

struct made_sink {
	char dir[64];
	int fd;
	struct store_sink sink;
};

void sink_make(struct made_sink *s);
/* Close it and give row i of a table (a struct of its schema) to `row`; how many there are. */
size_t sink_rows(struct made_sink *s, enum store_table_id table, void *rows, size_t room);
void sink_remove(struct made_sink *s);

#endif
