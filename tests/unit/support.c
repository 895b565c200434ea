/*
 * support: see support.h. The linker's --wrap sends the allocation functions of
 * the code under test here; those of libc itself are untouched.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t state;

void random_init(void)
{
	const char *given = getenv("SONDE_TEST_SEED");

	if (given)
		state = strtoull(given, NULL, 0);
	else if (getrandom(&state, sizeof(state), 0) != (ssize_t)sizeof(state))
		state = (uint64_t)getpid();
	print_message("# SONDE_TEST_SEED=%llu\n", (unsigned long long)state);
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
uint64_t random_u64(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

size_t random_below(size_t n)
{
	return (size_t)(random_u64() % n);
}

void random_bytes(void *place, size_t n)
{
	unsigned char *p = place;

	while (n--)
		*p++ = (unsigned char)random_u64();
}

static bool is_armed, has_failed;
static size_t good_left;

void alloc_fail_after(size_t good)
{
	is_armed = true;
	has_failed = false;
	good_left = good;
}

void alloc_fail_never(void)
{
	is_armed = false;
}

bool alloc_has_failed(void)
{
	return has_failed;
}

static bool must_fail(void)
{
	if (!is_armed)
		return false;
	if (good_left) {
		good_left--;
		return false;
	}
	return has_failed = true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

void *__wrap_malloc(size_t n)
{
	return must_fail() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return must_fail() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return must_fail() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return must_fail() ? NULL : __real_reallocarray(p, n, size);
}

bool aborts(void (*body)(void))
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
