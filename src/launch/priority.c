#include "launch/priority.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#define BEST_NICE (-20)

bool priority_is_allowed(void)
{
	errno = 0;
	int usual = getpriority(PRIO_PROCESS, 0);
	if (errno || setpriority(PRIO_PROCESS, 0, BEST_NICE))
		return false;
	return !setpriority(PRIO_PROCESS, 0, usual); /* lowering is always allowed */
}

bool priority_take(void)
{
	bool has_nice = setsid() >= 0 && !setpriority(PRIO_PROCESS, 0, BEST_NICE);
	int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return has_nice; /* the kernel has no autogroups */
	bool has_group = has_nice && write(fd, "-20", 3) == 3;
	close(fd);
	return has_group;
}

static int set_class(int class, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	return sched_setscheduler(0, class, &param) ? -errno : 0;
}

bool priority_begin(void)
{
	return !set_class(SCHED_RR, 1);
}

void priority_end(void)
{
	set_class(SCHED_OTHER, 0);
}

int priority_pass_on(void)
{
	return sched_getscheduler(0) == SCHED_RR ? set_class(SCHED_OTHER, 0) : 0; /* other scheduling classes remain */
}
