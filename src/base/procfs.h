/*
 * procfs: numbers in the text files of /proc and of cgroups.
 *
 * All readers of these files parse with proc_number and proc_stat_parse. A line, column or number that is missing gives
 * no value: absent is never zero. Except maps_have, nothing here allocates, so that it may be used after fork.
 */
#ifndef SONDE_BASE_PROCFS_H
#define SONDE_BASE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Reads the start of a file as a string; `at` is a directory or AT_FDCWD. Its length, or -errno and "". */
ssize_t proc_read(int at, const char *path, char *text, size_t size);

/*
 * The number in this column (from 0) of the first line with this key: "key 1 2", "Key:   1 kB", "key a=1 b=2". A file
 * that has one line has no key: NULL. Returns false if there is none, as for "max".
 */
bool proc_number(const char *text, const char *key, unsigned column, uint64_t *value);

/* Numbers of the fields as in proc(5). */
enum proc_stat_field {
	PROC_PARENT = 4,
	PROC_MINOR_FAULTS = 10,
	PROC_MAJOR_FAULTS = 12,
	PROC_USER = 14,
	PROC_SYSTEM,
	PROC_CHILD_USER,
	PROC_CHILD_SYSTEM,
	PROC_THREADS = 20,
	PROC_START = 22,
	PROC_VIRTUAL,
	PROC_PAGES,
	PROC_CPU = 39,
	PROC_STAT_FIELDS
};

#define PROC_STAT_BYTES 1024 /* a buffer that has all these fields */

struct proc_stat {
	char name[64]; /* may contain any byte but NUL */
	char state;    /* Z and X: it has exited */
	int64_t fields[PROC_STAT_FIELDS];
};

/* Parses the text of /proc/PID/stat, of a process or thread. */
bool proc_stat_parse(struct proc_stat *s, const char *text);
int proc_stat_read(struct proc_stat *s, pid_t pid); /* 0 or -errno */
bool proc_has_exited(const struct proc_stat *s);

/*
 * 1: the process maps this file; 0: it does not; -errno if this is unknown or the process does not exist. `name`, the
 * last component of the path, is compared if the device differs, since some file systems report different devices in
 * stat and maps. NULL: not compared.
 */
int maps_have(pid_t pid, const struct stat *file, const char *name);

#endif
