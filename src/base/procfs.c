#include "base/procfs.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAPS_BYTES_MAX ((size_t)64 << 20)

ssize_t proc_read(int at, const char *path, char *text, size_t size)
{
	text[0] = '\0';
	CLEANUP(cleanup_fd) int fd = openat(at, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return n;
}

/* Of /proc/PID */
static ssize_t proc_read_of(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return proc_read(AT_FDCWD, path, text, size);
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* By hand: this runs for hundreds of numbers several times a second, and strtoull is slower. */
static const char *parse_digits(const char *at, uint64_t *value)
{
	uint64_t v = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		v = v * 10 + (uint64_t)(*at - '0');
	*value = v;
	return at;
}

bool proc_number(const char *text, const char *key, unsigned column, uint64_t *value)
{
	size_t n = key ? strlen(key) : 0;
	const char *at = text, *end;

	while (key && (strncmp(at, key, n) != 0 || !strchr(" \t:", at[n]))) {
		at = strchr(at, '\n');
		if (!at)
			return false;
		at++;
	}
	at += n;
	at = skip_blanks(at + (n && *at == ':'));
	for (; column; column--)
		at = skip_blanks(at + strcspn(at, " \t\n"));
	end = at + strcspn(at, " \t\n=");
	at = *end == '=' ? end + 1 : at;
	return parse_digits(at, value) > at;
}

bool proc_stat_parse(struct proc_stat *s, const char *text)
{
	/* The name may contain parentheses and blanks; after it there are only numbers. */
	const char *open = strchr(text, '('), *at = strrchr(text, ')');

	if (!open || !at || at < open || at[1] != ' ' || !at[2])
		return false;
	snprintf(s->name, sizeof(s->name), "%.*s", (int)(at - open - 1), open + 1);
	s->state = at[2];
	at += 3;
	for (int i = PROC_PARENT; i < PROC_STAT_FIELDS; i++) {
		uint64_t value;
		const char *digits = skip_blanks(at), *end;
		bool is_negative = *digits == '-';

		digits += is_negative;
		end = parse_digits(digits, &value);
		if (end == digits)
			return false;
		s->fields[i] = is_negative ? -(int64_t)value : (int64_t)value;
		at = end;
	}
	return true;
}

int proc_stat_read(struct proc_stat *s, pid_t pid)
{
	char text[PROC_STAT_BYTES];
	ssize_t n = proc_read_of(pid, "stat", text, sizeof(text));

	return n < 0 ? (int)n : proc_stat_parse(s, text) ? 0 : -EPROTO;
}

bool proc_has_exited(const struct proc_stat *s)
{
	return s->state == 'Z' || s->state == 'X';
}

static bool ends_in(const char *line, const char *name)
{
	const char *end = strchrnul(line, '\n');
	size_t n = name ? strlen(name) : 0;

	return n && (size_t)(end - line) > n && end[-(ptrdiff_t)n - 1] == '/' && memcmp(end - n, name, n) == 0;
}

/* A line is `from-to access offset major:minor inode path`. */
int maps_have(pid_t pid, const struct stat *file, const char *name)
{
	CLEANUP(buf_release) struct buf maps = BUF_INIT;
	char path[32];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	rc = fs_read_file(AT_FDCWD, path, MAPS_BYTES_MAX, &maps, NULL);
	for (const char *line = maps.data; rc == 0 && line && *line; line = strchr(line, '\n'), line += line != NULL) {
		unsigned major_number, minor_number;
		unsigned long inode;

		if (sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) == 3 &&
				inode == file->st_ino &&
				(makedev(major_number, minor_number) == file->st_dev || ends_in(line, name)))
			return 1;
	}
	return rc;
}
