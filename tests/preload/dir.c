/* Directories: streams, walks, and the current one. */
#include "expect.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char *__getcwd_chk(char *, size_t, size_t);
char *__getwd_chk(char *, size_t);
int pivot_root(const char *, const char *);

static int r;
static const char *path;

static void streams(void)
{
	DIR *d = opendir("d");
	int fd = dirfd(d);
	WANT(opendir, .fd = fd, .path = path, .ret = fd);
	struct dirent *e = readdir(d);
	WANT(readdir, .fd = fd, .path = path, .text = e->d_name, .ret = 1);
	struct dirent64 *e64 = readdir64(d);
	WANT(readdir64, .fd = fd, .path = path, .text = e64->d_name, .ret = 1);
	rewinddir(d);
	WANT(rewinddir, .fd = fd, .path = path);
	struct dirent entry, *found;
	r = readdir_r(d, &entry, &found);
	WANT(readdir_r, .fd = fd, .path = path, .text = entry.d_name, .ret = r);
	struct dirent64 entry64, *found64;
	r = readdir64_r(d, &entry64, &found64);
	WANT(readdir64_r, .fd = fd, .path = path, .text = entry64.d_name, .ret = r);
	long at = telldir(d);
	WANT(telldir, .fd = fd, .path = path, .ret = at);
	seekdir(d, at);
	WANT(seekdir, .fd = fd, .path = path, .offset = at);
	errno = ENOENT; /* of something that happened before */
	while ((e = readdir(d)))
		WANT(readdir, .fd = fd, .path = path, .text = e->d_name, .ret = 1);
	WANT(readdir, .fd = fd, .path = path, .ret = 0);
	r = readdir_r(d, &entry, &found);
	WANT(readdir_r, .fd = fd, .path = path, .ret = r);
	r = closedir(d);
	WANT(closedir, .fd = fd, .path = path, .ret = r);
	r = closedir(NULL);
	WANT(closedir, .ret = r);
	CHECK(!opendir("missing"));
	WANT(opendir, .path = P("missing"), .ret = -1);
	fd = raw_open("d", O_RDONLY);
	char buf[4096];
	off_t base = 0;
	ssize_t n = getdents64(fd, buf, sizeof(buf));
	WANT(getdents64, .fd = fd, .path = path, .size = sizeof(buf), .ret = n);
	raw(SYS_lseek, fd, 0, 0);
	n = getdirentries(fd, buf, sizeof(buf), &base);
	WANT(getdirentries, .fd = fd, .path = path, .size = sizeof(buf), .ret = n);
	n = getdirentries64(fd, buf, sizeof(buf), &base);
	WANT(getdirentries64, .fd = fd, .path = path, .size = sizeof(buf), .ret = n);
	n = getdents64(-1, buf, 1);
	WANT(getdents64, .size = 1, .ret = n);
	d = fdopendir(fd);
	WANT(fdopendir, .fd = fd, .path = path, .ret = fd);
	CHECK(d);
	CHECK(!fdopendir(-1));
	WANT(fdopendir, .ret = -1);
}

