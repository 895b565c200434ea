/*
 * pprof: a profile for `go tool pprof` and similar tools: profile.proto, compressed
 * (https://github.com/google/pprof/tree/main/proto).
 *
 * A sample is a stack with its count and time, per thread: its labels are the process, the thread and their name.
 * Memory grows with the number of distinct stacks, not with the samples.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "exchange/exchange.h"
#include "exchange/proto.h"
#include "exchange/stack-profile.h"
#include "model/dimensions.h"
#include "pfw/gzip-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fields of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4
};

struct pprof {
	struct profile profile;
	struct map counts; /* name, pid, tid, stack -> index in values, from 1 */
	struct value {
		int64_t samples, ns;
	} * values;
	size_t value_cap;
	bool has_ns; /* the event is a clock */
	int64_t period_ns;
	struct map strings, functions, mappings, locations;
	struct buf body, message, inner, chain;
	uint64_t frames[PROFILE_DEPTH_MAX * 2];
	size_t frame_count;
	bool is_failed;
};

static uint64_t number_of(struct pprof *p, struct map *map, const void *key, size_t n, bool *is_new)
{
	uint64_t *number = map_put(map, key, n, is_new);

	if (!number) {
		p->is_failed = true;
		*is_new = false;
		return 0;
	}
	if (*is_new)
		*number = map->count;
	return *number;
}

/* Strings are numbered from 0, the empty string. */
static uint64_t string_of(struct pprof *p, const char *text)
{
	bool is_new;

	return number_of(p, &p->strings, text ? text : "", text ? strlen(text) : 0, &is_new) - 1;
}

/* Counting. */

static int count_row(void *arg, const struct store_sample *row, int64_t name)
{
	struct pprof *p = arg;
	int64_t key[4] = { name, row->pid, row->tid, row->stack };
	bool is_new;
	uint64_t number = number_of(p, &p->counts, key, sizeof(key), &is_new);

	if (!VEC_GROW(p->values, p->value_cap, number, VEC_MAX))
		return -ENOMEM;
	if (p->is_failed)
		return -ENOMEM;
	if (is_new)
		p->values[number - 1] = (struct value){ 0 };
	p->values[number - 1].samples += profile_value(&p->profile, row);
	if (row->weight_ns != STORE_NULL) {
		p->has_ns = true;
		p->period_ns = p->period_ns ? p->period_ns : row->weight_ns;
		p->values[number - 1].ns += row->weight_ns;
	}
	return 0;
}

/* Mappings and locations. */

static uint64_t mapping_of(struct pprof *p, const char *module)
{
	bool is_new;
	uint64_t id = module ? number_of(p, &p->mappings, module, strlen(module), &is_new) : 0;

	if (!id || !is_new)
		return id;
	buf_reset(&p->message);
	proto_uint(&p->message, MAPPING_ID, id);
	proto_uint(&p->message, MAPPING_FILE, string_of(p, module));
	proto_uint(&p->message, MAPPING_HAS_FUNCTIONS, 1);
	proto_message(&p->body, PROFILE_MAPPING, &p->message);
	return id;
}

static uint64_t function_of(struct pprof *p, const struct model_frame *frame)
{
	uint64_t key[2] = { string_of(p, model_frame_label(frame)), string_of(p, frame->source) };
	bool is_new;
	uint64_t id = number_of(p, &p->functions, key, sizeof(key), &is_new);

	if (!is_new)
		return id;
	buf_reset(&p->message);
	proto_uint(&p->message, FUNCTION_ID, id);
	proto_uint(&p->message, FUNCTION_NAME, key[0]);
	proto_uint(&p->message, FUNCTION_FILE, key[1]);
	proto_message(&p->body, PROFILE_FUNCTION, &p->message);
	return id;
}

/* One location per frame; inlining is not represented. */
static int add_frame(void *arg, const struct model_frame *frame)
{
	struct pprof *p = arg;
	uint64_t mapping = mapping_of(p, frame->module), function = function_of(p, frame);
	uint64_t key[3] = { mapping, function, (uint64_t)frame->line };
	bool is_new;
	uint64_t id = number_of(p, &p->locations, key, sizeof(key), &is_new);

	if (is_new) {
		buf_reset(&p->inner);
		proto_uint(&p->inner, LINE_FUNCTION, function);
		proto_int(&p->inner, LINE_NUMBER, frame->line);
		buf_reset(&p->message);
		proto_uint(&p->message, LOCATION_ID, id);
		if (mapping)
			proto_uint(&p->message, LOCATION_MAPPING, mapping);
		proto_message(&p->message, LOCATION_LINE, &p->inner);
		proto_message(&p->body, PROFILE_LOCATION, &p->message);
	}
	if (p->frame_count < sizeof(p->frames) / sizeof(*p->frames))
		p->frames[p->frame_count++] = id;
	return 0;
}

