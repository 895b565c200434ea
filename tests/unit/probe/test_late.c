/* Calls out of their two ends, and names of our own descriptors, which are told only if nobody took them away. */
#include "support.h"

#include "probe/syscall/deferred-calls.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct late late;
static int64_t clock_ns;

static void watched(enum syscall_event_kind kind, int32_t pid)
{
	struct syscall_event e = { .bytes = sizeof(e), .kind = (uint16_t)kind, .pid = pid, .ts_ns = ++clock_ns };
	deferred_watched(&late, &e);
}

static struct deferred_point point(int32_t tid, int64_t number, uint64_t first, uint64_t second)
{
	return (struct deferred_point){ .pid = getpid(),
		.tid = tid,
		.ts_ns = ++clock_ns,
		.number = number,
		.args = { first, second } };
}

static void begins(int32_t tid, int64_t number, uint64_t first, uint64_t second)
{
	struct deferred_point p = point(tid, number, first, second);
	deferred_on_enter(&late, &p);
}

static void ends(int32_t tid, int64_t number, int64_t ret)
{
	struct deferred_point p = point(tid, number, 0, 0);
	p.ret = ret;
	deferred_on_exit(&late, &p);
}

static void opens(int fd)
{
	begins(1, SYS_open, 0, 0);
	ends(1, SYS_open, fd);
}

/* The next call; NULL: there is none. What comes before it is counted. */
static unsigned forgotten;
static const struct syscall_event *next_call(void)
{
	const struct syscall_event *e;
	while ((e = deferred_next(&late)) && e->kind != SYSCALL_CALL)
		forgotten += e->kind == SYSCALL_FORGET;
	return e;
}

static bool has_name(void)
{
	const struct syscall_event *e = next_call();
	while (e && e->number != SYS_open && e->number != SYS_socket)
		e = next_call();
	assert_non_null(e);
	bool has = e->has_text[0];
	if (has) {
		assert_int_equal(e->text_bytes[0], strlen("/dev/null"));
		assert_memory_equal(e + 1, "/dev/null", strlen("/dev/null"));
		assert_true(e->is_seekable);
	}
	while (next_call())
		;
	return has;
}

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(deferred_init(&late), 0);
	watched(SYSCALL_BEGIN, getpid());
	clock_ns = 0;
	forgotten = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	deferred_release(&late);
	memset(&late, 0, sizeof(late));
	return 0;
}

static int null_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void a_call(void **state)
{
	(void)state;
	begins(1, SYS_write, 5, 0);
	begins(2, SYS_read, 6, 0);
	ends(1, SYS_write, 11);
	ends(2, SYS_read, -9);
	ends(2, SYS_read, 1); /* without a beginning */
	const struct syscall_event *e = next_call();
	assert_int_equal(e->number, SYS_write);
	assert_int_equal(e->args[0], 5);
	assert_int_equal(e->ret, 11);
	assert_int_equal(e->ts_ns, 1);
	assert_int_equal(e->end_ns, 3);
	e = next_call();
	assert_int_equal(e->number, SYS_read);
	assert_int_equal(e->ret, -9);
	assert_null(next_call());
	assert_int_equal(forgotten, 0);
}

static void of_those_that_are_wanted(void **state)
{
	(void)state;
	watched(SYSCALL_LEAVE, getpid());
	begins(1, SYS_write, 5, 0);
	ends(1, SYS_write, 11);
	assert_null(next_call());
	struct syscall_event ringed = { .bytes = sizeof(ringed),
		.kind = SYSCALL_BEGIN,
		.pid = getpid(),
		.has_ring = 1 };
	deferred_watched(&late, &ringed);
	begins(1, SYS_write, 5, 0);
	ends(1, SYS_write, 11);
	assert_null(next_call());
}

static void a_name(void **state)
{
	int fd = null_fd();
	(void)state;
	opens(fd);
	assert_true(deferred_names_read(&late.names));
	assert_true(has_name());
	/* closed before the pass, and after the link was read */
	opens(fd);
	begins(1, SYS_close, (uint64_t)fd, 0);
	assert_false(deferred_names_read(&late.names));
	ends(1, SYS_close, 0);
	assert_false(has_name());
	opens(-2);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	close(fd);
	opens(fd); /* by the time of the look it is closed */
	assert_true(deferred_names_read(&late.names));
	assert_false(has_name());
}

