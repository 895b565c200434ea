#include "live/proc-metrics.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/procfs.h"
#include "launch/cgroup.h"
#include "live/apps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLACK_SECONDS 0.05 /* the kernel reports the start time in ticks of 10 ms */
#define AGAIN_READS 64     /* a missing file may appear with its controller: retry at intervals */
#define TEXT_BYTES 4096    /* of a file: what is read of it is at its start */

/* Processes. */

/* Boot time now minus monotonic time now: how long the machine was suspended. */
static double slept_seconds(void)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (double)(boot.tv_sec - mono.tv_sec) + (double)(boot.tv_nsec - mono.tv_nsec) / 1e9;
}

static int parse(struct live_process *p, const char *text)
{
	static double tick;
	static uint64_t page_bytes;
	struct proc_stat s;

	if (!page_bytes) {
		tick = (double)sysconf(_SC_CLK_TCK);
		page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (!proc_stat_parse(&s, text))
		return -EBADMSG;
	if (proc_has_exited(&s))
		return -ESRCH;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)sizeof(p->name) - 1, s.name);
	p->cpu_seconds = (double)(s.fields[PROC_USER] + s.fields[PROC_SYSTEM] + s.fields[PROC_CHILD_USER] +
					 s.fields[PROC_CHILD_SYSTEM]) /
			tick;
	p->start_seconds = (double)s.fields[PROC_START] / tick;
	p->virtual_bytes = (uint64_t)s.fields[PROC_VIRTUAL];
	p->resident_bytes = (uint64_t)s.fields[PROC_PAGES] * page_bytes;
	return 0;
}

int live_process_poll(struct live_process *p, int fd, int64_t begun_mono_ns)
{
	char text[PROC_STAT_BYTES];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int rc;

	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	rc = parse(p, text);
	if (rc == 0 && begun_mono_ns != INT64_MAX &&
			p->start_seconds > (double)begun_mono_ns / 1e9 + slept_seconds() + SLACK_SECONDS)
		return -ESRCH;
	return rc;
}

int live_process_read(struct live_process *p, pid_t pid, int64_t begun_mono_ns)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	CLEANUP(cleanup_fd) int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	return fd < 0 ? -ESRCH : live_process_poll(p, fd, begun_mono_ns);
}

/* The machine. */

/* A metric's family comes with its first sample, so that one without values does not appear. */
static void add_sample(struct exposition *x, const struct series_row *s, enum series_metric_id *family, const char *app,
		double value)
{
	const struct series_metric *m = &series_metrics[s->metric];

	if (isnan(value))
		return;
	if (*family != s->metric)
		exposition_family(x, m->name, s->is_total ? EXPOSITION_COUNTER : EXPOSITION_GAUGE, m->help);
	*family = s->metric;
	value = strcmp(s->unit, "ns") == 0 ? value / 1e9 : value;
	if (app)
		exposition_sample(x, value, "app", app, s->labels[0], s->labels[1], s->labels[2], s->labels[3], NULL);
	else
		exposition_sample(x, value, s->labels[0], s->labels[1], s->labels[2], s->labels[3], NULL);
}

void live_node(struct exposition *x)
{
	enum series_file_id last = SERIES_FILES;
	enum series_metric_id family = SERIES_NONE;
	char text[TEXT_BYTES];

	for (size_t i = 0; i < series_count; i++) {
		const struct series_row *s = &series_rows[i];

		if (!s->metric || series_files[s->file].scope != SERIES_MACHINE)
			continue;
		if (s->file != last)
			proc_read(AT_FDCWD, series_files[s->file].path, text, sizeof(text));
		last = s->file;
		add_sample(x, s, &family, NULL, series_value(s, text));
	}
}

/* Cgroups. */

/* Half of the descriptor limit is reserved for clients and boards. */
static bool may_keep(int fd)
{
	static rlim_t most;
	struct rlimit limit;

	if (!most)
		most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
	return (rlim_t)fd < most / 2;
}

