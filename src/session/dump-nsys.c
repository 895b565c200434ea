/*
 * Reads reports of Nsight Systems in the SQLite format of `nsys export --type sqlite`: one table per kind of
 * activity, created only if there is any, names as ids of the table StringIds, times in nanoseconds. If a report
 * (.nsys-rep, .qdrep) has no such file next to it, nsys is run to export it, if it is installed.
 *
 * SQLite is loaded on demand, so that sonde-live, which links this file, stays small.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/job.h"
#include "session/dumps.h"
#include "session/profile.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <string.h>

#define EXPORT_TIMEOUT_NS 600000000000
#define QUERY_TIMEOUT_NS 60000000000
#define PROGRESS_STEPS 100000
#define TEXT_OF(column) "COALESCE((SELECT value FROM StringIds WHERE id = " column "), " column ", '?')"
/* Name, count, total time, bytes; sorted by total time. */
#define SUMS(name, bytes, from) \
	"SELECT " name " AS name, COUNT(*), TOTAL(\"end\" - start), " bytes " FROM " from \
	" GROUP BY name ORDER BY 3 DESC"

static const struct {
	const char *label, *sql;
	struct {
		const char *name, *help;
	} columns[3]; /* count, total time, bytes */
} queries[] = {
	{ "kernel", SUMS(TEXT_OF("demangledName"), "NULL", "CUPTI_ACTIVITY_KIND_KERNEL"),
			{ { "nsys_kernel_count", "GPU kernel launches" },
					{ "nsys_kernel_seconds", "GPU kernel time" } } },
	{ "copy",
			SUMS("CASE copyKind WHEN 1 THEN 'host-to-device' WHEN 2 THEN 'device-to-host' WHEN 8 THEN "
			     "'device-to-device' WHEN 9 THEN 'host-to-host' WHEN 10 THEN 'peer-to-peer' WHEN 11 THEN "
			     "'managed host-to-device' WHEN 12 THEN 'managed device-to-host' ELSE 'copy kind ' || "
			     "copyKind END",
					"TOTAL(bytes)", "CUPTI_ACTIVITY_KIND_MEMCPY"),
			{ { "nsys_copy_count", "Memory copies" }, { "nsys_copy_seconds", "How long they took" },
					{ "nsys_copy_bytes", "Bytes copied" } } },
	{ "fill", SUMS("'memset'", "TOTAL(bytes)", "CUPTI_ACTIVITY_KIND_MEMSET"),
			{ { "nsys_fill_count", "Device memory fills" }, { "nsys_fill_seconds", "How long they took" },
					{ "nsys_fill_bytes", "Bytes filled" } } },
	{ "range", SUMS("COALESCE(text, " TEXT_OF("textId") ")", "NULL", "NVTX_EVENTS WHERE \"end\" > start"),
			{ { "nsys_range_count", "NVTX range count" },
					{ "nsys_range_seconds", "NVTX range time, summed over threads" } } },
	{ "cuda_call", SUMS(TEXT_OF("nameId"), "NULL", "CUPTI_ACTIVITY_KIND_RUNTIME"),
			{ { "nsys_cuda_count", "CUDA API calls" },
					{ "nsys_cuda_seconds", "Time in them, of all threads" } } },
	{ "os_call", SUMS(TEXT_OF("nameId"), "NULL", "OSRT_API"),
			{ { "nsys_os_count", "OS runtime library calls recorded by nsys" },
					{ "nsys_os_seconds", "Time in them, of all threads" } } },
};

/* The functions of SQLite that are used. */
#define FUNCTIONS(X) \
	X(open_v2) \
	X(close) \
	X(prepare_v2) \
	X(step) X(finalize) X(column_text) X(column_double) X(column_type) X(errmsg) X(db_config) X(progress_handler)
#define POINTER(name) __typeof__(sqlite3_##name) *name;

static const struct sqlite {
	FUNCTIONS(POINTER)
} * find_sqlite(void)
{
	static struct sqlite found;
	static bool is_whole;
	void *library = is_whole ? NULL : dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);

	if (is_whole || !library)
		return is_whole ? &found : NULL;
	is_whole = true;
#define FIND(name) is_whole &= (*(void **)&found.name = dlsym(library, "sqlite3_" #name)) != NULL;
	FUNCTIONS(FIND)
	return is_whole ? &found : NULL;
}

static int is_late(void *until_ns)
{
	return clock_mono_ns() > *(const int64_t *)until_ns;
}

