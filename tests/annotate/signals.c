/* Annotations in the program and in a timer's handler; prints how many of each. */
#include <signal.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <sys/time.h>

#define ROUNDS 60000

static volatile sig_atomic_t handled;

static void handler(int number)
{
	(void)number;
	SONDE_SPAN_AS(s, "handler");
	sonde_arg_int(&s, "n", handled);
	{
		SONDE_SPAN("nested");
	}
	handled++;
}

int main(void)
{
	struct itimerval often = { .it_interval.tv_usec = 50, .it_value.tv_usec = 50 },
			 never = { .it_value.tv_usec = 0 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	sonde_is_on();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		SONDE_SPAN("outer");
		{
			SONDE_SPAN_AS(s, "inner");
			sonde_arg_int(&s, "i", i);
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("outer %d\ninner %d\nhandler %d\nnested %d\n", ROUNDS, ROUNDS, (int)handled, (int)handled);
	return 0;
}
