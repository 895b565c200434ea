/*
 * layout: where a version of CPython keeps what we read of it.
 *
 * 3.11 is declared here, as its ABI is fixed; 3.13 and 3.14 say it themselves (_Py_DebugOffsets at
 * the beginning of _PyRuntime), each in a table of its own form. Others are refused with the reason.
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
	uint32_t thread_frame; /* of its innermost frame; when has_cframe of what points to it */
	bool has_cframe;
	uint32_t cframe_frame;
	uint32_t frame_bytes; /* how much of a frame is worth reading */
	uint32_t frame_code, frame_previous, frame_instruction, frame_owner;
	/* Frames say whether the interpreter's function began with them; else frames that are no code do. */
	bool has_entries;
	uint32_t frame_is_entry;
	uint32_t code_bytes; /* as frame_bytes */
	uint32_t code_filename, code_qualname, code_linetable, code_firstline, code_instructions;
	uint32_t object_type;
	uint32_t unicode_length, unicode_state, unicode_ascii_bytes, unicode_compact_bytes;
	uint32_t unicode_kind; /* bit of the state where the size of characters begins; is compact, is ASCII follow */
	uint32_t bytes_count, bytes_data;
};

/* By the running interpreter's own word, its image loaded `bias` above its addresses. */
int python_layout_of(struct python_layout *l, const struct python_image *image, uint64_t bias, struct memory *memory,
		struct sonde_err *err);

#endif
