/*
 * The loop measured by bench/dftracer: COUNT minimal calls or regions.
 *
 *   loop calls|regions COUNT
 *
 * calls: alternating 16-byte pwrite and pread on a file in the current directory. regions: DFTracer's C regions with
 * an integer and a text, empty inside.
 */
#include <dftracer/dftracer.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls(long count)
{
	char bytes[16] = "0123456789abcde";
	int fd = open("loop.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (long i = 0; i < count; i += 2)
		if (pwrite(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
				pread(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
			return 1;
	return close(fd);
}

static int regions(long count)
{
	for (long i = 0; i < count; i++) {
		DFTRACER_C_REGION_START(region)
		DFTRACER_C_REGION_UPDATE_INT(region, "index", (int)i)
		DFTRACER_C_REGION_UPDATE_STR(region, "what", "nothing")
		DFTRACER_C_REGION_END(region)
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	long count = strtol(argv[2], NULL, 10);
	DFTRACER_C_INIT(NULL, NULL, NULL)
	int status = strcmp(argv[1], "regions") ? calls(count) : regions(count);
	DFTRACER_C_FINI();
	return status;
}
