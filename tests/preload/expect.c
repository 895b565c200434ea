/* See expect.h. */
#include "expect.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>

void *volatile bad = (void *)8;

long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static void write_to(const char *variable, const char *text)
{
	const char *path = getenv(variable);
	long fd = path ? raw(SYS_openat, -100, path, (O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC), 0644) : 1;
	raw(SYS_write, fd, text, strlen(text));
	if (path)
		raw(SYS_close, fd);
}

__attribute__((format(printf, 4, 5))) static size_t add(char *line, size_t at, size_t room, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int n = at < room ? vsnprintf(line + at, room - at, format, ap) : 0;
	va_end(ap);
	return n > 0 ? at + (size_t)n : at;
}

void want(const struct want *w)
{
	static char line[4 * PATH_MAX];
	int kept = errno, err = w->err;
	size_t n = 0, room = sizeof(line);
	if (err == ERR_AUTO)
		err = w->ret == -1 ? kept : 0;
	n = add(line, n, room, "%s%d %d ", w->is_maybe ? "~" : "", w->pid ? w->pid : (int)raw(SYS_getpid),
			w->tid ? w->tid : (int)raw(SYS_gettid));
	n = add(line, n, room, "%s%s%s", w->kind ? w->kind : "", w->kind ? " " : "", w->call);
	if (w->fd >= 0)
		n = add(line, n, room, " fd=%d", w->fd);
	if (w->path)
		n = add(line, n, room, " path=%s", w->path);
	if (w->path2)
		n = add(line, n, room, " path2=%s", w->path2);
	if (w->text)
		n = add(line, n, room, " text=%s", w->text);
	if (w->size != NONE)
		n = add(line, n, room, " size=%lld", (long long)w->size);
	if (w->offset != NONE)
		n = add(line, n, room, " offset=%lld", (long long)w->offset);
	if (w->ret != NONE)
		n = add(line, n, room, " ret=%lld", (long long)w->ret);
	if (err)
		n = add(line, n, room, " errno=%s", strerrorname_np(err));
	n = add(line, n, room, "%s\n", w->args ? w->args : "");
	write_to("WANT_FILE", line);
	errno = kept;
}

int ended(void)
{
	WANT(exit, .args = " no_end");
	return 0;
}

void cannot(const char *call, const char *why)
{
	write_to("CANNOT_FILE", F("%s: %s\n", call, why));
}

void check(int is_true, const char *what, const char *file, int line)
{
	if (is_true)
		return;
	const char *text = F("%s:%d: not so: %s (errno %s)\n", file, line, what, strerrorname_np(errno));
	raw(SYS_write, 2, text, strlen(text));
	raw(SYS_exit_group, 1);
}

const char *F(const char *format, ...)
{
	static char texts[16][PATH_MAX];
	static unsigned next;
	char *text = texts[next++ % 16];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, PATH_MAX, format, ap);
	va_end(ap);
	return text;
}

const char *P(const char *relative)
{
	char cwd[PATH_MAX];
	raw(SYS_getcwd, cwd, sizeof(cwd));
	return F("%.2000s/%.2000s", cwd, relative);
}

const char *fd_path(int fd)
{
	char path[PATH_MAX];
	long n = raw(SYS_readlinkat, -100, F("/proc/self/fd/%d", fd), path, sizeof(path) - 1);
	return F("%.*s", n > 0 ? (int)n : 0, path);
}

void raw_file(const char *path, const char *content)
{
	long fd = raw(SYS_openat, -100, path, (O_WRONLY | O_CREAT | O_TRUNC), 0644);
	CHECK(fd >= 0);
	raw(SYS_write, fd, content, strlen(content));
	raw(SYS_close, fd);
}
