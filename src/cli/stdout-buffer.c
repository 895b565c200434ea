#include "cli/stdout-buffer.h"

#include "base/fs.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define PIECE_BYTES 65536

void out_init(struct out *o)
{
	*o = (struct out)OUT_INIT;
	signal(SIGPIPE, SIG_IGN);
}

void out_release(struct out *o)
{
	buf_release(&o->text);
}

static void write_text(struct out *o)
{
	if (!o->error)
		o->error = buf_error(&o->text);
	if (!o->error)
		o->error = fs_write_all(STDOUT_FILENO, o->text.data, o->text.len);
	buf_reset(&o->text);
}

bool out_is_over(struct out *o)
{
	if (o->text.len >= PIECE_BYTES)
		write_text(o);
	return o->error < 0;
}

int out_finish(struct out *o, struct sonde_err *err)
{
	write_text(o);
	if (!o->error || o->error == -EPIPE)
		return 0;
	return err_sys(err, -o->error, "cannot write to standard output");
}