static int open_file(const struct live_cgroup *dirs, enum series_file_id file)
{
	const char *dir = dirs->dir[series_files[file].controller];
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", dir, series_files[file].path);
	return *dir ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Reads the file, truncated to the buffer; "" if it is missing. */
static void read_file(struct live_group_files *f, const struct live_cgroup *dirs, enum series_file_id file, char *text)
{
	ssize_t n = f->fds[file] > 0 ? pread(f->fds[file], text, TEXT_BYTES - 1, 0) : -1;

	if (n < 0 && f->fds[file] > 0) { /* the cgroup was removed; a new one may have the same name */
		close(f->fds[file]);
		f->fds[file] = 0;
	}
	if (n < 0 && (f->fds[file] == 0 || f->reads[file] % AGAIN_READS == 0)) {
		int fd = open_file(dirs, file);

		n = fd < 0 ? -1 : pread(fd, text, TEXT_BYTES - 1, 0);
		f->fds[file] = fd < 0 && errno == ENOENT ? -1 : fd < 0 ? 0 : fd;
		if (fd >= 0 && !may_keep(fd)) {
			close(fd);
			f->fds[file] = 0;
		}
	}
	f->reads[file]++;
	text[n > 0 ? n : 0] = '\0';
}

void live_group_close(struct live_group_files *f)
{
	for (size_t i = 0; i < SERIES_FILES; i++)
		if (f->fds[i] > 0)
			close(f->fds[i]);
	*f = (struct live_group_files){ 0 };
}

#define ROWS_MAX 16

/* The rows of cgroups that are exported. Where that of v2 has no value, the same series of v1 is used. */
struct rows {
	size_t count;
	struct {
		const struct series_row *v2, *v1;
	} all[ROWS_MAX];
};

/* A cgroup to export and the values of its rows; NaN if unavailable. */
struct group {
	const char *app;
	double values[ROWS_MAX];
};

struct group_reader {
	struct live_group_files *files;
	const struct live_cgroup *dirs;
	const double *node;
	enum series_file_id last; /* rows of a file are adjacent: it is read once */
	char text[TEXT_BYTES];
};

/*
 * Pressure files are the slowest to read. A cgroup's stall time cannot grow while the machine's does not: if the
 * machine's value, which was read first, is unchanged, so is the cgroup's.
 */
static double read_row(struct group_reader *r, const struct series_row *s)
{
	size_t i = (size_t)s->file - SERIES_FILE_GROUP_PRESSURE_CPU;
	bool is_pressure = s->file >= SERIES_FILE_GROUP_PRESSURE_CPU && i < LIVE_PRESSURES;
	double value;

	if (is_pressure && r->files->pressure[i].node_at == r->node[i] + 1)
		return r->files->pressure[i].ns;
	if (s->file != r->last)
		read_file(r->files, r->dirs, s->file, r->text);
	r->last = s->file;
	value = series_value(s, r->text);
	if (is_pressure) {
		r->files->pressure[i].ns = value;
		r->files->pressure[i].node_at = isnan(r->node[i]) ? 0 : r->node[i] + 1;
	}
	return value;
}

static void read_rows(struct group *g, const struct rows *rows, struct live_group_files *files,
		const struct live_cgroup *dirs, const double node[LIVE_PRESSURES])
{
	struct group_reader v2 = { files, dirs, node, SERIES_FILES, "" }, v1 = v2;

	for (size_t i = 0; i < rows->count; i++) {
		g->values[i] = read_row(&v2, rows->all[i].v2);
		if (isnan(g->values[i]) && rows->all[i].v1)
			g->values[i] = read_row(&v1, rows->all[i].v1);
	}
}

/* Is it in another cgroup than we, in a hierarchy that has a row? */
static bool has_place(const struct rows *rows, const struct live_cgroup *dirs)
{
	for (size_t i = 0; i < rows->count; i++)
		if (*dirs->dir[series_files[rows->all[i].v2->file].controller] ||
				(rows->all[i].v1 && *dirs->dir[series_files[rows->all[i].v1->file].controller]))
			return true;
	return false;
}

static bool is_listed(const struct group *all, size_t count, const char *app)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].app, app) == 0)
			return true;
	return false;
}

/* The separate cgroups of applications, then the named ones that are not among them. */
static size_t read_groups(const struct live_scan *s, struct live_named_groups *named, const struct rows *rows,
		struct group *all)
{
	double node[LIVE_PRESSURES];
	size_t n = 0, own;
	char text[TEXT_BYTES];
	size_t count;

