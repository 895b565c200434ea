/*
 * logname: the name of a log, and what its first records contain about the process.
 *
 *   C      <LOG_FILE>-<exe>-<pid>-{app|preload}.pfw[.gz]
 *   D, E   <LOG_FILE>-<16 digits: hash of exe-host-pid>-{app|preload}.pfw[.gz]
 *
 * or exactly the file passed to initialize; a forked child of that process gets -<pid> before the suffix.
 */
#ifndef DFTRACER_LOGNAME_H
#define DFTRACER_LOGNAME_H

#include "pfw/pfwlog.h"
#include "settings.h"

/* Fill in host, program, command, directory, date, processors and rank. */
void log_name_describe(struct pfwlog_setup *setup, const struct settings *settings, bool is_bound);

/* Build the path; log_file NULL: from the settings. 0 or -errno. */
int log_name_make(struct pfwlog_setup *setup, const char *log_file, const struct settings *settings, bool is_preload);

/* In a forked child; uses only raw system calls. */
void log_name_of_child(struct pfwlog_setup *setup, int32_t pid);

#endif
