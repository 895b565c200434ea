/*
 * messages: what DFTRACER_LOG_LEVEL asks to be told, on stderr. Without it nothing is.
 *
 * ERROR: the log cannot be written. WARN: files that were named cannot be read, rules that make no sense. INFO: where
 * the log is. DEBUG: all settings.
 */
#ifndef DFTRACER_MESSAGES_H
#define DFTRACER_MESSAGES_H

#include "pfw/pfwlog.h"
#include "settings.h"

/* Tracing has begun, or could not: rc is a negative errno; 1 is off. */
void messages_begin(const struct settings *s, const struct pfwlog_setup *u, int rc);

#endif
