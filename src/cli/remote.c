#include "cli/remote.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <string.h>

/* The path may or may not pass through a remote shell: only characters that need no quoting are allowed. */
static bool is_plain(const char *path)
{
	return *path && !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-")];
}

int remote_path(struct cli_context *ctx, const char *remote, const char **path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = remote ? 0 : fs_prefix(&text, ctx->err);

	if (rc < 0)
		return rc;
	buf_adds(&text, remote ? remote : "/bin/sonde");
	if (!is_plain(text.data))
		return cli_usage(ctx, "--remote: a path of letters, digits and /._+- is needed, not '%s'", text.data);
	*path = arena_strdup(ctx->arena, text.data);
	return *path ? 0 : err_sys(ctx->err, ENOMEM, "cannot name sonde there");
}
