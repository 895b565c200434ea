/* A handler that jumps out of whatever it interrupts, over and over; then 20000 calls that all must be seen. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { JUMPS = 1000, CALLS = 20000 };

static sigjmp_buf back;

static void on_signal(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void timer(suseconds_t every)
{
	struct itimerval t = { { 0, every }, { 0, every } };
	setitimer(ITIMER_REAL, &t, NULL);
}

int main(void)
{
	char buf[16];
	volatile int jumps = 0;
	int fd = open("/dev/zero", O_RDONLY);
	struct sigaction action = { .sa_handler = on_signal };
	sigaction(SIGALRM, &action, NULL);
	sigsetjmp(back, 1);
	if (jumps++ < JUMPS) {
		timer(100);
		for (;;)
			(void)!pread(fd, buf, sizeof(buf), 0);
	}
	timer(0);
	signal(SIGALRM, SIG_IGN);
	for (int i = 0; i < CALLS; i++)
		(void)!pread(fd, buf, 3, 0);
	return 0;
}
