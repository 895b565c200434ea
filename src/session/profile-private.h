/* profile-private: functions that add values to a profile. */
#ifndef SONDE_SESSION_PROFILE_PRIVATE_H
#define SONDE_SESSION_PROFILE_PRIVATE_H

#include "session/profile.h"

/* Sets the value of the last repeat; creates it if needed. All strings except `of` must outlive the profile. */
void session_put(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);
/* Adds to the value of the last repeat; returns the sum. */
double session_add(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);

#endif
