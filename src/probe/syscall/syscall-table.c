/* See syscall-table.h. Call numbers are x86-64's. */
#include "probe/syscall/syscall-table.h"

#include "calls/calls.h"
#include "probe/syscall/fd-table.h"
#include "probe/syscall/syscall-rows.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define SYSCALL(kernel_name, name, letters, effect) [SYS_##kernel_name] = { #name, letters, SYSCALL_##effect, 0 },
/* Not recorded, but its effect is known. */
#define SYSNAME(kernel_name, name, letters, effect) [SYS_##kernel_name] = { NULL, NULL, SYSCALL_##effect, 0 },

const struct syscall_row syscall_rows[SYSCALLS_MAX] = {
#ifdef __x86_64__
#include "calls/calls-each.h"
#else
	[0] = { NULL, NULL, SYSCALL_NOTHING, 0 },
#endif
};

#ifdef __x86_64__
/* Calls that libc implements with others: open and the stat family. */
static const struct syscall_row as_open = { "open", "-pFm", SYSCALL_OPENS, 1 };
static const struct syscall_row as_stat = { "stat", "-p", SYSCALL_NOTHING, 1 };
static const struct syscall_row as_lstat = { "lstat", "-p", SYSCALL_NOTHING, 2 };
static const struct syscall_row as_fstat = { "fstat", "f", SYSCALL_NOTHING, 3 };
static const struct syscall_row as_futimens = { "futimens", "f", SYSCALL_NOTHING, 1 };

static const struct syscall_row fcntl_number = { "fcntl", "faa", SYSCALL_NOTHING, 0 };
static const struct syscall_row fcntl_dup = { "fcntl", "faa", SYSCALL_DUPS, 0 };
static const struct syscall_row fcntl_flags = { "fcntl", "faa", SYSCALL_SHARES, 0 };

/* The type of its argument depends on the command. */
static const struct syscall_row *fcntl_row(int command)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return &fcntl_dup;
	case F_SETFL:
		return &fcntl_flags;
	case F_SETFD:
	case F_SETOWN:
	case F_SETSIG:
	case F_SETLEASE:
	case F_NOTIFY:
	case F_SETPIPE_SZ:
	case F_ADD_SEALS:
		return &fcntl_number;
	default:
		return &syscall_rows[SYS_fcntl];
	}
}

#endif

const struct syscall_row *syscall_row_of(int64_t number, const uint64_t args[6], bool has_empty_path)
{
	if (number < 0 || number >= SYSCALLS_MAX || !syscall_rows[number].name)
		return NULL;
#ifdef __x86_64__
	if (number == SYS_openat && (int)args[0] == AT_FDCWD)
		return &as_open;
	if (number == SYS_newfstatat) {
		if (has_empty_path && args[3] & AT_EMPTY_PATH)
			return &as_fstat;
		if ((int)args[0] == AT_FDCWD && !args[3])
			return &as_stat;
		if ((int)args[0] == AT_FDCWD && args[3] == AT_SYMLINK_NOFOLLOW)
			return &as_lstat;
		return &syscall_rows[SYS_newfstatat];
	}
	if (number == SYS_fcntl)
		return fcntl_row((int)args[1]);
	if (number == SYS_utimensat && !args[1])
		return &as_futimens;
#else
	(void)args, (void)has_empty_path;
#endif
	return &syscall_rows[number];
}

/* Arguments and results of a call. */

#define ERRORS 4095 /* a result of -1 to -4095 is an error */

struct store_text call_text(const struct syscall_event *e, unsigned i)
{
	const char *at = (const char *)(e + 1);
	for (unsigned k = 0; k < i; k++)
		at += e->text_bytes[k];
	return e->has_text[i] ? (struct store_text){ .data = at, .bytes = e->text_bytes[i] } : (struct store_text){ 0 };
}

void call_add_arg(struct call *c, int64_t value)
{
	int64_t *const fields[] = { &c->io.arg0, &c->io.arg1, &c->io.arg2, &c->io.arg3 };
	if (c->args < 4)
		*fields[c->args++] = value;
}

