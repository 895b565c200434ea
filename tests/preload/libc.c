/* Calls of libc that open and read files of their own. */
#include "expect.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fstab.h>
#include <getopt.h>
#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <mntent.h>
#include <netdb.h>
#include <nl_types.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <ttyent.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>
#include <wchar.h>

#undef gettext
#undef dgettext
#undef dcgettext
#undef ngettext
#undef dngettext
#undef dcngettext
locale_t __newlocale(int, const char *, locale_t);
char *__dgettext(const char *, const char *);
char *__dcgettext(const char *, const char *, int);
size_t __strftime_l(char *, size_t, const char *, const struct tm *, locale_t);
size_t __wcsftime_l(wchar_t *, size_t, const wchar_t *, const struct tm *, locale_t);
int __xpg_strerror_r(int, char *, size_t);
long __sysconf(int);
int __ttyname_r_chk(int, char *, size_t, size_t);
int __ptsname_r_chk(int, char *, size_t, size_t);
int __getlogin_r_chk(char *, size_t, size_t);
void __syslog_chk(int, int, const char *, ...);
void __vsyslog_chk(int, int, const char *, va_list);
FILE *__setmntent(const char *, const char *);
struct mntent *__getmntent_r(FILE *, struct mntent *, char *, int);
int __endmntent(FILE *);
char *cuserid(char *);

static int r;
#define LL(pointer) (long long)(intptr_t)(pointer)

static void loading(void)
{
	void *at = dlopen("libm.so.6", RTLD_NOW);
	CHECK(at);
	WANT(dlopen, .text = "libm.so.6", .args = F(" flags=%d no_end", RTLD_NOW));
	at = dlopen(NULL, RTLD_LAZY);
	CHECK(at);
	WANT(dlopen, .args = F(" flags=%d no_end", RTLD_LAZY));
	at = dlmopen(LM_ID_BASE, "no-such.so", RTLD_LAZY);
	CHECK(!at);
	WANT(dlmopen, .text = "no-such.so", .args = F(" namespace=%d flags=%d no_end", LM_ID_BASE, RTLD_LAZY));
	at = dlerror();
	WANT(dlerror, .ret = at != NULL, .is_maybe = 1);
}

