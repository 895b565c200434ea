/* What comes out of rings, whole, unfinished, damaged and hostile. */
#include "calls/calls-hash.h"
#include "calls/calls-text.h"
#include "record/emit.h"
#include "rings.h"
#include "store/hash.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct rows rows;

static void a_call_becomes_a_row(void **state)
{
	struct made_ring r;
	uint64_t events;
	ring_make(&r);
	ring_append_call(ring_chunk(&r, 0, 4242), CALL_read, 1000, 16, NULL);
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, &events), 0);
	assert_int_equal(events, 1);
	ring_rows(&r, STORE_TABLE_IO, &rows);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.cell[0][STORE_IO_ts_ns], 1000);
	assert_int_equal(rows.cell[0][STORE_IO_dur_ns], 10);
	assert_int_equal(rows.cell[0][STORE_IO_pid], 4242);
	assert_int_equal(rows.cell[0][STORE_IO_ret], 16);
	assert_int_equal(rows.cell[0][STORE_IO_fd], STORE_NULL);
	assert_int_equal(rows.cell[0][STORE_IO_file], STORE_NULL);
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_IO_call]), "read");
	ring_free(&r);
}

/* The number of a call is the program's to write: the tracer does not record all of them. */
static void every_call_has_a_category(void **state)
{
	static const struct {
		uint16_t call;
		const char *category;
	} calls[] = { { CALL_read, "data" }, { CALL_fileno, "stdio" }, { CALL_feof, "stdio" }, { CALL_dirfd, "dir" },
		{ CALL_pipe, "net" }, { CALL_sysconf, "libc" } };
	const size_t count = sizeof(calls) / sizeof(*calls);
	struct made_ring r;
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	for (size_t i = 0; i < count; i++)
		ring_append_call(c, calls[i].call, i, 0, NULL);
	ring_append_call(c, CALL_COUNT, 100, 0, NULL);
	ring_append_call(c, UINT16_MAX, 101, 0, NULL);
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_CALL, &rows);
	assert_int_equal(rows.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(ring_text(&r, rows.cell[i][STORE_CALL_category]), calls[i].category);
	ring_rows(&r, STORE_TABLE_IO, &rows);
	assert_int_equal(rows.count, count + 2);
	assert_int_equal(rows.cell[count][STORE_IO_call], STORE_NULL);
	assert_int_equal(rows.cell[count + 1][STORE_IO_call], STORE_NULL);
	ring_free(&r);
}

static void paths_that_were_not_opened_share_an_identity(void **state)
{
	struct made_ring r;
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	ring_append_call(c, CALL_read, 1, 0, "/etc/passwd");
	ring_append_call(c, CALL_read, 2, 0, "/etc/group");
	ring_append_call(c, CALL_read, 3, 0, "/etc/passwd");
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_IO, &rows);
	assert_int_equal(rows.count, 3);
	assert_int_equal(rows.cell[0][STORE_IO_file], rows.cell[2][STORE_IO_file]);
	assert_int_not_equal(rows.cell[0][STORE_IO_file], rows.cell[1][STORE_IO_file]);
	ring_rows(&r, STORE_TABLE_FILE, &rows);
	assert_int_equal(rows.count, 2);
	assert_string_equal(ring_text(&r, rows.cell[1][STORE_FILE_name]), "/etc/group");
	ring_free(&r);
}

static void a_name_may_be_defined_by_a_later_chunk(void **state)
{
	struct made_ring r;
	ring_make(&r);
	ring_append_note(ring_chunk(&r, 0, 4242), SONDE_REC_SPAN, 7, 100);
	ring_append_string(ring_chunk(&r, 1, 4243), 7, "train");
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_SPAN, &rows);
	assert_int_equal(rows.count, 1);
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_SPAN_name]), "train");
	ring_free(&r);
}

