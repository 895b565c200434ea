#include "pfw/output.h"

#include "base/fs.h"
#include "pfw/gzip-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMBER_BYTES ((size_t)16 << 20)

int pfw_out_open(struct pfw_out *o, const char *path, struct sonde_err *err)
{
	size_t n = strlen(path);

	*o = (struct pfw_out){ .fd = -1 };
	buf_init(&o->text, 0);
	buf_init(&o->packed, 0);
	if (access(path, F_OK) == 0) {
		err_set(err, EEXIST, "cannot write '%s': File exists", path);
		err_hint(err, "remove it or choose another name");
		return -EEXIST;
	}
	o->is_gzip = n > 3 && !strcmp(path + n - 3, ".gz");
	o->path = strdup(path);
	if (!o->path || asprintf(&o->temp, "%s.%d.new", path, (int)getpid()) < 0) {
		free(o->path);
		return err_sys(err, ENOMEM, "cannot write '%s'", path);
	}
	/* Never open an existing file: it may belong to another user, or be a link. */
	o->fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (o->fd < 0) {
		int error = errno;

		free(o->path);
		free(o->temp);
		return err_sys(err, error, "cannot write '%s'", path);
	}
	return 0;
}

void pfw_out_begin(struct pfw_out *o, bool is_framed)
{
	o->has_begun = true;
	o->is_framed = is_framed;
	if (is_framed)
		buf_adds(&o->text, "[\n");
}

static int flush(struct pfw_out *o)
{
	struct buf *bytes = o->is_gzip ? &o->packed : &o->text;

	buf_reset(&o->packed);
	if (o->error == 0 && buf_error(&o->text))
		o->error = -ENOMEM;
	if (o->error == 0 && o->is_gzip)
		o->error = pfw_gzip_deflate(&o->packed, o->text.data, o->text.len);
	if (o->error == 0)
		o->error = fs_write_all(o->fd, bytes->data, bytes->len);
	buf_reset(&o->text);
	return o->error;
}

int pfw_out_line(struct pfw_out *o, const char *line, size_t n)
{
	buf_add(&o->text, line, n);
	buf_addc(&o->text, '\n');
	o->text_bytes += n + 1;
	return o->text.len >= MEMBER_BYTES ? flush(o) : o->error;
}

int pfw_out_close(struct pfw_out *o, struct sonde_err *err)
{
	int rc;

	if (!o->has_begun)
		pfw_out_begin(o, true);
	if (o->is_framed)
		buf_adds(&o->text, "]");
	rc = flush(o);
	if (close(o->fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && err && rename(o->temp, o->path) < 0)
		rc = -errno;
	if (rc < 0 || !err)
		unlink(o->temp);
	if (rc < 0)
		err_sys(err, -rc, "cannot write '%s'", o->path);
	free(o->path);
	free(o->temp);
	buf_release(&o->text);
	buf_release(&o->packed);
	return rc;
}
