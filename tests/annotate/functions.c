/*
 * A program whose functions are all traced (-finstrument-functions); prints the
 * calls that must be recorded, by name. Before those that are left by longjmp the
 * line is printed by the caller.
 */
#include "expect.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#define SILENT __attribute__((no_instrument_function))
#define FUNCTION __attribute__((noinline))

static jmp_buf target;
static volatile int sink, has_bottom = 1;

static SILENT void call(const char *name, int depth)
{
	expect("func", name, NULL, depth);
}

/* What a compiler may turn into a jump at its end, and what it may not. */
FUNCTION static void leaf(int depth)
{
	call("leaf", depth);
	sink++;
}

FUNCTION static int fib(int n, int depth)
{
	call("fib", depth);
	return n < 2 ? n : fib(n - 1, depth + 1) + fib(n - 2, depth + 1);
}

FUNCTION static void mutual_b(int n, int depth);
FUNCTION static void mutual_a(int n, int depth)
{
	call("mutual_a", depth);
	if (n)
		mutual_b(n - 1, depth + 1);
	leaf(depth + 1);
}

FUNCTION static void mutual_b(int n, int depth)
{
	call("mutual_b", depth);
	if (n)
		mutual_a(n - 1, depth + 1);
}

FUNCTION static void uses_alloca(int n, int depth)
{
	call("uses_alloca", depth);
	char *memory = alloca((size_t)n * 100);
	memory[0] = (char)n;
	sink += memory[0];
	if (n > 1)
		uses_alloca(n - 1, depth + 1);
	leaf(depth + 1);
}

FUNCTION static void jumps(int n, int depth)
{
	call("jumps", depth);
	if (n)
		jumps(n - 1, depth + 1);
	else if (has_bottom)
		longjmp(target, 1);
	sink++;
}

FUNCTION static void catches(int depth)
{
	call("catches", depth);
	for (volatile int i = 0; i < 3; i++)
		if (!setjmp(target))
			jumps(4, depth + 1);
	leaf(depth + 1);
}

/* The outermost of several calls of one function is where the jump goes. */
FUNCTION static void catches_deep(int n, int depth)
{
	call("catches_deep", depth);
	if (n == 3) {
		if (!setjmp(target))
			catches_deep(n - 1, depth + 1);
	} else if (n) {
		catches_deep(n - 1, depth + 1);
	} else {
		longjmp(target, 1);
	}
	leaf(depth + 1);
}

static int handler_depth;

FUNCTION static void handler(int number)
{
	(void)number;
	call("handler", handler_depth);
	leaf(handler_depth + 1);
}

FUNCTION static void raises(int depth)
{
	call("raises", depth);
	handler_depth = depth + 1;
	raise(SIGUSR1);
	leaf(depth + 1);
}

SILENT static void on_a_stack_of_its_own(void)
{
	stack_t stack = { .ss_size = 1 << 16, .ss_sp = malloc(1 << 16) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		abort();
	sigaction(SIGUSR1, &action, NULL);
	raises(1);
}

FUNCTION static void *thread(void *unused)
{
	call("thread", 0);
	fib(3, 1);
	on_a_stack_of_its_own();
	return unused;
}

int main(void)
{
	pthread_t id;
	call("main", 0);
	leaf(1);
	fib(6, 1);
	mutual_a(5, 1);
	uses_alloca(4, 1);
	catches(1);
	catches_deep(5, 1);
	on_a_stack_of_its_own();
	if (pthread_create(&id, NULL, thread, NULL) || pthread_join(id, NULL))
		return 1;
	fib(2, 1);
	return 0;
}
