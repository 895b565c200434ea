/*
 * layout: offsets of the fields that we read, by CPython version.
 *
 * 3.11 is declared here, as its ABI is fixed; 3.13 and 3.14 publish their offsets (_Py_DebugOffsets at the start of
 * _PyRuntime), each in a different form. Other versions are rejected with the reason.
 */
#ifndef SONDE_PROBE_PYTHON_LAYOUT_H
#define SONDE_PROBE_PYTHON_LAYOUT_H

#include "base/err.h"
#include "probe/perf/addrspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_PAGE 4096
#define MEMORY_PAGES 64

/*
 * The memory of another process, read while it runs
 * (process_vm_readv).
 *
 * Pages are cached for one inspection, so that adjacent objects cost one call and are
 * consistent. The data is untrusted, and may change between two reads.
 */
struct memory {
	pid_t pid;
	int64_t now_ns; /* the caller's clock, at the start of the inspection */
	int error;      /* errno of the last failure */
	/* private */
	size_t count, next;
	uint64_t addresses[MEMORY_PAGES];
	uint8_t pages[MEMORY_PAGES][MEMORY_PAGE];
};

void memory_start(struct memory *m, pid_t pid); /* starts an inspection: empties the cache */
bool memory_get(struct memory *m, uint64_t address, void *out, size_t n);
bool memory_get_u64(struct memory *m, uint64_t address, uint64_t *out);
bool memory_get_fresh(struct memory *m, uint64_t address, void *out, size_t n); /* bypasses the cache */

/*
 * Symbols of the file of a CPython interpreter (the executable or libpython).
 *
 * Addresses are the file's own; `loads` map them to those of a process. Files are untrusted: everything is
 * bounds-checked.
 */
struct python_image {
	uint64_t runtime;   /* _PyRuntime, since 3.7; 0: missing */
	uint64_t version;   /* Py_Version, since 3.11; 0: missing */
	uint64_t code_type; /* PyCode_Type */
	/* _PyEval_EvalFrameDefault: file offsets, as in frames */
	uint64_t eval_start, eval_end;
	uint64_t code_delta; /* address minus offset of its code */
};

/* Returns the image of a module, searched once; NULL if it contains no interpreter. The module owns it. */
const struct python_image *python_image_of(struct module *m);

struct python_layout {
	uint32_t version; /* 0x030b02f0: 3.11.2 */
	uint32_t runtime_interpreters;
	uint32_t interpreter_next, interpreter_threads;
	uint32_t thread_next, thread_native_id;
	uint32_t thread_frame; /* of its innermost frame; if has_cframe, of the pointer to it */
	bool has_cframe;
	uint32_t cframe_frame;
	uint32_t frame_bytes; /* number of bytes of a frame to read */
	uint32_t frame_code, frame_previous, frame_instruction, frame_owner;
	/* Frames have a flag that an evaluation started with them; else frames without code mark it. */
	bool has_entries;
	uint32_t frame_is_entry;
	uint32_t code_bytes; /* as frame_bytes */
	uint32_t code_filename, code_qualname, code_linetable, code_firstline, code_instructions;
	uint32_t object_type;
	uint32_t unicode_length, unicode_state, unicode_ascii_bytes, unicode_compact_bytes;
	uint32_t unicode_kind; /* bit of the state where the character size starts; is compact, is ASCII follow */
	uint32_t bytes_count, bytes_data;
};

/* Reads the version and offsets of a running interpreter, its image loaded with the load bias `bias`. */
int python_layout_of(struct python_layout *l, const struct python_image *image, uint64_t bias, struct memory *memory,
		struct sonde_err *err);

#endif
