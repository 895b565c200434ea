/* Formatted input and output, narrow and wide, and wide characters. */
#include "expect.h"

#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

int __printf_chk(int, const char *, ...);
int __fprintf_chk(FILE *, int, const char *, ...);
int __vprintf_chk(int, const char *, va_list);
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __dprintf_chk(int, int, const char *, ...);
int __vdprintf_chk(int, int, const char *, va_list);
int __vfscanf(FILE *, const char *, va_list);
/* The header gives the plain names to the C99 functions; these are the old ones. */
int old_scanf(const char *, ...) __asm__("scanf");
int old_fscanf(FILE *, const char *, ...) __asm__("fscanf");
int old_vscanf(const char *, va_list) __asm__("vscanf");
int old_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");
int new_scanf(const char *, ...) __asm__("__isoc99_scanf");
int new_fscanf(FILE *, const char *, ...) __asm__("__isoc99_fscanf");
int new_vscanf(const char *, va_list) __asm__("__isoc99_vscanf");
int new_vfscanf(FILE *, const char *, va_list) __asm__("__isoc99_vfscanf");
int old_wscanf(const wchar_t *, ...) __asm__("wscanf");
int old_fwscanf(FILE *, const wchar_t *, ...) __asm__("fwscanf");
int old_vwscanf(const wchar_t *, va_list) __asm__("vwscanf");
int old_vfwscanf(FILE *, const wchar_t *, va_list) __asm__("vfwscanf");
int new_wscanf(const wchar_t *, ...) __asm__("__isoc99_wscanf");
int new_fwscanf(FILE *, const wchar_t *, ...) __asm__("__isoc99_fwscanf");
int new_vwscanf(const wchar_t *, va_list) __asm__("__isoc99_vwscanf");
int new_vfwscanf(FILE *, const wchar_t *, va_list) __asm__("__isoc99_vfwscanf");
int __wprintf_chk(int, const wchar_t *, ...);
int __fwprintf_chk(FILE *, int, const wchar_t *, ...);
int __vwprintf_chk(int, const wchar_t *, va_list);
int __vfwprintf_chk(FILE *, int, const wchar_t *, va_list);
wchar_t *__fgetws_chk(wchar_t *, size_t, int, FILE *);
wchar_t *__fgetws_unlocked_chk(wchar_t *, size_t, int, FILE *);
wint_t __wuflow(FILE *);
wint_t __wunderflow(FILE *);
wint_t __woverflow(FILE *, wint_t);

static FILE *f, *g;
static int fd, gd, r;
static const char *path, *g_path, *in_path, *out_path;

/* Passes variadic arguments on to a function that takes a va_list. */
#define WITH_LIST(name, call) \
	static int name(const void *format, ...) \
	{ \
		va_list ap; \
		va_start(ap, format); \
		int n = call; \
		va_end(ap); \
		return n; \
	}
WITH_LIST(do_vprintf, vprintf(format, ap))
WITH_LIST(do_vfprintf, vfprintf(f, format, ap))
WITH_LIST(do_vdprintf, vdprintf(fd, format, ap))
WITH_LIST(do_vprintf_chk, __vprintf_chk(1, format, ap))
WITH_LIST(do_vfprintf_chk, __vfprintf_chk(f, 1, format, ap))
WITH_LIST(do_vdprintf_chk, __vdprintf_chk(fd, 1, format, ap))
WITH_LIST(do_old_vscanf, old_vscanf(format, ap))
WITH_LIST(do_new_vscanf, new_vscanf(format, ap))
WITH_LIST(do_old_vfscanf, old_vfscanf(g, format, ap))
WITH_LIST(do_new_vfscanf, new_vfscanf(g, format, ap))
WITH_LIST(do_int_vfscanf, __vfscanf(g, format, ap))
WITH_LIST(do_vwprintf, vwprintf(format, ap))
WITH_LIST(do_vfwprintf, vfwprintf(f, format, ap))
WITH_LIST(do_vwprintf_chk, __vwprintf_chk(1, format, ap))
WITH_LIST(do_vfwprintf_chk, __vfwprintf_chk(f, 1, format, ap))
WITH_LIST(do_old_vwscanf, old_vwscanf(format, ap))
WITH_LIST(do_new_vwscanf, new_vwscanf(format, ap))
WITH_LIST(do_old_vfwscanf, old_vfwscanf(g, format, ap))
WITH_LIST(do_new_vfwscanf, new_vfwscanf(g, format, ap))

