/*
 * The calls of DFTracer's own C test, in a program of ours: three regions, a stream, a child that becomes `ls`.
 *
 *	accept LOG-FILE|- DIRECTORY
 */
#include <dftracer/dftracer.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(const char *directory)
{
	DFTRACER_C_FUNCTION_START()
	DFTRACER_C_FUNCTION_UPDATE_INT("key", 0)
	DFTRACER_C_FUNCTION_UPDATE_STR("name", "value")
	char path[4096];
	snprintf(path, sizeof(path), "%s/stream.dat", directory);
	DFTRACER_C_REGION_START(CUSTOM)
	FILE *stream = fopen(path, "w+");
	if (stream) {
		fwrite("hello", 1, 5, stream);
		fclose(stream);
	}
	DFTRACER_C_REGION_START(CUSTOM_BLOCK)
	DFTRACER_C_REGION_UPDATE_INT(CUSTOM_BLOCK, "inner", 7)
	DFTRACER_C_REGION_END(CUSTOM_BLOCK)
	DFTRACER_C_REGION_END(CUSTOM)
	DFTRACER_C_FUNCTION_END()
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	int pid = -1;
	DFTRACER_C_INIT(strcmp(argv[1], "-") ? argv[1] : NULL, NULL, &pid)
	DFTRACER_C_METADATA(meta, "key", "value")
	work(argv[2]);
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/ls", "ls", argv[2], (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	DFTRACER_C_FINI();
	return 0;
}
