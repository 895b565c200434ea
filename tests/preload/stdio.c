/* Streams. */
#include "expect.h"

#include <err.h>
#include <error.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmtmsg.h>
#include <malloc.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#undef fread_unlocked
#undef fwrite_unlocked
#undef fgetc_unlocked
#undef getc_unlocked
#undef fputc_unlocked
#undef putc_unlocked
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
char *__fgets_unlocked_chk(char *, size_t, int, FILE *);
char *gets(char *);
char *__gets_chk(char *, size_t);
ssize_t __getdelim(char **, size_t *, int, FILE *);
int _IO_getc(FILE *);
int _IO_putc(int, FILE *);
int __uflow(FILE *);
int __underflow(FILE *);
int __overflow(FILE *, int);
void __assert_fail(const char *, const char *, unsigned, const char *);
void __assert_perror_fail(int, const char *, unsigned, const char *);
void __assert(const char *, const char *, int);

static FILE *f;
static int fd, r;
static const char *path;

static void reopen(const char *mode)
{
	f = fopen("f", mode);
	CHECK(f);
	fd = fileno(f);
	WANT(fopen, .fd = fd, .path = path, .text = mode, .ret = fd);
}

static void shut(void)
{
	r = fclose(f);
	WANT(fclose, .fd = fd, .path = path, .ret = r);
}

static void opens(void)
{
	reopen("w+");
	shut();
	f = fopen64("f", "r+");
	fd = fileno(f);
	WANT(fopen64, .fd = fd, .path = path, .text = "r+", .ret = fd);
	CHECK(!fopen("missing", "r"));
	WANT(fopen, .path = P("missing"), .text = "r", .ret = -1);
	CHECK(!fopen(bad, "z")); /* the mode is wrong: nobody has looked at the path */
	WANT(fopen, .text = "z", .ret = -1);
	CHECK(!fopen(bad, "r"));
	WANT(fopen, .text = "r", .ret = -1);
#define REOPEN(call) \
	f = call("g", "w", f); \
	CHECK(f); \
	WANT(call, .fd = fileno(f), .path = P("g"), .text = "w", .ret = fileno(f))
	REOPEN(freopen);
	REOPEN(freopen64);
	f = freopen(NULL, "r+", f);
	WANT(freopen, .fd = fileno(f), .path = P("g"), .text = "r+", .ret = fileno(f));
	fd = fileno(f);
	r = fclose(f);
	WANT(fclose, .fd = fd, .path = P("g"), .ret = r);
	int under = raw_open("f", O_RDWR);
	f = fdopen(under, "r+");
	WANT(fdopen, .fd = under, .path = path, .text = "r+", .ret = under);
	fd = under;
	shut();
	CHECK(!fdopen(-1, "r"));
	WANT(fdopen, .text = "r", .ret = -1);
#define TMPFILE(call) \
	f = call(); \
	CHECK(f); \
	WANT(call, .fd = fileno(f), .path = fd_path(fileno(f)), .ret = fileno(f))
	TMPFILE(tmpfile);
	TMPFILE(tmpfile64);
	char room[32], *text;
	wchar_t *wide;
	size_t n;
	CHECK(fmemopen(room, sizeof(room), "r"));
	WANT(fmemopen, .text = "r", .size = sizeof(room), .ret = 0);
	CHECK(!fmemopen(room, sizeof(room), "z"));
	WANT(fmemopen, .text = "z", .size = sizeof(room), .ret = -1);
	CHECK(open_memstream(&text, &n));
	WANT(open_memstream, .ret = 0);
	CHECK(open_wmemstream(&wide, &n));
	WANT(open_wmemstream, .ret = 0);
}

