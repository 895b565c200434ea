#include "tune/study-journal.h"

#include <jansson.h>
#include <sqlite3.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char schema[] =
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
		"CREATE TABLE study(key TEXT PRIMARY KEY, value);"
		"CREATE TABLE trial(id INTEGER PRIMARY KEY, state TEXT NOT NULL DEFAULT 'pending', repeats INTEGER,"
		" wall_s REAL, why TEXT, asked_at REAL, told_at REAL);"
		"CREATE TABLE param(trial INTEGER NOT NULL REFERENCES trial(id), name TEXT NOT NULL, value,"
		" PRIMARY KEY(trial, name)) WITHOUT ROWID;"
		"CREATE TABLE value(trial INTEGER NOT NULL REFERENCES trial(id), name TEXT NOT NULL, value REAL,"
		" PRIMARY KEY(trial, name)) WITHOUT ROWID;"
		"CREATE TABLE rung(trial INTEGER NOT NULL REFERENCES trial(id), steps INTEGER NOT NULL, value REAL,"
		" PRIMARY KEY(trial, steps)) WITHOUT ROWID;"
		"CREATE TABLE pair(number INTEGER PRIMARY KEY, trial INTEGER NOT NULL, best REAL, start REAL,"
		" at REAL);";

enum statement { PUT_FACT, PUT_TRIAL, TELL_TRIAL, PUT_PARAM, PUT_VALUE, PUT_RUNG, PUT_PAIR, STATEMENTS };

static const char *const texts[STATEMENTS] = {
	[PUT_FACT] = "INSERT OR REPLACE INTO study VALUES(?, ?)",
	[PUT_TRIAL] = "INSERT OR REPLACE INTO trial(id, asked_at) VALUES(?, ?)",
	[TELL_TRIAL] = "UPDATE trial SET state = ?2, repeats = ?3, wall_s = ?4, why = ?5, told_at = ?6 WHERE id = ?1",
	[PUT_PARAM] = "INSERT OR REPLACE INTO param VALUES(?, ?, ?)",
	[PUT_VALUE] = "INSERT OR REPLACE INTO value VALUES(?, ?, ?)",
	[PUT_RUNG] = "INSERT OR REPLACE INTO rung VALUES(?, ?, ?)",
	[PUT_PAIR] = "INSERT OR REPLACE INTO pair VALUES(?, ?, ?, ?, ?)",
};

struct copy {
	const struct tune_study *study;
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	bool has_failed;
};

/* Binds a JSON value in its own type; a missing one becomes NULL. */
static void bind(struct copy *c, enum statement s, int at, const json_t *value)
{
	sqlite3_stmt *to = c->statements[s];
	int rc;

	if (json_is_string(value))
		rc = sqlite3_bind_text(to, at, json_string_value(value), -1, SQLITE_TRANSIENT);
	else if (json_is_integer(value))
		rc = sqlite3_bind_int64(to, at, json_integer_value(value));
	else if (json_is_real(value))
		rc = sqlite3_bind_double(to, at, json_real_value(value));
	else if (json_is_boolean(value))
		rc = sqlite3_bind_int(to, at, json_is_true(value));
	else
		rc = sqlite3_bind_null(to, at);
	c->has_failed |= rc != SQLITE_OK;
}

static void bind_name(struct copy *c, enum statement s, int at, const char *name)
{
	c->has_failed |= sqlite3_bind_text(c->statements[s], at, name, -1, SQLITE_TRANSIENT) != SQLITE_OK;
}

static void put(struct copy *c, enum statement s)
{
	c->has_failed |= sqlite3_step(c->statements[s]) != SQLITE_DONE;
	sqlite3_reset(c->statements[s]);
	sqlite3_clear_bindings(c->statements[s]);
}

static void put_value(struct copy *c, const json_t *id, const char *name, const json_t *value)
{
	if (!json_is_number(value))
		return;
	bind(c, PUT_VALUE, 1, id);
	bind_name(c, PUT_VALUE, 2, name);
	bind(c, PUT_VALUE, 3, value);
	put(c, PUT_VALUE);
}

