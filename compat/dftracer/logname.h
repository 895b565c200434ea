/*
 * logname: what a log is called, and what its first records say of the process.
 *
 *   C      <LOG_FILE>-<exe>-<pid>-{app|preload}.pfw[.gz]
 *   D, E   <LOG_FILE>-<16 digits: hash of exe-host-pid>-{app|preload}.pfw[.gz]
 *
 * or exactly the file that initialize was given; a forked child of that one gets -<pid> before
 * the ending.
 */
#ifndef DFTRACER_LOGNAME_H
#define DFTRACER_LOGNAME_H

#include "pfw/pfwlog.h"
#include "settings.h"

/* Fill in who and where: host, program, command, directory, date, processors, rank. */
void log_name_describe(struct pfwlog_setup *setup, const struct settings *settings, bool is_bound);

/* The path; log_file NULL: by the settings. 0 or -errno. */
int log_name_make(struct pfwlog_setup *setup, const char *log_file, const struct settings *settings, bool is_preload);

/* In a forked child; makes system calls only. */
void log_name_of_child(struct pfwlog_setup *setup, int32_t pid);

#endif