static void a_brief_span_is_a_span(void **state)
{
	struct made_ring r;
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	const struct sonde_rec_brief brief = { .head = { .kind = SONDE_REC_BRIEF, .call = 7, .errnum = 3 },
		.ticks = 100,
		.dur_ticks = 40,
		.category = 8 };
	const uint64_t nonsense[2] = { (uint64_t)SONDE_REC_BRIEF << 16, 1 }; /* too short: the next one counts */
	ring_append_string(c, 7, "load");
	ring_append_string(c, 8, "io");
	ring_append(c, nonsense, sizeof(nonsense));
	ring_append(c, &brief, sizeof(brief));
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_SPAN, &rows);
	assert_int_equal(rows.count, 1);
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_SPAN_name]), "load");
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_SPAN_category]), "io");
	assert_int_equal(rows.cell[0][STORE_SPAN_depth], 3);
	assert_int_equal(rows.cell[0][STORE_SPAN_dur_ns], 40);
	ring_free(&r);
}

static void a_name_that_nobody_defined_is_a_question_mark(void **state)
{
	struct made_ring r;
	ring_make(&r);
	ring_append_note(ring_chunk(&r, 0, 4242), SONDE_REC_SPAN, 7, 100);
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_SPAN, &rows);
	assert_int_equal(rows.count, 1);
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_SPAN_name]), "?");
	ring_free(&r);
}

static void commands_of_devices_are_rows_whatever_is_in_them(void **state)
{
	struct made_ring r;
	const struct sonde_rec_gpu good = { .head = { .kind = SONDE_REC_GPU },
		.queued_ns = 100,
		.submit_ns = SONDE_NONE,
		.start_ns = 200,
		.end_ns = 260,
		.error_ns = 3,
		.bytes = 4096,
		.items = SONDE_NONE,
		.queue = 2,
		.name = 7,
		.tid = 4243,
		.kind = SONDE_GPU_COPY,
		.direction = SONDE_GPU_DEVICE_TO_HOST };
	const struct sonde_rec_gpu bad = { .head = { .kind = SONDE_REC_GPU },
		.start_ns = INT64_MAX,
		.end_ns = -5,
		.error_ns = -1,
		.bytes = -1,
		.queue = INT64_MIN,
		.name = UINT32_MAX,
		.device = UINT32_MAX,
		.tid = -9,
		.kind = 255,
		.direction = 255 };
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	ring_append_string(c, 7, "copy it");
	ring_append(c, &good, sizeof(good));
	ring_append(c, &bad, sizeof(bad));
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_GPU, &rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.cell[0][STORE_GPU_ts_ns], 200);
	assert_int_equal(rows.cell[0][STORE_GPU_dur_ns], 60);
	assert_int_equal(rows.cell[0][STORE_GPU_queued_ns], 100);
	assert_int_equal(rows.cell[0][STORE_GPU_submit_ns], STORE_NULL);
	assert_int_equal(rows.cell[0][STORE_GPU_tid], 4243);
	assert_int_equal(rows.cell[0][STORE_GPU_bytes], 4096);
	assert_int_equal(rows.cell[0][STORE_GPU_items], STORE_NULL);
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_GPU_kind]), "copy");
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_GPU_direction]), "device-to-host");
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_GPU_name]), "copy it");
	static const int unknown[] = { STORE_GPU_dur_ns, STORE_GPU_bytes, STORE_GPU_queue, STORE_GPU_tid,
		STORE_GPU_kind, STORE_GPU_direction, STORE_GPU_error_ns };
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_int_equal(rows.cell[1][unknown[i]], STORE_NULL);
	assert_string_equal(ring_text(&r, rows.cell[1][STORE_GPU_name]), "?");
	ring_free(&r);
}

static void who_records_tell_whose_the_next_are(void **state)
{
	struct made_ring r;
	struct sonde_rec_who who = { .head = { .kind = SONDE_REC_WHO }, .pid = 77, .tid = 78 };
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	ring_append_call(c, CALL_read, 1, 0, NULL);
	ring_append(c, &who, sizeof(who));
	ring_append_call(c, CALL_read, 2, 0, NULL);
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_IO, &rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.cell[0][STORE_IO_tid], 4242);
	assert_int_equal(rows.cell[1][STORE_IO_pid], 77);
	assert_int_equal(rows.cell[1][STORE_IO_tid], 78);
	ring_free(&r);
}

