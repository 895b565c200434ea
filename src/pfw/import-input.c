/* Finds trace files and inspects their first lines. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "pfw/gzip-read.h"
#include "pfw/import-part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 32
#define INPUTS_MAX 500000u             /* bounds the memory for them */
#define PARTS_MAX 16384u               /* per input; large inputs have larger parts */
#define HEAD_BYTES ((size_t)128 << 10) /* bytes of text that are inspected */
#define NS_MIN 100000000000000000 /* larger times are nanoseconds: as microseconds they would be after the year 5000 */

void pfw_inputs_release(struct pfw_inputs *in)
{
	for (size_t i = 0; i < in->count; i++) {
		free(in->items[i].path);
		free(in->items[i].starts);
	}
	free(in->items);
	*in = (struct pfw_inputs)PFW_INPUTS_INIT;
}

static int add_file(struct pfw_inputs *in, const char *path)
{
	if (in->count >= INPUTS_MAX)
		return -E2BIG;
	char *copy = VEC_GROW(in->items, in->cap, in->count + 1, INPUTS_MAX) ? strdup(path) : NULL;
	if (!copy)
		return -ENOMEM;
	in->items[in->count++] = (struct pfw_input){ .path = copy };
	return 0;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && !strcmp(name + n - k, end);
}

bool pfw_is_trace_name(const char *name)
{
	return ends_in(name, ".pfw") || ends_in(name, ".pfw.gz");
}

static int add_tree(struct pfw_inputs *in, const char *path, unsigned depth);

static int add_entry(struct pfw_inputs *in, const char *dir, const struct dirent *entry, unsigned depth)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct stat st;

	buf_addf(&path, "%s/%s", dir, entry->d_name);
	if (buf_error(&path))
		return -ENOMEM;
	if (pfw_is_trace_name(entry->d_name))
		return stat(path.data, &st) == 0 && S_ISREG(st.st_mode) ? add_file(in, path.data) : 0;
	/* Symbolic links are not followed: they may form a loop. */
	if (depth < DEPTH_MAX && lstat(path.data, &st) == 0 && S_ISDIR(st.st_mode))
		return add_tree(in, path.data, depth + 1);
	return 0;
}

static int add_tree(struct pfw_inputs *in, const char *path, unsigned depth)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort), rc = 0;

	if (count < 0)
		return depth ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		if (rc == 0 && strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0)
			rc = add_entry(in, path, entries[i], depth);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int pfw_inputs_add(struct pfw_inputs *in, const char *path, struct sonde_err *err)
{
	struct stat st;
	size_t before = in->count;

	if (stat(path, &st) < 0)
		return err_sys(err, errno, "cannot read '%s'", path);
	int rc = S_ISDIR(st.st_mode) ? add_tree(in, path, 0) : add_file(in, path);
	if (rc < 0)
		return err_sys(err, -rc, "cannot read '%s'", path);
	if (in->count == before)
		return err_set(err, ENOENT, "no traces (*.pfw, *.pfw.gz) found in '%s'", path);
	return 0;
}

