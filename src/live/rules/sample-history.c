#include "live/rules/sample-history.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void release_series(struct memory_series *s)
{
	free(s->name);
	free(s->samples);
}

void memory_release(struct memory *m)
{
	for (size_t i = 0; i < m->series_count; i++)
		release_series(&m->series[i]);
	free(m->series);
	map_release(&m->watched);
	map_release(&m->index);
	*m = (struct memory)MEMORY_INIT;
}

int memory_watch(struct memory *m, const char *name, int64_t keep_ns)
{
	uint64_t *at = map_put(&m->watched, name, strlen(name), NULL);

	if (!at)
		return -ENOMEM;
	if (*at < (uint64_t)keep_ns)
		*at = (uint64_t)keep_ns;
	return 0;
}

bool memory_wants(const struct memory *m, const char *name)
{
	return map_get(&m->watched, name, strlen(name)) != NULL;
}

const char *memory_label(const struct memory_series *s, const char *key)
{
	for (size_t i = 0; i < s->label_count; i++)
		if (strcmp(s->labels[i].key, key) == 0)
			return s->labels[i].value;
	return "";
}

/* The name and the keys and values of its labels are in one allocation. */
static void point_into(struct memory_series *s, size_t label_count)
{
	const char *at = s->name;

	s->label_count = label_count;
	for (size_t i = 0; i < label_count; i++) {
		s->labels[i].key = at + strlen(at) + 1;
		s->labels[i].value = s->labels[i].key + strlen(s->labels[i].key) + 1;
		at = s->labels[i].value;
	}
}

static int new_series(struct memory *m, const struct buf *texts, size_t label_count, int64_t ns)
{
	struct memory_series *s;
	size_t more = m->series_cap ? 2 * m->series_cap : 16;

	if (m->series_count == MEMORY_SERIES_MAX) {
		m->dropped++;
		return -ENOSPC;
	}
	if (m->series_count == m->series_cap) {
		s = realloc(m->series, more * sizeof(*s));
		if (!s)
			return -ENOMEM;
		m->series = s;
		m->series_cap = more;
	}
	s = &m->series[m->series_count];
	*s = (struct memory_series){ .name = malloc(texts->len), .first_ns = ns };
	if (!s->name)
		return -ENOMEM;
	memcpy(s->name, texts->data, texts->len);
	point_into(s, label_count);
	s->keep_ns = (int64_t)*map_get(&m->watched, s->name, strlen(s->name));
	m->series_count++;
	return 0;
}

static int find(struct memory *m, const char *name, const struct memory_label *labels, size_t count, int64_t ns,
		struct memory_series **out)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	uint64_t *at;
	int rc;

	buf_add(&key, name, strlen(name) + 1);
	for (size_t i = 0; i < count; i++) {
		buf_add(&key, labels[i].key, strlen(labels[i].key) + 1);
		buf_add(&key, labels[i].value, strlen(labels[i].value) + 1);
	}
	if (buf_error(&key) < 0)
		return -ENOMEM;
	at = map_get(&m->index, key.data, key.len);
	if (!at) {
		rc = new_series(m, &key, count, ns);
		at = rc < 0 ? NULL : map_put(&m->index, key.data, key.len, NULL);
		if (!at)
			return rc < 0 ? rc : -ENOMEM;
		*at = m->series_count - 1;
	}
	*out = &m->series[*at];
	return 0;
}

/* Keeps one sample more than the window, because a rate needs the value before it. */
static void forget(struct memory_series *s, int64_t ns)
{
	while (s->count > 1 && memory_sample(s, 1)->ns <= ns - s->keep_ns) {
		s->start = (s->start + 1) & (s->cap - 1);
		s->count--;
	}
	if (s->count == MEMORY_SAMPLES_MAX) {
		s->start = (s->start + 1) & (s->cap - 1);
		s->count--;
	}
}

static int make_room(struct memory_series *s)
{
	size_t more = s->cap ? 2 * s->cap : 16;
	struct memory_sample *bigger;

	if (s->count < s->cap)
		return 0;
	bigger = malloc(more * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		bigger[i] = *memory_sample(s, i);
	free(s->samples);
	s->samples = bigger;
	s->cap = more;
	s->start = 0;
	return 0;
}

int memory_add(struct memory *m, const char *name, const struct memory_label *labels, size_t label_count, int64_t ns,
		double value)
{
	struct memory_series *s;
	int rc;

	if (!memory_wants(m, name) || !isfinite(value))
		return 0;
	if (label_count > MEMORY_LABELS_MAX)
		label_count = MEMORY_LABELS_MAX;
	rc = find(m, name, labels, label_count, ns, &s);
	if (rc < 0)
		return rc == -ENOSPC ? 0 : rc;
	if (s->count && memory_sample(s, s->count - 1)->ns > ns)
		return 0;
	forget(s, ns);
	rc = make_room(s);
	if (rc < 0)
		return rc;
	s->samples[(s->start + s->count++) & (s->cap - 1)] = (struct memory_sample){ ns, value };
	return 0;
}
