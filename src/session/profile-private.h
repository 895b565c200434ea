/* profile-private: how values come into a profile; see profile.h. */
#ifndef SONDE_SESSION_PROFILE_PRIVATE_H
#define SONDE_SESSION_PROFILE_PRIVATE_H

#include "session/profile.h"

/* The value of that name and label, made when it is not there: NaN in each repeat. NULL: there is no room, and the
 * profile has counted it. Texts but `of` must outlive the profile. */
struct session_value *session_value_make(struct session_profile *p, const char *name, const char *label, const char *of,
		const char *help);
/* Of the last repeat. */
void session_put(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);
/* Added to what it was; returns what it is now. */
double session_add(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);

#endif