static bool needs_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* In the tracer's form: family, port, and the rest as text. */
static void add_address(struct call *c, struct store_text bytes)
{
	struct sockaddr_storage at = { .ss_family = 0 };
	const struct sockaddr_in *in = (const void *)&at;
	const struct sockaddr_in6 *in6 = (const void *)&at;
	const struct sockaddr_un *un = (const void *)&at;
	int64_t port = -1;
	if (!bytes.data || bytes.bytes < sizeof(at.ss_family) || bytes.bytes > sizeof(at)) {
		call_add_arg(c, -1);
		call_add_arg(c, -1);
		return;
	}
	memcpy(&at, bytes.data, bytes.bytes);
	if (at.ss_family == AF_INET) {
		port = ntohs(in->sin_port);
		inet_ntop(AF_INET, &in->sin_addr, c->address, sizeof(c->address));
	} else if (at.ss_family == AF_INET6) {
		port = ntohs(in6->sin6_port);
		inet_ntop(AF_INET6, &in6->sin6_addr, c->address, sizeof(c->address));
	} else if (at.ss_family == AF_UNIX && bytes.bytes > sizeof(at.ss_family)) {
		memcpy(c->address, un->sun_path, sizeof(un->sun_path));
		c->address[0] = c->address[0] ? c->address[0] : '@';
	}
	call_add_arg(c, at.ss_family);
	call_add_arg(c, port);
	if (c->address[0]) {
		c->text = (struct store_text){ .data = c->address, .bytes = strlen(c->address) };
		c->has_text = true;
	}
}

static void parse_letter(struct call *c, char letter, uint64_t value, unsigned *texts)
{
	const struct syscall_event *e = c->event;
	switch (letter) {
	case 'f':
		c->fd = (int)value;
		c->has_fd = true;
		break;
	case 'd':
		c->dirfd = (int)value;
		break;
	case 'D':
		c->dirfd2 = (int)value;
		break;
	case 'p':
		c->path = call_text(e, (*texts)++);
		c->has_path = c->path.data != NULL;
		break;
	case 'P':
		c->path2 = call_text(e, (*texts)++);
		c->has_path2 = c->path2.data != NULL;
		break;
	case 't':
		c->text = call_text(e, (*texts)++);
		c->has_text = c->text.data != NULL;
		break;
	case 'n':
		if (e->is_textless) {
			call_add_arg(c, STORE_NULL);
			call_add_arg(c, STORE_NULL);
		} else {
			add_address(c, call_text(e, (*texts)++));
		}
		break;
	case 's':
		c->io.size = (int64_t)value;
		break;
	case 'v':
		c->io.size = e->size >= 0 && !c->errnum ? e->size : STORE_NULL;
		break;
	case 'o':
		c->io.offset = (int64_t)value;
		break;
	case 'F':
		c->open_flags = (int)value;
		call_add_arg(c, (int)value);
		break;
	case 'm':
		if (needs_mode(c->open_flags))
			call_add_arg(c, (int)value);
		break;
	case 'N':
		call_add_arg(c, STORE_NULL);
		break;
	case 'a':
	case 'l':
		call_add_arg(c, (int)value);
		break;
	case 'A':
		call_add_arg(c, (int64_t)value);
		break;
	default:
		break;
	}
}

void call_arguments(struct call *c)
{
	unsigned texts = 0;
	c->dirfd = c->dirfd2 = AT_FDCWD;
	c->fd = -1;
	for (unsigned i = 0; i < 6 && c->row->letters[i]; i++)
		parse_letter(c, c->row->letters[i], c->event->args[i], &texts);
}

void call_result(struct call *c)
{
	int64_t ret = c->event->ret;
	bool has_failed = ret < 0 && ret >= -ERRORS;
	c->errnum = has_failed ? (int)-ret : 0;
	c->io.errnum = c->errnum;
	c->io.ret = !has_failed ? ret : c->row->effect == SYSCALL_RETURNS_ERROR ? -ret : -1;
}

/* Calls of libsonde itself in programs that load it but use little of libc. */
static bool is_our_own(struct files *f, const struct probe_options *o, const struct call *c)
{
	const char *const hidden[] = { o->ring, o->library, NULL };
	if (!o->ring || !o->library)
		return false;
	return c->has_path ? !files_is_wanted(f, NULL, hidden, c->dirfd, &c->path)
			   : c->has_fd && !files_fd_is_wanted(f, NULL, hidden, c->fd);
}

bool call_is_unwanted(const struct call *c, const struct probe_options *o)
{
	struct files *f = &c->process->files;
	if (c->io.dur_ns < o->min_dur_ns || is_our_own(f, o, c))
		return true;
	if ((!o->includes || !*o->includes) && (!o->excludes || !*o->excludes))
		return false;
	return c->has_path ? !files_is_wanted(f, o->includes, o->excludes, c->dirfd, &c->path)
			   : c->has_fd && !files_fd_is_wanted(f, o->includes, o->excludes, c->fd);
}
