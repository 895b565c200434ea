/*
 * A program that knows what it did: it prints one JSON object with its own
 * measurements, to be compared with what was recorded of it.
 *
 *	truth shares N       N rounds of 3 and 7 ms of CPU time in `thirty` and `seventy`
 *	truth sleeps N MS    N sleeps, when each began and ended
 *	truth kids N MS      N children that each burn MS of CPU time and exit
 *	truth threads        two threads, CPU time of each
 *	truth locks N MS     a thread waits N times for a lock that another holds for MS; when each wait began and ended
 *	truth echo N         a parent and a child wake each other N times over pipes
 *	truth jit MS         code made at run time, listed in /tmp/perf-PID.map
 *	truth hold FIFO      burns CPU until somebody writes to FIFO, then prints the sum of what it computed
 *	truth faults N       touches N fresh pages
 *	truth deep KB MS     burns MS of CPU time below so much stack, and ends there
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000

static volatile uint64_t sink;

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t cpu_ns(void)
{
	return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((noinline)) static void burn(int64_t ns)
{
	for (int64_t end = cpu_ns() + ns; cpu_ns() < end;)
		for (int i = 0; i < 2000; i++)
			sink += (uint64_t)i;
}

__attribute__((noinline)) static int64_t thirty(void)
{
	int64_t from = cpu_ns();
	burn(3 * MS);
	return cpu_ns() - from;
}

__attribute__((noinline)) static int64_t seventy(void)
{
	int64_t from = cpu_ns();
	burn(7 * MS);
	return cpu_ns() - from;
}

static void shares(int rounds)
{
	int64_t a = 0, b = 0;
	for (int i = 0; i < rounds; i++) {
		a += thirty();
		b += seventy();
	}
	printf("{\"thirty_ns\":%" PRId64 ",\"seventy_ns\":%" PRId64 ",\"cpu_ns\":%" PRId64 "}\n", a, b, cpu_ns());
}

static void sleeps(int count, int ms)
{
	struct timespec t = { .tv_nsec = (long)ms * MS };
	printf("{\"sleeps\":[");
	for (int i = 0; i < count; i++) {
		int64_t from = now_ns(CLOCK_MONOTONIC);
		nanosleep(&t, NULL);
		printf("%s[%" PRId64 ",%" PRId64 "]", i ? "," : "", from, now_ns(CLOCK_MONOTONIC));
	}
	printf("]}\n");
}

static void kids(int count, int ms)
{
	int64_t *used = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), sum = 0;
	struct rusage u;
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();
		if (!pid) {
			burn((int64_t)ms * MS);
			used[i] = cpu_ns();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		sum += used[i];
	}
	getrusage(RUSAGE_CHILDREN, &u);
	printf("{\"kids_ns\":%" PRId64 ",\"rusage_ns\":%" PRId64 ",\"own_ns\":%" PRId64 "}\n", sum,
			(int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
					(int64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000,
			cpu_ns());
}

static void *one_thread(void *arg)
{
	int64_t *ms = arg;
	burn(*ms * MS);
	printf("{\"tid\":%ld,\"cpu_ns\":%" PRId64 "}\n", syscall(SYS_gettid), cpu_ns());
	fflush(stdout);
	return NULL;
}

static void threads(void)
{
	pthread_t a, b;
	int64_t ms[] = { 300, 700 };
	pthread_create(&a, NULL, one_thread, &ms[0]);
	pthread_create(&b, NULL, one_thread, &ms[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;

static void *wait_for_lock(void *arg)
{
	int count = *(int *)arg;
	printf("{\"tid\":%ld,\"waits\":[", syscall(SYS_gettid));
	for (int i = 0; i < count; i++) {
		pthread_barrier_wait(&turn); /* it is held */
		int64_t from = now_ns(CLOCK_MONOTONIC);
		pthread_mutex_lock(&lock);
		int64_t to = now_ns(CLOCK_MONOTONIC);
		pthread_mutex_unlock(&lock);
		printf("%s[%" PRId64 ",%" PRId64 "]", i ? "," : "", from, to);
		pthread_barrier_wait(&turn);
	}
	printf("]}\n");
	return NULL;
}

static void locks(int count, int ms)
{
	struct timespec t = { .tv_nsec = (long)ms * MS };
	pthread_t waiter;
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&waiter, NULL, wait_for_lock, &count);
	for (int i = 0; i < count; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&turn);
		nanosleep(&t, NULL);
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&turn);
	}
	pthread_join(waiter, NULL);
}

static void echo(int count)
{
	int there[2], back[2];
	char c = 0;
	if (pipe(there) || pipe(back))
		exit(1);
	pid_t pid = fork();
	for (int i = 0; i < count; i++)
		if (pid ? write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1
			: read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
			exit(1);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	printf("{\"parent\":%d,\"child\":%d}\n", (int)getpid(), (int)pid);
}

static void jit(int ms)
{
#ifdef __x86_64__
	/* mov %rdi,%rax; 1: dec %rax; jnz 1b; ret */
	static const uint8_t loop[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
	char path[64];
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, loop, sizeof(loop));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	fprintf(f, "%llx %zx made at run time\n", (unsigned long long)(uintptr_t)code, sizeof(loop));
	fclose(f);
	void (*run)(uint64_t);
	memcpy(&run, &code, sizeof(run));
	for (int64_t end = cpu_ns() + (int64_t)ms * MS; cpu_ns() < end;)
		run(1000000);
	printf("{\"map\":\"%s\"}\n", path);
#else
	(void)ms;
	exit(77);
#endif
}

static void hold(const char *fifo)
{
	struct pollfd p = { .fd = open(fifo, O_RDONLY | O_NONBLOCK), .events = POLLIN };
	uint64_t rounds = 0;
	do {
		burn(MS);
		rounds++;
	} while (poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN));
	char c;
	if (read(p.fd, &c, 1) != 1)
		exit(1);
	printf("{\"rounds\":%" PRIu64 "}\n", rounds);
}

static void faults(int count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *at = mmap(NULL, page * (size_t)count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage u;
	madvise(at, page * (size_t)count, MADV_NOHUGEPAGE);
	for (int i = 0; i < count; i++)
		at[(size_t)i * page] = 1;
	burn(250 * MS); /* so that it is read at least twice */
	getrusage(RUSAGE_SELF, &u);
	printf("{\"minor_faults\":%ld}\n", u.ru_minflt);
}

__attribute__((noinline)) static void deep(int kb, int ms)
{
	volatile char room[1024] = { 0 };
	if (kb > 0) {
		deep(kb - 1, ms);
	} else {
		burn((int64_t)ms * MS);
		syscall(SYS_exit_group, 0); /* no other stack at the end */
	}
	sink += (uint64_t)room[0]; /* so that it is here for as long */
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int a = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0, b = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
	if (!strcmp(what, "shares"))
		shares(a);
	else if (!strcmp(what, "sleeps"))
		sleeps(a, b);
	else if (!strcmp(what, "kids"))
		kids(a, b);
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "locks"))
		locks(a, b);
	else if (!strcmp(what, "echo"))
		echo(a);
	else if (!strcmp(what, "jit"))
		jit(a);
	else if (!strcmp(what, "hold"))
		hold(argv[2]);
	else if (!strcmp(what, "faults"))
		faults(a);
	else if (!strcmp(what, "deep"))
		deep(a, b);
	else
		return 2;
	return 0;
}