static FILE *open_stream(const char *name, const char *mode)
{
	FILE *stream = fopen(name, mode);
	CHECK(stream);
	WANT(fopen, .fd = fileno(stream), .path = P(name), .text = mode, .ret = fileno(stream));
	return stream;
}

static void output(void)
{
	f = open_stream("f", "w");
	fd = fileno(f);
#define OUT(call, way, to, where) \
	r = way; \
	CHECK(r == 9); \
	WANT(call, .fd = to, .path = where, .ret = r)
	OUT(printf, printf("%d %.1f %s\n", 42, 2.5, "x"), 1, out_path);
	OUT(__printf_chk, __printf_chk(1, "%d %.1f %s\n", 42, 2.5, "x"), 1, out_path);
	OUT(vprintf, do_vprintf("%d %.1f %s\n", 42, 2.5, "x"), 1, out_path);
	OUT(__vprintf_chk, do_vprintf_chk("%d %.1f %s\n", 42, 2.5, "x"), 1, out_path);
	OUT(fprintf, fprintf(f, "%d %.1f %s\n", 42, 2.5, "x"), fd, path);
	OUT(__fprintf_chk, __fprintf_chk(f, 1, "%d %.1f %s\n", 42, 2.5, "x"), fd, path);
	OUT(vfprintf, do_vfprintf("%d %.1f %s\n", 42, 2.5, "x"), fd, path);
	OUT(__vfprintf_chk, do_vfprintf_chk("%d %.1f %s\n", 42, 2.5, "x"), fd, path);
	fclose(f);
	WANT(fclose, .fd = fd, .path = path, .ret = 0);
	f = open_stream("f", "r");
	r = fprintf(f, "%d", 1);
	WANT(fprintf, .fd = fd, .path = path, .ret = r);
	fclose(f);
	WANT(fclose, .fd = fd, .path = path, .ret = 0);
	/* straight to a descriptor, whose offset is known as long as nobody else moves it */
	fd = open("f", O_RDWR);
	WANT(open, .fd = fd, .path = path, .ret = fd, .args = F(" flags=%d", O_RDWR));
#define TO_FD(call, way, at) \
	r = way; \
	CHECK(r == 9); \
	WANT(call, .fd = fd, .path = path, .offset = at, .ret = r)
	TO_FD(dprintf, dprintf(fd, "%d %.1f %s\n", 42, 2.5, "x"), 0);
	TO_FD(__dprintf_chk, __dprintf_chk(fd, 1, "%d %.1f %s\n", 42, 2.5, "x"), 9);
	TO_FD(vdprintf, do_vdprintf("%d %.1f %s\n", 42, 2.5, "x"), 18);
	TO_FD(__vdprintf_chk, do_vdprintf_chk("%d %.1f %s\n", 42, 2.5, "x"), 27);
	r = (int)write(fd, "x", 1);
	WANT(write, .fd = fd, .path = path, .size = 1, .offset = 36, .ret = r);
	r = dprintf(-1, "%d", 1);
	WANT(dprintf, .ret = r);
}