static void what_is_unfinished_is_skipped_and_the_rest_kept(void **state)
{
	struct made_ring r;
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	ring_append_call(c, CALL_read, 1, 0, NULL);
	struct sonde_rec_call *torn = (void *)((char *)c + c->tail);
	ring_append_call(c, CALL_read, 2, 0, NULL);
	torn->head.state = SONDE_PENDING;
	c->tail += 64; /* reserved, not begun */
	ring_append_call(c, CALL_read, 3, 0, NULL);
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_IO, &rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.cell[0][STORE_IO_ts_ns], 1);
	assert_int_equal(rows.cell[1][STORE_IO_ts_ns], 3);
	ring_free(&r);
}

static void bytes_behind_the_tail_are_no_records(void **state)
{
	struct made_ring r;
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	ring_append_call(c, CALL_read, 1, 0, NULL);
	uint64_t tail = c->tail;
	c->tail += 64; /* reserved, not begun */
	ring_append_call(c, CALL_read, 2, 0, NULL);
	c->tail = tail;
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_IO, &rows);
	assert_int_equal(rows.count, 1);
	ring_free(&r);
}

static void spans_open_at_the_end_are_told(void **state)
{
	struct made_ring r;
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	ring_append_string(c, 1, "epoch");
	ring_append_call(c, CALL_read, 500, 0, NULL);
	c->depth = 1;
	c->open[0] = (struct sonde_open_span){ .ticks = 100, .what = 1 };
	ring_write(&r, "1.0");
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_SPAN, &rows);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.cell[0][STORE_SPAN_is_open], 1);
	assert_int_equal(rows.cell[0][STORE_SPAN_ts_ns], 100);
	assert_int_equal(rows.cell[0][STORE_SPAN_dur_ns], 410);
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_SPAN_name]), "epoch");
	ring_free(&r);
}

static void a_full_chunk_is_read_to_its_last_record(void **state)
{
	struct made_ring r;
	unsigned n = 0;
	ring_make(&r);
	struct sonde_chunk *c = ring_chunk(&r, 0, 4242);
	while (c->tail + sizeof(struct sonde_rec_call) <= SONDE_CHUNK_BYTES)
		ring_append_call(c, CALL_read, ++n, 0, NULL);
	c->tail += 64;
	ring_segment(&r)->owner[0] = SONDE_OWNER_FULL;
	ring_write(&r, "1.0");
	uint64_t events;
	assert_int_equal(ring_import(&r, &events), 0);
	assert_int_equal(events, n);
	ring_free(&r);
}

/* A thread owns a chunk a moment before the chunk names the thread: the drainer may come in between. */
static void a_chunk_is_begun_when_its_thread_is_known(void **state)
{
	static const uint64_t free_tails[] = { 0, SONDE_TAIL_CLOSED, SONDE_TAIL_CLOSED + 64 };

	for (size_t i = 0; i < sizeof(free_tails) / sizeof(*free_tails); i++) {
		struct made_ring r;
		struct ring_dir ring = { .control = &r.control };
		struct drain d = { .epollfd = 0, .ring = &ring, .events = 5 };
		struct drain_process p = { .pid = 4242 };
		struct drain_chunk at = { 0 };
		ring_make(&r);
		struct sonde_chunk *c = ring_chunk(&r, 0, 0);
		c->tail = free_tails[i];
		assert_true(drain_walk(&d, &p, &at, c, false, false));
		c->tid = 4243;
		c->tail = SONDE_CHUNK_FIRST;
		assert_true(drain_walk(&d, &p, &at, c, false, false));
		assert_int_equal(at.tid, 4243);
		assert_int_equal(c->tid, 4243);
		/* What has left a chunk is counted, for a recorder that is killed at once. */
		assert_int_equal(r.control.drained_events, 5);
		ring_free(&r);
	}
}

