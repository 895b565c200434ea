/*
 * code: code objects of a process, as functions with a file, a name and lines.
 *
 * A function is stored once in the run: a module of kind python for its file, and in it a
 * range of PYTHON_LINES addresses that is a row of the table symbol. The address of a
 * frame is the start of the function's range plus the current line.
 */
#ifndef SONDE_PROBE_PYTHON_CODE_H
#define SONDE_PROBE_PYTHON_CODE_H

#include "base/map.h"
#include "probe/perf/addrspace.h"
#include "probe/python/layout.h"
#include "probe/python/process-memory.h"

#define PYTHON_LINES (1u << 24)

struct python_functions {
	struct modules *modules;
	/* private */
	struct map numbers; /* file, name, first line -> number */
};

struct python_code {
	const struct module *module;
	uint64_t base; /* of its lines */
	/* private: fields that identify it, and the lines */
	int64_t checked_ns;
	uint64_t filename, qualname, linetable;
	int32_t first_line;
	uint8_t *table;
	size_t table_bytes;
	uint64_t last_instruction;
	uint32_t last_line;
};

struct python_codes {
	struct python_functions *functions;
	/* private */
	struct map by_address; /* -> struct python_code * */
};

void python_functions_release(struct python_functions *f);
void python_codes_release(struct python_codes *c);
/* Returns the code object at an address; NULL if it is not one. Valid as long as c. */
struct python_code *python_code_at(struct python_codes *c, const struct python_layout *l, uint64_t type,
		uint64_t address, struct memory *memory);
/* Returns the line of an instruction, given by its byte offset from the first; 0 if it has none. */
uint32_t python_code_line(struct python_code *c, uint64_t instruction);

#endif
