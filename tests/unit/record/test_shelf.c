/* Full chunks come back at once, and nothing that was in them is lost. */
#include "rings.h"
#include "support.h"

#include "base/fs.h"
#include "calls/calls.h"
#include "record/drain.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A recorder that watches a ring which the test writes, in the place of a process. */
struct watch {
	struct made_ring made; /* its segment is the mapped file */
	char *unmapped;
	struct ring_dir ring;
	struct store_sink sink;
	struct drain drain;
	char tables[80];
	int tablesfd;
};

static void watch_begin(struct watch *w)
{
	char path[80];
	memset(w, 0, sizeof(*w));
	ring_make(&w->made);
	ring_segment(&w->made)->pid = getpid();
	ring_write(&w->made, "1.0");
	snprintf(path, sizeof(path), "%s/1.0", w->made.dir);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	w->unmapped = w->made.segment;
	w->made.segment = mmap(NULL, w->made.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(w->made.segment, MAP_FAILED);
	close(fd);
	snprintf(w->tables, sizeof(w->tables), "%s.tables", w->made.dir);
	assert_int_equal(mkdir(w->tables, 0700), 0);
	w->tablesfd = open(w->tables, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->ring = (struct ring_dir)RING_DIR_INIT;
	assert_int_equal(ring_dir_open(&w->ring, w->made.dir, NULL), 0);
	assert_int_equal(store_sink_open(&w->sink, w->tablesfd, NULL), 0);
	assert_int_equal(drain_init(&w->drain, &w->ring, &w->sink, true, NULL), 0);
}

static void watch_end(struct watch *w)
{
	drain_finish(&w->drain);
	drain_release(&w->drain);
	assert_int_equal(store_sink_close(&w->sink, NULL), 0);
	ring_dir_release(&w->ring);
	close(w->tablesfd);
	munmap(w->made.segment, w->made.bytes);
	w->made.segment = w->unmapped;
	fs_remove_tree(AT_FDCWD, w->tables);
	ring_free(&w->made);
}

/* As the library does it: END over what is left, then the word that says so. */
static void fill_up(struct made_ring *r, unsigned i, struct sonde_chunk *c)
{
	struct sonde_record end = { .words = (uint16_t)((SONDE_CHUNK_BYTES - c->tail) / 8), .state = SONDE_END };
	memcpy((char *)c + c->tail, &end, sizeof(end));
	c->tail = SONDE_CHUNK_BYTES + 64;
	ring_segment(r)->owner[i] = SONDE_OWNER_FULL;
}

static bool is_given_back(struct made_ring *r, unsigned i)
{
	const char *c = r->segment + SONDE_SEGMENT_HEAD_BYTES + i * SONDE_CHUNK_BYTES;
	if (ring_segment(r)->owner[i])
		return false;
	assert_int_equal(((const struct sonde_chunk *)(const void *)c)->tail, SONDE_TAIL_CLOSED);
	for (size_t at = 8; at < SONDE_CHUNK_BYTES; at++)
		assert_int_equal(c[at], 0);
	return true;
}

static void a_full_chunk_is_read_and_given_back(void **state)
{
	struct watch w;
	watch_begin(&w);
	struct sonde_chunk *c = ring_chunk(&w.made, 1, getpid());
	for (int i = 0; i < 3; i++)
		ring_append_call(c, CALL_read, 100, 16, NULL);
	drain_pass(&w.drain); /* what is read of it already is not read again */
	assert_int_equal(w.drain.events, 3);
	ring_append_call(c, CALL_read, 200, 16, NULL);
	fill_up(&w.made, 1, c);
	drain_pass(&w.drain);
	assert_int_equal(w.drain.events, 4);
	assert_true(is_given_back(&w.made, 1));
	assert_int_equal(w.ring.control->drained_events, 4);
	watch_end(&w);
}

/* A second process in the same ring, whose segment file is cut when it is already mapped. */
static void cut_second(struct watch *w, int when)
{
	char path[80];
	struct sonde_segment *s = ring_segment(&w->made);
	struct sonde_segment first = *s;
	snprintf(path, sizeof(path), "%s/%s", w->made.dir, "0.0");
	if (when) {
		assert_int_equal(truncate(path, SONDE_SEGMENT_HEAD_BYTES), 0);
		return;
	}
	s->process = 0; /* read before the other one */
	s->pid = getppid();
	s->owner[0] = (uint32_t)getppid();
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fs_write_all(fd, w->made.segment, w->made.bytes), 0);
	close(fd);
	*s = first;
}

static void a_file_that_is_cut_costs_its_own_rows_alone(void **state)
{
	struct watch w;
	watch_begin(&w);
	cut_second(&w, 0);
	drain_pass(&w.drain);
	assert_int_equal(w.drain.live_count, 2);
	cut_second(&w, 1);
	struct sonde_chunk *c = ring_chunk(&w.made, 1, getpid());
	ring_append_call(c, CALL_read, 100, 16, NULL);
	drain_pass(&w.drain);
	drain_pass(&w.drain);
	assert_int_equal(w.drain.events, 1);
	watch_end(&w);
}

static void a_file_that_is_cut_at_the_end_is_survived(void **state)
{
	struct watch w;
	watch_begin(&w);
	cut_second(&w, 0);
	struct sonde_chunk *c = ring_chunk(&w.made, 1, getpid());
	drain_pass(&w.drain);
	w.drain.segments_seen = UINT32_MAX;
	ring_append_call(c, CALL_read, 100, 16, NULL);
	cut_second(&w, 1);
	drain_finish(&w.drain);
	assert_int_equal(w.drain.events, 1);
	watch_end(&w);
}

static void one_that_is_unfinished_stays(void **state)
{
	struct watch w;
	watch_begin(&w);
	struct sonde_chunk *c = ring_chunk(&w.made, 0, getpid());
	ring_append_call(c, CALL_read, 100, 16, NULL);
	struct sonde_record *pending = (void *)((char *)c + c->tail);
	ring_append_call(c, CALL_read, 200, 16, NULL);
	pending->state = SONDE_PENDING;
	ring_append_call(c, CALL_read, 300, 16, NULL);
	fill_up(&w.made, 0, c);
	drain_pass(&w.drain);
	assert_int_equal(w.drain.events, 1);
	assert_false(is_given_back(&w.made, 0));
	pending->state = SONDE_DONE;
	drain_pass(&w.drain);
	assert_int_equal(w.drain.events, 3);
	assert_true(is_given_back(&w.made, 0));
	watch_end(&w);
}

/* Two copies wait for the same name; it comes from a chunk that is not full. */
static void a_copy_waits_for_a_name(void **state)
{
	struct watch w;
	watch_begin(&w);
	for (unsigned i = 0; i < 2; i++) {
		struct sonde_chunk *c = ring_chunk(&w.made, i, getpid());
		ring_append_note(c, SONDE_REC_SPAN, 7, 100 + i);
		fill_up(&w.made, i, c);
	}
	drain_pass(&w.drain);
	assert_int_equal(w.drain.events, 0);
	assert_true(is_given_back(&w.made, 0) && is_given_back(&w.made, 1));
	assert_true(w.ring.control->drained_events >= 2); /* killed now we had lost them, and it must be said */
	ring_append_string(ring_chunk(&w.made, 2, getpid()), 7, "late");
	drain_pass(&w.drain);
	drain_pass(&w.drain);
	assert_int_equal(w.drain.events, 2);
	assert_int_equal(w.ring.control->drained_events, 2);
	watch_end(&w);
}

static void a_name_that_never_comes_costs_no_row(void **state)
{
	struct watch w;
	watch_begin(&w);
	struct sonde_chunk *c = ring_chunk(&w.made, 0, getpid());
	ring_append_note(c, SONDE_REC_SPAN, 7, 100);
	fill_up(&w.made, 0, c);
	drain_pass(&w.drain);
	assert_int_equal(w.drain.events, 0);
	drain_finish(&w.drain);
	assert_int_equal(w.drain.events, 1);
	watch_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_chunk_is_read_and_given_back),
		cmocka_unit_test(one_that_is_unfinished_stays),
		cmocka_unit_test(a_file_that_is_cut_costs_its_own_rows_alone),
		cmocka_unit_test(a_file_that_is_cut_at_the_end_is_survived),
		cmocka_unit_test(a_copy_waits_for_a_name),
		cmocka_unit_test(a_name_that_never_comes_costs_no_row),
	};
	return RUN_TESTS(tests);
}