static void a_directory_that_is_no_ring_is_refused(void **state)
{
	struct made_ring r;
	ring_make(&r);
	ring_write(&r, "1.0");
	r.control.magic = 1;
	ring_write(&r, "1.0");
	assert_true(ring_import(&r, NULL) < 0);
	ring_free(&r);
}

/* A table of another build: its first rows are these, and one has properties that we do not know. */
static const char other_calls[] = "teleport DATA WARP LIGHTYEARS FD C 'to,speed\n"
				  "close OPEN CLOSE NONE NONE C \n"
				  "read DATA READ RESULT FD C \n";

static uint64_t write_other_calls(struct made_ring *r, const char *text)
{
	char name[CALLS_FILE_BYTES];
	uint64_t hash = store_hash(other_calls, sizeof(other_calls) - 1, 0);
	calls_file_name(name, hash);
	ring_segment(r)->calls_hash = hash;
	for (uint16_t i = 0; i < 4; i++)
		ring_append_call(ring_chunk(r, i, 4242 + i), i, 1 + i, 7, NULL);
	ring_write(r, "1.0");
	if (text)
		ring_write_file(r, name, text, strlen(text));
	return hash;
}

static void a_ring_of_another_build_is_read_by_its_own_table(void **state)
{
	static const char *const names[] = { "teleport", "close", "read" };
	struct made_ring r;
	ring_make(&r);
	write_other_calls(&r, other_calls);
	assert_int_equal(ring_import(&r, NULL), 0);
	ring_rows(&r, STORE_TABLE_IO, &rows);
	assert_int_equal(rows.count, 4);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(ring_text(&r, rows.cell[i][STORE_IO_call]), names[i]);
	assert_int_equal(rows.cell[3][STORE_IO_call], STORE_NULL);
	ring_rows(&r, STORE_TABLE_CALL, &rows);
	assert_int_equal(rows.count, 3);
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_CALL_kind]), "other");
	assert_string_equal(ring_text(&r, rows.cell[0][STORE_CALL_bytes_from]), "unknown");
	assert_string_equal(ring_text(&r, rows.cell[2][STORE_CALL_kind]), "read");
	ring_free(&r);
}

static void a_ring_of_an_unknown_build_is_refused(void **state)
{
	static const char *const wrong[] = { NULL, "", "read DATA READ RESULT FD C \n" }; /* not the text of the hash */
	for (size_t i = 0; i < 3; i++) {
		struct made_ring r;
		struct sonde_err err = SONDE_ERR_INIT;
		char hash[17];
		ring_make(&r);
		snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)write_other_calls(&r, wrong[i]));
		assert_int_equal(ring_import_err(&r, NULL, &err), -ENOTSUP);
		assert_non_null(strstr(err.text, hash));
		assert_non_null(strstr(err.text, CALLS_HASH_TEXT));
		assert_true(err.hint[0]);
		ring_free(&r);
	}
}

/* The text has the right hash, but is not a table. */
static void a_table_that_is_none_is_refused(void **state)
{
	static const char *const texts[] = { "read\n", "read NO READ RESULT FD C \n",
		"read DATA READ RESULT FD C a b\n",
		"a_name_that_is_longer_than_any_function DATA READ RESULT FD C \n" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct made_ring r;
		char name[CALLS_FILE_BYTES];
		ring_make(&r);
		ring_segment(&r)->calls_hash = store_hash(texts[i], strlen(texts[i]), 0);
		calls_file_name(name, ring_segment(&r)->calls_hash);
		ring_write(&r, "1.0");
		ring_write_file(&r, name, texts[i], strlen(texts[i]));
		assert_int_equal(ring_import(&r, NULL), -ENOTSUP);
		ring_free(&r);
	}
}