int pfw_input_open(const struct pfw_input *in)
{
	int fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* Reads the start of the text, whole lines only. */
static size_t read_head(int fd, bool is_gzip, char *text)
{
	struct pfw_gzip *g = NULL;
	size_t n = 0, got;

	if (!is_gzip) {
		ssize_t rc = pread(fd, text, HEAD_BYTES, 0);

		n = rc < 0 ? 0 : (size_t)rc;
	} else if (pfw_gzip_open(&g, fd, 0) == 0) {
		enum pfw_gzip_status status;

		do {
			status = pfw_gzip_read(g, text + n, HEAD_BYTES - n, &got);
			n += got;
		} while (n < HEAD_BYTES && (status == PFW_GZIP_MORE || status == PFW_GZIP_MEMBER));
	}
	pfw_gzip_free(g);
	const char *newline = memrchr(text, '\n', n);
	return newline ? (size_t)(newline - text) + 1 : 0;
}

/* Reads host and time unit from a record; returns true once both are known. */
static bool inspect_line(struct pfw_input *in, struct pfw_dims *dims, const struct pfw_line *line, bool *has_unit)
{
	const struct pfw_field *hash = pfw_line_arg(line, PFW_KEY_hhash), *name = pfw_line_arg(line, PFW_KEY_hostname);
	const struct pfw_field *ts = pfw_line_get(line, PFW_KEY_ts), *pid = pfw_line_get(line, PFW_KEY_pid);
	int64_t time;
	bool is_hex;

	if (in->first_pid == STORE_NULL && pid)
		pfw_field_int(pid, &in->first_pid);

	if (in->ctx.host_kind == PFW_HOST_NONE && hash && pfw_field_hash(hash, &in->ctx.host, &is_hex))
		in->ctx.host_kind = PFW_HOST_HASH;
	if (in->ctx.host_kind == PFW_HOST_NONE && dims && name && name->kind == JSONSCAN_STRING && !name->flags) {
		int64_t id = pfw_dims_string(dims, name->value, name->bytes);

		in->ctx.host_kind = id == STORE_NULL ? PFW_HOST_NONE : PFW_HOST_NAME;
		in->ctx.host = id == STORE_NULL ? 0 : (uint64_t)id;
	}
	if (!*has_unit && ts && pfw_field_int(ts, &time)) {
		in->ctx.unit_ns = time >= NS_MIN ? 1 : 1000;
		*has_unit = true;
	}
	return *has_unit && in->ctx.host_kind != PFW_HOST_NONE;
}

static void inspect_text(struct pfw_input *in, struct pfw_dims *dims, const char *text, size_t n, bool has_unit)
{
	CLEANUP(pfw_line_release) struct pfw_line line = PFW_LINE_INIT;
	const char *end = text + n;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		if (pfw_line_scan(&line, text, (size_t)(newline - text)) == PFW_LINE_RECORD &&
				inspect_line(in, dims, &line, &has_unit))
			return;
		text = newline + 1;
	}
}

static uint64_t part_bytes(const struct pfw_input *in, uint64_t wanted)
{
	return in->bytes / PARTS_MAX > wanted ? in->bytes / PARTS_MAX : wanted;
}

/* Determines the default host and the time unit from the first lines. */
static int inspect_head(struct pfw_input *in, int fd, struct pfw_dims *dims, int64_t unit_ns)
{
	char *text = malloc(HEAD_BYTES);

	if (!text)
		return -ENOMEM;
	in->ctx = (struct pfw_context){ .unit_ns = unit_ns ? unit_ns : 1000, .host_kind = PFW_HOST_NONE };
	in->first_pid = STORE_NULL;
	inspect_text(in, dims, text, read_head(fd, in->is_gzip, text), unit_ns != 0);
	free(text);
	return 0;
}

static int look(struct pfw_input *in, int fd, struct pfw_dims *dims, const struct pfw_inspection *look_for)
{
	char head[PFW_GZIP_HEAD_BYTES];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ESPIPE;
	in->bytes = (uint64_t)st.st_size;
	in->is_gzip = pread(fd, head, sizeof(head), 0) >= 2 && !memcmp(head, "\x1f\x8b", 2);
	int rc = inspect_head(in, fd, dims, look_for->unit_ns);
	if (rc < 0)
		return rc;
	free(in->starts);
	in->starts = NULL;
	if (!in->is_gzip) {
		/* Parts of a plain text may start anywhere; the reader of a part finds its first line. */
		uint64_t stride = part_bytes(in, look_for->text_part_bytes);
		in->part_count = in->is_unsplit || in->bytes == 0 ? 1 : (size_t)((in->bytes + stride - 1) / stride);
		in->starts = calloc(in->part_count, sizeof(*in->starts));
		for (size_t i = 0; in->starts && i < in->part_count; i++)
			in->starts[i] = i * stride;
		return in->starts ? 0 : -ENOMEM;
	}
	return pfw_gzip_scan(fd, in->is_unsplit ? 0 : in->bytes, part_bytes(in, look_for->gzip_part_bytes), &in->starts,
			&in->part_count, NULL);
}

void pfw_input_inspect(struct pfw_input *in, struct pfw_dims *dims, const struct pfw_inspection *look_for)
{
	CLEANUP(cleanup_fd) int fd = pfw_input_open(in);
	int rc = fd < 0 ? fd : look(in, fd, dims, look_for);

	in->error = -rc;
	if (rc < 0)
		in->part_count = 0;
}
