/*
 * Becoming another program: every form of exec, and programs that cannot be
 * traced, which must run as if nobody had tried. What they print on stderr is
 * kept: the loader would complain there.
 *
 * Arguments: paths of a static and of a musl program, or "-" where there is none.
 */
#include "expect.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *self;
static int r, status;

/* Runs `last` in a child, which must end with 0. */
#define IN_CHILD(last) \
	do { \
		int child = (int)raw(SYS_fork); \
		if (child == 0) { \
			last; \
			raw(SYS_exit_group, 111); \
		} \
		CHECK(raw(SYS_wait4, child, &status, 0, NULL) == child); \
		CHECK(status == 0); \
	} while (0)

#define BECOMES(call, where) WANT(call, .kind = "EXEC", .path = where, .args = " blind=0 no_end")

static void forms(void)
{
	char *argv[] = { (char *)(uintptr_t)self, "child", "/became", NULL };
	char *empty[] = { KEEP(F("WANT_FILE=%s", getenv("WANT_FILE"))), NULL };
	IN_CHILD(BECOMES(execve, self); execve(self, argv, environ));
	IN_CHILD(BECOMES(execve, self); execve(self, argv, empty)); /* cleaned, but traced */
	IN_CHILD(BECOMES(execv, self); execv(self, argv));
	IN_CHILD(BECOMES(execvp, self); execvp(self, argv));
	IN_CHILD(BECOMES(execvpe, self); execvpe(self, argv, environ));
	IN_CHILD(BECOMES(execl, self); execl(self, self, "child", "/became", NULL));
	IN_CHILD(BECOMES(execlp, self); execlp(self, self, "child", "/became", NULL));
	IN_CHILD(BECOMES(execle, self); execle(self, self, "child", "/became", NULL, environ));
	IN_CHILD(BECOMES(execlp, "/usr/bin/true"); execlp("true", "true", NULL));
	IN_CHILD(BECOMES(execveat, self); execveat(AT_FDCWD, self, argv, environ, 0));
	int fd = raw_open(self, O_RDONLY);
	IN_CHILD(WANT(execveat, .kind = "EXEC", .fd = fd, .path = self, .args = " blind=0 no_end");
			execveat(fd, "", argv, environ, AT_EMPTY_PATH));
	IN_CHILD(WANT(fexecve, .kind = "EXEC", .fd = fd, .path = self, .args = " blind=0 no_end");
			fexecve(fd, argv, environ));
	raw_file("script", F("#! %s child\n", self));
	raw(SYS_fchmodat, -100, "script", 0755);
	IN_CHILD(BECOMES(execl, P("script")); execl(P("script"), "x", NULL));
	char big[1200][8], *envp[1202];
	for (int i = 0; i < 1200; i++) {
		snprintf(big[i], sizeof(big[i]), "A%d=1", i);
		envp[i] = big[i];
	}
	envp[1200] = empty[0];
	envp[1201] = NULL;
	IN_CHILD(BECOMES(execve, self); execve(self, argv, envp)); /* more than fits on the stack */
}

static void failures(void)
{
	char *argv[] = { "x", NULL };
#define FAILS(call, arguments, where) \
	BECOMES(call, where); \
	r = call arguments; \
	WANT(call, .path = where, .ret = r)
	FAILS(execve, ("missing", argv, environ), P("missing"));
	FAILS(execv, ("missing", argv), P("missing"));
	FAILS(execl, ("./missing", "x", NULL), P("./missing"));
	FAILS(execle, ("missing", "x", NULL, environ), P("missing"));
	FAILS(execvp, ("./missing", argv), P("./missing"));
	FAILS(execve, (".", argv, environ), P("."));
	FAILS(execveat, (AT_FDCWD, "missing", argv, environ, 0), P("missing"));
	r = execvp("no-such-program", argv);
	WANT(execvp, .text = "no-such-program", .ret = r);
	r = execvpe("no-such-program", argv, environ);
	WANT(execvpe, .text = "no-such-program", .ret = r);
	r = execlp("no-such-program", "x", NULL);
	WANT(execlp, .text = "no-such-program", .ret = r);
	WANT(execve, .kind = "EXEC", .args = " blind=0 no_end");
	r = execve(bad, argv, environ);
	WANT(execve, .ret = r);
	WANT(fexecve, .kind = "EXEC", .args = " blind=0 no_end");
	r = fexecve(-1, argv, environ);
	WANT(fexecve, .ret = r);
}

