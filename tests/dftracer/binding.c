/*
 * What binding must not change, and what it must reach.
 *
 *	binding plugin FILE PLUGIN...   write to FILE by way of each plugin, opened after the start
 *	binding fds FILE                print the descriptors that are open and the next one to come
 *	binding threads                 print how many threads libc and the kernel count
 *	binding pointer FILE            write by a pointer to write that was taken before the start
 */
#include <dftracer/dftracer.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/types.h>
#include <unistd.h>

static ssize_t (*const early)(int, const void *, size_t) = write;

static int plugins(char **argv)
{
	for (char **name = argv + 1; *name; name++) {
		void *handle = dlopen(*name, RTLD_LAZY);
		int (*go)(const char *, int) = handle ? (int (*)(const char *, int))dlsym(handle, "plugin_write")
						      : NULL;
		if (!go || go(argv[0], 5))
			return 1;
		dlclose(handle);
	}
	return 0;
}

static int descriptors(const char *path)
{
	DIR *dir = opendir("/proc/self/fd");
	for (struct dirent *e; (e = readdir(dir));)
		if (e->d_name[0] != '.')
			printf("%s ", e->d_name);
	closedir(dir);
	printf("next %d\n", open(path, O_RDWR | O_CREAT, 0600));
	return 0;
}

static int pointers(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	return early(fd, "abc", 3) != 3 || write(fd, "abc", 3) != 3;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	initialize_main(NULL, NULL, NULL);
	if (!strcmp(argv[1], "plugin"))
		return plugins(argv + 2);
	if (!strcmp(argv[1], "fds"))
		return descriptors(argv[2]);
	if (!strcmp(argv[1], "pointer"))
		return pointers(argv[2]);
	printf("single %d\n", __libc_single_threaded);
	return 0;
}
