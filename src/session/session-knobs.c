#include "session/session-knobs.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(SESSION_KNOBS_MAX <= 32, "a bit each");

/* A number is set as integer and as real, since the program defines the knob's type; other text is a choice. */
static void fill(struct sonde_knob_init *w, const char *name, const char *text)
{
	char *end;
	double real = strtod(text, &end);
	bool is_number = end != text && !*end && isfinite(real);
	long long whole = strtoll(text, &end, 10);

	*w = (struct sonde_knob_init){ .whole = end != text && !*end ? whole : SONDE_NONE,
		.real = is_number ? real : NAN };
	snprintf(w->name, sizeof(w->name), "%s", name);
	snprintf(w->choice, sizeof(w->choice), "%s", text);
}

int session_knobs_add(struct session_knobs *k, const char *name, const char *text, struct sonde_err *err)
{
	size_t i = 0;

	if (!*name || strlen(name) >= SONDE_NAME_BYTES || strlen(text) >= SONDE_NAME_BYTES)
		return err_set(err, EINVAL, "the knob '%s' needs a name and a value of less than %u bytes", name,
				(unsigned)SONDE_NAME_BYTES);
	while (i < k->count && strcmp(k->wishes[i].name, name) != 0)
		i++;
	if (i == SESSION_KNOBS_MAX)
		return err_set(err, E2BIG, "there are at most %d knobs", SESSION_KNOBS_MAX);
	fill(&k->wishes[i], name, text);
	k->count += i == k->count;
	return 0;
}

/* The board is written by the program and untrusted: all accesses are bounded. */
void session_knobs_poll(struct session_knobs *k, int dirfd, const char *board)
{
	CLEANUP(cleanup_fd)
	int fd = k->count ? openat(dirfd, board, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	const off_t at = SONDE_SEGMENT_HEAD_BYTES + (off_t)offsetof(struct sonde_board, knobs);
	struct sonde_knob knob;

	for (uint32_t i = 0; fd >= 0 && i < SONDE_KNOBS_MAX; i++) {
		if (pread(fd, &knob, sizeof(knob), at + (off_t)(i * sizeof(knob))) != (ssize_t)sizeof(knob) ||
				!knob.kind)
			return;
		knob.name[sizeof(knob.name) - 1] = '\0';
		for (size_t n = 0; n < k->count; n++)
			if (strcmp(k->wishes[n].name, knob.name) == 0)
				k->asked |= 1u << n;
	}
}

int session_knobs_check(const struct session_knobs *k, struct sonde_err *err)
{
	for (size_t i = 0; i < k->count; i++)
		if (!(k->asked >> i & 1)) {
			err_set(err, ENOENT, "the application has not asked for the knob '%s', which so did nothing",
					k->wishes[i].name);
			err_hint(err, "it asks by sonde_knob_int(\"%s\", ...) and the like, see sonde(3)",
					k->wishes[i].name);
			return -ENOENT;
		}
	return 0;
}
