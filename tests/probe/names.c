/*
 * Files whose names can be known only for a while. What is written to a file tells which it was: 1 byte to "one", 2
 * to "two", 3 to "three".
 *
 *	names lasting DIR	files that stay open until the recorder, our parent, has gone round some times
 *	names fast DIR N	descriptors that become another file's again and again, in every way
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 40

static const char *const names[] = { NULL, "one", "two", "three" };

static int open_nth(int n)
{
	return open(names[n], O_CREAT | O_WRONLY | O_TRUNC, 0600);
}

static void write_nth(int fd, int n)
{
	if (write(fd, "abc", (size_t)n) != n)
		_exit(4);
}

/* How often the recorder has waited for something. */
static long rounds(void)
{
	char path[64], line[256];
	long n = -1;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "voluntary_ctxt_switches:", 24))
			n = strtol(line + 24, NULL, 10);
	if (f)
		fclose(f);
	return n;
}

static int last(void)
{
	int fds[4] = { -1, open_nth(1), open_nth(2), open_nth(3) };
	int pair = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink("three"); /* it has a name still */
	for (long from = rounds(); from >= 0 && rounds() < from + ROUNDS;)
		usleep(1000);
	for (int n = 1; n <= 3; n++)
		write_nth(fds[n], n);
	int again = dup(fds[2]);
	write_nth(again, 2);
	close(fds[1]);
	close(again);
	close(fds[2]);
	if (lseek(fds[3], 0, SEEK_SET))
		return 3;
	write_nth(fds[3], 3);
	close(fds[3]);
	close(pair);
	return 0;
}

/* For a while that is now shorter and now longer than what the recorder needs for a look. */
static void dwell(unsigned *seed)
{
	unsigned us = (unsigned)rand_r(seed) % 4000;
	if (us > 1000)
		usleep(us);
}

static void *reopen(void *arg)
{
	unsigned seed = 7;
	for (long i = 0; i < (long)arg; i++) {
		int n = 1 + (int)(rand_r(&seed) % 3), fd = open_nth(n);
		dwell(&seed);
		write_nth(fd, n);
		close(fd);
	}
	return NULL;
}

/* The same number, by other calls than close: an older descriptor is put over it, a range is closed, it is renamed. */
static void replace(long count)
{
	unsigned seed = 3;
	for (long i = 0; i < count; i++) {
		int two = open_nth(2), one = open_nth(1);
		dwell(&seed);
		switch (rand_r(&seed) % 3) {
		case 0:
			write_nth(dup2(two, one), 2);
			break;
		case 1:
			write_nth(one, 1);
			if (syscall(SYS_close_range, one, one, 0))
				_exit(5);
			one = -1;
			break;
		default:
			write_nth(one, 1);
			rename("one", "other");
			unlink("other");
		}
		close(one);
		close(two);
	}
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc < 3 || chdir(argv[2]))
		return 2;
	if (argc == 3)
		return last();
	long count = strtol(argv[3], NULL, 10);
	/* First alone, where all that is done is done to one number; then by two threads at once. */
	reopen((void *)count);
	replace(count);
	if (pthread_create(&t, NULL, reopen, (void *)count))
		return 6;
	replace(count);
	pthread_join(t, NULL);
	return 0;
}
