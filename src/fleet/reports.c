#include "fleet/reports.h"

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
	return end != step && *end == '\0';
}

static void end_line(struct fleet_reports *r, int64_t since_start_ns)
{
	struct fleet_report row = { .time_s = (double)since_start_ns / 1e9 };

	if (r->line_len < sizeof(r->line)) {
		r->line[r->line_len] = '\0';
		if (parse(r->line, &row))
			add_row(r, &row);
		else
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
			r->line_len = sizeof(r->line); /* too long, whatever follows */
	}
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
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

void fleet_reports_release(struct fleet_reports *r)
{
	free(r->rows);
	*r = (struct fleet_reports){ 0 };
}
