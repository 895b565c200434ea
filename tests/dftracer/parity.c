/*
 * Calls that DFTracer traces in its second and in development versions; prints the name of each, for the test.
 *
 *	parity DIRECTORY
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <dftracer/dftracer.h>

#define SAY(name) puts(#name)

static void on_descriptors(int dir)
{
	char bytes[64] = "some bytes";
	struct iovec iov = { .iov_base = bytes, .iov_len = 8 };
	struct stat st;
	struct stat64 st64;
	int fd = openat64(dir, "a", O_RDWR | O_CREAT, 0600);
	SAY(openat64);
	writev(fd, &iov, 1), pwritev(fd, &iov, 1, 8), preadv(fd, &iov, 1, 0);
	SAY(writev);
	SAY(pwritev);
	SAY(preadv);
	lseek(fd, 0, SEEK_SET), readv(fd, &iov, 1);
	SAY(readv);
	fstat(fd, &st), fstat64(fd, &st64);
	SAY(fstat);
	SAY(fstat64);
	fchmod(fd, 0640), fchown(fd, getuid(), getgid());
	SAY(fchmod);
	SAY(fchown);
	ftruncate64(fd, 4096);
	SAY(ftruncate64);
	fcntl64(fd, F_GETFL);
	SAY(fcntl64);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	madvise(at, 4096, MADV_NORMAL), mprotect(at, 4096, PROT_READ | PROT_WRITE), msync(at, 4096, MS_SYNC);
	mlock(at, 4096), munlock(at, 4096), mlockall(MCL_CURRENT), munlockall(), munmap(at, 4096);
	SAY(mmap);
	SAY(madvise);
	SAY(mprotect);
	SAY(msync);
	SAY(mlock);
	SAY(munlock);
	SAY(mlockall);
	SAY(munlockall);
	SAY(munmap);
	posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL), posix_fallocate(fd, 0, 4096);
	SAY(posix_fadvise);
	SAY(posix_fallocate);
	int copy = openat(dir, "b", O_RDWR | O_CREAT, 0600);
	copy_file_range(fd, &(off_t){ 0 }, copy, &(off_t){ 0 }, 64, 0);
	SAY(copy_file_range);
	close(copy), close(fd);
}

static void on_paths(int dir, const char *directory)
{
	char path[4096];
	struct stat st;
	struct stat64 st64;
	snprintf(path, sizeof(path), "%s/a", directory);
	stat(path, &st), lstat(path, &st), stat64(path, &st64), fstatat(dir, "a", &st, 0);
	SAY(stat);
	SAY(lstat);
	SAY(stat64);
	SAY(fstatat);
	fchmodat(dir, "a", 0600, 0), fchownat(dir, "a", getuid(), getgid(), 0);
	SAY(fchmodat);
	SAY(fchownat);
	mkdirat(dir, "d", 0700), unlinkat(dir, "d", AT_REMOVEDIR), renameat(dir, "b", dir, "c");
	SAY(mkdirat);
	SAY(unlinkat);
	SAY(renameat);
	truncate64(path, 10);
	SAY(truncate64);
	snprintf(path, sizeof(path), "%s/node", directory);
	mknod(path, S_IFREG | 0600, 0);
	SAY(mknod);
	free(realpath(path, NULL));
	free(getcwd(NULL, 0));
	SAY(getcwd);
}

static void on_the_machine(void)
{
	int ends[2];
	if (!pipe(ends))
		close(ends[0]), close(ends[1]);
	SAY(pipe);
	if (!pipe2(ends, O_CLOEXEC))
		close(ends[0]), close(ends[1]);
	SAY(pipe2);
	sysconf(_SC_PAGESIZE);
	SAY(sysconf);
}

static void on_directories(const char *directory)
{
	DIR *dir = opendir(directory);
	dirfd(dir);
	SAY(dirfd);
	readdir(dir), readdir64(dir), rewinddir(dir), closedir(dir);
	SAY(opendir);
	SAY(readdir);
	SAY(readdir64);
	SAY(rewinddir);
	SAY(closedir);
}

static void on_streams(const char *directory)
{
	char path[4096], word[16] = "";
	snprintf(path, sizeof(path), "%s/stream", directory);
	FILE *stream = fdopen(open(path, O_RDWR | O_CREAT, 0600), "w+");
	SAY(fdopen);
	fpos64_t place;
	fprintf(stream, "word %d\n", 1), fflush(stream);
	puts("fprintf|__fprintf_chk");
	SAY(fflush);
	fseeko(stream, 0, SEEK_SET), ftello(stream), fseeko64(stream, 0, SEEK_SET), ftello64(stream);
	SAY(fseeko);
	SAY(ftello);
	SAY(fseeko64);
	SAY(ftello64);
	fgetpos64(stream, &place), fsetpos64(stream, &place);
	SAY(fgetpos64);
	SAY(fsetpos64);
	fileno(stream), feof(stream), ferror(stream), clearerr(stream);
	SAY(fileno);
	SAY(feof);
	SAY(ferror);
	SAY(clearerr);
	flockfile(stream), funlockfile(stream);
	if (!ftrylockfile(stream))
		funlockfile(stream);
	SAY(flockfile);
	SAY(funlockfile);
	SAY(ftrylockfile);
	fscanf(stream, "%15s", word);
	puts("fscanf|__isoc99_fscanf|__isoc23_fscanf");
	fclose(stream);
	fclose(tmpfile()), fclose(tmpfile64());
	SAY(tmpfile);
	SAY(tmpfile64);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	initialize_main(NULL, NULL, NULL);
	int dir = open(argv[1], O_RDONLY | O_DIRECTORY);
	on_descriptors(dir);
	on_paths(dir, argv[1]);
	on_the_machine();
	on_directories(argv[1]);
	on_streams(argv[1]);
	return 0;
}
