/* Processes: starting, waiting, ending; each record under the pid whose it is. */
#include "expect.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

pid_t __fork(void);
pid_t __vfork(void);
pid_t __wait(int *);
pid_t __waitpid(pid_t, int *, int);
int __clone(int (*)(void *), void *, int, void *, ...);

extern char **environ;
static const char *self;
static int r, status;
static volatile pid_t child;

static void reap(pid_t pid)
{
	CHECK(raw(SYS_wait4, pid, &status, 0, NULL) == pid);
	CHECK(status == 0);
}

/* What a child does: something that shows whose it is. */
static void act(const char *name)
{
	r = access(name, F_OK);
	WANT(access, .path = name, .ret = r, .args = " mode=0");
}

static void forks(void)
{
#define FORK(call) \
	child = call(); \
	WANT(call, .ret = child); \
	if (child == 0) { \
		act("/in-" #call); \
		raw(SYS_exit_group, 0); \
	} \
	reap(child)
	FORK(fork);
	FORK(__fork);
	FORK(_Fork);
}

/* A vfork child has its parent's memory but descriptors, directory and pid of its own. */
static void vforks(void)
{
	const char *path = KEEP(P("f"));
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	WANT(open, .fd = fd, .path = path, .ret = fd, .args = F(" flags=%d mode=%d", O_RDWR | O_CREAT, 0600));
#define VFORK(call) \
	child = call(); \
	if (child == 0) { \
		int other = open("/dev/null", O_RDONLY); \
		WANT(open, .fd = other, .path = "/dev/null", .ret = other, .args = " flags=0"); \
		r = dup2(other, fd); \
		WANT(dup2, .fd = other, .path = "/dev/null", .ret = r, .args = F(" to=%d", fd)); \
		r = (int)read(fd, &r, 1); \
		WANT(read, .fd = fd, .path = "/dev/null", .size = 1, .ret = r); \
		r = chdir("/"); \
		WANT(chdir, .path = "/", .ret = r); \
		r = access("tmp", F_OK); \
		WANT(access, .path = "//tmp", .ret = r, .args = " mode=0"); \
		WANT(_exit, .args = " status=0 no_end"); \
		_exit(0); \
	} \
	WANT(call, .ret = child); \
	reap(child); \
	r = (int)write(fd, "x", 1); /* still its own file; where it stands is not known any more */ \
	WANT(write, .fd = fd, .path = path, .size = 1, .ret = r); \
	r = access("f", F_OK); \
	WANT(access, .path = path, .ret = r, .args = " mode=0")
	VFORK(vfork);
	VFORK(__vfork);
	child = vfork(); /* one within another */
	if (child == 0) {
		static volatile pid_t grandchild;
		grandchild = vfork();
		if (grandchild == 0) {
			act("/in-grandchild");
			raw(SYS_exit_group, 0);
		}
		WANT(vfork, .ret = grandchild);
		act("/in-child");
		raw(SYS_exit_group, 0);
	}
	WANT(vfork, .ret = child);
	act("/in-parent");
	reap(child);
	child = vfork(); /* and one that becomes another program */
	if (child == 0) {
		WANT(execl, .kind = "EXEC", .path = self, .args = " blind=0 no_end");
		execl(self, self, "child", "/after-vfork", NULL);
	}
	WANT(vfork, .ret = child);
	reap(child);
}

static int in_clone(void *name)
{
	act(name);
	raw(SYS_exit, 0);
	return 0;
}

static void clones(void)
{
	size_t size = 1 << 16;
	char *stack = (char *)raw(SYS_mmap, 0, size, (PROT_READ | PROT_WRITE), (MAP_PRIVATE | MAP_ANONYMOUS), -1, 0);
	int plain = SIGCHLD, shared = CLONE_VM | CLONE_VFORK | SIGCHLD;
#define CLONE(call, flags) \
	child = call(in_clone, stack + size, flags, (void *)"/in-" #call); \
	WANT(call, .ret = child, .args = F(" flags=%d", flags)); \
	reap(child)
	CLONE(clone, plain);
	CLONE(clone, shared);
	CLONE(__clone, shared);
	child = clone(NULL, stack, 0, NULL);
	WANT(clone, .ret = child, .args = " flags=0");
	act("/after-clone");
	/* through syscall() there is no room for a frame of ours */
	child = (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		act("/in-raw-clone");
		raw(SYS_exit_group, 0);
	}
	reap(child);
	cannot("syscall", "only looked at in passing, never recorded");
}

static void terminals(void)
{
	int master;
	child = forkpty(&master, NULL, NULL, NULL);
	if (child == 0) {
		WANT(forkpty, .ret = 0, .args = " master=-1");
		r = (int)write(1, "x", 1);
		WANT(write, .fd = 1, .path = fd_path(1), .size = 1, .ret = r);
		raw(SYS_exit_group, 0);
	}
	WANT(forkpty, .fd = master, .path = fd_path(master), .ret = child, .args = F(" master=%d", master));
	reap(child);
	int ends[2]; /* for us to see when it is over */
	raw(SYS_pipe2, ends, 0);
	child = (int)raw(SYS_fork);
	if (child == 0) {
		WANT(daemon, .args = " nochdir=0 noclose=0 no_end");
		r = daemon(0, 0); /* comes back as somebody else */
		WANT(daemon, .ret = r, .args = " nochdir=0 noclose=0");
		r = access("tmp", F_OK);
		WANT(access, .path = "//tmp", .ret = r, .args = " mode=0");
		r = (int)write(1, "x", 1);
		WANT(write, .fd = 1, .path = "/dev/null", .size = 1, .ret = r);
		raw(SYS_exit_group, 0);
	}
	reap(child);
	raw_close(ends[1]);
	CHECK(raw(SYS_read, ends[0], &r, 1) == 0);
}

static void spawns(void)
{
	pid_t pid;
	char *argv[] = { (char *)(uintptr_t)self, "child", "/spawned", NULL }, *none[] = { NULL };
	r = posix_spawn(&pid, self, NULL, NULL, argv, environ);
	WANT(posix_spawn, .path = self, .ret = r, .args = F(" pid=%d blind=0", pid));
	reap(pid);
	char *quiet[] = { (char *)(uintptr_t)self, "quiet", NULL };
	r = posix_spawn(&pid, self, NULL, NULL, quiet, none); /* without an environment it is seen all the same */
	WANT(posix_spawn, .path = self, .ret = r, .args = F(" pid=%d blind=0", pid));
	reap(pid);
	WANT(exit, .args = " no_end", .pid = pid, .tid = pid);
	char *tru[] = { "true", NULL };
	r = posix_spawnp(&pid, "true", NULL, NULL, tru, environ);
	WANT(posix_spawnp, .path = "/usr/bin/true", .ret = r, .args = F(" pid=%d blind=0", pid));
	reap(pid);
	r = posix_spawn(&pid, "missing", NULL, NULL, tru, environ);
	WANT(posix_spawn, .path = P("missing"), .ret = r, .err = r, .args = " pid=0 blind=0");
	r = posix_spawnp(&pid, "no-such-program", NULL, NULL, tru, environ);
	WANT(posix_spawnp, .text = "no-such-program", .ret = r, .err = r, .args = " pid=0 blind=0");
}

static void shells(void)
{
	r = system("exit 3");
	CHECK(WEXITSTATUS(r) == 3);
	WANT(system, .text = "exit 3", .ret = r);
	r = system(F("exec %s child /by-system", self));
	WANT(system, .text = F("exec %s child /by-system", self), .ret = r);
	FILE *f = popen("echo hi", "r");
	int fd = fileno(f);
	const char *path = KEEP(fd_path(fd));
	WANT(popen, .fd = fd, .path = path, .text = "echo hi", .ret = fd);
	char buf[16];
	CHECK(fgets(buf, sizeof(buf), f) && !strcmp(buf, "hi\n"));
	WANT(fgets, .fd = fd, .path = path, .size = sizeof(buf), .ret = 3);
	r = pclose(f);
	WANT(pclose, .fd = fd, .path = path, .ret = r);
	CHECK(!popen("x", "z"));
	WANT(popen, .text = "x", .ret = -1);
	wordexp_t words;
	r = wordexp("a $(echo b)", &words, 0);
	CHECK(r == 0 && words.we_wordc == 2);
	WANT(wordexp, .text = "a $(echo b)", .ret = r, .args = " flags=0");
	for (char **e = environ; *e; e++) /* what was put in for the shell is gone again */
		CHECK(strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "SONDE_RING=", 11));
}

static pid_t child_of_status(int code)
{
	pid_t pid = (int)raw(SYS_fork);
	if (pid == 0)
		raw(SYS_exit_group, code);
	return pid;
}

static void waits(void)
{
	struct rusage usage;
	siginfo_t info;
#define WAIT(call, arguments, before) \
	child = child_of_status(5); \
	r = call arguments; \
	CHECK(r == child && status == 5 << 8); \
	WANT(call, .ret = r, .args = F("%s status=%d", before, status))
	WAIT(wait, (&status), "");
	WAIT(__wait, (&status), "");
	WAIT(waitpid, (child, &status, 0), F(" pid=%d options=0", child));
	WAIT(__waitpid, (child, &status, 0), F(" pid=%d options=0", child));
	WAIT(wait3, (&status, 0, &usage), " options=0");
	WAIT(wait4, (child, &status, 0, &usage), F(" pid=%d options=0", child));
	child = child_of_status(0);
	r = waitid(P_PID, (id_t)child, &info, WEXITED);
	WANT(waitid, .ret = r, .args = F(" idtype=%d id=%d options=%d", P_PID, child, WEXITED));
	child = child_of_status(0);
	r = waitpid(child, NULL, 0); /* no status where nobody asked */
	WANT(waitpid, .ret = r, .args = F(" pid=%d options=0", child));
	r = wait(&status);
	WANT(wait, .ret = r);
	r = waitid(P_PID, 1, &info, WEXITED);
	WANT(waitid, .ret = r, .args = F(" idtype=%d id=1 options=%d", P_PID, WEXITED));
}

static void ends(void)
{
#define END(call) \
	child = (int)raw(SYS_fork); \
	if (child == 0) { \
		WANT(call, .args = " status=0 no_end"); \
		call(0); \
	} \
	reap(child)
	END(exit);
	END(_exit);
	END(_Exit);
	END(quick_exit);
	child = (int)raw(SYS_fork);
	if (child == 0) {
		WANT(abort, .args = " no_end");
		abort();
	}
	raw(SYS_wait4, child, &status, 0, NULL);
	CHECK(WTERMSIG(status) == SIGABRT);
}

static void rights(void)
{
	gid_t group = (gid_t)raw(SYS_getgid);
	int uid = (int)raw(SYS_getuid), gid = (int)group;
#define ID(call, arguments, ...) \
	r = call arguments; \
	WANT(call, .ret = r, .args = F(__VA_ARGS__))
	ID(setuid, (uid), " uid=%d", uid);
	ID(seteuid, (uid), " euid=%d", uid);
	ID(setreuid, (-1, uid), " uid=-1 euid=%d", uid);
	ID(setresuid, (-1, -1, -1), " uid=-1 euid=-1 suid=-1");
	ID(setgid, (gid), " gid=%d", gid);
	ID(setegid, (gid), " egid=%d", gid);
	ID(setregid, (-1, gid), " gid=-1 egid=%d", gid);
	ID(setresgid, (-1, -1, -1), " gid=-1 egid=-1 sgid=-1");
	ID(setfsuid, (uid), " uid=%d", uid);
	ID(setfsgid, (gid), " gid=%d", gid);
	ID(setgroups, (1, &group), " count=1");
	ID(unshare, (0), " flags=0");
	ID(unshare, (0x1), " flags=1");
	ID(setns, (-1, 0), " type=0");
	ID(prctl, (PR_GET_DUMPABLE, 0, 0, 0, 0), " option=%d arg=0", PR_GET_DUMPABLE);
	ID(prctl, (12345, 7, 0, 0, 0), " option=12345 arg=7");
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "child")) {
		act(argv[2]);
		return ended();
	}
	if (argc == 2 && !strcmp(argv[1], "quiet"))
		return 0;
	self = argv[0];
	forks();
	vforks();
	clones();
	terminals();
	spawns();
	shells();
	waits();
	ends();
	rights();
	return ended();
}
