/* What is told and changed about files by their name or descriptor. */
#include "expect.h"

#include <fcntl.h>
#include <semaphore.h>
#include <shadow.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <utime.h>

int __xstat(int, const char *, struct stat *);
int __xstat64(int, const char *, struct stat *);
int __lxstat(int, const char *, struct stat *);
int __lxstat64(int, const char *, struct stat *);
int __fxstat(int, int, struct stat *);
int __fxstat64(int, int, struct stat *);
int __fxstatat(int, int, const char *, struct stat *, int);
int __fxstatat64(int, int, const char *, struct stat *, int);
int __xmknod(int, const char *, mode_t, dev_t *);
int __xmknodat(int, int, const char *, mode_t, dev_t *);
int __statfs(const char *, struct statfs *);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
char *__realpath_chk(const char *, char *, size_t);
#undef lchmod
int lchmod(const char *, mode_t);

static int r, fd, dir;
static const char *path, *missing;

/* A call on a path, once with one that is there and once with one that is not; a call on descriptors likewise. */
#define STAT(call, buf) \
	r = call("f", buf); \
	WANT(call, .path = path, .ret = r); \
	CHECK(r == 0); \
	r = call("missing", buf); \
	WANT(call, .path = missing, .ret = r)
#define FSTAT(call, buf) \
	r = call(fd, buf); \
	WANT(call, .fd = fd, .path = path, .ret = r); \
	CHECK(r == 0); \
	r = call(-1, buf); \
	WANT(call, .ret = r)

static void stats(void)
{
	struct stat st;
	struct stat64 st64;
	struct statfs fs;
	struct statfs64 fs64;
	struct statvfs vfs;
	struct statvfs64 vfs64;
	STAT(stat, &st);
	STAT(stat64, &st64);
	STAT(lstat, &st);
	STAT(lstat64, &st64);
	FSTAT(fstat, &st);
	FSTAT(fstat64, &st64);
	STAT(statfs, &fs);
	STAT(__statfs, &fs);
	STAT(statfs64, &fs64);
	FSTAT(fstatfs, &fs);
	FSTAT(fstatfs64, &fs64);
	STAT(statvfs, &vfs);
	STAT(statvfs64, &vfs64);
	FSTAT(fstatvfs, &vfs);
	FSTAT(fstatvfs64, &vfs64);
#define AT(call, buf) \
	r = call(dir, "g", buf, AT_SYMLINK_NOFOLLOW); \
	WANT(call, .path = P("d/g"), .ret = r, .args = F(" flags=%d", AT_SYMLINK_NOFOLLOW)); \
	CHECK(r == 0); \
	r = call(-5, "g", buf, 0); \
	WANT(call, .path = "g", .ret = r, .args = " flags=0")
	AT(fstatat, &st);
	AT(fstatat64, &st64);
	r = fstatat(fd, "", &st, AT_EMPTY_PATH);
	WANT(fstatat, .path = path, .ret = r, .args = F(" flags=%d", AT_EMPTY_PATH));
	r = stat("f", bad); /* the path was not at fault */
	WANT(stat, .path = path, .ret = r);
	r = stat(bad, &st);
	WANT(stat, .ret = r);
#define XSTAT(call) \
	r = call(1, "f", &st); \
	WANT(call, .path = path, .ret = r); \
	CHECK(r == 0)
	XSTAT(__xstat);
	XSTAT(__xstat64);
	XSTAT(__lxstat);
	XSTAT(__lxstat64);
#define FXSTAT(call) \
	r = call(1, fd, &st); \
	WANT(call, .fd = fd, .path = path, .ret = r); \
	CHECK(r == 0)
	FXSTAT(__fxstat);
	FXSTAT(__fxstat64);
#define FXSTATAT(call) \
	r = call(1, dir, "g", &st, 0); \
	WANT(call, .path = P("d/g"), .ret = r, .args = " flags=0"); \
	CHECK(r == 0)
	FXSTATAT(__fxstatat);
	FXSTATAT(__fxstatat64);
	struct statx stx;
	r = statx(dir, "g", 0, STATX_SIZE, &stx);
	WANT(statx, .path = P("d/g"), .ret = r, .args = F(" flags=0 mask=%d", STATX_SIZE));
	r = statx(AT_FDCWD, "missing", 0, 0, &stx);
	WANT(statx, .path = missing, .ret = r, .args = " flags=0 mask=0");
	long l = pathconf("f", _PC_NAME_MAX);
	WANT(pathconf, .path = path, .ret = l, .args = F(" name=%d", _PC_NAME_MAX));
	l = fpathconf(fd, _PC_NAME_MAX);
	WANT(fpathconf, .fd = fd, .path = path, .ret = l, .args = F(" name=%d", _PC_NAME_MAX));
	errno = 0;
	l = pathconf("f", 12345);
	WANT(pathconf, .path = path, .ret = l, .args = " name=12345");
	key_t key = ftok("f", 1);
	WANT(ftok, .path = path, .ret = key, .args = " project=1");
}