static void our_text_is_our_table(void **state)
{
	struct made_ring r;
	struct ring_calls *all = NULL;
	struct ring_dir dir = RING_DIR_INIT;
	ring_make(&r);
	ring_write(&r, "1.0");
	assert_int_equal(ring_dir_open(&dir, r.dir, NULL), 0);
	char *text = malloc(calls_text_bytes + 2), name[CALLS_FILE_BYTES];
	assert_non_null(text);
	stpcpy(stpcpy(text, calls_text), "\n"); /* an empty line at the end: the same rows by another hash */
	uint64_t hash = store_hash(text, calls_text_bytes + 1, 0);
	calls_file_name(name, hash);
	ring_write_file(&r, name, text, calls_text_bytes + 1);
	const struct ring_calls *calls = ring_calls_find(&all, &dir, hash, NULL);
	assert_non_null(calls);
	assert_int_equal(calls->count, CALL_COUNT);
	for (unsigned i = 0; i < CALL_COUNT; i++)
		assert_memory_equal(&calls->rows[i], &call_info[i], sizeof(*call_info));
	assert_ptr_equal(ring_calls_find(&all, &dir, hash, NULL), calls);
	ring_calls_free(all);
	ring_dir_release(&dir);
	free(text);
	ring_free(&r);
}

static void fill_with_all_kinds(struct made_ring *r)
{
	struct sonde_chunk *c = ring_chunk(r, 0, 4242);
	struct {
		struct sonde_rec_note note;
		struct sonde_arg arg;
		char text[16];
	} step = { .note = { .head = { .kind = SONDE_REC_STEP, .call = 1 }, .name = 1 },
		.arg = { .key = 1, .type = SONDE_ARG_STR, .value.u = 9 } };
	ring_append_string(c, 1, "name");
	for (int i = 0; i < 20; i++) {
		ring_append_call(c, (uint16_t)(i % CALL_COUNT), (uint64_t)i, i, i % 2 ? "some/path" : NULL);
		ring_append_note(c, SONDE_REC_SPAN + i % 6, 1, (uint64_t)i);
		ring_append(c, &step, sizeof(step));
	}
	c->depth = 2;
}

/* Whatever a program scribbles into its ring costs at most its own rows. */
static void scribbled_rings_do_no_harm(void **state)
{
	random_init();
	for (int round = 0; round < 200; round++) {
		struct made_ring r;
		ring_make(&r);
		fill_with_all_kinds(&r);
		size_t spread = round % 2 ? 8192 : SONDE_SEGMENT_HEAD_BYTES + 6000;
		for (size_t i = 0, n = 1 + random_below(40); i < n; i++)
			r.segment[random_below(spread)] = (char)random_u64();
		if (round % 5 == 0)
			r.bytes = SONDE_SEGMENT_HEAD_BYTES + random_below(SONDE_CHUNK_BYTES);
		ring_segment(&r)->calls_hash = CALLS_HASH; /* another one is refused */
		ring_write(&r, "1.0");
		assert_int_equal(ring_import(&r, NULL), 0);
		ring_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_becomes_a_row),
		cmocka_unit_test(every_call_has_a_category),
		cmocka_unit_test(commands_of_devices_are_rows_whatever_is_in_them),
		cmocka_unit_test(paths_that_were_not_opened_share_an_identity),
		cmocka_unit_test(a_name_may_be_defined_by_a_later_chunk),
		cmocka_unit_test(a_brief_span_is_a_span),
		cmocka_unit_test(a_name_that_nobody_defined_is_a_question_mark),
		cmocka_unit_test(who_records_tell_whose_the_next_are),
		cmocka_unit_test(what_is_unfinished_is_skipped_and_the_rest_kept),
		cmocka_unit_test(bytes_behind_the_tail_are_no_records),
		cmocka_unit_test(spans_open_at_the_end_are_told),
		cmocka_unit_test(a_full_chunk_is_read_to_its_last_record),
		cmocka_unit_test(a_chunk_is_begun_when_its_thread_is_known),
		cmocka_unit_test(a_directory_that_is_no_ring_is_refused),
		cmocka_unit_test(a_ring_of_another_build_is_read_by_its_own_table),
		cmocka_unit_test(a_ring_of_an_unknown_build_is_refused),
		cmocka_unit_test(a_table_that_is_none_is_refused),
		cmocka_unit_test(our_text_is_our_table),
		cmocka_unit_test(scribbled_rings_do_no_harm),
	};
	return RUN_TESTS(tests);
}