static int filter(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int filter64(const struct dirent64 *e)
{
	return e->d_name[0] != '.';
}

/* A callback may make calls of its own, inside the one that is being recorded. */
static int visit(const char *name, const struct stat *st, int flag)
{
	r = access(name, F_OK);
	WANT(access, .path = P(name), .ret = r, .args = " mode=0");
	return 0;
}

static int visit64(const char *name, const struct stat64 *st, int flag)
{
	return 7;
}

static int nvisit(const char *name, const struct stat *st, int flag, struct FTW *ftw)
{
	return 0;
}

static int nvisit64(const char *name, const struct stat64 *st, int flag, struct FTW *ftw)
{
	return 0;
}

static void walks(void)
{
	struct dirent **list;
	struct dirent64 **list64;
	r = scandir("d", &list, filter, alphasort);
	WANT(scandir, .path = path, .ret = r);
	CHECK(r == 2);
	r = scandir64("d", &list64, filter64, alphasort64);
	WANT(scandir64, .path = path, .ret = r);
	r = scandirat(AT_FDCWD, "d", &list, filter, alphasort);
	WANT(scandirat, .path = path, .ret = r);
	r = scandirat64(AT_FDCWD, "d", &list64, filter64, alphasort64);
	WANT(scandirat64, .path = path, .ret = r);
	r = scandir("missing", &list, NULL, NULL);
	WANT(scandir, .path = P("missing"), .ret = r);
	glob_t found;
	glob64_t found64;
	r = glob("d/*", 0, NULL, &found);
	WANT(glob, .text = "d/*", .ret = r, .args = " flags=0");
	r = glob64("none*", 0, NULL, &found64);
	WANT(glob64, .text = "none*", .ret = r, .args = " flags=0");
	CHECK(r == GLOB_NOMATCH);
	r = ftw("d", visit, 4);
	WANT(ftw, .path = path, .ret = r, .args = " depth=4");
	r = ftw64("d", visit64, 4);
	WANT(ftw64, .path = path, .ret = r, .args = " depth=4");
	r = nftw("d", nvisit, 4, FTW_PHYS);
	WANT(nftw, .path = path, .ret = r, .args = F(" depth=4 flags=%d", FTW_PHYS));
	errno = 0;
	r = nftw64("missing", nvisit64, 4, 0);
	WANT(nftw64, .path = P("missing"), .ret = r, .args = " depth=4 flags=0");
	char *const paths[] = { "d", NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	WANT(fts_open, .path = path, .ret = 0, .args = F(" flags=%d", FTS_PHYSICAL | FTS_NOCHDIR));
	FTSENT *e = fts_read(tree);
	WANT(fts_read, .text = e->fts_path, .ret = 1);
	CHECK(fts_children(tree, 0));
	WANT(fts_children, .ret = 1, .args = " options=0");
	r = fts_close(tree);
	WANT(fts_close, .ret = r);
	FTS64 *tree64 = fts64_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	WANT(fts64_open, .path = path, .ret = 0, .args = F(" flags=%d", FTS_PHYSICAL | FTS_NOCHDIR));
	FTSENT64 *e64 = fts64_read(tree64);
	WANT(fts64_read, .text = e64->fts_path, .ret = 1);
	CHECK(fts64_children(tree64, 0));
	WANT(fts64_children, .ret = 1, .args = " options=0");
	r = fts64_close(tree64);
	WANT(fts64_close, .ret = r);
	CHECK(!fts_open(paths, 0xffff, NULL));
	WANT(fts_open, .ret = -1, .args = F(" flags=%d", 0xffff));
}

static void making(void)
{
	char name[] = "tXXXXXX", wrong[] = "t";
	int dir = raw_open("d", O_RDONLY);
	r = mkdir("new", 0700);
	WANT(mkdir, .path = P("new"), .ret = r, .args = F(" mode=%d", 0700));
	r = mkdir("new", 0700);
	WANT(mkdir, .path = P("new"), .ret = r, .args = F(" mode=%d", 0700));
	r = mkdirat(dir, "sub", 0700);
	WANT(mkdirat, .path = P("d/sub"), .ret = r, .args = F(" mode=%d", 0700));
	r = rmdir("new");
	WANT(rmdir, .path = P("new"), .ret = r);
	r = rmdir("d");
	WANT(rmdir, .path = path, .ret = r);
	CHECK(mkdtemp(name));
	WANT(mkdtemp, .path = P(name), .ret = 0);
	CHECK(!mkdtemp(wrong));
	WANT(mkdtemp, .path = P(wrong), .ret = -1);
}

static void current(void)
{
	char buf[4096], top[4096];
	strcpy(top, P(""));
	top[strlen(top) - 1] = '\0';
	int back = raw_open(".", O_RDONLY);
	r = chdir("d/sub");
	WANT(chdir, .path = F("%s/d/sub", top), .ret = r);
	r = access("../f", F_OK); /* relative to where we are now */
	WANT(access, .path = F("%s/d/sub/../f", top), .ret = r, .args = " mode=0");
	CHECK(r == 0);
	r = chdir("missing");
	WANT(chdir, .path = F("%s/d/sub/missing", top), .ret = r);
	const char *here = KEEP(F("%s/d/sub", top));
	CHECK(getcwd(buf, sizeof(buf)));
	WANT(getcwd, .path = here, .size = sizeof(buf), .ret = 0);
	CHECK(!getcwd(buf, 2));
	WANT(getcwd, .size = 2, .ret = -1);
	CHECK(__getcwd_chk(buf, 4096, sizeof(buf)));
	WANT(__getcwd_chk, .path = here, .size = 4096, .ret = 0);
	CHECK(getwd(buf));
	WANT(getwd, .path = here, .ret = 0);
	CHECK(__getwd_chk(buf, sizeof(buf)));
	WANT(__getwd_chk, .path = here, .ret = 0);
	CHECK(get_current_dir_name());
	WANT(get_current_dir_name, .path = here, .ret = 0);
	r = fchdir(back);
	WANT(fchdir, .fd = back, .path = top, .ret = r);
	r = access("d", F_OK);
	WANT(access, .path = path, .ret = r, .args = " mode=0");
	r = fchdir(-1);
	WANT(fchdir, .ret = r);
}

static void roots(void)
{
	int child = (int)raw(SYS_fork), status;
	if (child == 0)
		raw(SYS_exit_group, chroot("d")); /* from inside it could not reach the file of expectations */
	raw(SYS_wait4, child, &status, 0, NULL);
	CHECK(status == 0);
	WANT(chroot, .path = path, .ret = 0, .pid = child, .tid = child);
	r = chroot("missing");
	WANT(chroot, .path = P("missing"), .ret = r);
	r = pivot_root("missing", "d");
	WANT(pivot_root, .path = P("missing"), .path2 = path, .ret = r);
}

int main(void)
{
	raw(SYS_mkdirat, -100, "d", 0700);
	raw_file("d/f", "x");
	raw_file("d/g", "x");
	path = KEEP(P("d"));
	streams();
	walks();
	making();
	current();
	roots();
	return ended();
}
