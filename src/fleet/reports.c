#include <jansson.h>

#include "fleet/reports.h"

#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static bool parse_note(struct fleet_reports *r, const char *line)
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

void fleet_reports_consume(struct fleet_reports *r, const char *bytes, size_t n, int64_t since_start_ns)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n') {
			struct fleet_report row = { .time_s = (double)since_start_ns / 1e9 };

			if (r->line_len < sizeof(r->line)) {
				r->line[r->line_len] = '\0';
				if (parse(r->line, &row))
					add_row(r, &row);
				else if (!parse_note(r, r->line))
					r->bad_lines++;
			} else {
				r->bad_lines++;
			}
			r->line_len = 0;
		} else if (r->line_len < sizeof(r->line) - 1)
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
	json_karray(&j, "rows");
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
		json_karray(&j, "notes");
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

enum { KEY_MAX = 64 };

bool fleet_batches_read(struct fleet_batches *b, int fd)
{
	char *room = buf_room(&b->log, FLEET_LOG_CHUNK);
	ssize_t n = room ? read(fd, room, FLEET_LOG_CHUNK) : -1;

	if (n <= 0)
		return false;
	if (b->log.len + (size_t)n <= FLEET_HELD_MAX)
		b->log.len += (size_t)n;
	else
		b->dropped_bytes += (uint64_t)n;
	return true;
}

/* An epoch belongs to one lease, so the key is unique. */
static void key_of(char key[KEY_MAX], const char *kind, uint64_t epoch, uint64_t number)
{
	snprintf(key, KEY_MAX, "%s-%llu-%llu", kind, (unsigned long long)epoch, (unsigned long long)number);
}

static int send_chunk(struct fleet_batches *b, struct fleet_client *client, const char *id, uint64_t epoch)
{
	char key[KEY_MAX];
	int rc;

	if (!b->chunk)
		b->chunk = b->log.len < FLEET_LOG_CHUNK ? b->log.len : FLEET_LOG_CHUNK;
	key_of(key, "log", epoch, b->log_number);
	rc = fleet_client_log(client, id, epoch, b->log.data, b->chunk, key, NULL);
	if (rc < 0)
		return rc;
	b->log_number++;
	b->log.len -= b->chunk;
	memmove(b->log.data, b->log.data + b->chunk, b->log.len + 1);
	b->chunk = 0;
	return 0;
}

static int send_reports(struct fleet_batches *b, struct fleet_client *client, const char *id, uint64_t epoch)
{
	char key[KEY_MAX];
	int rc;

	if (!b->told.len) {
		fleet_reports_event(&b->reports, epoch, &b->told);
		if (buf_error(&b->told) < 0) {
			buf_reset(&b->told);
			return -ENOMEM;
		}
		fleet_reports_reset(&b->reports);
	}
	key_of(key, "report", epoch, b->report_number);
	rc = fleet_client_publish(client, id, "report", b->told.data, key, NULL, NULL);
	if (rc < 0)
		return rc;
	b->report_number++;
	buf_reset(&b->told);
	return 0;
}

int fleet_batches_send(struct fleet_batches *b, struct fleet_client *client, const char *id, uint64_t epoch)
{
	int rc = 0;

	while (b->log.len && rc == 0)
		rc = send_chunk(b, client, id, epoch);
	while ((b->told.len || fleet_reports_wait(&b->reports)) && rc == 0)
		rc = send_reports(b, client, id, epoch);
	return rc;
}

void fleet_batches_release(struct fleet_batches *b)
{
	buf_release(&b->log);
	buf_release(&b->told);
	fleet_reports_release(&b->reports);
}
