/* The files and knobs that were changed: their original values, the requested values, and the revert. */
#include "live/control/actuator-private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct actuator_place *actuator_place_of(struct actuator *a, const struct change_place *place, struct sonde_err *err)
{
	struct actuator_place *p = a->places;
	int rc;

	for (; p < a->places + a->place_count; p++)
		if (change_is_same(&p->place, place))
			return p;
	if (a->place_count == ACTUATOR_PLACES_MAX) {
		err_set(err, ENOSPC, "too many places are changed");
		return NULL;
	}
	*p = (struct actuator_place){ .place = *place };
	rc = change_read(place, p->first);
	if (rc < 0) {
		err_sys(err, -rc, "cannot read '%s'", place->path);
		return NULL;
	}
	a->place_count++;
	return p;
}

void actuator_drop_place(struct actuator *a, struct actuator_place *p)
{
	watchdog_forget(a->watchdog, &p->place);
	*p = a->places[--a->place_count];
}

const char *actuator_in_force(const struct actuator_place *p)
{
	return p->knob_init_count ? p->wishes[p->knob_init_count - 1].text : p->first;
}

void actuator_target(struct actuator_place *p, const char *who, const char *text)
{
	size_t i = 0;

	while (i < p->knob_init_count && strcmp(p->wishes[i].who, who) != 0)
		i++;
	if (i == p->knob_init_count) {
		if (p->knob_init_count == ACTUATOR_WISHES_MAX)
			memmove(p->wishes, p->wishes + 1, --i * sizeof(p->wishes[0]));
		else
			p->knob_init_count++;
	} else {
		memmove(p->wishes + i, p->wishes + i + 1, (p->knob_init_count - i - 1) * sizeof(p->wishes[0]));
		i = p->knob_init_count - 1;
	}
	snprintf(p->wishes[i].who, sizeof(p->wishes[i].who), "%s", who);
	snprintf(p->wishes[i].text, sizeof(p->wishes[i].text), "%s", text);
}

/* Returns true if there was a request of `who`. */
static bool unwish(struct actuator_place *p, const char *who)
{
	for (size_t i = 0; i < p->knob_init_count; i++)
		if (strcmp(p->wishes[i].who, who) == 0) {
			memmove(p->wishes + i, p->wishes + i + 1, (--p->knob_init_count - i) * sizeof(p->wishes[0]));
			return true;
		}
	return false;
}

/* After `who` withdrew its request: restores the previous request, or the original value. */
static void settle(struct actuator *a, struct actuator_place *p, const char *who, const char *why)
{
	char now[CHANGE_TEXT_BYTES] = "";
	struct journal_line line = { .who = who,
		.action = "revert",
		.why = why,
		.place = p->place.path,
		.before = now };
	int rc;

	change_read(&p->place, now);
	line.after = actuator_in_force(p);
	rc = change_write(&p->place, line.after);
	line.result = rc == 0 ? "reverted" : rc == -ENOENT ? "gone" : "failed";
	line.message = rc < 0 ? strerror(-rc) : NULL;
	journal_add(a->journal, &line);
}

void actuator_revert(void *arg, const char *who, const char *why)
{
	struct actuator *a = arg;

	for (size_t i = a->place_count; i-- > 0;) {
		struct actuator_place *p = &a->places[i];

		if (!unwish(p, who))
			continue;
		settle(a, p, who, why);
		if (!p->knob_init_count)
			actuator_drop_place(a, p);
	}
}

void actuator_revert_all(struct actuator *a, const char *why)
{
	while (a->place_count) {
		struct actuator_place *p = &a->places[a->place_count - 1];

		p->knob_init_count = 0;
		settle(a, p, NULL, why);
		actuator_drop_place(a, p);
	}
}
