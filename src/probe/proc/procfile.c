#include "probe/proc/procfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_BYTES_MAX ((size_t)4 << 20)
#define TEXT_BYTES_FIRST 16384

bool feed_open(struct feed *f, const struct feed_kind *kind, const char *path)
{
	*f = (struct feed){ .kind = kind, .fd = open(path ? path : kind->path, O_RDONLY | O_CLOEXEC) };
	return f->fd >= 0;
}

bool feed_text(int fd, struct buf *room)
{
	buf_reset(room);
	for (;;) {
		if (!buf_reserve(room, room->len + TEXT_BYTES_FIRST) || room->len > TEXT_BYTES_MAX)
			return false;
		size_t space = room->cap - room->len - 1;
		ssize_t n = pread(fd, room->data + room->len, space, (off_t)room->len);
		if (n < 0)
			return false;
		room->len += (size_t)n;
		room->data[room->len] = '\0';
		if ((size_t)n < space) /* a short read is the end of these files */
			return true;
	}
}

void feed_parse(struct feed *f, struct counters *c, const struct buf *text)
{
	f->hint = 0;
	f->kind->read(f, c, text->data, text->data + text->len);
}

void feed_close(struct feed *f, struct counters *c)
{
	size_t fields = 0;
	while (f->kind->fields[fields].name)
		fields++;
	for (size_t i = 0; f->pairs && i < fields; i++)
		counter_finish(c, &f->pairs[i]);
	for (size_t i = 0; i < f->count; i++)
		for (size_t k = 0; k < FEED_FIELDS_MAX; k++)
			counter_finish(c, &f->lines[i].counters[k]);
	close(f->fd);
	free(f->lines);
	free(f->pairs);
}
