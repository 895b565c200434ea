/*
 * messages: messages on stderr, by DFTRACER_LOG_LEVEL. Without it nothing is printed.
 *
 * ERROR: the log cannot be written. WARN: a configured file cannot be read, or a rule is invalid. INFO: the path of
 * the log. DEBUG: all settings.
 */
#ifndef DFTRACER_MESSAGES_H
#define DFTRACER_MESSAGES_H

#include "pfw/pfwlog.h"
#include "settings.h"

/* Tracing started or failed: rc is -errno; 1 means disabled. */
void messages_begin(const struct settings *s, const struct pfwlog_setup *u, int rc);

#endif
