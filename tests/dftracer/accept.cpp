/*
 * The calls of DFTracer's own C++ test, in a program of ours, each as often as its trace of version 1 has them.
 *
 *	accept_cpp DIRECTORY
 */
#include <cstdio>
#include <cstdlib>
#include <dftracer/dftracer.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

static std::string directory;

static std::string in(const char *name)
{
	return directory + "/" + name;
}

static void descriptors()
{
	char bytes[8] = "seven..";
	int fd = open(in("file").c_str(), O_RDWR | O_CREAT, 0644);
	pwrite(fd, bytes, 8, 0);
	pread(fd, bytes, 8, 0);
	lseek(fd, 0, SEEK_SET);
	pwrite64(fd, bytes, 8, 8);
	pread64(fd, bytes, 8, 8);
	ftruncate(fd, 4);
	fsync(fd);
	fdatasync(fd);
	dup2(fd, 100);
	int duplicate = fcntl(fd, F_DUPFD, 101);
	fcntl(fd, F_GETFD);
	fcntl(fd, F_GETFL);
	close(duplicate);
	close(100);
	close(fd);
	close(creat64(in("created").c_str(), 0644));
	int dir = open(directory.c_str(), O_RDONLY | O_DIRECTORY);
	int by_dir = openat(dir, "file", O_RDONLY);
	openat(AT_FDCWD, in("file").c_str(), O_RDONLY);
	faccessat(dir, "file", R_OK, 0);
	linkat(dir, "file", dir, "linked", 0);
	symlinkat("file", dir, "pointer");
	char target[64];
	readlinkat(dir, "pointer", target, sizeof(target));
	close(by_dir);
}

static void paths()
{
	chdir(directory.c_str());
	chmod(in("file").c_str(), 0600);
	chown(in("file").c_str(), getuid(), getgid());
	lchown(in("file").c_str(), getuid(), getgid());
	link(in("file").c_str(), in("second").c_str());
	symlink(in("file").c_str(), in("soft").c_str());
	mkfifo(in("fifo").c_str(), 0600);
	truncate(in("file").c_str(), 2);
	utime(in("file").c_str(), nullptr);
	remove(in("second").c_str());
	remove(in("soft").c_str());
	unlink(in("fifo").c_str());
}

static void foo()
{
	DFTRACER_CPP_FUNCTION()
	DFTRACER_CPP_FUNCTION_UPDATE("key", 0)
	DFTRACER_CPP_FUNCTION_UPDATE("key", "text")
	DFTRACER_CPP_REGION(CUSTOM)
	DFTRACER_CPP_REGION_UPDATE(CUSTOM, "key", 0)
	descriptors();
	paths();
	DFTRACER_CPP_REGION_START(CUSTOM_BLOCK)
	DFTRACER_CPP_REGION_DYN_UPDATE(CUSTOM_BLOCK, "key", 0)
	FILE *stream = fopen(in("stream").c_str(), "w");
	fwrite("x", 1, 1, stream);
	fclose(stream);
	DFTRACER_CPP_REGION_END(CUSTOM_BLOCK);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	directory = argv[1];
	DFTRACER_CPP_INIT(nullptr, nullptr, nullptr)
	DFTRACER_CPP_METADATA(meta, "key", "value")
	foo();
	DFTRACER_CPP_FINI();
	return 0;
}
