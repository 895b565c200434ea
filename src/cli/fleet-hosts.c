#include "cli/fleet-hosts.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/remote.h"
#include "fleet/remote-hosts.h"

#include <fcntl.h>
#include <string.h>

enum { HOSTS_FILE_MAX = 1 << 20 };

bool fleet_slots_are_slurm(const struct fleet_slots *p)
{
	return p->names.count == 1 && strcmp(p->names.items[0], "slurm") == 0;
}

bool fleet_slots_are_given(const struct fleet_slots *p)
{
	return p->names.count || p->file;
}

static int take_file(struct cli_context *ctx, const char *path, const struct fleet_host *usual, struct fleet_dir *home)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, path, HOSTS_FILE_MAX, &text, ctx->err);

	if (rc < 0)
		return rc;
	rc = fleet_members_parse(home, text.data, usual, ctx->arena, ctx->err);
	if (rc < 0)
		err_prefix(ctx->err, "'%s'", path);
	return rc;
}

int fleet_slots_take(struct cli_context *ctx, const struct fleet_slots *p, int64_t agents, const char *label,
		struct fleet_dir *home)
{
	struct fleet_host member = { .shell = p->shell, .label = label, .agents = agents };
	int rc = remote_path(ctx, p->remote, &member.sonde);

	for (size_t i = 0; i < p->names.count && rc == 0; i++) {
		member.host = p->names.items[i];
		rc = fleet_members_add(home, &member, ctx->err);
	}
	if (rc == 0 && p->file)
		rc = take_file(ctx, p->file, &member, home);
	return rc;
}