static void languages(void)
{
	CHECK(setlocale(LC_ALL, "C.UTF-8"));
	WANT(setlocale, .text = "C.UTF-8", .ret = 0, .args = F(" category=%d", LC_ALL));
	CHECK(!setlocale(LC_ALL, "no_SUCH"));
	WANT(setlocale, .text = "no_SUCH", .ret = -1, .args = F(" category=%d", LC_ALL));
	CHECK(setlocale(LC_ALL, NULL));
	WANT(setlocale, .ret = 0, .args = F(" category=%d", LC_ALL));
	locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
	WANT(newlocale, .text = "C.UTF-8", .ret = 0, .args = F(" mask=%d", LC_ALL_MASK));
	CHECK(!__newlocale(LC_ALL_MASK, "no_SUCH", NULL));
	WANT(__newlocale, .text = "no_SUCH", .ret = -1, .args = F(" mask=%d", LC_ALL_MASK));
	iconv_t c = iconv_open("UTF-16", "UTF-8");
	WANT(iconv_open, .text = "UTF-16", .ret = LL(c));
	c = iconv_open("NO-SUCH", "UTF-8");
	WANT(iconv_open, .text = "NO-SUCH", .ret = LL(c));
	nl_catd catalog = catopen("no-such", 0);
	WANT(catopen, .text = "no-such", .ret = LL(catalog), .args = " flag=0");
	r = catclose(catalog);
	WANT(catclose, .ret = r);
	setenv("LANGUAGE", "xx", 1);
#define TEXT(call, arguments, domain) \
	CHECK(call arguments); \
	WANT(call, .text = domain, .is_maybe = 1)
	TEXT(gettext, ("hello"), NULL);
	TEXT(dgettext, ("d1", "hello"), "d1");
	TEXT(__dgettext, ("d2", "hello"), "d2");
	TEXT(dcgettext, ("d3", "hello", LC_MESSAGES), "d3");
	TEXT(__dcgettext, ("d4", "hello", LC_MESSAGES), "d4");
	TEXT(ngettext, ("one", "many", 2), NULL);
	TEXT(dngettext, ("d5", "one", "many", 2), "d5");
	TEXT(dcngettext, ("d6", "one", "many", 2, LC_MESSAGES), "d6");
	char buf[128];
#define WORDS(call, arguments, more) \
	CHECK(call arguments); \
	WANT(call, .ret = 1, .args = more, .is_maybe = 1)
	WORDS(strerror, (ENOENT), F(" errnum=%d", ENOENT));
	WORDS(strerror_l, (ENOENT, l), F(" errnum=%d", ENOENT));
	WORDS(strerror_r, (ENOENT, buf, sizeof(buf)), F(" errnum=%d", ENOENT));
	WORDS(strsignal, (9), " signal=9");
	WORDS(gai_strerror, (EAI_AGAIN), F(" error=%d", EAI_AGAIN));
	WORDS(hstrerror, (1), " error=1");
	r = __xpg_strerror_r(ENOENT, buf, sizeof(buf));
	WANT(__xpg_strerror_r, .ret = r, .args = F(" errnum=%d", ENOENT), .is_maybe = 1);
	regex_t regex;
	size_t n = regerror(REG_NOMATCH, &regex, buf, sizeof(buf));
	WANT(regerror, .ret = (int64_t)n, .args = F(" error=%d", REG_NOMATCH), .is_maybe = 1);
	char *argv[] = { "x", "-a", "-b", "-c", NULL };
	struct option none = { 0 };
	r = getopt(4, argv, "abc");
	WANT(getopt, .ret = r, .is_maybe = 1);
	r = getopt_long(4, argv, "abc", &none, NULL);
	WANT(getopt_long, .ret = r, .is_maybe = 1);
	r = getopt_long_only(4, argv, "abc", &none, NULL);
	WANT(getopt_long_only, .ret = r, .is_maybe = 1);
}

static void times(void)
{
	time_t now = 1000000000;
	struct tm tm;
	char buf[64];
	wchar_t wide[64];
	locale_t l = newlocale(LC_ALL_MASK, "C", NULL);
	WANT(newlocale, .text = "C", .ret = 0, .args = F(" mask=%d", LC_ALL_MASK));
	tzset();
	WANT(tzset);
	CHECK(localtime(&now));
	WANT(localtime, .ret = 1);
	time_t never = (time_t)1 << 62;
	errno = 0;
	CHECK(!localtime(&never));
	WANT(localtime, .ret = 0, .err = errno);
#define TIME(call, arguments) \
	CHECK(call arguments); \
	WANT(call, .ret = 1, .is_maybe = 1)
	TIME(localtime_r, (&now, &tm));
	TIME(gmtime, (&now));
	TIME(gmtime_r, (&now, &tm));
	TIME(ctime_r, (&now, buf));
	TIME(strptime, ("12:30", "%H:%M", &tm));
	CHECK(ctime(&now));
	WANT(ctime, .ret = 1);
	long long t = mktime(&tm);
	WANT(mktime, .ret = t);
	t = timelocal(&tm);
	WANT(timelocal, .ret = t);
	t = timegm(&tm);
	WANT(timegm, .ret = t, .is_maybe = 1);
#define FORMAT(call, arguments) \
	t = (long long)call arguments; \
	CHECK(t == 2); \
	WANT(call, .ret = t)
	FORMAT(strftime, (buf, sizeof(buf), "%H", &tm));
	FORMAT(strftime_l, (buf, sizeof(buf), "%H", &tm, l));
	FORMAT(__strftime_l, (buf, sizeof(buf), "%H", &tm, l));
	FORMAT(wcsftime, (wide, 64, L"%H", &tm));
	FORMAT(wcsftime_l, (wide, 64, L"%H", &tm, l));
	FORMAT(__wcsftime_l, (wide, 64, L"%H", &tm, l));
	CHECK(!getdate("x")); /* no template */
	WANT(getdate, .text = "x", .ret = 0);
	r = getdate_r("x", &tm);
	WANT(getdate_r, .text = "x", .ret = r);
}