static void input(void)
{
	int a, b;
	raw_file("g", "1 2 3 4 5 6 7 8 9 10 11 12\n");
	g = open_stream("g", "r");
	gd = fileno(g);
#define IN(call, way, from, where) \
	r = way; \
	CHECK(r == 2); \
	WANT(call, .fd = from, .path = where, .ret = r)
	IN(fscanf, old_fscanf(g, "%d %d", &a, &b), gd, g_path);
	IN(__isoc99_fscanf, new_fscanf(g, "%d %d", &a, &b), gd, g_path);
	IN(vfscanf, do_old_vfscanf("%d %d", &a, &b), gd, g_path);
	IN(__isoc99_vfscanf, do_new_vfscanf("%d %d", &a, &b), gd, g_path);
	IN(__vfscanf, do_int_vfscanf("%d %d", &a, &b), gd, g_path);
	CHECK(a == 9 && b == 10);
	IN(scanf, old_scanf("%d %d", &a, &b), 0, in_path);
	IN(__isoc99_scanf, new_scanf("%d %d", &a, &b), 0, in_path);
	IN(vscanf, do_old_vscanf("%d %d", &a, &b), 0, in_path);
	IN(__isoc99_vscanf, do_new_vscanf("%d %d", &a, &b), 0, in_path);
	r = new_fscanf(g, "%d %d %d", &a, &b, &a); /* the end comes first */
	CHECK(r == 2);
	WANT(__isoc99_fscanf, .fd = gd, .path = g_path, .ret = r);
	r = new_fscanf(g, "%d", &a);
	WANT(__isoc99_fscanf, .fd = gd, .path = g_path, .ret = r, .err = 0);
	fclose(g);
	WANT(fclose, .fd = gd, .path = g_path, .ret = 0);
}

/* A stream is narrow or wide for good: standard input and output become wide in a child. */
static void wide_output(void)
{
	f = open_stream("f", "w");
	fd = fileno(f);
	OUT(wprintf, wprintf(L"%d %.1f %ls\n", 42, 2.5, L"x"), 1, out_path);
	OUT(__wprintf_chk, __wprintf_chk(1, L"%d %.1f %ls\n", 42, 2.5, L"x"), 1, out_path);
	OUT(vwprintf, do_vwprintf(L"%d %.1f %ls\n", 42, 2.5, L"x"), 1, out_path);
	OUT(__vwprintf_chk, do_vwprintf_chk(L"%d %.1f %ls\n", 42, 2.5, L"x"), 1, out_path);
	OUT(fwprintf, fwprintf(f, L"%d %.1f %ls\n", 42, 2.5, L"x"), fd, path);
	OUT(__fwprintf_chk, __fwprintf_chk(f, 1, L"%d %.1f %ls\n", 42, 2.5, L"x"), fd, path);
	OUT(vfwprintf, do_vfwprintf(L"%d %.1f %ls\n", 42, 2.5, L"x"), fd, path);
	OUT(__vfwprintf_chk, do_vfwprintf_chk(L"%d %.1f %ls\n", 42, 2.5, L"x"), fd, path);
	r = fputws(L"four", f);
	WANT(fputws, .fd = fd, .path = path, .size = 4, .ret = r);
	r = fputws_unlocked(L"five!", f);
	WANT(fputws_unlocked, .fd = fd, .path = path, .size = 5, .ret = r);
#define PUT(call, arguments, to, where) \
	CHECK(call arguments == L'x'); \
	CHECK(call arguments == L'x'); \
	WANT(call, .kind = "RUN", .fd = to, .path = where, .size = 2, .args = " calls=2")
	PUT(fputwc, (L'x', f), fd, path);
	PUT(putwc, (L'x', f), fd, path);
	PUT(fputwc_unlocked, (L'x', f), fd, path);
	PUT(putwc_unlocked, (L'x', f), fd, path);
	PUT(putwchar, (L'x'), 1, out_path);
	PUT(putwchar_unlocked, (L'x'), 1, out_path);
	r = (int)__woverflow(f, L'z');
	WANT(__woverflow, .fd = fd, .path = path, .ret = r);
	fclose(f);
	WANT(fclose, .fd = fd, .path = path, .ret = 0);
	f = open_stream("f", "r");
	r = fputws(L"x", f);
	WANT(fputws, .fd = fd, .path = path, .size = 1, .ret = r);
	fclose(f);
	WANT(fclose, .fd = fd, .path = path, .ret = 0);
}

