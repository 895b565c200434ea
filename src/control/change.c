/* See change.h. Used by the warden too, which may not allocate: plain reads and writes only. */
#include "control/change.h"

#include "base/cleanup.h"
#include "sonde/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

int change_read(const struct change_place *p, char text[CHANGE_TEXT_BYTES])
{
	CLEANUP(cleanup_fd) int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t bits;
	ssize_t n;

	if (fd < 0)
		return -errno;
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

/* First what is wanted, then that it is: the program looks at the generation. */
static int write_knob(int fd, const struct change_place *p, const char *text)
{
	const off_t generation_at = knob_at(p, offsetof(struct sonde_knob, generation));
	uint64_t bits;
	uint32_t generation;

	if (p->knob >= SONDE_KNOBS_MAX || sscanf(text, "%" SCNx64, &bits) != 1)
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
	CLEANUP(cleanup_fd)
	int fd = open(p->path, (p->kind == CHANGE_KNOB ? O_RDWR : O_WRONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (p->kind == CHANGE_KNOB)
		return write_knob(fd, p, text);
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}