/* What takes a name away when it is seen ahead, and when it is another descriptor's. */
static void what_is_seen_ahead(void **state)
{
	int fd = null_fd();
	(void)state;
	const struct {
		int64_t number;
		int64_t first, second;
		bool takes;
	} calls[] = {
		{ SYS_close, fd, 0, true },
		{ SYS_close, fd + 1, 0, false },
		{ SYS_dup2, 0, fd, true },
		{ SYS_dup2, fd, 0, false },
		{ SYS_dup3, 0, fd, true },
		{ SYS_close_range, 3, ~0u, true },
		{ SYS_close_range, fd + 1, ~0u, false },
		{ SYS_execve, 0, 0, true },
		{ SYS_execveat, 0, 0, true },
		{ SYS_rename, 0, 0, true },
		{ SYS_renameat2, 0, 0, true },
		{ SYS_io_uring_enter, 0, 0, true },
		{ SYS_read, fd, 0, false },
		{ SYS_unlink, 0, 0, false },
	};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct deferred_point p = point(9, calls[i].number, (uint64_t)calls[i].first,
				(uint64_t)calls[i].second);
		opens(fd);
		assert_true(deferred_names_read(&late.names));
		deferred_names_on_seen(&late.names, &p);
		assert_int_equal(has_name(), !calls[i].takes);
		/* another process's, unless it renames */
		p.pid++;
		opens(fd);
		assert_true(deferred_names_read(&late.names));
		deferred_names_on_seen(&late.names, &p);
		assert_int_equal(has_name(), calls[i].number != SYS_rename && calls[i].number != SYS_renameat2);
	}
	close(fd);
}

/* Calls of other threads that were under way, or came and went, while it was opened. */
static void what_overlaps(void **state)
{
	int fd = null_fd();
	(void)state;
	begins(2, SYS_close, (uint64_t)fd, 0);
	opens(fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	ends(2, SYS_close, 0);
	begins(1, SYS_open, 0, 0);
	begins(2, SYS_rename, 0, 0);
	ends(2, SYS_rename, 0);
	ends(1, SYS_open, fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	/* all that is over */
	opens(fd);
	assert_true(deferred_names_read(&late.names));
	assert_true(has_name());
	/* more at once than are remembered */
	for (int32_t tid = 100; tid < 100 + 2 * DEFERRED_CLOSINGS; tid++)
		begins(tid, SYS_close, 900, 0);
	opens(fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	for (int32_t tid = 100; tid < 100 + 2 * DEFERRED_CLOSINGS; tid++)
		ends(tid, SYS_close, 0);
	opens(fd);
	assert_true(deferred_names_read(&late.names));
	assert_true(has_name());
	begins(1, SYS_open, 0, 0);
	for (int i = 0; i <= DEFERRED_CLOSINGS; i++) {
		begins(2, SYS_close, 900, 0);
		ends(2, SYS_close, 0);
	}
	ends(1, SYS_open, fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	/* a thread that was killed in the midst of it */
	begins(2, SYS_close, (uint64_t)fd, 0);
	deferred_thread_ended(&late, getpid(), 2, ++clock_ns);
	opens(fd);
	assert_true(deferred_names_read(&late.names));
	deferred_names_forget(&late.names, getpid());
	assert_false(has_name());
	close(fd);
}

/* Descriptors that others than calls change. */
static void what_cannot_be_followed(void **state)
{
	int fd = null_fd();
	(void)state;
	begins(1, SYS_unshare, CLONE_FILES, 0);
	ends(1, SYS_unshare, 0);
	opens(fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	assert_int_equal(forgotten, 1);
	watched(SYSCALL_BEGIN, getpid()); /* an exec makes them its own again */
	opens(fd);
	assert_true(deferred_names_read(&late.names));
	assert_true(has_name());
	watched(SYSCALL_FORGET, getpid());
	opens(fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	struct {
		struct syscall_event e;
		char text[24];
	} uring = { .e = { .bytes = sizeof(uring), .kind = SYSCALL_FD, .pid = getpid(), .has_text = { 1 } },
		.text = "anon_inode:[io_uring]" };
	uring.e.text_bytes[0] = (uint16_t)strlen(uring.text);
	watched(SYSCALL_BEGIN, getpid());
	deferred_watched(&late, &uring.e);
	opens(fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	close(fd);
}

static void what_was_lost(void **state)
{
	int fd = null_fd();
	(void)state;
	begins(1, SYS_read, 5, 0);
	deferred_lost(&late, ++clock_ns);
	ends(1, SYS_read, 1); /* perhaps another's end */
	assert_null(next_call());
	assert_int_equal(forgotten, 1);
	deferred_set_untraced(&late, true);
	opens(fd);
	assert_false(deferred_names_read(&late.names));
	assert_false(has_name());
	assert_int_equal(forgotten, 3);
	begins(1, SYS_read, 5, 0);
	struct deferred_point elsewhere = point(1, SYS_read, 0, 0);
	elsewhere.cpu = 1;
	deferred_on_exit(&late, &elsewhere);
	assert_null(next_call());
	deferred_set_untraced(&late, false);
	opens(fd);
	assert_true(deferred_names_read(&late.names));
	assert_true(has_name());
	/* what comes after what was later: nobody knows which is which any more */
	forgotten = 0;
	clock_ns -= 2;
	opens(fd);
	deferred_names_read(&late.names);
	while (next_call())
		;
	assert_true(forgotten > 0);
	close(fd);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = { TEST(a_call), TEST(of_those_that_are_wanted), TEST(a_name),
		TEST(what_is_seen_ahead), TEST(what_overlaps), TEST(what_cannot_be_followed), TEST(what_was_lost) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