static void wide_input(void)
{
	int a, b;
	wchar_t buf[32];
	raw_file("g", "1 2 3 4 5 6 7 8\nabcdefghijklmnop\nl1\nl2\nl3\nl4\n");
	g = open_stream("g", "r");
	gd = fileno(g);
	IN(fwscanf, old_fwscanf(g, L"%d %d", &a, &b), gd, g_path);
	IN(__isoc99_fwscanf, new_fwscanf(g, L"%d %d", &a, &b), gd, g_path);
	IN(vfwscanf, do_old_vfwscanf(L"%d %d", &a, &b), gd, g_path);
	IN(__isoc99_vfwscanf, do_new_vfwscanf(L"%d %d ", &a, &b), gd, g_path);
	CHECK(a == 7 && b == 8);
	IN(wscanf, old_wscanf(L"%d %d", &a, &b), 0, in_path);
	IN(__isoc99_wscanf, new_wscanf(L"%d %d", &a, &b), 0, in_path);
	IN(vwscanf, do_old_vwscanf(L"%d %d", &a, &b), 0, in_path);
	IN(__isoc99_vwscanf, do_new_vwscanf(L"%d %d", &a, &b), 0, in_path);
#define GET(call, arguments, from, where) \
	CHECK(call arguments != WEOF); \
	WANT(call, .kind = "RUN", .fd = from, .path = where, .size = 1, .args = " calls=1")
	GET(fgetwc, (g), gd, g_path);
	GET(getwc, (g), gd, g_path);
	GET(fgetwc_unlocked, (g), gd, g_path);
	GET(getwc_unlocked, (g), gd, g_path);
	GET(getwchar, (), 0, in_path);
	GET(getwchar_unlocked, (), 0, in_path);
	r = (int)__wunderflow(g);
	CHECK(r == L'e');
	WANT(__wunderflow, .fd = gd, .path = g_path, .ret = r);
	r = (int)__wuflow(g);
	WANT(__wuflow, .fd = gd, .path = g_path, .ret = r);
	r = (int)ungetwc(L'q', g);
	WANT(ungetwc, .fd = gd, .path = g_path, .ret = r, .args = F(" c=%d", L'q'));
#define LINE(call, arguments) \
	CHECK(call arguments); \
	WANT(call, .fd = gd, .path = g_path, .size = 30, .ret = 1)
	LINE(fgetws, (buf, 30, g));
	LINE(fgetws_unlocked, (buf, 30, g));
	LINE(__fgetws_chk, (buf, 32, 30, g));
	LINE(__fgetws_unlocked_chk, (buf, 32, 30, g));
	LINE(fgetws, (buf, 30, g));
	CHECK(!fgetws(buf, 30, g));
	WANT(fgetws, .fd = gd, .path = g_path, .size = 30, .ret = 0);
	fclose(g);
	WANT(fclose, .fd = gd, .path = g_path, .ret = 0);
}

static void standard_streams(void)
{
	raw_file("in", "1 2 3 4 5 6 7 8 9 10\nabc\n");
	raw(SYS_dup2, raw_open("in", O_RDONLY), 0);
	raw(SYS_dup2, raw_open("out", O_WRONLY | O_CREAT), 1);
}

int main(void)
{
	path = KEEP(P("f"));
	g_path = KEEP(P("g"));
	in_path = KEEP(P("in"));
	out_path = KEEP(P("out"));
	standard_streams();
	if (raw(SYS_fork) == 0) {
		wide_output();
		wide_input();
		raw(SYS_exit_group, 0);
	}
	int status;
	raw(SYS_wait4, -1, &status, 0, NULL);
	CHECK(status == 0);
	standard_streams();
	output();
	input();
	return ended();
}
