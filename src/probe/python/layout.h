/*
 * layout: offsets of the fields that we read, by CPython version.
 *
 * 3.11 is declared here, as its ABI is fixed; 3.13 and 3.14 publish their offsets (_Py_DebugOffsets at the start of
 * _PyRuntime), each in a different form. Other versions are rejected with the reason.
 */
#ifndef SONDE_PROBE_PYTHON_LAYOUT_H
#define SONDE_PROBE_PYTHON_LAYOUT_H

#include "base/err.h"
#include "probe/python/process-memory.h"
#include "probe/python/python-image.h"

#include <stdbool.h>
#include <stdint.h>

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
