/* The files of external tools, and the table of their readers. */
#include "session/dumps.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX 16384
#define DEPTH_MAX 3

static const struct {
	const char *kind;
	dump_reader *read;
} readers[] = {
	{ "TAU profiles", dump_read_tau },
	{ "nsys reports", dump_read_nsys },
	{ "tegrastats logs", dump_read_tegrastats },
};

void dump_reason(struct session_dump *d, const char *fmt, ...)
{
	va_list args;

	if (*d->reason)
		return;
	va_start(args, fmt);
	vsnprintf(d->reason, sizeof(d->reason), fmt, args);
	va_end(args);
}

const char *dump_base(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

void dump_name(char out[SESSION_LABEL_BYTES], const char *name)
{
	const int half = SESSION_LABEL_BYTES / 2 - 3;
	size_t n = strlen(name);

	if (n < SESSION_LABEL_BYTES)
		memcpy(out, name, n + 1);
	else
		snprintf(out, SESSION_LABEL_BYTES, "%.*s...%s", half, name, name + n - half);
}

static void collect(struct dump_files *f, const char *below, int depth)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct dirent **entries = NULL;
	int n;

	buf_addf(&path, "%s/%s", f->dir, below);
	n = scandir(path.data, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;
		struct stat st;

		buf_addf(&name, "%s%s%s", below, *below ? "/" : "", entries[i]->d_name);
		buf_reset(&path);
		buf_addf(&path, "%s/%s", f->dir, name.data);
		if (entries[i]->d_name[0] != '.' && lstat(path.data, &st) == 0) {
			if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
				collect(f, name.data, depth + 1);
			else if (S_ISREG(st.st_mode) && f->count < FILES_MAX)
				f->names[f->count++] = buf_take(&name);
		}
		free(entries[i]);
	}
	free(entries);
}

static void read_tool(struct session_profile *p, const char *tool, const struct dump_files *f)
{
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct session_dump d = { .tool = tool, .kind = readers[i].kind, .repeat = p->repeat_count };

		readers[i].read(p, &d, f);
		if (d.files && p->dump_count < SESSION_DUMPS_MAX)
			p->dumps[p->dump_count++] = d;
	}
}

void session_dumps_take(struct session_profile *p, const char *run)
{
	struct dump_files f = { .names = calloc(FILES_MAX, sizeof(*f.names)) };
	struct companion at = { .count = 0 };

	snprintf(at.dir, sizeof(at.dir), "%s/tools", run);

	for (size_t i = 0; f.names && i < p->spec->tool_count; i++) {
		CLEANUP(buf_release) struct buf dir = BUF_INIT;

		tools_dir(&at, &p->spec->tools[i], &dir);
		f.dir = dir.data;
		f.count = 0;
		collect(&f, "", 0);
		read_tool(p, p->spec->tools[i].name, &f);
		while (f.count)
			free(f.names[--f.count]);
	}
	free(f.names);
}

bool session_value_is_dumped(const struct session_value *v)
{
	static const char *const prefixes[] = { "tau_", "nsys_", "tegrastats_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(v->name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}
