/* Layouts by version; see layout.h. */
#include "probe/python/layout.h"

#include <errno.h>
#include <string.h>

#define OFFSET_MAX (1u << 20)
#define NEAR_MAX 1024 /* in frames and code objects */

static const struct python_layout layout_3_11 = {
	.runtime_interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_native_id = 160,
	.thread_frame = 56,
	.has_cframe = true,
	.cframe_frame = 8,
	.frame_bytes = 72,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.has_entries = true,
	.frame_is_entry = 68,
	.frame_owner = 69,
	.code_bytes = 184,
	.code_filename = 112,
	.code_qualname = 128,
	.code_linetable = 136,
	.code_firstline = 72,
	.code_instructions = 184,
	.object_type = 8,
	.unicode_length = 16,
	.unicode_state = 32,
	.unicode_ascii_bytes = 48,
	.unicode_compact_bytes = 72,
	.bytes_count = 16,
	.bytes_data = 32,
};

/* What 3.13 has at the beginning of _PyRuntime: sizes and offsets of its own structures. */
struct offsets_3_13 {
	char cookie[8];
	uint64_t version, is_free_threaded;
	uint64_t runtime_size, runtime_finalizing, runtime_interpreters;
	uint64_t interpreter_size, interpreter_id, interpreter_next, interpreter_threads, interpreter_further[9];
	uint64_t thread_size, thread_prev, thread_next, thread_interpreter, thread_frame, thread_id, thread_native_id;
	uint64_t thread_chunk, thread_status;
	uint64_t frame_size, frame_previous, frame_code, frame_instruction, frame_locals, frame_owner;
	uint64_t code_size, code_filename, code_name, code_qualname, code_linetable, code_firstline, code_further[3];
	uint64_t code_instructions;
	uint64_t object_size, object_type;
	uint64_t type[4], tuple[3], list[3], dict[3], real[2], integer[3];
	uint64_t bytes_size, bytes_count, bytes_data;
	uint64_t unicode_size, unicode_state, unicode_length, unicode_ascii_size;
	uint64_t gc[2];
};

static bool is_sane(const struct offsets_3_13 *o)
{
	const uint64_t *all = &o->runtime_size;
	size_t count = (sizeof(*o) - offsetof(struct offsets_3_13, runtime_size)) / sizeof(*all);
	for (size_t i = 0; i < count; i++)
		if (all[i] > OFFSET_MAX)
			return false;
	return o->code_size <= NEAR_MAX && o->code_instructions <= NEAR_MAX && o->frame_size <= NEAR_MAX &&
			o->frame_owner < o->frame_size && o->code_linetable + 8 <= o->code_size &&
			o->frame_code + 8 <= o->frame_size && o->frame_instruction + 8 <= o->frame_size;
}

static int read_3_13(struct python_layout *l, uint64_t runtime, struct memory *memory, struct sonde_err *err)
{
	struct offsets_3_13 o;
	if (!memory_get_fresh(memory, runtime, &o, sizeof(o)))
		return err_sys(err, memory->error, "cannot read its offsets");
	if (memcmp(o.cookie, "xdebugpy", sizeof(o.cookie)) != 0 || o.version >> 16 != 0x030d || !is_sane(&o))
		return err_set(err, ENOTSUP, "its offsets make no sense");
	if (o.is_free_threaded)
		return err_set(err, ENOTSUP, "it runs without the global lock");
	*l = (struct python_layout){
		.runtime_interpreters = (uint32_t)o.runtime_interpreters,
		.interpreter_next = (uint32_t)o.interpreter_next,
		.interpreter_threads = (uint32_t)o.interpreter_threads,
		.thread_next = (uint32_t)o.thread_next,
		.thread_native_id = (uint32_t)o.thread_native_id,
		.thread_frame = (uint32_t)o.thread_frame,
		.frame_bytes = (uint32_t)o.frame_size,
		.frame_code = (uint32_t)o.frame_code,
		.frame_previous = (uint32_t)o.frame_previous,
		.frame_instruction = (uint32_t)o.frame_instruction,
		.frame_owner = (uint32_t)o.frame_owner,
		.code_bytes = (uint32_t)o.code_size,
		.code_filename = (uint32_t)o.code_filename,
		.code_qualname = (uint32_t)o.code_qualname,
		.code_linetable = (uint32_t)o.code_linetable,
		.code_firstline = (uint32_t)o.code_firstline,
		.code_instructions = (uint32_t)o.code_instructions,
		.object_type = (uint32_t)o.object_type,
		.unicode_length = (uint32_t)o.unicode_length,
		.unicode_state = (uint32_t)o.unicode_state,
		.unicode_ascii_bytes = (uint32_t)o.unicode_ascii_size,
		.unicode_compact_bytes = (uint32_t)o.unicode_ascii_size + 16, /* length and place of its UTF-8 */
		.bytes_count = (uint32_t)o.bytes_count,
		.bytes_data = (uint32_t)o.bytes_data,
	};
	return 0;
}

int python_layout_of(struct python_layout *l, const struct python_image *image, uint64_t bias, struct memory *memory,
		struct sonde_err *err)
{
	uint64_t version = 0;
	int rc = 0;
	if (!image->version)
		return err_set(err, ENOTSUP, "CPython before 3.11: Python frames are read of 3.11 and 3.13");
	if (!memory_get_fresh(memory, bias + image->version, &version, sizeof(version)))
		return err_sys(err, memory->error, "cannot read the interpreter's memory");
	if (version >> 16 == 0x030b && (version & 0xff) >= 0xf0)
		*l = layout_3_11;
	else if (version >> 16 == 0x030d && (version & 0xff) >= 0xf0)
		rc = read_3_13(l, bias + image->runtime, memory, err);
	else
		rc = err_set(err, ENOTSUP, "CPython %u.%u: Python frames are read of 3.11 and 3.13",
				(unsigned)(version >> 24 & 0xff), (unsigned)(version >> 16 & 0xff));
	if (!rc)
		l->version = (uint32_t)version;
	return rc;
}