static void put_tell(struct copy *c, json_t *line)
{
	static const char *const keys[] = { "tell", "state", "repeats", "wall_s", "why", "at" };
	json_t *id = json_object_get(line, "tell"), *rungs = json_object_get(line, "rungs");

	for (int i = 0; i < 6; i++)
		bind(c, TELL_TRIAL, i + 1, json_object_get(line, keys[i]));
	put(c, TELL_TRIAL);
	for (size_t k = 0; k < c->study->objective_count; k++)
		put_value(c, id, c->study->objectives[k].metric.name,
				json_array_get(json_object_get(line, "values"), k));
	for (size_t k = 0; k < c->study->limit_count; k++)
		put_value(c, id, c->study->limits[k].metric.name, json_array_get(json_object_get(line, "limits"), k));
	for (size_t k = 0; k < json_array_size(rungs) && k < TUNE_RUNGS_MAX; k++) {
		bind(c, PUT_RUNG, 1, id);
		c->has_failed |= sqlite3_bind_int64(c->statements[PUT_RUNG], 2, (sqlite3_int64)1 << k) != SQLITE_OK;
		bind(c, PUT_RUNG, 3, json_array_get(rungs, k));
		put(c, PUT_RUNG);
	}
}

static void put_line(struct copy *c, json_t *line)
{
	if (json_object_get(line, "study")) {
		static const char *const keys[] = { "study", "seed", "version", "is_paired" };

		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			bind_name(c, PUT_FACT, 1, i == 0 ? "name" : keys[i]);
			bind(c, PUT_FACT, 2, json_object_get(line, keys[i]));
			put(c, PUT_FACT);
		}
	} else if (json_object_get(line, "ask")) {
		json_t *id = json_object_get(line, "ask"), *value;
		const char *name;

		bind(c, PUT_TRIAL, 1, id);
		bind(c, PUT_TRIAL, 2, json_object_get(line, "at"));
		put(c, PUT_TRIAL);
		json_object_foreach(json_object_get(line, "params"), name, value) {
			bind(c, PUT_PARAM, 1, id);
			bind_name(c, PUT_PARAM, 2, name);
			bind(c, PUT_PARAM, 3, value);
			put(c, PUT_PARAM);
		}
	} else if (json_object_get(line, "tell"))
		put_tell(c, line);
	else if (json_object_get(line, "pair")) {
		static const char *const keys[] = { "pair", "of", "best", "default", "at" };

		for (int i = 0; i < 5; i++)
			bind(c, PUT_PAIR, i + 1, json_object_get(line, keys[i]));
		put(c, PUT_PAIR);
	} else if (json_object_get(line, "retry")) {
		bind(c, TELL_TRIAL, 1, json_object_get(line, "retry"));
		bind_name(c, TELL_TRIAL, 2, "pending");
		put(c, TELL_TRIAL);
	}
}

static int copy_lines(struct copy *c, const char *journal, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, journal, JOURNAL_BYTES_MAX, &text, err);
	size_t at = 0, size;

	for (const char *line; rc == 0 && (line = journal_line(&text, &at, &size));) {
		json_t *object = json_loadb(line, size, 0, NULL);

		if (json_is_object(object))
			put_line(c, object);
		json_decref(object);
	}
	return rc;
}

static int write_copy(struct copy *c, const char *path, const char *journal, struct sonde_err *err)
{
	bool is_fine = sqlite3_open(path, &c->db) == SQLITE_OK &&
			sqlite3_exec(c->db, schema, NULL, NULL, NULL) == SQLITE_OK;
	int rc = 0;

	for (int s = 0; s < STATEMENTS && is_fine; s++)
		is_fine = sqlite3_prepare_v2(c->db, texts[s], -1, &c->statements[s], NULL) == SQLITE_OK;
	if (is_fine)
		rc = copy_lines(c, journal, err);
	is_fine = is_fine && !c->has_failed && sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
	if (rc == 0 && !is_fine)
		rc = err_set(err, EIO, "cannot write '%s': %s", path, c->db ? sqlite3_errmsg(c->db) : "no memory");
	for (int s = 0; s < STATEMENTS; s++)
		sqlite3_finalize(c->statements[s]);
	sqlite3_close(c->db);
	return rc;
}

int tune_database_write(const char *path, const char *journal, const struct tune_study *study, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf part = BUF_INIT;
	struct copy c = { .study = study };
	int rc;

	buf_addf(&part, "%s.part", path);
	if (buf_error(&part) < 0)
		return err_sys(err, ENOMEM, "cannot write '%s'", path);
	unlink(part.data); /* left by a killed process */
	rc = write_copy(&c, part.data, journal, err);
	if (rc == 0 && rename(part.data, path) < 0)
		rc = err_sys(err, errno, "cannot write '%s'", path);
	if (rc < 0)
		unlink(part.data);
	return rc;
}
