#include "fleet/outbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