	/* Stall times of the machine; NaN if unavailable. */
	for (size_t i = 0; i < LIVE_PRESSURES; i++) {
		enum series_file_id file = SERIES_FILE_PRESSURE_CPU + i;
		ssize_t bytes;

		if (!named->node_fds[i])
			named->node_fds[i] = open(series_files[file].path, O_RDONLY | O_CLOEXEC);
		bytes = named->node_fds[i] < 0 ? -1 : pread(named->node_fds[i], text, sizeof(text) - 1, 0);
		text[bytes > 0 ? bytes : 0] = '\0';
		node[i] = series_value(series_of_file(file, &count), text);
	}
	for (size_t i = 0; i < s->app_count; i++) {
		struct live_entry *e = s->apps[i].first;

		if (!e || !has_place(rows, &e->cgroup))
			continue;
		all[n].app = s->apps[i].name;
		read_rows(&all[n++], rows, &e->group_files, &e->cgroup, node);
	}
	own = n;
	for (size_t i = 0; i < named->count; i++) {
		if (is_listed(all, own, named->groups[i].app))
			continue;
		all[n].app = named->groups[i].app;
		read_rows(&all[n++], rows, &named->files[i], &named->dirs[i], node);
	}
	return n;
}

void live_groups(struct exposition *x, const struct live_scan *s, struct live_named_groups *named)
{
	CLEANUP(cleanup_free) struct group *groups = calloc(s->app_count + named->count + 1, sizeof(*groups));
	enum series_metric_id family = SERIES_NONE;
	struct rows rows;

	rows.count = 0;
	for (size_t i = 0; i < series_count && rows.count < ROWS_MAX; i++)
		if (series_rows[i].metric && series_files[series_rows[i].file].scope == SERIES_CGROUP2) {
			rows.all[rows.count].v1 = NULL;
			rows.all[rows.count++].v2 = &series_rows[i];
		}
	for (size_t i = 0; i < series_count; i++)
		for (size_t k = 0; series_files[series_rows[i].file].scope == SERIES_CGROUP1 && k < rows.count; k++)
			if (series_rows[i].metric == rows.all[k].v2->metric &&
					strcmp(series_rows[i].name, rows.all[k].v2->name) == 0)
				rows.all[k].v1 = &series_rows[i];
	size_t count = groups ? read_groups(s, named, &rows, groups) : 0;
	for (size_t r = 0; r < rows.count; r++)
		for (size_t i = 0; i < count; i++)
			add_sample(x, rows.all[r].v2, &family, groups[i].app, groups[i].values[r]);
}

void live_named_groups_init(struct live_named_groups *n, const struct live_group *groups, size_t count)
{
	*n = (struct live_named_groups){ .groups = groups, .count = count };
	n->files = calloc(count + 1, sizeof(*n->files));
	n->dirs = calloc(count + 1, sizeof(*n->dirs));
	if (!n->files || !n->dirs)
		n->count = 0;
	for (size_t i = 0; i < n->count; i++)
		for (size_t k = 0; k < CGROUP_CONTROLLERS; k++)
			snprintf(n->dirs[i].dir[k], sizeof(n->dirs[i].dir[k]), "%s", groups[i].dir);
}

void live_named_groups_release(struct live_named_groups *n)
{
	for (size_t i = 0; i < n->count; i++)
		live_group_close(&n->files[i]);
	for (size_t i = 0; i < LIVE_PRESSURES; i++)
		if (n->node_fds[i] > 0)
			close(n->node_fds[i]);
	free(n->files);
	free(n->dirs);
}

#define ID_BYTES 64
#define PARENTS_MAX 64
#define DOCKER_ROOT "/var/lib/docker"
#define TEXT_MAX ((size_t)1 << 20)

static bool read_of(pid_t pid, const char *file, size_t max, struct buf *text)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return fs_read_file(AT_FDCWD, path, max, text, NULL) == 0;
}

