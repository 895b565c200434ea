/* All series have their newest value at the same index of their rings. */
#include "live/scrape-history.h"

#include "base/clock.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES_MAX 1024

struct series {
	const char *key; /* name and labels, each NUL-terminated; owned by the map */
	size_t key_bytes;
	double last;
	uint64_t seen; /* number of the last round that had it */
	float values[HISTORY_LOOKS];
};

struct live_history {
	struct live_exporter *exporter;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool has_thread, is_ending;
	struct map index; /* key -> 1 + index in series */
	struct series *series;
	size_t series_count, series_cap;
	uint64_t look;
	double now_s, passed_s;
};

int live_history_open(struct live_history **out, struct live_exporter *e, struct sonde_err *err)
{
	struct live_history *h = calloc(1, sizeof(*h));
	pthread_condattr_t attr;

	if (!h)
		return err_sys(err, ENOMEM, "cannot record the history");
	h->exporter = e;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&h->wake, &attr);
	pthread_condattr_destroy(&attr);
	*out = h;
	return 0;
}

static bool grows(const char *name)
{
	static const char *const ends[] = { "_total", "_sum", "_count" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* 0: the key is too long, the series gets no history. */
static size_t build_key(char key[KEY_BYTES_MAX], const char *name, const struct exposition_label *labels, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < 1 + 2 * count; i++) {
		const char *part = i == 0 ? name : i % 2 ? labels[i / 2].key : labels[i / 2 - 1].value;
		size_t bytes = strlen(part) + 1;

		if (n + bytes > KEY_BYTES_MAX)
			return 0;
		memcpy(key + n, part, bytes);
		n += bytes;
	}
	return n;
}

static struct series *add_series(struct live_history *h, const char *key, size_t bytes)
{
	uint64_t *at = VEC_GROW(h->series, h->series_cap, h->series_count + 1, HISTORY_SERIES_MAX)
			? map_put(&h->index, key, bytes, NULL)
			: NULL;
	struct series *s;

	if (!at)
		return NULL;
	s = &h->series[h->series_count++];
	*at = h->series_count;
	*s = (struct series){ .key = map_key(&h->index, h->index.count - 1, &bytes), .key_bytes = bytes, .last = NAN };
	for (size_t i = 0; i < HISTORY_LOOKS; i++)
		s->values[i] = NAN;
	return s;
}

/* The map does not support removal: rebuild it from the remaining series. */
static void forget(struct live_history *h)
{
	struct map index = MAP_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < h->series_count; i++) {
		struct series s = h->series[i];
		uint64_t *at = s.seen == h->look ? map_put(&index, s.key, s.key_bytes, NULL) : NULL;

		if (!at)
			continue;
		s.key = map_key(&index, index.count - 1, &s.key_bytes);
		h->series[kept++] = s;
		*at = kept;
	}
	map_release(&h->index);
	h->index = index;
	h->series_count = kept;
}

void live_history_begin(struct live_history *h, double now_s)
{
	h->passed_s = now_s - h->now_s;
	h->now_s = now_s;
	h->look++;
}

void live_history_add(struct live_history *h, const char *name, const struct exposition_label *labels, size_t count,
		double value)
{
	char key[KEY_BYTES_MAX];
	size_t bytes = build_key(key, name, labels, count);
	uint64_t *at = bytes ? map_get(&h->index, key, bytes) : NULL;
	struct series *s = at ? &h->series[*at - 1] : bytes ? add_series(h, key, bytes) : NULL;

	if (!s)
		return;
	if (grows(name))
		s->values[h->look % HISTORY_LOOKS] = value >= s->last && h->passed_s > 0
				? (float)((value - s->last) / h->passed_s)
				: NAN;
	else
		s->values[h->look % HISTORY_LOOKS] = (float)value;
	s->last = value;
	s->seen = h->look;
}

void live_history_end(struct live_history *h)
{
	for (size_t i = 0; i < h->series_count; i++)
		if (h->series[i].seen != h->look) {
			forget(h);
			return;
		}
}

static void take(void *arg, const char *name, const struct exposition_label *labels, size_t count, double value)
{
	live_history_add(arg, name, labels, count, value);
}

static void *work(void *arg)
{
	struct live_history *h = arg;
	const struct live_taker taker = { .parts = LIVE_ALL, .sink = take, .arg = h };
	int64_t next_ns = clock_mono_ns();

	pthread_mutex_lock(&h->lock);
	while (!h->is_ending) {
		struct timespec until;

		live_history_begin(h, (double)clock_mono_ns() / 1e9);
		if (live_samples(h->exporter, &taker, NULL) == 0)
			live_history_end(h);
		next_ns += (int64_t)HISTORY_EVERY_S * 1000000000;
		until = (struct timespec){ next_ns / 1000000000, next_ns % 1000000000 };
		while (!h->is_ending && pthread_cond_timedwait(&h->wake, &h->lock, &until) == 0)
			;
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

int live_history_start(struct live_history **out, struct live_exporter *e, struct sonde_err *err)
{
	int rc = live_history_open(out, e, err);

	if (rc == 0)
		rc = pthread_create(&(*out)->thread, NULL, work, *out);
	if (rc > 0) {
		live_history_free(*out);
		*out = NULL;
		return err_sys(err, rc, "cannot record the history");
	}
	if (rc == 0)
		(*out)->has_thread = true;
	return rc;
}

void live_history_free(struct live_history *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->is_ending = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
	if (h->has_thread)
		pthread_join(h->thread, NULL);
	map_release(&h->index);
	free(h->series);
	pthread_cond_destroy(&h->wake);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static void show_series(const struct live_history *h, const struct series *s, struct json *out)
{
	const char *at = s->key;
	bool has_begun = false;

	json_array(out);
	json_str(out, at);
	json_object(out);
	for (at += strlen(at) + 1; at < s->key + s->key_bytes; at += strlen(at) + 1) {
		const char *key = at;

		at += strlen(at) + 1;
		json_kstr(out, key, at);
	}
	json_end(out);
	json_array(out);
	for (uint64_t i = 1; i <= HISTORY_LOOKS; i++) {
		float value = s->values[(h->look + i) % HISTORY_LOOKS];

		has_begun |= isfinite(value) != 0;
		if (has_begun) {
			char text[32];

			if (isfinite(value))
				json_raw(out, text, (size_t)snprintf(text, sizeof(text), "%.5g", (double)value));
			else
				json_null(out);
		}
	}
	json_end(out);
	json_end(out);
}

void live_history_show(struct live_history *h, struct json *out)
{
	pthread_mutex_lock(&h->lock);
	json_object(out);
	json_kint(out, "every_s", HISTORY_EVERY_S);
	json_karray(out, "series");
	for (size_t i = 0; i < h->series_count; i++)
		show_series(h, &h->series[i], out);
	json_end(out);
	json_end(out);
	pthread_mutex_unlock(&h->lock);
}
