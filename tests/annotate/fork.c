/* Forks inside spans: child and grandchild annotate, and leave blocks that the parent has begun. */
#include <sonde/sonde.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void wait_for(pid_t child)
{
	int status;
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
}

static void annotate(const char *who)
{
	SONDE_SPAN_AS(s, "work", "forked");
	sonde_arg_str(&s, "who", who);
	sonde_step("steps", 0, 1.5);
}

/* Returns in the child too: its end of the span is not the span's end. */
static pid_t fork_in_span(void)
{
	SONDE_SPAN_AS(s, "around fork");
	pid_t child = fork();
	sonde_arg_int(&s, "child", child);
	return child;
}

int main(void)
{
	annotate("parent");
	SONDE_SPAN("whole");
	pid_t child = fork_in_span();
	if (!child) {
		annotate("child");
		pid_t grandchild = fork_in_span();
		if (!grandchild) {
			annotate("grandchild");
			_exit(0);
		}
		wait_for(grandchild);
		_exit(0);
	}
	wait_for(child);
	annotate("parent");
	return 0;
}
