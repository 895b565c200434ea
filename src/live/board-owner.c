#include "live/board-owner.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_BYTES_MAX 65536
#define ENVIRON_BYTES_MAX (1u << 20)
#define RING_VARIABLE "SONDE_RING="

/* "NSpid: 4711 12 1", outermost to innermost; 0 if it is in our own pid namespace. */
static pid_t inner_pid(pid_t pid, struct buf *text)
{
	static const char key[] = "\nNSpid:";
	char path[64], *end;
	const char *at;
	long numbers = 0, last = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	buf_reset(text);
	if (fs_read_file(AT_FDCWD, path, STATUS_BYTES_MAX, text, NULL) < 0 || !(at = strstr(text->data, key)))
		return 0;
	for (at += strlen(key); *at && *at != '\n'; at = end, numbers++) {
		long number = strtol(at, &end, 10);

		if (end == at)
			break;
		last = number;
	}
	return numbers > 1 ? (pid_t)last : 0;
}

static pid_t find_inside(pid_t inner, const struct stat *board, const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	DIR *processes = opendir("/proc");
	pid_t found = 0;

	for (struct dirent *e; processes && !found && (e = readdir(processes));) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 0 && inner_pid(pid, &text) == inner && maps_have(pid, board, name) == 1)
			found = pid;
	}
	if (processes)
		closedir(processes);
	return found;
}

pid_t live_whose(int board_fd, const char *name, pid_t pid)
{
	struct stat board;
	pid_t inside;
	int has_it;

	if (pid <= 0 || fstat(board_fd, &board))
		return 0;
	has_it = maps_have(pid, &board, name);
	if (has_it == 1)
		return pid;
	inside = find_inside(pid, &board, name);
	if (inside)
		return inside;
	return pid > 1 && (has_it == -EACCES || has_it == -EPERM) ? pid : 0;
}

bool live_is_started_with(pid_t pid, int dirfd)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64];
	struct stat ours, its;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if (pid <= 0 || fstat(dirfd, &ours) || fs_read_file(AT_FDCWD, path, ENVIRON_BYTES_MAX, &text, NULL) < 0)
		return false;
	for (const char *at = text.data, *end = at + text.len; at && at < end; at += strlen(at) + 1)
		if (strncmp(at, RING_VARIABLE, strlen(RING_VARIABLE)) == 0)
			return stat(at + strlen(RING_VARIABLE), &its) == 0 && its.st_dev == ours.st_dev &&
					its.st_ino == ours.st_ino;
	return false;
}