/* Programs that libsonde cannot enter. */
#define UNSEEN(where, why) WANT(execl, .kind = "EXEC", .path = where, .args = F(" blind=%d no_end blind", why))
enum { STATIC = 1, SETUID, FOREIGN, DARK, UNREACHABLE };

static void run_untraced(const char *program, int why)
{
	IN_CHILD(UNSEEN(program, why); execl(program, program, NULL));
}

/* An executable that is a header and no more. */
static void fake_elf(const char *name, unsigned char class, unsigned machine)
{
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', class, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_EXEC };
	e.e_machine = (Elf64_Half)machine;
	int fd = raw_open(name, O_WRONLY | O_CREAT);
	raw(SYS_write, fd, &e, sizeof(e));
	raw_close(fd);
	raw(SYS_fchmodat, -100, name, 0755);
}

static void copy(const char *from, const char *to)
{
	int in = raw_open(from, O_RDONLY), out = raw_open(to, O_WRONLY | O_CREAT | O_TRUNC);
	while (raw(SYS_sendfile, out, in, NULL, 1 << 20) > 0)
		;
	raw_close(in);
	raw_close(out);
	raw(SYS_fchmodat, -100, to, 0755);
}

static void unseen(const char *static_program, const char *musl_program)
{
	if (*static_program != '-') {
		run_untraced(static_program, STATIC);
		raw_file("static-script", F("#!%s\n", static_program));
		raw(SYS_fchmodat, -100, "static-script", 0755);
		run_untraced(P("static-script"), STATIC);
	}
	if (*musl_program != '-')
		run_untraced(musl_program, FOREIGN);
	fake_elf("other", ELFCLASS64, EM_AARCH64);
	UNSEEN(P("other"), FOREIGN);
	r = execl(P("other"), "x", NULL);
	WANT(execl, .path = P("other"), .ret = r);
	fake_elf("old", ELFCLASS32, EM_386);
	UNSEEN(P("old"), FOREIGN);
	r = execl(P("old"), "x", NULL);
	WANT(execl, .path = P("old"), .ret = r);
}

static void privileged(void)
{
	const char *program = KEEP(P("privileged"));
	copy("/usr/bin/true", "privileged");
	raw(SYS_fchownat, -100, "privileged", 1, 1, 0);
	raw(SYS_fchmodat, -100, "privileged", 04755);
	run_untraced(program, SETUID);
	raw(SYS_fchownat, -100, "privileged", 0, 0, 0); /* root's own: nothing changes for root */
	raw(SYS_fchmodat, -100, "privileged", 04755);
	IN_CHILD(BECOMES(execl, program); execl(program, program, NULL));
}

/* Behind a chroot there is no libsonde to load. */
static void imprisoned(const char *static_program)
{
	if (*static_program == '-')
		return;
	raw(SYS_mkdirat, -100, "jail", 0755);
	raw(SYS_mkdirat, -100, "jail/lib64", 0755);
	copy(static_program, "jail/lib64/ld-linux-x86-64.so.2"); /* by its name one that would take LD_PRELOAD */
	int child = (int)raw(SYS_fork);
	if (child == 0) {
		chroot("jail");
		execl("/lib64/ld-linux-x86-64.so.2", "true", NULL);
		raw(SYS_exit_group, 111);
	}
	CHECK(raw(SYS_wait4, child, &status, 0, NULL) == child && status == 0);
	WANT(chroot, .path = P("jail"), .ret = 0, .pid = child, .tid = child);
	WANT(execl, .kind = "EXEC", .path = "/lib64/ld-linux-x86-64.so.2",
			.args = F(" blind=%d no_end blind", UNREACHABLE), .pid = child, .tid = child);
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "child")) {
		r = access(argv[2], F_OK);
		WANT(access, .path = argv[2], .ret = r, .args = " mode=0");
		return ended();
	}
	self = argv[0];
	int err = raw_open("stderr", O_RDWR | O_CREAT);
	raw(SYS_dup2, err, 2);
	forms();
	failures();
	unseen(argc > 1 ? argv[1] : "-", argc > 2 ? argv[2] : "-");
	if (raw(SYS_getuid) == 0) {
		privileged();
		imprisoned(argc > 1 ? argv[1] : "-");
	}
	CHECK(raw(SYS_lseek, err, 0, SEEK_END) == 0); /* nobody has complained */
	return ended();
}
