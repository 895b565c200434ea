/*
 * Reading and writing is also used by the watchdog, which must not allocate: plain reads and writes only. Boards are
 * untrusted: copied, bounds-checked, validated.
 */
#include "live/control/change.h"

#include "base/cleanup.h"
#include "live/board-reader.h"
#include "sonde/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

bool change_is_same(const struct change_place *a, const struct change_place *b)
{
	return a->kind == b->kind && a->knob == b->knob && strcmp(a->path, b->path) == 0;
}

static off_t knob_at(const struct change_place *p, size_t field)
{
	return (off_t)(SONDE_SEGMENT_HEAD_BYTES + offsetof(struct sonde_board, knobs) +
			p->knob * sizeof(struct sonde_knob) + field);
}

/*
 * The application owns the directory of its board and may have replaced the file since the knob was found: for a
 * knob, only a board is read or written.
 */
static int open_place(const struct change_place *p, int flags)
{
	int fd = open(p->path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct sonde_segment head;

	if (fd < 0)
		return -errno;
	if (p->kind != CHANGE_KNOB || (p->knob < SONDE_KNOBS_MAX && live_board_head(fd, &head) == 0))
		return fd;
	close(fd);
	return -EBADMSG;
}

int change_read(const struct change_place *p, char text[CHANGE_TEXT_BYTES])
{
	CLEANUP(cleanup_fd) int fd = open_place(p, O_RDONLY);
	uint64_t bits = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (p->kind == CHANGE_KNOB) {
		n = pread(fd, &bits, sizeof(bits), knob_at(p, offsetof(struct sonde_knob, value)));
		snprintf(text, CHANGE_TEXT_BYTES, "%016" PRIx64, bits);
		return n == (ssize_t)sizeof(bits) ? 0 : -EBADMSG;
	}
	n = read(fd, text, CHANGE_TEXT_BYTES - 1);
	if (n < 0)
		return -errno;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return 0;
}

/* The value first, then the generation, which the program polls. */
static int write_knob(int fd, const struct change_place *p, const char *text)
{
	const off_t generation_at = knob_at(p, offsetof(struct sonde_knob, generation));
	uint64_t bits;
	uint32_t generation;

	if (sscanf(text, "%" SCNx64, &bits) != 1)
		return -EINVAL;
	if (pread(fd, &generation, sizeof(generation), generation_at) != (ssize_t)sizeof(generation) ||
			pwrite(fd, &bits, sizeof(bits), knob_at(p, offsetof(struct sonde_knob, wanted))) !=
					(ssize_t)sizeof(bits))
		return -EBADMSG;
	generation++;
	return pwrite(fd, &generation, sizeof(generation), generation_at) == (ssize_t)sizeof(generation) ? 0 : -EBADMSG;
}

int change_write(const struct change_place *p, const char *text)
{
	CLEANUP(cleanup_fd) int fd = open_place(p, p->kind == CHANGE_KNOB ? O_RDWR : O_WRONLY);

	if (fd < 0)
		return fd;
	if (p->kind == CHANGE_KNOB)
		return write_knob(fd, p, text);
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

void knob_look(struct knob_search *s, const char *ring, const char *file)
{
	struct sonde_segment head;
	struct knob_found *to = &s->found[s->count];
	uint32_t count;
	char path[CHANGE_PATH_BYTES];

	snprintf(path, sizeof(path), "%.300s/%.60s", ring, file);
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || s->count == KNOB_FOUND_MAX || live_board_head(fd, &head) < 0 ||
			pread(fd, &count, sizeof(count),
					SONDE_SEGMENT_HEAD_BYTES + (off_t)offsetof(struct sonde_board, knob_count)) !=
					(ssize_t)sizeof(count))
		return;
	for (uint32_t i = 0; i < count && i < SONDE_KNOBS_MAX; i++) {
		off_t at = (off_t)(SONDE_SEGMENT_HEAD_BYTES + offsetof(struct sonde_board, knobs) +
				i * sizeof(to->knob));

		if (pread(fd, &to->knob, sizeof(to->knob), at) != (ssize_t)sizeof(to->knob))
			return;
		to->knob.name[SONDE_NAME_BYTES - 1] = to->knob.choices[SONDE_CHOICES_BYTES - 1] = '\0';
		if (!to->knob.kind || strcmp(to->knob.name, s->name) != 0)
			continue;
		to->place = (struct change_place){ .kind = CHANGE_KNOB, .knob = i };
		snprintf(to->place.path, sizeof(to->place.path), "%s", path);
		s->count++;
		return;
	}
}

static bool choice_number(const char *choices, const char *word, uint64_t *number)
{
	size_t n = strlen(word);

	*number = 0;
	for (const char *at = choices;; at++, ++*number) {
		const char *end = strchrnul(at, '|');

		if ((size_t)(end - at) == n && strncmp(at, word, n) == 0)
			return true;
		if (!*end)
			return false;
		at = end;
	}
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

int knob_text(const struct knob_found *f, double value, const char *choice, char text[CHANGE_TEXT_BYTES],
		struct sonde_err *err)
{
	const struct sonde_knob *k = &f->knob;
	uint64_t bits;
	bool is_fine;

	if (k->kind == SONDE_KNOB_CHOICE) {
		is_fine = choice && choice_number(k->choices, choice, &bits);
	} else if (k->kind == SONDE_KNOB_REAL) {
		is_fine = !choice && value >= live_real(k->low) && value <= live_real(k->high);
		bits = bits_of(value);
	} else {
		is_fine = !choice && fabs(value) < 9e15 && round(value) >= (double)(int64_t)k->low &&
				round(value) <= (double)(int64_t)k->high;
		bits = is_fine ? (uint64_t)(int64_t)round(value) : 0;
	}
	if (!is_fine)
		return err_set(err, ERANGE, "the knob '%s' does not accept this value", k->name);
	snprintf(text, CHANGE_TEXT_BYTES, "%016" PRIx64, bits);
	return 0;
}
