/*
 * sonde export: convert a run to another tool's format.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "exchange/exchange.h"
#include "pfw/gzip-read.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 65536

struct options {
	int format;
	int table;
	const char *path;
	int64_t from_ns;
	int64_t to_ns;
};

#define TABLE_NAME(name, NAME, version, doc) #name,
static const char *const table_names[] = { STORE_TABLES(TABLE_NAME) NULL };
#undef TABLE_NAME

static const struct cli_option option_rows[] = {
	{ 0, "to", "FORMAT", CLI_CHOICE(struct options, format), .choices = exchange_names, .default_text = "chrome",
			.help = "Output format." },
	{ 'o', "output", "FILE", CLI_PATH(struct options, path), .default_words = "standard output",
			.help = "Output file, compressed if its name ends in .gz; '-' is standard output. For sofa, a "
				"directory." },
	{ 0, "table", "TABLE", CLI_CHOICE(struct options, table), .choices = table_names, .default_text = "io",
			.help = "csv: table to write." },
	{ 0, "from", "TIME", CLI_DURATION(struct options, from_ns),
			.help = "Only events that start at this time since the start of the run, or later." },
	{ 0, "until", "TIME", CLI_DURATION(struct options, to_ns),
			.help = "Only events that start before this time since the start of the run." },
	CLI_OPTIONS_END,
};

static bool is_stdout(const struct options *o)
{
	return !o->path || strcmp(o->path, "-") == 0;
}

/* Opens a separate stream for standard output too, so that a closed pipe leaves no error in stdout. */
static FILE *open_plain(const struct options *o, struct sonde_err *err)
{
	int fd = is_stdout(o) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
			      : open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		err_sys(err, errno, "cannot write to '%s'", is_stdout(o) ? "standard output" : o->path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	setvbuf(out, NULL, _IOFBF, BUFFER_BYTES);
	return out;
}

static FILE *open_output(const struct options *o, const struct exchange_format *format, struct sonde_err *err)
{
	size_t n = o->path ? strlen(o->path) : 0;
	FILE *out = open_plain(o, err), *packed;

	if (!out || format->is_packed || n < 3 || strcmp(o->path + n - 3, ".gz") != 0)
		return out;
	packed = gzip_stream_open(out);
	if (!packed) {
		err_sys(err, errno, "cannot write to '%s'", o->path);
		fclose(out);
		return NULL;
	}
	setvbuf(packed, NULL, _IOFBF, BUFFER_BYTES);
	return packed;
}

static int export(struct cli_context *ctx, struct model_run *run)
{
	const struct options *o = ctx->options;
	const struct exchange_format *format = exchange_formats[o->format];
	struct exchange_options options = { .range.has_range = o->from_ns || o->to_ns,
		.table = (enum store_table_id)o->table };
	FILE *out;
	int rc = 0;

	cli_run_range(run, o->from_ns, o->to_ns, &options.range.from_ns, &options.range.to_ns);
	if (format->write_files) {
		CLEANUP(cleanup_fd) int dirfd = -1;

		rc = fs_mkdir_p(o->path, 0777, ctx->err);
		if (rc < 0)
			return rc;
		dirfd = open(o->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dirfd < 0)
			return err_sys(ctx->err, errno, "cannot write to '%s'", o->path);
		return format->write_files(run, dirfd, &options, ctx->err);
	}
	out = open_output(o, format, ctx->err);
	if (!out)
		return -EIO;
	rc = format->write(run, out, &options, ctx->err);
	errno = 0;
	if (fclose(out) != 0 && rc == 0)
		rc = err_sys(ctx->err, errno ? errno : EIO, "cannot write the trace");
	return rc == -EPIPE && is_stdout(o) ? 0 : rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct model_run *opened;
	int rc;

	if (exchange_formats[o->format]->write_files && is_stdout(o))
		return cli_usage(ctx, "the format %s needs an output directory: -o DIR", exchange_names[o->format]);
	rc = cli_open_run(ctx, &opened);
	if (rc < 0)
		return rc;
	signal(SIGPIPE, SIG_IGN);
	rc = export(ctx, opened);
	model_run_free(opened);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde export --to chrome -o run.json", "Write a trace of the latest run for https://ui.perfetto.dev." },
	{ "sonde export --from 10s --until 12s | gzip >part.json.gz", "Export two seconds, compressed." },
	{ NULL, NULL },
};

const struct cli_command cmd_export = {
	.name = "export",
	.usage = "[--to FORMAT] [-o FILE] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
