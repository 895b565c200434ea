#include "cli/interrupt.h"

#include <stddef.h>

volatile sig_atomic_t interrupt_came;

static void on_signal(int signal)
{
	interrupt_came = 1;
}

void interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}