static void machine(void)
{
	long l = sysconf(_SC_NPROCESSORS_ONLN);
	WANT(sysconf, .ret = l, .args = F(" name=%d", _SC_NPROCESSORS_ONLN));
	l = __sysconf(_SC_PHYS_PAGES);
	WANT(__sysconf, .ret = l, .args = F(" name=%d", _SC_PHYS_PAGES));
	CHECK(sysconf(_SC_PAGESIZE) > 0); /* a constant: not recorded */
	r = get_nprocs();
	WANT(get_nprocs, .ret = r);
	r = get_nprocs_conf();
	WANT(get_nprocs_conf, .ret = r);
	l = get_phys_pages();
	WANT(get_phys_pages, .ret = l);
	l = get_avphys_pages();
	WANT(get_avphys_pages, .ret = l);
	double loads[3];
	r = getloadavg(loads, 3);
	WANT(getloadavg, .ret = r, .args = " count=3");
	l = gethostid();
	WANT(gethostid, .ret = l);
}

static void terminals(void)
{
	char buf[64];
	int master = raw_open("/dev/ptmx", O_RDWR | O_NOCTTY), file = raw_open("f", O_RDWR | O_CREAT);
	const char *path = KEEP(fd_path(master)), *f_path = KEEP(P("f"));
	r = grantpt(master);
	WANT(grantpt, .fd = master, .path = path, .ret = r);
	r = grantpt(file);
	WANT(grantpt, .fd = file, .path = f_path, .ret = r);
	r = unlockpt(master);
	WANT(unlockpt, .fd = master, .path = path, .ret = r);
	char *name = ptsname(master);
	WANT(ptsname, .fd = master, .path = path, .ret = name != NULL);
	r = ptsname_r(master, buf, sizeof(buf));
	WANT(ptsname_r, .fd = master, .path = path, .ret = r, .err = r);
	r = __ptsname_r_chk(master, buf, sizeof(buf), sizeof(buf));
	WANT(__ptsname_r_chk, .fd = master, .path = path, .ret = r, .err = r);
	int slave = raw_open(name, O_RDWR | O_NOCTTY);
	const char *s_path = KEEP(fd_path(slave));
	name = ttyname(slave);
	WANT(ttyname, .fd = slave, .path = s_path, .ret = name != NULL, .err = name ? 0 : errno);
	errno = 0;
	CHECK(!ttyname(file));
	WANT(ttyname, .fd = file, .path = f_path, .ret = 0, .err = errno);
	r = ttyname_r(slave, buf, sizeof(buf));
	WANT(ttyname_r, .fd = slave, .path = s_path, .ret = r, .err = r);
	r = __ttyname_r_chk(file, buf, sizeof(buf), sizeof(buf));
	WANT(__ttyname_r_chk, .fd = file, .path = f_path, .ret = r, .err = r);
	errno = 0;
	name = getlogin();
	WANT(getlogin, .ret = name != NULL, .err = name ? 0 : errno);
	r = getlogin_r(buf, sizeof(buf));
	WANT(getlogin_r, .ret = r, .err = r);
	r = __getlogin_r_chk(buf, sizeof(buf), sizeof(buf));
	WANT(__getlogin_r_chk, .ret = r, .err = r);
	CHECK(cuserid(buf));
	WANT(cuserid, .ret = 1);
	raw(SYS_dup2, raw_open("/dev/null", O_RDWR), 0);
	errno = 0;
	name = getpass("");
	WANT(getpass, .ret = name != NULL, .err = name ? 0 : errno);
}

