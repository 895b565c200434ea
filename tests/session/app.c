/*
 * An application that works in steps: app STEPS MILLISECONDS [FILE]. Prints the file's first line;
 * FAIL=1 makes it fail, STOP=FILE ends it when that is there, TOUCH=FILE has it make that and say what came of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	printf("touch: %s\n", fd < 0 ? strerror(errno) : "made");
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 0, pause_ms = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
	FILE *data = argc > 3 ? fopen(argv[3], "r") : NULL;
	const char *stop = getenv("STOP");
	char line[100] = "";

	if (data && fgets(line, sizeof(line), data))
		printf("data: %s", line);
	printf("colour: %s\n", getenv("COLOUR") ? getenv("COLOUR") : "none");
	if (getenv("TOUCH"))
		touch(getenv("TOUCH"));
	fflush(stdout);
	for (long i = 0; i < steps && !(stop && access(stop, F_OK) == 0); i++) {
		struct timespec pause = { .tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000 };

		{
			SONDE_SPAN("wait");
			nanosleep(&pause, NULL);
		}
		sonde_step("frame", i, (double)i);
		sonde_metric_add("frames", 1);
		sonde_rate("objects", 2);
	}
	sonde_metric_add("boxes", 40);
	sonde_metric_add("boxes", 2);
	sonde_metric_observe("latency_seconds", 0.25);
	sonde_metric_observe("latency_seconds", 0.75);
	sonde_metric_observe("latency_seconds", 1.0 / 0.0);
	return getenv("FAIL") ? 7 : 0;
}
