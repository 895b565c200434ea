/* Wrappers for libc calls that read files internally. */
#include "tracer/hook.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fstab.h>
#include <getopt.h>
#include <grp.h>
#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <nl_types.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <shadow.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <syslog.h>
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

#include "calls/libc.def"

/* dlopen's search depends on its caller, which it finds by the return address: so it is a tail call. */

BEFORE before_dlopen(const char *file, int flags)
{
	void *next = next_function(CALL_dlopen);
	call_start(SONDE_REC_CALL, CALL_dlopen, 0, CALL(.text = file, ARGS1(flags)));
	return next;
}

BEFORE before_dlmopen(Lmid_t namespace, const char *file, int flags)
{
	void *next = next_function(CALL_dlmopen);
	call_start(SONDE_REC_CALL, CALL_dlmopen, 0, CALL(.text = file, ARGS2(namespace, flags)));
	return next;
}

/* The first thread that exits this way makes libc load its unwinder. */
BEFORE before_pthread_exit(void *value)
{
	void *next = next_function(CALL_pthread_exit);
	call_start(SONDE_REC_CALL, CALL_pthread_exit, 0, CALL());
	return next;
}

/* Most names have constant values, which are of interest only to DFTracer. */
static bool reads_files(int name)
{
	return name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN || name == _SC_PHYS_PAGES ||
			name == _SC_AVPHYS_PAGES;
}

#define SYSCONF(name) \
	EXPORT long name(int what) \
	{ \
		long (*next)(int) = next_function(CALL_##name); \
		if (!tracer_wants(reads_files(what) ? SONDE_CAT_LIBC_DFTRACER : SONDE_CAT_DFTRACER)) \
			return next(what); \
		BEFORE_QI \
		uint64_t start = tick(); \
		long result = next(what); \
		call_done(CALL_##name, start, result, ERROR_QI(result), CALL(ARGS1(what))); \
		return result; \
	}
SYSCONF(sysconf)
SYSCONF(__sysconf)

void __vsyslog_chk(int priority, int flag, const char *format, va_list ap);

#define SYSLOG(name, sibling, parameters, arguments) \
	EXPORT void name parameters \
	{ \
		bool is_wanted = tracer_wants(SONDE_CAT_LIBC); \
		va_list ap; \
		va_start(ap, format); \
		uint64_t start = tick(); \
		REAL(sibling) arguments; \
		va_end(ap); \
		if (is_wanted) \
			call_done(CALL_##name, start, SONDE_NONE, 0, CALL(ARGS1(priority))); \
	}
SYSLOG(syslog, vsyslog, (int priority, const char *format, ...), (priority, format, ap))
SYSLOG(__syslog_chk, __vsyslog_chk, (int priority, int flag, const char *format, ...), (priority, flag, format, ap))

/* Wrappers for name services. */

#include "calls/nss.def"