static void blocks(void)
{
	char buf[64];
	size_t n;
	reopen("w+");
#define WRITE(call) \
	n = call("abcdefgh\n", 3, 3, f); \
	WANT(call, .fd = fd, .path = path, .size = 9, .ret = (int64_t)n, .args = " item=3")
	WRITE(fwrite);
	WRITE(fwrite_unlocked);
	r = fflush(f);
	WANT(fflush, .fd = fd, .path = path, .ret = r);
	r = fflush_unlocked(NULL);
	WANT(fflush_unlocked, .ret = r);
	rewind(f);
	WANT(rewind, .fd = fd, .path = path);
#define READ(call, arguments) \
	n = call arguments; \
	WANT(call, .fd = fd, .path = path, .size = 4, .ret = (int64_t)n, .args = " item=2 bytes=4"); \
	CHECK(n == 2)
	READ(fread, (buf, 2, 2, f));
	READ(fread_unlocked, (buf, 2, 2, f));
	READ(__fread_chk, (buf, sizeof(buf), 2, 2, f));
	READ(__fread_unlocked_chk, (buf, sizeof(buf), 2, 2, f));
	errno = EACCES; /* of something before: the end of the file is no error */
	n = fread(buf, 1, 60, f);
	WANT(fread, .fd = fd, .path = path, .size = 60, .ret = (int64_t)n, .args = " item=1 bytes=2");
	CHECK(n == 2);
	rewind(f);
	WANT(rewind, .fd = fd, .path = path);
	n = fread(buf, 50, 1, f); /* the file ends within the item */
	CHECK(n == 0);
	WANT(fread, .fd = fd, .path = path, .size = 50, .ret = 0, .args = " item=50 bytes=18");
	shut();
	reopen("r");
	errno = 0;
	n = fwrite("x", 1, 1, f);
	WANT(fwrite, .fd = fd, .path = path, .size = 1, .ret = (int64_t)n, .err = EBADF, .args = " item=1");
	shut();
}

