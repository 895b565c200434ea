/*
 * speedscope: samples for https://www.speedscope.app, one profile per thread, in time order. Weights are CPU time, or 1
 * if the event is not a clock.
 */
#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "exchange/exchange.h"
#include "exchange/jsonline.h"
#include "exchange/stack-profile.h"
#include "model/dimensions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX ((size_t)1 << 24) /* 512 MiB of them */

struct sample {
	int64_t ts_ns, stack, weight;
	uint64_t thread;
};

struct speedscope {
	struct profile profile;
	struct map threads; /* name, pid, tid -> number */
	struct sample *samples;
	size_t count, cap;
	bool has_ns;
	struct map frames; /* text of a frame -> number */
	struct buf key;
	struct jsonline line;
	FILE *out;
	bool is_first;
	int error;
};

static int keep_row(void *arg, const struct store_sample *row, int64_t name)
{
	struct speedscope *s = arg;
	int64_t key[3] = { name, row->pid, row->tid };
	uint64_t *number = map_put(&s->threads, key, sizeof(key), NULL);

	if (!number)
		return -ENOMEM;
	if (!*number)
		*number = s->threads.count;
	if (s->count == SAMPLES_MAX)
		return -EFBIG;
	if (!VEC_GROW(s->samples, s->cap, s->count + 1, SAMPLES_MAX))
		return -ENOMEM;
	s->has_ns |= row->weight_ns != STORE_NULL;
	s->samples[s->count++] = (struct sample){ .ts_ns = row->ts_ns,
		.stack = row->stack,
		.weight = row->weight_ns == STORE_NULL || row->weight_ns < 0 ? profile_value(&s->profile, row)
									     : row->weight_ns,
		.thread = *number };
	return 0;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

static void flush(struct speedscope *s)
{
	if (s->error == 0 && s->line.is_failed)
		s->error = -ENOMEM;
	if (s->error == 0 && fwrite(s->line.data, 1, s->line.len, s->out) != s->line.len)
		s->error = errno ? -errno : -EIO;
	s->line.len = 0;
}

/* Frames, deduplicated by their output text. */

static uint64_t frame_number(struct speedscope *s, const struct model_frame *frame, bool *is_new)
{
	const char *label = model_frame_label(frame);

	buf_reset(&s->key);
	buf_add(&s->key, label, strlen(label) + 1);
	buf_adds(&s->key, frame->source ? frame->source : "");
	buf_addf(&s->key, ":%lld", (long long)frame->line);
	uint64_t *number = map_put(&s->frames, s->key.data, s->key.len, is_new);
	if (!number) {
		s->error = -ENOMEM;
		return 0;
	}
	if (*is_new)
		*number = s->frames.count - 1;
	return *number;
}

static int write_frame(void *arg, const struct model_frame *frame)
{
	struct speedscope *s = arg;
	bool is_new = false;

	frame_number(s, frame, &is_new);
	if (!is_new)
		return 0;
	if (!s->is_first)
		JSONLINE_ADD(&s->line, ",");
	s->is_first = false;
	JSONLINE_ADD(&s->line, "\n{\"name\":");
	jsonline_str(&s->line, model_frame_label(frame));
	if (frame->source) {
		JSONLINE_ADD(&s->line, ",\"file\":");
		jsonline_str(&s->line, frame->source);
	}
	if (frame->source && frame->line > 0) {
		JSONLINE_ADD(&s->line, ",\"line\":");
		jsonline_int(&s->line, frame->line);
	}
	JSONLINE_ADD(&s->line, "}");
	return 0;
}

static int write_number(void *arg, const struct model_frame *frame)
{
	struct speedscope *s = arg;
	bool is_new;

	if (!s->is_first)
		JSONLINE_ADD(&s->line, ",");
	s->is_first = false;
	jsonline_int(&s->line, (int64_t)frame_number(s, frame, &is_new));
	return 0;
}

/* Samples with an unknown stack share one placeholder frame. */
static const struct model_frame unknown = { .function = NULL };

static void write_stack(struct speedscope *s, int64_t stack, int (*take)(void *arg, const struct model_frame *frame))
{
	if (stack == STORE_NULL)
		take(s, &unknown);
	else
		profile_frames(&s->profile, stack, take, s);
}

/* Profiles. */

static void write_samples(struct speedscope *s, const struct sample *at, const struct sample *end)
{
	JSONLINE_ADD(&s->line, ",\"samples\":[");
	for (const struct sample *i = at; i < end && !s->error; i++) {
		if (i > at)
			JSONLINE_ADD(&s->line, ",");
		JSONLINE_ADD(&s->line, "\n[");
		s->is_first = true;
		write_stack(s, i->stack, write_number);
		JSONLINE_ADD(&s->line, "]");
		flush(s);
	}
	JSONLINE_ADD(&s->line, "],\n\"weights\":[");
	for (const struct sample *i = at; i < end; i++) {
		if (i > at)
			JSONLINE_ADD(&s->line, ",");
		jsonline_int(&s->line, i->weight);
		flush(s);
	}
	JSONLINE_ADD(&s->line, "]}");
	flush(s);
}

static void write_profile(struct speedscope *s, const struct sample *at, const struct sample *end)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	int64_t key[3], total = 0;

	memcpy(key, map_key(&s->threads, (size_t)at->thread - 1, NULL), sizeof(key));
	const char *program = model_cname(s->profile.run, key[0]);
	buf_addf(&name, "%s %lld", program ? program : "[unknown]", (long long)key[2]);
	for (const struct sample *i = at; i < end; i++)
		if (__builtin_add_overflow(total, i->weight, &total))
			total = INT64_MAX;
	JSONLINE_ADD(&s->line, "\n{\"type\":\"sampled\",\"name\":");
	jsonline_str(&s->line, name.data);
	jsonline_add(&s->line, s->has_ns ? ",\"unit\":\"nanoseconds\"" : ",\"unit\":\"none\"", s->has_ns ? 21 : 14);
	JSONLINE_ADD(&s->line, ",\"startValue\":0,\"endValue\":");
	jsonline_int(&s->line, total);
	write_samples(s, at, end);
}

