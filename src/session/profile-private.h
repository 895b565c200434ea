/* profile-private: how values come into a profile; see profile.h. */
#ifndef SONDE_SESSION_PROFILE_PRIVATE_H
#define SONDE_SESSION_PROFILE_PRIVATE_H

#include "session/profile.h"

/* Of the last repeat; made when it is not there. Texts but `of` must outlive the profile. */
void session_put(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);
/* Added to what it was; returns what it is now. */
double session_add(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);

#endif