static void lines(void)
{
	char buf[64], *line = NULL;
	size_t room = 0;
	raw_file("f", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
	reopen("r");
#define GETS(call, arguments) \
	CHECK(call arguments); \
	WANT(call, .fd = fd, .path = path, .size = 20, .ret = (int64_t)strlen(buf))
	GETS(fgets, (buf, 20, f));
	GETS(fgets_unlocked, (buf, 20, f));
	GETS(__fgets_chk, (buf, sizeof(buf), 20, f));
	GETS(__fgets_unlocked_chk, (buf, sizeof(buf), 20, f));
	ssize_t n = getline(&line, &room, f);
	WANT(getline, .fd = fd, .path = path, .ret = n);
#define DELIM(call) \
	n = call(&line, &room, '\n', f); \
	WANT(call, .fd = fd, .path = path, .ret = n, .args = F(" delimiter=%d", '\n'))
	DELIM(getdelim);
	DELIM(__getdelim);
	CHECK(n == 6);
	n = getline(&line, &room, f);
	WANT(getline, .fd = fd, .path = path, .ret = n, .err = 0);
	CHECK(!fgets(buf, 20, f));
	WANT(fgets, .fd = fd, .path = path, .size = 20, .ret = 0);
	shut();
	reopen("w+");
	r = fputs("four", f);
	WANT(fputs, .fd = fd, .path = path, .size = 4, .ret = r);
	r = fputs_unlocked("five!", f);
	WANT(fputs_unlocked, .fd = fd, .path = path, .size = 5, .ret = r);
	r = putw(0x01020304, f);
	WANT(putw, .fd = fd, .path = path, .size = sizeof(int), .ret = r);
	rewind(f);
	WANT(rewind, .fd = fd, .path = path);
	r = getw(f);
	WANT(getw, .fd = fd, .path = path, .size = sizeof(int), .ret = r);
	r = ungetc('x', f);
	WANT(ungetc, .fd = fd, .path = path, .ret = r, .args = F(" c=%d", 'x'));
	shut();
	reopen("r");
	r = fputs("x", f);
	WANT(fputs, .fd = fd, .path = path, .size = 1, .ret = r);
	shut();
}

/* Standard input and output are files here. */
static void standard(void)
{
	char buf[64];
	int in = raw_open("in", O_RDWR | O_CREAT);
	const char *in_path = KEEP(P("in")), *out_path = KEEP(P("out"));
	raw(SYS_write, in, "first\nsecond\nthird\n", 19);
	raw(SYS_lseek, in, 0, 0);
	r = dup2(in, 0);
	WANT(dup2, .fd = in, .path = in_path, .ret = r, .args = " to=0");
	int out = raw_open("out", O_RDWR | O_CREAT);
	r = dup2(out, 1);
	WANT(dup2, .fd = out, .path = out_path, .ret = r, .args = " to=1");
	CHECK(gets(buf));
	WANT(gets, .fd = 0, .path = in_path, .ret = (int64_t)strlen(buf));
	CHECK(__gets_chk(buf, sizeof(buf)));
	WANT(__gets_chk, .fd = 0, .path = in_path, .ret = (int64_t)strlen(buf));
	for (int i = 0; i < 2; i++)
		CHECK(getchar() != EOF);
	WANT(getchar, .kind = "RUN", .fd = 0, .path = in_path, .size = 2, .args = " calls=2");
	r = puts("hello");
	WANT(puts, .fd = 1, .path = out_path, .size = 6, .ret = r);
	putchar('x');
	WANT(putchar, .kind = "RUN", .fd = 1, .path = out_path, .size = 1, .args = " calls=1");
	r = putchar_unlocked('x');
	WANT(putchar_unlocked, .kind = "RUN", .fd = 1, .path = out_path, .size = 1, .args = " calls=1");
	r = getchar_unlocked();
	WANT(getchar_unlocked, .kind = "RUN", .fd = 0, .path = in_path, .size = 1, .args = " calls=1");
	r = fflush(stdout);
	WANT(fflush, .fd = 1, .path = out_path, .ret = r);
}

static void positions(void)
{
	fpos_t at;
	fpos64_t at64;
	reopen("r+");
#define SEEK(call) \
	r = call(f, 3, SEEK_SET); \
	WANT(call, .fd = fd, .path = path, .offset = 3, .ret = r, .args = F(" whence=%d", SEEK_SET))
	SEEK(fseek);
	SEEK(fseeko);
	SEEK(fseeko64);
	r = fseek(f, -9, SEEK_SET);
	WANT(fseek, .fd = fd, .path = path, .offset = -9, .ret = r, .args = F(" whence=%d", SEEK_SET));
#define TELL(call) \
	r = (int)call(f); \
	CHECK(r == 3); \
	WANT(call, .fd = fd, .path = path, .ret = r)
	TELL(ftell);
	TELL(ftello);
	TELL(ftello64);
#define POS(call, where) \
	r = call(f, where); \
	WANT(call, .fd = fd, .path = path, .ret = r)
	POS(fgetpos, &at);
	POS(fgetpos64, &at64);
	POS(fsetpos, &at);
	POS(fsetpos64, &at64);
	static char room[BUFSIZ];
	r = setvbuf(f, room, _IOFBF, 512);
	WANT(setvbuf, .fd = fd, .path = path, .size = 512, .ret = r, .args = F(" mode=%d", _IOFBF));
	setbuf(f, room);
	WANT(setbuf, .fd = fd, .path = path);
	setbuffer(f, room, 256);
	WANT(setbuffer, .fd = fd, .path = path, .size = 256);
	setlinebuf(f);
	WANT(setlinebuf, .fd = fd, .path = path);
	shut();
}

/* One record for a run of single characters; a copy is two runs that grow side by side. */
static void bytes(void)
{
	raw_file("f", "0123456789");
	reopen("r");
	FILE *g = fopen("g", "w");
	int to = fileno(g), c, n = 0;
	WANT(fopen, .fd = to, .path = P("g"), .text = "w", .ret = to);
	while ((c = getc(f)) != EOF) {
		CHECK(putc(c, g) == c);
		n++;
	}
	CHECK(n == 10);
	WANT(getc, .kind = "RUN", .fd = fd, .path = path, .size = 10, .args = " calls=11");
	WANT(putc, .kind = "RUN", .fd = to, .path = P("g"), .size = 10, .args = " calls=10");
#define PUT(call) \
	for (int i = 0; i < 3; i++) \
		CHECK(call('x', g) == 'x'); \
	WANT(call, .kind = "RUN", .fd = to, .path = P("g"), .size = 3, .args = " calls=3")
	PUT(fputc);
	PUT(_IO_putc);
	PUT(fputc_unlocked);
	PUT(putc_unlocked);
	rewind(f);
	WANT(rewind, .fd = fd, .path = path);
#define GET(call) \
	for (int i = 0; i < 2; i++) \
		CHECK(call(f) != EOF); \
	WANT(call, .kind = "RUN", .fd = fd, .path = path, .size = 2, .args = " calls=2")
	GET(fgetc);
	GET(_IO_getc);
	GET(fgetc_unlocked);
	GET(getc_unlocked);
	r = __underflow(f); /* its buffer is not empty */
	WANT(__underflow, .fd = fd, .path = path, .ret = r, .size = 0);
	r = __uflow(f);
	WANT(__uflow, .fd = fd, .path = path, .ret = r, .size = 0);
	CHECK(r == '8');
	r = fflush(f); /* now it is */
	WANT(fflush, .fd = fd, .path = path, .ret = r);
	r = __uflow(f);
	WANT(__uflow, .fd = fd, .path = path, .ret = r, .size = 1);
	CHECK(r == '9');
	r = __overflow(g, 'z');
	WANT(__overflow, .fd = to, .path = P("g"), .ret = r);
	r = fclose(g);
	WANT(fclose, .fd = to, .path = P("g"), .ret = r);
	shut();
}

/* Runs a call that does not come back, in a child: what it says before is seen, and that the program ended. */
#define LAST_WORDS(call, arguments, said, more, is_exit) \
	child = (int)raw(SYS_fork); \
	if (child == 0) \
		arguments; \
	raw(SYS_wait4, -1, NULL, 0, NULL); \
	WANT(call, .fd = 2, .path = messages, .text = said, .args = more " no_end", .pid = child, .tid = child); \
	if (is_exit) \
	WANT(exit, .args = " no_end", .pid = child, .tid = child)

static void v_err(int is_x, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	if (is_x)
		verrx(3, format, ap);
	verr(3, format, ap);
}

static void v_warn(int is_x, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	if (is_x)
		vwarnx(format, ap);
	else
		vwarn(format, ap);
	va_end(ap);
}

static void messages_to(const char *messages)
{
	siginfo_t info = { .si_signo = SIGTERM };
	perror("it");
	WANT(perror, .fd = 2, .path = messages, .text = "it");
	psignal(SIGTERM, "it");
	WANT(psignal, .fd = 2, .path = messages, .text = "it", .args = F(" signal=%d", SIGTERM));
	psiginfo(&info, "it");
	WANT(psiginfo, .fd = 2, .path = messages, .text = "it");
	herror("it");
	WANT(herror, .fd = 2, .path = messages, .text = "it");
	r = fmtmsg(MM_PRINT, "a:b", MM_ERROR, "text", "action", "tag");
	WANT(fmtmsg, .fd = 2, .path = messages, .text = "a:b", .ret = r,
			.args = F(" class=%d severity=%d", MM_PRINT, MM_ERROR));
	warn("%d", 5);
	WANT(warn, .fd = 2, .path = messages);
	warnx("%d %s %f", 5, "x", 1.5);
	WANT(warnx, .fd = 2, .path = messages);
	v_warn(0, "%d", 5);
	WANT(vwarn, .fd = 2, .path = messages);
	v_warn(1, "%d", 5);
	WANT(vwarnx, .fd = 2, .path = messages);
	error(0, ENOENT, "%d %f", 5, 2.5);
	WANT(error, .fd = 2, .path = messages, .args = F(" status=0 errnum=%d no_end", ENOENT));
	error_at_line(0, 0, "file", 7, "%s", "x");
	WANT(error_at_line, .fd = 2, .path = messages, .args = " status=0 errnum=0 no_end");
	void *frames[4];
	backtrace_symbols_fd(frames, 0, 2);
	WANT(backtrace_symbols_fd, .fd = 2, .path = messages);
	malloc_stats();
	WANT(malloc_stats, .fd = 2, .path = messages);
	reopen("w");
	r = malloc_info(0, f);
	WANT(malloc_info, .fd = fd, .path = path, .ret = r, .args = " options=0");
	shut();
	int child;
	LAST_WORDS(err, err(3, "%d %f", 5, 2.5), NULL, " status=3", 1);
	LAST_WORDS(errx, errx(3, "%d", 5), NULL, " status=3", 1);
	LAST_WORDS(verr, v_err(0, "%d", 5), NULL, " status=3", 1);
	LAST_WORDS(verrx, v_err(1, "%d", 5), NULL, " status=3", 1);
	LAST_WORDS(__assert_fail, __assert_fail("1 == 2", "f", 1, "g"), "1 == 2", "", 0);
	LAST_WORDS(__assert, __assert("1 == 2", "f", 1), "1 == 2", "", 0);
	LAST_WORDS(__assert_perror_fail, __assert_perror_fail(5, "f", 1, "g"), NULL, "", 0);
}

int main(void)
{
	path = KEEP(P("f"));
	int messages = raw_open("messages", O_RDWR | O_CREAT);
	raw(SYS_dup2, messages, 2);
	opens();
	blocks();
	lines();
	positions();
	bytes();
	standard();
	messages_to(KEEP(P("messages")));
	r = fcloseall();
	WANT(fcloseall, .ret = r);
	return ended();
}
