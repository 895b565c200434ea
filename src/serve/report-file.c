#include <jansson.h>

#include "serve/run-api-private.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "serve/page.h"
#include "serve/report-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BINS 2048 /* of the coarsest resolution, at least */
#define FINER 8
#define LEVELS_MAX 6
#define BIN_NS_MIN 64
#define LANES_MAX 8192

static const char head[] = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
			   "'unsafe-inline'; "
			   "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
			   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>sonde</title>\n"
			   "<link rel=\"icon\" href=\"data:,\">\n<style>";

/* Request arguments as a NULL-terminated list of pairs. */
static const char *get_pair(const void *arg, const char *name)
{
	for (const char *const *pair = arg; *pair; pair += 2)
		if (strcmp(pair[0], name) == 0)
			return pair[1];
	return NULL;
}

/* JSON inside a script element: escaped, so that no text of a run can end the element. */
static void add_json(struct buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t plain = strcspn(text + i, "<");

		if (plain > n - i)
			plain = n - i;
		buf_add(out, text + i, plain);
		i += plain;
		if (i < n)
			buf_adds(out, "\\u003c");
	}
}

/* "key": the response of the run API; null on failure. */
static void add_answer(struct run_api *v, struct buf *out, const char *key, const char *name, const char *const *pairs)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct run_api_query q = { .get = get_pair, .arg = pairs };

	buf_addf(out, ",\n\"%s\":", key);
	if (run_api_respond(v, run_api_answer_find(name), &q, &text, NULL) == 0)
		add_json(out, text.data, text.len);
	else
		buf_adds(out, "null");
}

struct lanes {
	uint32_t slices[LANES_MAX], points[VIEW_LANES_MAX];
	size_t slice_count, point_count;
};

/* Adds resolutions from the coarsest on until `room` is used up; sets *bin_ns to the last bin. */
static void add_levels(const struct run_api *v, const struct lanes *l, uint64_t room, struct buf *out, int64_t *bin_ns)
{
	struct run_api_window w = { v->start_ns, v->start_ns + v->duration_ns + 1 };
	uint64_t used = 0;

	buf_adds(out, ",\n\"slices\":[");
	for (int level = 0; level < LEVELS_MAX; level++) {
		CLEANUP(buf_release) struct buf bytes = BUF_INIT;
		int64_t bin = level ? *bin_ns / FINER : *bin_ns;

		if (bin < BIN_NS_MIN || run_api_write_slices(v, &w, bin, l->slices, l->slice_count, &bytes) < 0)
			break;
		used += bytes.len / 3 * 4;
		if (level && used > room)
			break;
		*bin_ns = bin;
		buf_addf(out, "%s{\"bin\":%lld,\"data\":\"", level ? "," : "", (long long)bin);
		buf_add_base64(out, bytes.data, bytes.len);
		buf_adds(out, "\"}");
	}
	buf_addc(out, ']');
}

static int keep_node(void *arg, const struct pyramid_node *node)
{
	return map_put_int(arg, node->name, NULL) ? 0 : -ENOMEM;
}

static int keep_slice(void *arg, const struct pyramid_slice *slice)
{
	return map_put_int(arg, slice->name, NULL) ? 0 : -ENOMEM;
}

/* Adds every name that slices of the finest resolution can refer to. */
static void add_names(struct run_api *v, const struct lanes *l, int64_t bin_ns, struct buf *out)
{
	struct map names = MAP_INIT;
	struct pyramid_visit visit = { .from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.resolution_ns = bin_ns,
		.arg = &names,
		.node = keep_node,
		.slice = keep_slice };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	size_t count;
	const struct pyramid_lane *lanes = pyramid_lanes(v->pyramid, &count);

	for (size_t i = 0; i < l->slice_count; i++)
		if (lanes[l->slices[i]].key.what != MODEL_LANE_STEPS &&
				lanes[l->slices[i]].key.what != MODEL_LANE_SAMPLES)
			pyramid_visit(v->pyramid, l->slices[i], &visit);
	run_api_write_names(v, &names, &text);
	buf_adds(out, ",\n\"names\":");
	add_json(out, text.data, text.len);
	map_release(&names);
}

static int add_data(struct run_api *v, uint64_t room, struct buf *out)
{
	static const char *const none[] = { NULL };
	CLEANUP(buf_release) struct buf list = BUF_INIT;
	CLEANUP(cleanup_free) struct lanes *l = calloc(1, sizeof(*l));
	const struct pyramid_lane *all;
	int64_t bin_ns = BIN_NS_MIN;
	size_t count;

	if (!l)
		return -ENOMEM;
	while (v->duration_ns / bin_ns > FIRST_BINS)
		bin_ns *= 2;
	all = pyramid_lanes(v->pyramid, &count);
	for (size_t i = 0; i < count; i++) {
		if (all[i].key.kind == PYRAMID_SLICES && l->slice_count < LANES_MAX)
			l->slices[l->slice_count++] = (uint32_t)i;
		else if (all[i].key.kind == PYRAMID_POINTS && l->point_count < VIEW_LANES_MAX)
			l->points[l->point_count++] = (uint32_t)i;
	}
	buf_adds(out, "{\"sonde_report\":1");
	add_answer(v, out, "run", "run", none);
	add_answer(v, out, "tracks", "tracks", none);
	add_answer(v, out, "stats", "stats", (const char *const[]){ "limit", "1000", NULL });
	add_answer(v, out, "io", "io", (const char *const[]){ "limit", "1000", NULL });
	add_answer(v, out, "steps", "steps", none);
	add_answer(v, out, "flame", "flame", none);
	buf_adds(out, ",\n\"flames\":{\"source\":null");
	add_answer(v, out, "cpu", "flame", (const char *const[]){ "source", "cpu", NULL });
	add_answer(v, out, "offcpu", "flame", (const char *const[]){ "source", "offcpu", NULL });
	buf_addc(out, '}');
	add_answer(v, out, "summary", "summary", none);
	add_answer(v, out, "flows", "flows", none);
	add_answer(v, out, "network", "network", none);
	for (size_t i = 0; i < l->point_count; i++)
		buf_addf(&list, "%s%u", i ? "," : "", l->points[i]);
	add_answer(v, out, "counters", "counters", (const char *const[]){ "lanes", list.data, NULL });
	add_levels(v, l, room, out, &bin_ns);
	add_names(v, l, bin_ns, out);
	buf_adds(out, "}");
	return 0;
}

int report_write(struct run_api *v, uint64_t events_bytes, struct buf *out, struct sonde_err *err)
{
	const struct page_file *css = page_find("/app.css"), *js = page_find("/app.js");
	int rc = page_check(err);

	if (rc)
		return rc;
	buf_adds(out, head);
	buf_add(out, css->bytes, css->count);
	buf_adds(out, "</style>\n<div id=\"app\"></div>\n<script type=\"application/json\" id=\"sonde-data\">\n");
	rc = add_data(v, events_bytes, out);
	buf_adds(out, "\n</script>\n<script>");
	buf_add(out, js->bytes, js->count);
	buf_adds(out, "</script>\n</html>\n");
	return rc < 0 || buf_error(out) < 0 ? err_sys(err, ENOMEM, "cannot write the report") : 0;
}
