#include "fleet/reports.h"

#include <jansson.h>

#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_row(struct fleet_reports *r, const struct fleet_report *row)
{
	if (!r->rows)
		r->rows = calloc(FLEET_REPORTS_MAX, sizeof(*r->rows));
	if (!r->rows) {
		r->dropped++;
		return;
	}
	if (r->count == FLEET_REPORTS_MAX) {
		memmove(r->rows, r->rows + 1, (FLEET_REPORTS_MAX - 1) * sizeof(*r->rows));
		r->count--;
		r->dropped++;
	}
	r->rows[r->count++] = *row;
}

/* Parses an optional number after a blank. */
static bool parse_index(char **at, int64_t *index)
{
	char *end;

	if (**at == '\0')
		return true;
	errno = 0;
	*index = strtoll(*at + 1, &end, 10);
	if (**at != ' ' || end == *at + 1 || errno || *index < 0)
		return false;
	*at = end;
	return true;
}

static bool parse(const char *line, struct fleet_report *row)
{
	static const char word[] = "report ";
	const char *step = line + sizeof(word) - 1;
	char *end;

	if (strncmp(line, word, sizeof(word) - 1) != 0)
		return false;
	errno = 0;
	row->step = strtoll(step, &end, 10);
	if (end == step || *end != ' ' || errno)
		return false;
	step = end + 1;
	row->loss = strtod(step, &end);
	row->worker = row->config = -1;
	return end != step && parse_index(&end, &row->worker) && parse_index(&end, &row->config) && *end == '\0';
}

/* `event JSON`: kept verbatim if it is valid JSON. */
static bool take_note(struct fleet_reports *r, const char *line)
{
	static const char word[] = "event ";
	const char *text = line + sizeof(word) - 1;
	size_t len = strlen(line) - (sizeof(word) - 1);
	json_t *note;
	char *notes;
	bool is_object;

	if (strncmp(line, word, sizeof(word) - 1) != 0)
		return false;
	note = json_loadb(text, len, 0, NULL);
	is_object = json_is_object(note);
	json_decref(note);
	if (!is_object)
		return false;
	notes = r->notes_len + len < FLEET_NOTES_BYTES ? realloc(r->notes, r->notes_len + len + 2) : NULL;
	if (!notes) {
		r->dropped++;
		return true;
	}
	if (r->notes_len)
		notes[r->notes_len++] = ',';
	memcpy(notes + r->notes_len, text, len + 1);
	r->notes = notes;
	r->notes_len += len;
	return true;
}

static void end_line(struct fleet_reports *r, int64_t since_start_ns)
{
	struct fleet_report row = { .time_s = (double)since_start_ns / 1e9 };

	if (r->line_len < sizeof(r->line)) {
		r->line[r->line_len] = '\0';
		if (parse(r->line, &row))
			add_row(r, &row);
		else if (!take_note(r, r->line))
			r->bad_lines++;
	} else {
		r->bad_lines++;
	}
	r->line_len = 0;
}

void fleet_reports_take(struct fleet_reports *r, const char *bytes, size_t n, int64_t since_start_ns)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n')
			end_line(r, since_start_ns);
		else if (r->line_len < sizeof(r->line) - 1)
			r->line[r->line_len++] = bytes[i];
		else
			r->line_len = sizeof(r->line); /* too long: skip to the end of the line */
	}
}

bool fleet_reports_wait(const struct fleet_reports *r)
{
	return r->count || r->notes_len;
}

void fleet_reports_event(const struct fleet_reports *r, uint64_t epoch, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	json_kstr(&j, "event", "report");
	json_kuint(&j, "epoch", epoch);
	json_key(&j, "rows");
	json_array(&j);
	for (size_t i = 0; i < r->count; i++) {
		json_array(&j);
		json_int(&j, r->rows[i].step);
		json_real(&j, r->rows[i].loss);
		json_real(&j, r->rows[i].time_s);
		if (r->rows[i].worker >= 0)
			json_int(&j, r->rows[i].worker);
		if (r->rows[i].config >= 0)
			json_int(&j, r->rows[i].config);
		json_end(&j);
	}
	json_end(&j);
	if (r->notes_len) {
		json_key(&j, "notes");
		json_array(&j);
		json_raw(&j, r->notes, r->notes_len);
		json_end(&j);
	}
	json_end(&j);
}

void fleet_reports_reset(struct fleet_reports *r)
{
	r->count = 0;
	r->notes_len = 0;
}

void fleet_reports_release(struct fleet_reports *r)
{
	free(r->rows);
	free(r->notes);
	*r = (struct fleet_reports){ 0 };
}
