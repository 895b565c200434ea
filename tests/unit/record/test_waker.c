/* waker: a file made in the ring directory ends the sleep, and nothing of that stays behind. */
#include "../support.h"

#include "base/clock.h"
#include "base/fs.h"
#include "record/recorder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONG_MS 60000

static char dir[FS_TEMP_BYTES];
static struct probe_set probes;

static int make_dir(void **state)
{
	struct store_sink sink = { 0 };
	const char *const none[] = { "none", NULL };
	struct probe_options options = { 0 };

	probe_set_open(&probes, none, &options, &sink);
	return fs_temp_dir(dir, "waker", NULL);
}

static int remove_dir(void **state)
{
	probe_set_release(&probes);
	return fs_remove_tree(AT_FDCWD, dir);
}

static void make_file(const char *name)
{
	char path[FS_TEMP_BYTES + 16];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void growth_wakes(void **state)
{
	struct waker w;
	sigset_t blocked, pending;

	waker_init(&w, &probes, dir, -1, -1);
	for (int i = 0; i < 3; i++) {
		char name[] = { 'a', (char)('0' + i), '\0' };

		w.wait_ms = LONG_MS;
		make_file(name);
		assert_false(waker_wait(&w, INT64_MAX));
		assert_int_not_equal(w.fds[WAKE_GROWTH].revents, 0);
	}
	w.wait_ms = 1; /* what was told is forgotten */
	waker_wait(&w, INT64_MAX);
	assert_int_equal(w.fds[WAKE_GROWTH].revents, 0);
	make_file("last");
	waker_release(&w);
	sigpending(&pending);
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
		assert_int_equal(sigismember(&pending, i), 0);
		assert_int_equal(sigismember(&blocked, i), 0);
	}
	make_file("nobody-looks");
}

static void the_clock_wakes(void **state)
{
	struct waker w;
	int64_t from = clock_mono_ns();

	waker_init(&w, &probes, NULL, -1, -1);
	assert_int_equal(w.wait_ms, 0);
	assert_false(waker_wait(&w, from + 1000000));
	assert_true(clock_mono_ns() >= from + 1000000);
	waker_release(&w);
}

/* Much comes in: soon again; nothing: later and later, up to a bound. */
static void the_pace_follows_events(void **state)
{
	struct waker w;

	waker_init(&w, &probes, dir, -1, -1);
	int first = w.wait_ms;
	for (int i = 0; i < 20; i++)
		wakeup_interval(&w, 0);
	int last = w.wait_ms;
	assert_true(last > first);
	wakeup_interval(&w, 0);
	assert_int_equal(w.wait_ms, last);
	wakeup_interval(&w, 1); /* there is somebody after all */
	assert_true(w.wait_ms > first && w.wait_ms < last);
	wakeup_interval(&w, 1000000);
	assert_int_equal(w.wait_ms, first);
	waker_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_wakes),
		cmocka_unit_test(the_clock_wakes),
		cmocka_unit_test(the_pace_follows_events),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
