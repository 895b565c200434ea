/*
 * Counters as the page plots them: [time, min, max, mean] per bin, and the points before and after the window, since
 * a value holds until the next one.
 */
#include "serve/run-api-private.h"

#include <errno.h>

struct plot {
	struct json *j;
	const struct run_api *v;
	int64_t from_ns, bin_ns;
	int64_t bin; /* -1: none */
	int64_t start_ns;
	uint64_t count;
	double min, max, sum;
};

static void flush_bin(struct plot *p)
{
	if (p->bin < 0)
		return;
	json_array(p->j);
	json_int(p->j, p->start_ns - p->v->start_ns);
	json_real(p->j, p->min);
	json_real(p->j, p->max);
	json_real(p->j, p->sum / (double)p->count);
	json_end(p->j);
	p->bin = -1;
}

static void gather_values(struct plot *p, int64_t ts_ns, const struct pyramid_node *n)
{
	int64_t bin = ts_ns <= p->from_ns ? 0 : (ts_ns - p->from_ns) / p->bin_ns;

	if (bin != p->bin) {
		flush_bin(p);
		*p = (struct plot){ p->j, p->v, p->from_ns, p->bin_ns, bin, ts_ns < p->from_ns ? p->from_ns : ts_ns, 0,
			n->min, n->max, 0 };
	}
	p->count += n->count;
	p->sum += n->sum;
	p->min = n->min < p->min ? n->min : p->min;
	p->max = n->max > p->max ? n->max : p->max;
}

static int on_values(void *arg, const struct pyramid_node *node)
{
	gather_values(arg, node->start_ns, node);
	return 0;
}

static int on_point(void *arg, const struct pyramid_point *point)
{
	struct pyramid_node one = { .count = 1, .min = point->value, .max = point->value, .sum = point->value };

	gather_values(arg, point->ts_ns, &one);
	return 0;
}

/* Writes the last point before or the first point after the window, if it exists. */
static int add_beside(const struct plot *p, uint32_t lane, int64_t ts_ns, bool is_before)
{
	struct pyramid_point point;
	int rc = pyramid_point_beside(p->v->pyramid, lane, ts_ns, is_before, &point);

	if (rc <= 0)
		return rc;
	json_array(p->j);
	json_int(p->j, point.ts_ns - p->v->start_ns);
	for (int i = 0; i < 3; i++)
		json_real(p->j, point.value);
	json_end(p->j);
	return 0;
}

static int add_lane(struct plot *p, uint32_t lane, const struct run_api_window *w)
{
	struct pyramid_visit visit = { .from_ns = w->from_ns,
		.to_ns = w->to_ns,
		.resolution_ns = p->bin_ns,
		.arg = p,
		.node = on_values,
		.point = on_point };
	size_t count;
	int rc;

	if (pyramid_lanes(p->v->pyramid, &count)[lane].key.kind != PYRAMID_POINTS)
		return 0;
	rc = add_beside(p, lane, w->from_ns, true);
	if (rc == 0)
		rc = pyramid_visit(p->v->pyramid, lane, &visit);
	flush_bin(p);
	return rc < 0 ? rc : add_beside(p, lane, w->to_ns, false);
}

int run_api_answer_counters(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct run_api_window w;
	struct run_api_lanes lanes;
	struct json j;
	int64_t bin_ns;
	int rc = run_api_query_bins(v, q, &w, &bin_ns, err);

	if (rc == 0)
		rc = run_api_query_lanes(v, q, &lanes, err);
	if (rc < 0)
		return rc;
	json_init(&j, out, false);
	json_array(&j);
	for (size_t i = 0; i < lanes.count && rc == 0; i++) {
		struct plot p = { .j = &j, .v = v, .from_ns = w.from_ns, .bin_ns = bin_ns, .bin = -1 };

		json_object(&j);
		json_kuint(&j, "lane", lanes.numbers[i]);
		json_key(&j, "points");
		json_array(&j);
		rc = add_lane(&p, lanes.numbers[i], &w);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	return rc < 0 ? err_set(err, EBADMSG, "the pyramid is damaged: 'sonde clean' removes it") : 0;
}