/* A file of our own in place of the system's. */
static void sessions(void)
{
	struct utmp line = { .ut_type = USER_PROCESS, .ut_line = "x", .ut_id = "x", .ut_user = "x" }, room, *found;
	struct utmpx linex = { .ut_type = USER_PROCESS, .ut_line = "x", .ut_id = "x", .ut_user = "x" };
	raw_file("utmp", "");
	raw_file("wtmp", "");
	utmpname("utmp");
#define NOTHING(call) \
	call(); \
	WANT(call)
#define FINDS(call, arguments, is_found) \
	errno = 0; \
	CHECK(!!call arguments == is_found); \
	WANT(call, .ret = is_found, .err = is_found ? 0 : errno)
	NOTHING(setutent);
	NOTHING(setutxent);
	FINDS(pututline, (&line), 1);
	NOTHING(setutent);
	FINDS(pututxline, (&linex), 1);
	NOTHING(setutent);
	FINDS(getutent, (), 1);
	FINDS(getutent, (), 0);
	NOTHING(setutxent);
	FINDS(getutxent, (), 1);
	NOTHING(setutent);
	FINDS(getutid, (&line), 1);
	NOTHING(setutent);
	FINDS(getutline, (&line), 1);
	NOTHING(setutent);
	FINDS(getutxid, (&linex), 1);
	NOTHING(setutent);
	FINDS(getutxline, (&linex), 1);
	NOTHING(setutent);
	r = getutent_r(&room, &found);
	WANT(getutent_r, .ret = r);
	NOTHING(setutent);
	r = getutid_r(&line, &room, &found);
	WANT(getutid_r, .ret = r);
	NOTHING(setutent);
	r = getutline_r(&line, &room, &found);
	WANT(getutline_r, .ret = r);
	NOTHING(endutent);
	NOTHING(endutxent);
	updwtmp("wtmp", &line);
	WANT(updwtmp, .path = P("wtmp"));
	updwtmpx("wtmp", &linex);
	WANT(updwtmpx, .path = P("wtmp"));
	r = logout("no-such-line");
	WANT(logout, .text = "no-such-line", .ret = r);
}

static void v_log(int is_checked, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	if (is_checked)
		__vsyslog_chk(LOG_DEBUG, 1, format, ap);
	else
		vsyslog(LOG_DEBUG, format, ap);
	va_end(ap);
}

static void logs(void)
{
	openlog("sonde-test", 0, LOG_USER);
	WANT(openlog, .args = F(" option=0 facility=%d", LOG_USER));
	setlogmask(LOG_UPTO(LOG_ERR)); /* what follows goes nowhere */
	syslog(LOG_DEBUG, "%d", 1);
	WANT(syslog, .args = F(" priority=%d", LOG_DEBUG));
	__syslog_chk(LOG_DEBUG, 1, "%d", 1);
	WANT(__syslog_chk, .args = F(" priority=%d", LOG_DEBUG));
	v_log(0, "%d", 1);
	WANT(vsyslog, .args = F(" priority=%d", LOG_DEBUG));
	v_log(1, "%d", 1);
	WANT(__vsyslog_chk, .args = F(" priority=%d", LOG_DEBUG));
	closelog();
	WANT(closelog);
}

