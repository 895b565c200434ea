/*
 * Calls on files of every kind, in the directory that is given: built static and dynamic, both shall leave the same
 * table io, the one by its system calls and the other by the tracer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void use(long result)
{
	(void)result; /* failures are part of it */
}

static void data(void)
{
	char b[100];
	struct stat st;
	struct iovec v[2] = { { .iov_base = (char[]){ "abc" }, .iov_len = 3 },
		{ .iov_base = (char[]){ "defg" }, .iov_len = 4 } };
	int fd = open("a", O_RDWR | O_CREAT | O_TRUNC, 0640);
	use(write(fd, "hello world", 11));
	use(lseek(fd, 2, SEEK_SET));
	use(read(fd, b, 5));
	use(pread(fd, b, 3, 1));
	use(pwrite(fd, "zz", 2, 0));
	use(writev(fd, v, 2));
	use(lseek(fd, 0, SEEK_SET));
	use(readv(fd, v, 2));
	use(fsync(fd));
	use(fdatasync(fd));
	use(fstat(fd, &st));
	use(ftruncate(fd, 50));
	use(fchmod(fd, 0600));
	use(posix_fadvise(fd, 0, 50, POSIX_FADV_WILLNEED));
	void *at = mmap(NULL, 50, PROT_READ, MAP_SHARED, fd, 0);
	use(munmap(at, 50));
	use(close(fd));
	use(close(fd));
	use(read(999, b, 1));
}

static void names(void)
{
	struct stat st;
	char b[100];
	use(stat("a", &st));
	use(lstat("a", &st));
	use(stat("missing", &st));
	use(access("missing", R_OK));
	use(mkdir("d", 0755));
	int dir = open("d", O_RDONLY | O_DIRECTORY);
	int fd = openat(dir, "f", O_CREAT | O_WRONLY, 0600);
	use(write(fd, "x", 1));
	int second = dup(fd);
	use(write(second, "y", 1));
	use(dup2(fd, 50));
	use(write(50, "z", 1));
	use(close(50));
	use(fcntl(fd, F_SETFL, O_APPEND));
	use(write(fd, "w", 1));
	use(close(second));
	use(close(fd));
	use(fstatat(dir, "f", &st, AT_SYMLINK_NOFOLLOW));
	use(unlinkat(dir, "f", 0));
	use(close(dir));
	use(rename("a", "d/b"));
	use(link("d/b", "l"));
	use(symlink("target", "s"));
	use(readlink("s", b, sizeof(b)));
	use(chmod("l", 0600));
	use(truncate("l", 7));
	use(unlink("l"));
	use(unlink("s"));
	use(chdir("d"));
	use(unlink("b"));
	use(chdir(".."));
	use(rmdir("d"));
	use(open("missing", O_RDONLY));
}

static void child(void)
{
	int shared = open("shared", O_CREAT | O_RDWR, 0600);
	use(write(shared, "one", 3));
	pid_t pid = fork();
	if (!pid) {
		use(write(shared, "two", 3));
		int own = open("own", O_CREAT | O_WRONLY, 0600);
		use(write(own, "kid", 3));
		use(close(own));
		use(unlink("own"));
		_exit(3);
	}
	use(waitpid(pid, NULL, 0));
	use(write(shared, "three", 5));
	use(close(shared));
	use(unlink("shared"));
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]))
		return 2;
	data();
	names();
	child();
	return 7;
}
