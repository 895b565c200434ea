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
	.unicode_kind = 2,
	.bytes_count = 16,
	.bytes_data = 32,
};

/*
 * CPython 3.13 and later have at the start of _PyRuntime (_Py_DebugOffsets): a cookie, the version, then sizes and
 * offsets of their own structures, 64 bits each, in groups. Versions differ in the position of the groups; the fields
 * that we need have the same position in a group in all of them.
 */
static const struct table {
	uint32_t version;                                                          /* 0x030d: 3.13 */
	uint8_t runtime, interpreter, thread, frame, code, object, bytes, unicode; /* words before the group */
	uint8_t words;                                                             /* number of words to read */
	uint8_t unicode_kind;
} tables[] = {
	{ 0x030d, 3, 6, 19, 28, 34, 44, 64, 67, 71, 2 },
	{ 0x030e, 3, 6, 22, 31, 39, 50, 74, 77, 81, 16 },
};
#define WORDS_MAX 96
enum { WORD_VERSION = 1, WORD_FREE_THREADED, WORD_FIRST };

/* Objects of a 64-bit build have long had one layout: a table that differs is not _Py_DebugOffsets. */
static bool is_sane(const struct python_layout *l)
{
	return l->object_type == 8 && l->bytes_count == 16 && l->bytes_data == 32 && l->unicode_length == 16 &&
			l->unicode_state == 32 && l->unicode_ascii_bytes == 40 && l->code_bytes <= NEAR_MAX &&
			l->code_instructions <= NEAR_MAX && l->frame_bytes <= NEAR_MAX &&
			l->frame_owner < l->frame_bytes && l->code_linetable + 8 <= l->code_bytes &&
			l->code_filename + 8 <= l->code_bytes && l->code_qualname + 8 <= l->code_bytes &&
			l->code_firstline + 4 <= l->code_bytes && l->frame_previous + 8 <= l->frame_bytes &&
			l->frame_code + 8 <= l->frame_bytes && l->frame_instruction + 8 <= l->frame_bytes;
}

static void take_words(struct python_layout *l, const struct table *t, const uint32_t *w)
{
	*l = (struct python_layout){
		.runtime_interpreters = w[t->runtime + 2],
		.interpreter_next = w[t->interpreter + 2],
		.interpreter_threads = w[t->interpreter + 3],
		.thread_next = w[t->thread + 2],
		.thread_frame = w[t->thread + 4],
		.thread_native_id = w[t->thread + 6],
		.frame_bytes = w[t->frame],
		.frame_previous = w[t->frame + 1],
		.frame_code = w[t->frame + 2],
		.frame_instruction = w[t->frame + 3],
		.frame_owner = w[t->frame + 5],
		.code_bytes = w[t->code],
		.code_filename = w[t->code + 1],
		.code_qualname = w[t->code + 3],
		.code_linetable = w[t->code + 4],
		.code_firstline = w[t->code + 5],
		.code_instructions = w[t->code + 9],
		.object_type = w[t->object + 1],
		.bytes_count = w[t->bytes + 1],
		.bytes_data = w[t->bytes + 2],
		.unicode_state = w[t->unicode + 1],
		.unicode_length = w[t->unicode + 2],
		.unicode_ascii_bytes = w[t->unicode + 3],
		.unicode_compact_bytes = w[t->unicode + 3] + 16, /* length and address of its UTF-8 */
		.unicode_kind = t->unicode_kind,
	};
}

static int read_table(struct python_layout *l, const struct table *t, uint64_t runtime, struct memory *memory,
		struct sonde_err *err)
{
	uint64_t words[WORDS_MAX];
	uint32_t small[WORDS_MAX] = { 0 };
	bool is_fine = true;
	if (!memory_get_fresh(memory, runtime, words, t->words * sizeof(*words)))
		return err_sys(err, memory->error, "cannot read its offsets");
	for (size_t i = WORD_FIRST; i < t->words; i++) {
		is_fine &= words[i] <= OFFSET_MAX;
		small[i] = (uint32_t)words[i];
	}
	if (memcmp(words, "xdebugpy", 8) != 0 || words[WORD_VERSION] >> 16 != t->version)
		return err_set(err, ENOTSUP, "its offsets are not where those of its version are");
	if (words[WORD_FREE_THREADED])
		return err_set(err, ENOTSUP, "it runs without the global lock");
	take_words(l, t, small);
	return is_fine && is_sane(l) ? 0 : err_set(err, ENOTSUP, "its offsets are invalid");
}

static const struct table *table_of(uint64_t version)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (version >> 16 == tables[i].version && (version & 0xff) >= 0xf0)
			return &tables[i];
	return NULL;
}

#define KNOWN "Python frames are read of 3.11, 3.13 and 3.14"

int python_layout_of(struct python_layout *l, const struct python_image *image, uint64_t bias, struct memory *memory,
		struct sonde_err *err)
{
	uint64_t version = 0;
	int rc = 0;
	if (!image->version)
		return err_set(err, ENOTSUP, "CPython before 3.11: " KNOWN);
	if (!memory_get_fresh(memory, bias + image->version, &version, sizeof(version)))
		return err_sys(err, memory->error, "cannot read the interpreter's memory");
	if (version >> 16 == 0x030b && (version & 0xff) >= 0xf0)
		*l = layout_3_11;
	else if (table_of(version))
		rc = read_table(l, table_of(version), bias + image->runtime, memory, err);
	else
		rc = err_set(err, ENOTSUP, "CPython %u.%u%s: " KNOWN, (unsigned)(version >> 24 & 0xff),
				(unsigned)(version >> 16 & 0xff), (version & 0xff) < 0xf0 ? " before its release" : "");
	if (!rc)
		l->version = (uint32_t)version;
	return rc;
}
