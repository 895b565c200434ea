/* Spans that are left by longjmp; prints what must be recorded. */
#include "expect.h"

#include <setjmp.h>
#include <signal.h>
#include <sonde/sonde.h>

static jmp_buf target;
static sigjmp_buf signal_target;
static volatile int has_bottom = 1;

static __attribute__((noinline)) void jump_at_once(void)
{
	SONDE_SPAN("left at once", "jump");
	longjmp(target, 1);
}

static __attribute__((noinline)) void descend(int depth, int at)
{
	expect("span", "left deep", NULL, at);
	SONDE_SPAN("left deep");
	if (depth)
		descend(depth - 1, at + 1);
	else if (has_bottom)
		longjmp(target, 1);
}

/* The same place again and again, as a server's loop does: depths must not drift. */
static void same_place(void)
{
	for (volatile int i = 0; i < 50; i++)
		if (!setjmp(target)) {
			expect("span", "left at once", "jump", 0);
			jump_at_once();
		}
	expect("span", "after", NULL, 0);
	SONDE_SPAN("after");
}

static void out_of_many(void)
{
	expect("span", "outer", NULL, 0);
	SONDE_SPAN("outer");
	for (volatile int i = 0; i < 3; i++) {
		if (!setjmp(target))
			descend(i + 3, 1);
		expect("span", "next", NULL, 1);
		SONDE_SPAN("next");
	}
}

/* Nothing is begun after the jump: the end of the outer one notices. */
static void noticed_at_end(void)
{
	expect("span", "catcher", NULL, 0);
	SONDE_SPAN("catcher");
	if (!setjmp(target))
		descend(40, 1);
}

static void handler(int number)
{
	(void)number;
	expect("span", "handler", NULL, 2);
	SONDE_SPAN("handler");
	siglongjmp(signal_target, 1);
}

static void out_of_handlers(void)
{
	signal(SIGUSR1, handler);
	expect("span", "signals", NULL, 0);
	SONDE_SPAN("signals");
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(signal_target, 1)) {
			expect("span", "raised", NULL, 1);
			SONDE_SPAN("raised");
			raise(SIGUSR1);
		}
}

int main(void)
{
	same_place();
	out_of_many();
	noticed_at_end();
	out_of_handlers();
	expect("span", "last", NULL, 0);
	SONDE_SPAN("last");
	return 0;
}