static void put_rows(struct session_profile *p, struct session_dump *d, const struct sqlite *sql, sqlite3_stmt *rows,
		size_t query)
{
	size_t n = 0;

	for (; sql->step(rows) == SQLITE_ROW; n++) {
		const char *name = (const char *)sql->column_text(rows, 0);
		char of[SESSION_LABEL_BYTES];
		double all[] = { sql->column_double(rows, 1), sql->column_double(rows, 2) / 1e9,
			sql->column_double(rows, 3) };

		d->rows += (uint64_t)all[0];
		if (n >= SESSION_DUMP_ROWS)
			continue;
		dump_name(of, name ? name : "?");
		for (size_t i = 0; i < 3; i++)
			if (queries[query].columns[i].name)
				session_add(p, queries[query].columns[i].name, queries[query].label, of,
						queries[query].columns[i].help, all[i]);
	}
}

/* A missing table means that there was no such activity. */
static void ask(struct session_profile *p, struct session_dump *d, const struct sqlite *sql, sqlite3 *db,
		const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		sqlite3_stmt *rows = NULL;

		if (sql->prepare_v2(db, queries[i].sql, -1, &rows, NULL) == SQLITE_OK) {
			put_rows(p, d, sql, rows, i);
			found++;
		} else if (!strstr(sql->errmsg(db), "no such table")) {
			dump_reason(d, "'%s' is not an nsys export: %s", name, sql->errmsg(db));
		}
		if (sql->finalize(rows) != SQLITE_OK)
			dump_reason(d, "cannot read all of '%s': %s", name, sql->errmsg(db));
	}
	if (!found)
		dump_reason(d, "no nsys tables in '%s'", name);
}

static void read_database(struct session_profile *p, struct session_dump *d, const char *path)
{
	const struct sqlite *sql = find_sqlite();
	int64_t until_ns = clock_mono_ns() + QUERY_TIMEOUT_NS;
	sqlite3 *db = NULL;

	if (!sql) {
		dump_reason(d, "SQLite is not installed (libsqlite3-0)");
		return;
	}
	if (sql->open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL) == SQLITE_OK) {
		/* The file is untrusted data: no views, no unbounded queries. */
		sql->db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
		sql->progress_handler(db, PROGRESS_STEPS, is_late, &until_ns);
		ask(p, d, sql, db, dump_base(path));
	} else {
		dump_reason(d, "cannot open '%s': %s", dump_base(path), db ? sql->errmsg(db) : "no memory");
	}
	sql->close(db);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

/* Runs nsys to write `to`; false: it failed, and the dump has a hint. */
static bool export(struct session_dump *d, char *from, char *to)
{
	char nsys[] = "nsys", word[] = "export", type[] = "--type", sqlite[] = "sqlite", force[] = "--force-overwrite",
	     yes[] = "true", output[] = "--output",
	     *argv[] = { nsys, word, type, sqlite, force, yes, output, to, from, NULL };
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	bool is_done;

	spec.argv = argv;
	spec.fds[1] = JOB_FD_NULL;
	is_done = job_start(&job, &spec, NULL) == 0 && job_wait(job, clock_mono_ns() + EXPORT_TIMEOUT_NS, NULL) == 0 &&
			job_status(job) == 0;
	job_free(job);
	if (!is_done)
		dump_reason(d, "'%s' was kept unread: nsys export failed (nsys export --type sqlite %s)",
				dump_base(from), dump_base(from));
	return is_done;
}

static bool has_report(const struct dump_files *f, const char *database)
{
	size_t n = strlen(database) - strlen("sqlite");

	for (size_t i = 0; i < f->count; i++)
		if (strncmp(f->names[i], database, n) == 0 &&
				(strcmp(f->names[i] + n, "nsys-rep") == 0 || strcmp(f->names[i] + n, "qdrep") == 0))
			return true;
	return false;
}

void dump_read_nsys(struct session_profile *p, struct session_dump *d, const struct dump_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		const char *name = f->names[i];

		if (ends_with(name, ".nsys-rep") || ends_with(name, ".qdrep")) {
			CLEANUP(buf_release) struct buf from = BUF_INIT, to = BUF_INIT;
			const char *dot = strrchr(name, '.');

			buf_addf(&from, "%s/%s", f->dir, name);
			buf_addf(&to, "%s/%.*s.sqlite", f->dir, (int)(dot - name), name);
			d->files++;
			if (access(to.data, F_OK) == 0 || export(d, from.data, to.data))
				read_database(p, d, to.data);
		} else if (ends_with(name, ".sqlite") && !has_report(f, name)) {
			d->files++;
			buf_addf(&path, "%s/%s", f->dir, name);
			read_database(p, d, path.data);
		}
	}
}