static void rights(void)
{
#define ACCESS(call) \
	r = call("f", R_OK); \
	WANT(call, .path = path, .ret = r, .args = F(" mode=%d", R_OK)); \
	r = call("missing", F_OK); \
	WANT(call, .path = missing, .ret = r, .args = " mode=0")
	ACCESS(access);
	ACCESS(euidaccess);
	ACCESS(eaccess);
	r = access(bad, 12345); /* EINVAL before anybody looks */
	WANT(access, .ret = r, .args = " mode=12345");
	r = faccessat(dir, "g", R_OK, 0);
	WANT(faccessat, .path = P("d/g"), .ret = r, .args = " mode=4 flags=0");
	r = faccessat(dir, "nothing", R_OK, AT_EACCESS);
	WANT(faccessat, .path = P("d/nothing"), .ret = r, .args = F(" mode=4 flags=%d", AT_EACCESS));
	r = chmod("f", 0600);
	WANT(chmod, .path = path, .ret = r, .args = F(" mode=%d", 0600));
	r = chmod("missing", 0600);
	WANT(chmod, .path = missing, .ret = r, .args = F(" mode=%d", 0600));
	r = lchmod("missing", 0600);
	WANT(lchmod, .path = missing, .ret = r, .args = F(" mode=%d", 0600));
	r = fchmod(fd, 0640);
	WANT(fchmod, .fd = fd, .path = path, .ret = r, .args = F(" mode=%d", 0640));
	r = fchmodat(dir, "g", 0644, 0);
	WANT(fchmodat, .path = P("d/g"), .ret = r, .args = F(" mode=%d flags=0", 0644));
#define CHOWN(call) \
	r = call("f", (uid_t)-1, (gid_t)-1); \
	WANT(call, .path = path, .ret = r, .args = " uid=-1 gid=-1"); \
	r = call("missing", 1, 2); \
	WANT(call, .path = missing, .ret = r, .args = " uid=1 gid=2")
	CHOWN(chown);
	CHOWN(lchown);
	r = fchown(fd, (uid_t)-1, (gid_t)-1);
	WANT(fchown, .fd = fd, .path = path, .ret = r, .args = " uid=-1 gid=-1");
	r = fchownat(dir, "g", (uid_t)-1, (gid_t)-1, 0);
	WANT(fchownat, .path = P("d/g"), .ret = r, .args = " uid=-1 gid=-1 flags=0");
	mode_t old = umask(022);
	WANT(umask, .ret = old, .args = F(" mask=%d", 022));
}

