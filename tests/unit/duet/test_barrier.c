/* barrier: two meet there as the original's agent does, and nobody hangs when the other is gone. */
#include "../support.h"

#include "duet/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the agent does: open by name, wait n times; in a process of its own. */
static pid_t start_agent(const char *name, int waits)
{
	pid_t pid = fork();
	char object[300];
	pthread_barrier_t *barrier;
	int fd;

	if (pid)
		return pid;
	alarm(60);
	snprintf(object, sizeof(object), "/java-ubench-agent%s", name);
	fd = shm_open(object, O_RDWR, 0);
	barrier = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < waits; i++)
		pthread_barrier_wait(barrier);
	_exit(0);
}

static void assert_fine(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void make(struct duet_barrier *b)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char name[64];

	snprintf(name, sizeof(name), "test.%d:barrier", (int)getpid());
	assert_int_equal(duet_barrier_open(b, name, &err), 0);
}

static void two_meet(void **state)
{
	struct duet_barrier b;
	pid_t one, two;

	make(&b);
	one = start_agent(b.name, 50);
	two = start_agent(b.name, 50);
	assert_fine(one);
	assert_fine(two);
	duet_barrier_release(&b);
}

/* Section 1.4: when a side died, the other hung until the time was up. */
static void a_stand_in_frees_who_is_left(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_barrier b;
	pid_t one;

	make(&b);
	one = start_agent(b.name, 100);
	assert_fine(start_agent(b.name, 3)); /* ends early */
	assert_int_equal(duet_barrier_stand_in(&b, &err), 0);
	assert_int_equal(duet_barrier_stand_in(&b, &err), 0);
	assert_fine(one);
	duet_barrier_release(&b);
}

static void names_do_not_collide(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_barrier b, other;
	char object[300];

	make(&b);
	assert_int_equal(duet_barrier_open(&other, b.name, &err), -EEXIST);
	assert_int_equal(duet_barrier_open(&other, "a/b", &err), -EINVAL);
	snprintf(object, sizeof(object), "/java-ubench-agent%s", b.name);
	duet_barrier_release(&b);
	assert_int_equal(shm_open(object, O_RDWR, 0), -1);
	duet_barrier_release(&b);
}

/* A sonde that was killed leaves its barrier: the next one takes it away, and no other. */
static void what_is_left_is_removed(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_barrier left, ours, other;
	char name[64];
	pid_t dead = fork();

	if (!dead)
		_exit(0);
	assert_fine(dead);
	snprintf(name, sizeof(name), DUET_BARRIER_SUITE "%d.x.0:barrier", (int)dead);
	assert_int_equal(duet_barrier_open(&left, name, &err), 0);
	snprintf(name, sizeof(name), DUET_BARRIER_SUITE "%d.x.0:barrier", (int)getpid());
	assert_int_equal(duet_barrier_open(&ours, name, &err), 0);
	duet_barrier_remove_left();
	assert_int_equal(duet_barrier_open(&other, left.name, &err), 0); /* its name is free */
	assert_int_equal(duet_barrier_open(&left, ours.name, &err), -EEXIST);
	duet_barrier_release(&other);
	duet_barrier_release(&ours);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_meet),
		cmocka_unit_test(a_stand_in_frees_who_is_left),
		cmocka_unit_test(names_do_not_collide),
		cmocka_unit_test(what_is_left_is_removed),
	};

	return RUN_TESTS(tests);
}
