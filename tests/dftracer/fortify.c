/* Entry points that -D_FORTIFY_SOURCE=2 calls instead; prints the name of each, for the test. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dftracer/dftracer.h>

extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int dir, const char *path, int flags);
extern int __openat64_2(int dir, const char *path, int flags);
extern ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
extern ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t room);
extern ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t room);
extern ssize_t __readlink_chk(const char *path, char *buf, size_t n, size_t room);
extern ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t n, size_t room);
extern char *__getcwd_chk(char *buf, size_t n, size_t room);
extern char *__realpath_chk(const char *path, char *buf, size_t room);
extern size_t __fread_chk(void *buf, size_t room, size_t size, size_t n, FILE *stream);
extern char *__fgets_chk(char *buf, size_t room, int n, FILE *stream);

#define SAY(name) puts(#name)

int main(int argc, char **argv)
{
	char bytes[64], path[4096], whole[4096];
	if (argc != 2)
		return 2;
	initialize_main(NULL, NULL, NULL);
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	int dir = open(argv[1], O_RDONLY | O_DIRECTORY), fd = open(path, O_RDWR | O_CREAT, 0600);
	write(fd, "a line\nanother\n", 15);
	symlinkat("file", dir, "link");
	lseek(fd, 0, SEEK_SET);
	__read_chk(fd, bytes, 4, sizeof(bytes)), __pread_chk(fd, bytes, 4, 0, sizeof(bytes));
	__pread64_chk(fd, bytes, 4, 0, sizeof(bytes));
	SAY(__read_chk);
	SAY(__pread_chk);
	SAY(__pread64_chk);
	close(__open_2(path, O_RDONLY)), close(__open64_2(path, O_RDONLY));
	close(__openat_2(dir, "file", O_RDONLY)), close(__openat64_2(dir, "file", O_RDONLY));
	SAY(__open_2);
	SAY(__open64_2);
	SAY(__openat_2);
	SAY(__openat64_2);
	__readlinkat_chk(dir, "link", bytes, sizeof(bytes), sizeof(bytes));
	snprintf(whole, sizeof(whole), "%.4000s/link", argv[1]);
	__readlink_chk(whole, bytes, sizeof(bytes), sizeof(bytes));
	SAY(__readlink_chk);
	SAY(__readlinkat_chk);
	__getcwd_chk(whole, sizeof(whole), sizeof(whole)), __realpath_chk(path, whole, sizeof(whole));
	SAY(__getcwd_chk);
	SAY(__realpath_chk);
	FILE *stream = fopen(path, "r");
	__fgets_chk(bytes, sizeof(bytes), 16, stream), __fread_chk(bytes, sizeof(bytes), 1, 4, stream);
	SAY(__fgets_chk);
	SAY(__fread_chk);
	fclose(stream);
	return 0;
}