void live_container_id(const char *cgroups, char *id, size_t size)
{
	size_t run = 0;

	id[0] = '\0';
	for (const char *p = cgroups; *p; p++) {
		run = isdigit((unsigned char)*p) || (*p >= 'a' && *p <= 'f') ? run + 1 : 0;
		if (run == ID_BYTES && !isalnum((unsigned char)p[1])) {
			snprintf(id, size, "%.*s", ID_BYTES, p - ID_BYTES + 1);
			return;
		}
	}
}

bool live_container_conmon(const char *words, size_t bytes, const char *id, char *name, size_t size)
{
	const char *slash = strrchr(words, '/'), *found = NULL;
	bool is_its = false;

	if (!bytes || strcmp(slash ? slash + 1 : words, "conmon") != 0)
		return false;
	for (const char *word = words, *next; word < words + bytes; word = next) {
		next = word + strlen(word) + 1;
		if (next >= words + bytes)
			break;
		is_its |= strcmp(word, "-c") == 0 && strcmp(next, id) == 0;
		if (strcmp(word, "-n") == 0)
			found = next;
	}
	if (is_its && found)
		snprintf(name, size, "%s", found);
	return is_its && found;
}

/* The text between `before` and the next quote. */
static bool parse_quoted(const struct buf *text, const char *before, char *name, size_t size)
{
	const char *at = text->len ? strstr(text->data, before) : NULL, *end;

	at = at ? at + strlen(before) : NULL;
	end = at ? strchr(at, '"') : NULL;
	if (end)
		snprintf(name, size, "%.*s", (int)(end - at), at);
	return end && end > at;
}

bool live_container_docker(const char *root, const char *id, char *name, size_t size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[512];

	snprintf(path, sizeof(path), "%s/containers/%s/config.v2.json", root, id);
	return fs_read_file(AT_FDCWD, path, TEXT_MAX, &text, NULL) == 0 &&
			parse_quoted(&text, "\"Name\":\"/", name, size);
}

bool live_container_env(int root, char *name, size_t size)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	CLEANUP(cleanup_fd) int fd = (int)syscall(SYS_openat2, root, "run/.containerenv", &how, sizeof(how));
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char bytes[4096];
	struct stat st;
	ssize_t n = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, bytes, sizeof(bytes), 0) : -1;

	if (n > 0)
		buf_add(&text, bytes, (size_t)n);
	return n > 0 && parse_quoted(&text, "name=\"", name, size);
}

static pid_t parent_of(pid_t pid)
{
	struct proc_stat s;

	return proc_stat_read(&s, pid) ? 0 : (pid_t)s.fields[PROC_PARENT];
}

static bool name_by_conmon(pid_t pid, const char *id, char *name, size_t size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (int i = 0; i < PARENTS_MAX && pid > 1; i++, pid = parent_of(pid)) {
		buf_reset(&text);
		if (read_of(pid, "cmdline", TEXT_MAX, &text) &&
				live_container_conmon(text.data, text.len, id, name, size))
			return true;
	}
	return false;
}

void live_container_of(pid_t pid, char *id, size_t id_size, char *name, size_t name_size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64];

	id[0] = name[0] = '\0';
	if (!read_of(pid, "cgroup", TEXT_MAX, &text))
		return;
	live_container_id(text.data, id, id_size);
	if (!*id || name_by_conmon(pid, id, name, name_size) || live_container_docker(DOCKER_ROOT, id, name, name_size))
		return;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	CLEANUP(cleanup_fd) int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0)
		live_container_env(root, name, name_size);
}

void live_container_cgroup(pid_t pid, struct live_cgroup *group)
{
	CLEANUP(buf_release) struct buf mounts = BUF_INIT, its = BUF_INIT, own = BUF_INIT;
	struct cgroup_map map, ours;

	*group = (struct live_cgroup){ 0 };
	if (!read_of(pid, "cgroup", TEXT_MAX, &its) || !read_of(getpid(), "cgroup", TEXT_MAX, &own) ||
			!read_of(getpid(), "mountinfo", TEXT_MAX, &mounts))
		return;
	cgroup_map_parse(&map, mounts.data, its.data);
	cgroup_map_parse(&ours, mounts.data, own.data);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (strcmp(map.base[i], ours.base[i]) != 0)
			snprintf(group->dir[i], sizeof(group->dir[i]), "%.255s", map.base[i]);
}