static void tables(void)
{
	struct mntent entry = { "dev", "/dir", "type", "opts", 0, 0 }, room;
	char buf[256];
	raw_file("mtab", "a /b c d 0 0\ne /f g h 0 0\ni /j k l 0 0\n");
	const char *path = KEEP(P("mtab"));
	FILE *f = setmntent("mtab", "r+");
	int fd = fileno(f);
	WANT(setmntent, .fd = fd, .path = path, .text = "r+", .ret = fd);
	CHECK(getmntent(f));
	WANT(getmntent, .fd = fd, .path = path, .ret = 1);
	CHECK(getmntent_r(f, &room, buf, sizeof(buf)));
	WANT(getmntent_r, .fd = fd, .path = path, .ret = 1);
	CHECK(__getmntent_r(f, &room, buf, sizeof(buf)));
	WANT(__getmntent_r, .fd = fd, .path = path, .ret = 1);
	CHECK(!getmntent(f));
	WANT(getmntent, .fd = fd, .path = path, .ret = 0);
	r = addmntent(f, &entry);
	WANT(addmntent, .fd = fd, .path = path, .ret = r);
	r = endmntent(f);
	WANT(endmntent, .fd = fd, .path = path, .ret = r);
	CHECK(!__setmntent("missing", "r"));
	WANT(__setmntent, .path = P("missing"), .text = "r", .ret = -1);
	f = __setmntent("mtab", "r");
	WANT(__setmntent, .fd = fd, .path = path, .text = "r", .ret = fd);
	r = __endmntent(f);
	WANT(__endmntent, .fd = fd, .path = path, .ret = r);
	r = setfsent();
	WANT(setfsent, .ret = r);
#define ENTRY(call, arguments, name) \
	errno = 0; \
	found = call arguments; \
	WANT(call, .text = name, .ret = found != NULL, .err = found ? 0 : errno)
	void *found;
	ENTRY(getfsent, (), NULL);
	ENTRY(getfsfile, ("/none"), "/none");
	ENTRY(getfsspec, ("/none"), "/none");
	NOTHING(endfsent);
	NOTHING(setusershell);
	ENTRY(getusershell, (), NULL);
	NOTHING(endusershell);
	r = setttyent();
	WANT(setttyent, .ret = r);
	ENTRY(getttyent, (), NULL);
	ENTRY(getttynam, ("none"), "none");
	r = endttyent();
	WANT(endttyent, .ret = r);
}

static int thread_tid;

static void *leave(void *arg)
{
	thread_tid = (int)raw(SYS_gettid);
	pthread_exit(NULL);
}

static void *stay(void *arg)
{
	pause();
	return NULL;
}

static void others(void)
{
	void *frames[8];
	pthread_attr_t attributes;
	pthread_t thread;
	r = backtrace(frames, 8);
	WANT(backtrace, .ret = r, .is_maybe = 1);
	CHECK(backtrace_symbols(frames, r));
	WANT(backtrace_symbols, .is_maybe = 1);
	r = pthread_getattr_np(pthread_self(), &attributes);
	WANT(pthread_getattr_np, .ret = r);
	CHECK(!pthread_create(&thread, NULL, leave, NULL) && !pthread_join(thread, NULL));
	WANT(pthread_exit, .args = " no_end", .tid = thread_tid);
	CHECK(!pthread_create(&thread, NULL, stay, NULL));
	r = pthread_cancel(thread);
	WANT(pthread_cancel, .ret = r, .is_maybe = 1);
	CHECK(!pthread_join(thread, NULL));
	r = wait(NULL);
	WANT(wait, .ret = r);
}

/* These write the system's own files: as somebody who may not. */
static void harmless(void)
{
	struct utmp line = { .ut_type = USER_PROCESS };
	int child = (int)raw(SYS_fork);
	if (child == 0) {
		CHECK(access("/", F_OK) == 0); /* a ring while we may still make one */
		raw(SYS_setresuid, 65534, 65534, 65534);
		r = sethostid(1);
		CHECK(r == -1);
		login(&line);
		logwtmp("x", "x", "x");
		raw(SYS_exit_group, errno);
	}
	int status;
	CHECK(raw(SYS_wait4, child, &status, 0, NULL) == child && WIFEXITED(status));
	WANT(access, .path = "/", .ret = 0, .args = " mode=0", .pid = child, .tid = child);
	WANT(sethostid, .ret = -1, .err = raw(SYS_getuid) == 0 ? EACCES : EPERM, .args = " id=1", .pid = child,
			.tid = child);
	WANT(login, .pid = child, .tid = child);
	WANT(logwtmp, .text = "x", .pid = child, .tid = child);
}

int main(void)
{
	loading();
	languages();
	times();
	machine();
	terminals();
	sessions();
	logs();
	tables();
	others();
	harmless();
	return ended();
}