static void write_all(struct speedscope *s)
{
	size_t from = 0;

	JSONLINE_ADD(&s->line,
			"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"sonde\","
			"\"name\":");
	jsonline_str(&s->line, model_run_str(s->profile.run, "name"));
	JSONLINE_ADD(&s->line, ",\"shared\":{\"frames\":[");
	struct map seen = MAP_INIT;
	s->is_first = true;
	for (size_t i = 0; i < s->count && !s->error; i++) {
		bool is_new;
		if (!map_put_int(&seen, (uint64_t)s->samples[i].stack, &is_new))
			s->error = -ENOMEM;
		else if (is_new)
			write_stack(s, s->samples[i].stack, write_frame);
		flush(s);
	}
	map_release(&seen);
	JSONLINE_ADD(&s->line, "]},\n\"profiles\":[");
	for (size_t i = 1; i <= s->count && !s->error; i++) {
		if (i < s->count && s->samples[i].thread == s->samples[from].thread)
			continue;
		if (from)
			JSONLINE_ADD(&s->line, ",");
		write_profile(s, s->samples + from, s->samples + i);
		from = i;
	}
	JSONLINE_ADD(&s->line, "]}\n");
	flush(s);
}

static int tell(int rc, struct sonde_err *err)
{
	if (rc == -EFBIG) {
		err_set(err, EFBIG, "too many samples (maximum %zu)", SAMPLES_MAX);
		err_hint(err, "use --from and --until to select a part of the run");
		return rc;
	}
	return rc < 0 ? err_sys(err, -rc, "cannot write the profile") : 0;
}

static int write_run(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	struct speedscope s = { .line = JSONLINE_INIT, .out = out, .key = BUF_INIT };
	int rc = profile_open(&s.profile, run, options, err);

	if (rc == 0) {
		rc = profile_each(&s.profile, keep_row, &s);
		if (rc == 0) {
			if (s.count)
				qsort(s.samples, s.count, sizeof(*s.samples), by_thread_and_time);
			write_all(&s);
			rc = s.error;
		}
		rc = tell(rc, err);
	}
	free(s.samples);
	map_release(&s.threads);
	map_release(&s.frames);
	buf_release(&s.key);
	jsonline_release(&s.line);
	profile_release(&s.profile);
	return rc;
}

const struct exchange_format exchange_speedscope = {
	.name = "speedscope",
	.extension = ".speedscope.json",
	.what = "Samples of each thread in time order, for https://www.speedscope.app.",
	.write = write_run,
};