static void times(void)
{
#define TIMES(call) \
	r = call("f", NULL); \
	WANT(call, .path = path, .ret = r); \
	r = call("missing", NULL); \
	WANT(call, .path = missing, .ret = r)
	TIMES(utime);
	TIMES(utimes);
	TIMES(lutimes);
	FSTAT(futimes, NULL);
	FSTAT(futimens, NULL);
	r = futimesat(dir, "g", NULL);
	WANT(futimesat, .path = P("d/g"), .ret = r);
	r = utimensat(dir, "g", NULL, 0);
	WANT(utimensat, .path = P("d/g"), .ret = r, .args = " flags=0");
	r = utimensat(fd, NULL, NULL, 0);
	WANT(utimensat, .fd = fd, .path = path, .ret = r, .args = " flags=0");
}

static void names(void)
{
	char buf[4096], name[64];
	r = link("f", "hard");
	WANT(link, .path = path, .path2 = P("hard"), .ret = r);
	r = link("missing", "hard2");
	WANT(link, .path = missing, .path2 = P("hard2"), .ret = r);
	r = link("missing", bad); /* the kernel gave up before it came to the second */
	WANT(link, .path = missing, .ret = r);
	r = linkat(dir, "g", AT_FDCWD, "hard3", 0);
	WANT(linkat, .path = P("d/g"), .path2 = P("hard3"), .ret = r, .args = " flags=0");
	r = rename("hard", "moved");
	WANT(rename, .path = P("hard"), .path2 = P("moved"), .ret = r);
	r = rename("missing", "moved");
	WANT(rename, .path = missing, .path2 = P("moved"), .ret = r);
	r = renameat(AT_FDCWD, "moved", dir, "moved");
	WANT(renameat, .path = P("moved"), .path2 = P("d/moved"), .ret = r);
	r = renameat2(dir, "moved", AT_FDCWD, "moved", RENAME_NOREPLACE);
	WANT(renameat2, .path = P("d/moved"), .path2 = P("moved"), .ret = r, .args = " flags=1");
	r = renameat2(dir, bad, AT_FDCWD, "moved", 0xffff);
	WANT(renameat2, .ret = r, .args = " flags=65535");
	r = symlink("f", "soft");
	WANT(symlink, .path = P("soft"), .text = "f", .ret = r);
	r = symlink("f", "soft");
	WANT(symlink, .path = P("soft"), .text = "f", .ret = r);
	r = symlinkat("../f", dir, "soft");
	WANT(symlinkat, .path = P("d/soft"), .text = "../f", .ret = r);
#define READLINK(call, ...) \
	r = (int)call("soft", buf, 9, ##__VA_ARGS__); \
	WANT(call, .path = P("soft"), .size = 9, .ret = r); \
	CHECK(r == 1)
	READLINK(readlink);
	READLINK(__readlink_chk, sizeof(buf));
	r = (int)readlink("f", buf, 9);
	WANT(readlink, .path = path, .size = 9, .ret = r);
#define READLINKAT(call, ...) \
	r = (int)call(dir, "soft", buf, 9, ##__VA_ARGS__); \
	WANT(call, .path = P("d/soft"), .size = 9, .ret = r); \
	CHECK(r == 4)
	READLINKAT(readlinkat);
	READLINKAT(__readlinkat_chk, sizeof(buf));
#define REALPATH(call, ...) \
	CHECK(call(__VA_ARGS__)); \
	WANT(call, .path = P("soft"), .text = path, .ret = 0)
	REALPATH(realpath, "soft", buf);
	REALPATH(__realpath_chk, "soft", buf, sizeof(buf));
	REALPATH(canonicalize_file_name, "soft");
	CHECK(!realpath("missing", buf));
	WANT(realpath, .path = missing, .ret = -1);
	r = unlink("soft");
	WANT(unlink, .path = P("soft"), .ret = r);
	r = unlink("soft");
	WANT(unlink, .path = P("soft"), .ret = r);
	r = remove("moved");
	WANT(remove, .path = P("moved"), .ret = r);
	r = unlinkat(dir, "soft", 0);
	WANT(unlinkat, .path = P("d/soft"), .ret = r, .args = " flags=0");
	r = unlinkat(dir, "soft", 0);
	WANT(unlinkat, .path = P("d/soft"), .ret = r, .args = " flags=0");
	strcpy(name, "tXXXXXX");
	char *made = mktemp(name);
	WANT(mktemp, .path = P(made));
	made = tempnam(".", "p");
	WANT(tempnam, .path = made[0] == '/' ? made : P(made), .ret = 0);
	made = tmpnam(name);
	WANT(tmpnam, .path = made, .ret = 0);
	made = tmpnam_r(name);
	WANT(tmpnam_r, .path = made, .ret = 0);
}

static void nodes(void)
{
	dev_t device = makedev(1, 3);
	r = mknod("n1", S_IFIFO | 0600, 0);
	WANT(mknod, .path = P("n1"), .ret = r, .args = F(" mode=%d device=0", S_IFIFO | 0600));
	r = mknod("n1", S_IFIFO | 0600, 0);
	WANT(mknod, .path = P("n1"), .ret = r, .args = F(" mode=%d device=0", S_IFIFO | 0600));
	r = mknodat(dir, "n2", S_IFIFO | 0600, device);
	WANT(mknodat, .path = P("d/n2"), .ret = r, .args = F(" mode=%d device=%lu", S_IFIFO | 0600, device));
	r = __xmknod(0, "n3", S_IFIFO | 0600, &device);
	WANT(__xmknod, .path = P("n3"), .ret = r, .args = F(" mode=%d", S_IFIFO | 0600));
	r = __xmknodat(0, dir, "n4", S_IFIFO | 0600, &device);
	WANT(__xmknodat, .path = P("d/n4"), .ret = r, .args = F(" mode=%d", S_IFIFO | 0600));
	r = mkfifo("n5", 0600);
	WANT(mkfifo, .path = P("n5"), .ret = r, .args = F(" mode=%d", 0600));
	r = mkfifo("n5", 0600);
	WANT(mkfifo, .path = P("n5"), .ret = r, .args = F(" mode=%d", 0600));
	r = mkfifoat(dir, "n6", 0600);
	WANT(mkfifoat, .path = P("d/n6"), .ret = r, .args = F(" mode=%d", 0600));
	sem_t *sem = sem_open("/sonde-test", O_CREAT, 0600, 2);
	WANT(sem_open, .text = "/sonde-test", .ret = sem ? 0 : -1,
			.args = F(" flags=%d mode=%d value=2", O_CREAT, 0600));
	r = sem_close(sem);
	WANT(sem_close, .ret = r);
	r = sem_unlink("/sonde-test");
	WANT(sem_unlink, .text = "/sonde-test", .ret = r);
	r = sem_unlink("/sonde-test");
	WANT(sem_unlink, .text = "/sonde-test", .ret = r);
	r = shm_unlink("/sonde-missing");
	WANT(shm_unlink, .text = "/sonde-missing", .ret = r);
}

static void attributes(void)
{
	char buf[256];
	const char *name = "user.sonde";
#define SET(call) \
	r = call("f", name, "abc", 3, 0); \
	WANT(call, .path = path, .text = name, .size = 3, .ret = r, .args = " flags=0")
	SET(setxattr);
	SET(lsetxattr);
	r = fsetxattr(fd, name, "abcd", 4, 0);
	WANT(fsetxattr, .fd = fd, .path = path, .text = name, .size = 4, .ret = r, .args = " flags=0");
#define GET(call) \
	r = (int)call("f", name, buf, 100); \
	WANT(call, .path = path, .text = name, .size = 100, .ret = r); \
	r = (int)call("f", "user.none", buf, 100); \
	WANT(call, .path = path, .text = "user.none", .size = 100, .ret = r)
	GET(getxattr);
	GET(lgetxattr);
	r = (int)fgetxattr(fd, name, buf, 100);
	WANT(fgetxattr, .fd = fd, .path = path, .text = name, .size = 100, .ret = r);
#define LIST(call) \
	r = (int)call("f", buf, 100); \
	WANT(call, .path = path, .size = 100, .ret = r)
	LIST(listxattr);
	LIST(llistxattr);
	r = (int)flistxattr(fd, buf, 100);
	WANT(flistxattr, .fd = fd, .path = path, .size = 100, .ret = r);
#define REMOVE(call) \
	r = call("f", name); \
	WANT(call, .path = path, .text = name, .ret = r)
	REMOVE(removexattr);
	REMOVE(lremovexattr);
	r = fremovexattr(fd, name);
	WANT(fremovexattr, .fd = fd, .path = path, .text = name, .ret = r);
	r = (int)getxattr("f", bad, buf, 1);
	WANT(getxattr, .path = path, .size = 1, .ret = r);
}

static void locks(void)
{
	r = flock(fd, LOCK_EX | LOCK_NB);
	WANT(flock, .fd = fd, .path = path, .ret = r, .args = F(" operation=%d", LOCK_EX | LOCK_NB));
	r = flock(-1, LOCK_EX);
	WANT(flock, .ret = r, .args = F(" operation=%d", LOCK_EX));
	r = lockf(fd, F_TLOCK, 10);
	WANT(lockf, .fd = fd, .path = path, .size = 10, .ret = r, .args = F(" cmd=%d", F_TLOCK));
	r = lockf64(fd, F_ULOCK, 10);
	WANT(lockf64, .fd = fd, .path = path, .size = 10, .ret = r, .args = F(" cmd=%d", F_ULOCK));
	r = lckpwdf();
	WANT(lckpwdf, .ret = r);
	r = ulckpwdf();
	WANT(ulckpwdf, .ret = r);
}

static void terminals(void)
{
	struct termios t;
	int tty = raw_open("/dev/ptmx", O_RDWR | O_NOCTTY);
	const char *name = KEEP(fd_path(tty));
	r = isatty(tty);
	WANT(isatty, .fd = tty, .path = name, .ret = r);
	CHECK(r == 1);
	r = isatty(fd);
	WANT(isatty, .fd = fd, .path = path, .ret = r, .err = errno);
	r = tcgetattr(tty, &t);
	WANT(tcgetattr, .fd = tty, .path = name, .ret = r);
	r = tcgetattr(fd, &t);
	WANT(tcgetattr, .fd = fd, .path = path, .ret = r);
	r = tcsetattr(tty, TCSANOW, &t);
	WANT(tcsetattr, .fd = tty, .path = name, .ret = r, .args = F(" actions=%d", TCSANOW));
	r = tcdrain(fd);
	WANT(tcdrain, .fd = fd, .path = path, .ret = r);
	r = tcflush(tty, TCIFLUSH);
	WANT(tcflush, .fd = tty, .path = name, .ret = r, .args = F(" queue=%d", TCIFLUSH));
	r = tcflow(fd, TCOON);
	WANT(tcflow, .fd = fd, .path = path, .ret = r, .args = F(" action=%d", TCOON));
	r = tcsendbreak(fd, 0);
	WANT(tcsendbreak, .fd = fd, .path = path, .ret = r, .args = " duration=0");
	r = tcgetpgrp(fd);
	WANT(tcgetpgrp, .fd = fd, .path = path, .ret = r);
	r = tcsetpgrp(fd, 1);
	WANT(tcsetpgrp, .fd = fd, .path = path, .ret = r, .args = " group=1");
	r = tcgetsid(fd);
	WANT(tcgetsid, .fd = fd, .path = path, .ret = r);
}

int main(void)
{
	raw(SYS_mkdirat, -100, "d", 0700);
	raw_file("f", "0123456789");
	raw_file("d/g", "01234");
	path = KEEP(P("f"));
	missing = KEEP(P("missing"));
	fd = raw_open("f", O_RDWR);
	dir = raw_open("d", O_RDONLY);
	stats();
	rights();
	times();
	names();
	nodes();
	attributes();
	locks();
	terminals();
	return ended();
}
