/*
 * cli-docs TEMPLATE [COMMAND]: fill in a template and print it.
 */
#define CLI_COMMANDS "cli/commands.inc"
#include "cli/commands.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/docs.h"
#include "cli/help.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define TEMPLATE_BYTES_MAX ((size_t)1 << 20)

static const struct docs_marker *const marker_tables[] = { docs_man_markers, docs_bash_markers, docs_zsh_markers };

void docs_each_option(struct buf *out, const struct cli_command *command,
		void (*each)(struct buf *, const struct cli_command *, const struct cli_option *))
{
	for (const struct cli_option *option = command->options; option && option->long_name; option++)
		each(out, command, option);
	each(out, command, &help_option);
}

static const struct docs_marker *find_marker(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(marker_tables) / sizeof(*marker_tables); i++)
		for (const struct docs_marker *m = marker_tables[i]; m->name; m++)
			if (strlen(m->name) == len && memcmp(m->name, name, len) == 0)
				return m;
	return NULL;
}

static int fill_line(struct buf *out, const char *line, size_t len, const struct docs *docs, struct sonde_err *err)
{
	const struct docs_marker *marker;

	if (len < 3 || line[0] != '@' || line[len - 1] != '@') {
		buf_add(out, line, len);
		buf_addc(out, '\n');
		return 0;
	}
	marker = find_marker(line + 1, len - 2);
	if (!marker)
		return err_set(err, EINVAL, "unknown marker '%.*s'", (int)len, line);
	marker->write(out, docs);
	return 0;
}

static int fill(struct buf *out, const char *template, const struct docs *docs, struct sonde_err *err)
{
	int rc = 0;

	while (*template && !rc) {
		size_t len = strcspn(template, "\n");

		rc = fill_line(out, template, len, docs, err);
		template += len + (template[len] == '\n');
	}
	return rc ? rc : buf_error(out);
}

static const struct cli_command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	CLEANUP(buf_release) struct buf template = BUF_INIT;
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct docs docs = { .commands = commands, .command = argc > 2 ? find_command(argv[2]) : NULL };
	int rc;

	if (argc < 2 || (argc > 2 && !docs.command)) {
		fputs("usage: cli-docs TEMPLATE [COMMAND]\n", stderr);
		return CLI_EXIT_USAGE;
	}
	rc = fs_read_file(AT_FDCWD, argv[1], TEMPLATE_BYTES_MAX, &template, &err);
	if (!rc)
		rc = fill(&out, template.data, &docs, &err);
	if (!rc)
		rc = fwrite(out.data, 1, out.len, stdout) == out.len && fflush(stdout) == 0
				? 0
				: err_set(&err, EIO, "cannot write");
	if (rc)
		cli_print_error(argv[1], &err);
	return rc ? CLI_EXIT_FAILED : CLI_EXIT_FINE;
}