static void add_label(struct pprof *p, const char *key, const char *text, int64_t number)
{
	buf_reset(&p->inner);
	proto_uint(&p->inner, LABEL_KEY, string_of(p, key));
	if (text)
		proto_uint(&p->inner, LABEL_STRING, string_of(p, text));
	else
		proto_int(&p->inner, LABEL_NUMBER, number);
	proto_message(&p->message, SAMPLE_LABEL, &p->inner);
}

static void add_sample(struct pprof *p, size_t i)
{
	const struct value *value = &p->values[i];
	int64_t key[4];

	memcpy(key, map_key(&p->counts, i, NULL), sizeof(key));
	const char *name = model_cname(p->profile.run, key[0]);
	p->frame_count = 0;
	profile_frames(&p->profile, key[3], add_frame, p);
	buf_reset(&p->chain);
	while (p->frame_count > 0) /* the innermost comes first */
		proto_varint(&p->chain, p->frames[--p->frame_count]);
	buf_reset(&p->message);
	proto_bytes(&p->message, SAMPLE_LOCATIONS, p->chain.data, p->chain.len);
	buf_reset(&p->chain);
	proto_varint(&p->chain, (uint64_t)value->samples);
	if (p->has_ns)
		proto_varint(&p->chain, (uint64_t)value->ns);
	proto_bytes(&p->message, SAMPLE_VALUES, p->chain.data, p->chain.len);
	if (name)
		add_label(p, "thread", name, 0);
	add_label(p, "pid", NULL, key[1]);
	add_label(p, "tid", NULL, key[2]);
	proto_message(&p->body, PROFILE_SAMPLE, &p->message);
}

/* The profile. */

static void add_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	buf_reset(&p->message);
	proto_uint(&p->message, VALUE_TYPE, string_of(p, type));
	proto_uint(&p->message, VALUE_UNIT, string_of(p, unit));
	proto_message(&p->body, field, &p->message);
}

static void make_profile(struct pprof *p)
{
	int64_t real_ns = model_run_int(p->profile.run, "clock.start_real_ns");
	int64_t wall_ns = model_run_int(p->profile.run, "wall_ns");

	string_of(p, "");
	add_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
	if (p->has_ns) {
		add_type(p, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
		add_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		proto_int(&p->body, PROFILE_PERIOD, p->period_ns);
	}
	for (size_t i = 0; i < p->counts.count; i++)
		add_sample(p, i);
	if (real_ns != STORE_NULL)
		proto_int(&p->body, PROFILE_TIME, real_ns);
	if (wall_ns != STORE_NULL)
		proto_int(&p->body, PROFILE_DURATION, wall_ns);
	for (size_t i = 0; i < p->strings.count; i++) {
		size_t n;
		const char *text = map_key(&p->strings, i, &n);

		proto_text(&p->body, PROFILE_STRING, text, n);
	}
}

static int put_profile(struct pprof *p, FILE *out, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf packed = BUF_INIT;

	make_profile(p);
	if (p->is_failed || buf_error(&p->body) || pfw_gzip_deflate(&packed, p->body.data, p->body.len) < 0)
		return err_sys(err, ENOMEM, "cannot create the profile");
	if (fwrite(packed.data, 1, packed.len, out) != packed.len)
		return err_sys(err, errno, "cannot write the profile");
	return 0;
}

static int write_profile(struct pprof *p, struct model_run *run, FILE *out, const struct exchange_options *options,
		struct sonde_err *err)
{
	struct buf *const bufs[] = { &p->body, &p->message, &p->inner, &p->chain };

	for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
		buf_init(bufs[i], 0);
	int rc = profile_open(&p->profile, run, options, err);
	if (rc == 0) {
		rc = profile_each(&p->profile, count_row, p);
		rc = rc ? err_sys(err, -rc, "cannot count the stacks") : put_profile(p, out, err);
	}
	for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
		buf_release(bufs[i]);
	map_release(&p->counts);
	map_release(&p->strings);
	map_release(&p->functions);
	map_release(&p->mappings);
	map_release(&p->locations);
	profile_release(&p->profile);
	free(p->values);
	return rc;
}

static int write_run(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	struct pprof *p = calloc(1, sizeof(*p));
	int rc = p ? write_profile(p, run, out, options, err) : err_sys(err, ENOMEM, "cannot create the profile");

	free(p);
	return rc;
}

const struct exchange_format exchange_pprof = {
	.name = "pprof",
	.extension = ".pb.gz",
	.what = "Samples by stack, for pprof.",
	.is_packed = true,
	.write = write_run,
};
