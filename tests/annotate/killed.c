/*
 * Dies by SIGKILL inside open spans: killed MODE.
 *
 *	three   inside three
 *	many    the same after so many others that the thread's chunk has changed
 *	deep    inside forty
 *	thread  with a second thread inside two of its own
 *	left    inside two, after others were left by longjmp
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sonde/sonde.h>
#include <string.h>
#include <unistd.h>

static jmp_buf target;
static volatile int is_inside;

static void die(void)
{
	kill(getpid(), SIGKILL);
	pause();
}

static void three(int others)
{
	SONDE_SPAN("first", "a");
	SONDE_SPAN("second", "b");
	for (int i = 0; i < others; i++) {
		SONDE_SPAN("other");
	}
	SONDE_SPAN("third");
	die();
}

static void deep(int depth)
{
	SONDE_SPAN("deep");
	if (depth)
		deep(depth - 1);
	else
		die();
}

static void *other_thread(void *unused)
{
	SONDE_SPAN("thread first");
	SONDE_SPAN("thread second");
	is_inside = 1;
	pause();
	return unused;
}

static __attribute__((noinline)) void leave(void)
{
	SONDE_SPAN("left");
	{
		SONDE_SPAN("left too");
		longjmp(target, 1);
	}
}

static void left(void)
{
	SONDE_SPAN("first");
	if (!setjmp(target))
		leave();
	SONDE_SPAN("second");
	die();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t thread;
	if (!strcmp(mode, "thread")) {
		pthread_create(&thread, NULL, other_thread, NULL);
		while (!is_inside)
			usleep(1000);
	}
	if (!strcmp(mode, "deep"))
		deep(39);
	if (!strcmp(mode, "left"))
		left();
	three(strcmp(mode, "many") ? 0 : 5000);
	return 1;
}
