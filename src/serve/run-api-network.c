/*
 * Network traffic matrix: the flows of a window summed by their two endpoints.
 *
 * An endpoint is a local process if known, else an address. A long flow has several rows; each counts, with its bytes,
 * in the window in which it starts (engine/plan.h has the rule).
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "model/dimensions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_DEFAULT 400
#define PAIRS_MAX 100000 /* further pairs are not counted, and the response reports it */

struct pair {
	uint64_t bytes, packets, flows;
};

struct pairs {
	const struct run_api *v;
	struct run_api_window w;
	struct map numbers; /* source NUL destination -> index in `at`, from 1 */
	struct pair *at;
	size_t count, cap;
	bool is_cut;
};

static struct pair *pair_of(struct pairs *p, const struct buf *key)
{
	uint64_t *number = map_put(&p->numbers, key->data, key->len, NULL);

	if (!number)
		return NULL;
	if (*number)
		return &p->at[*number - 1];
	if (!VEC_GROW(p->at, p->cap, p->count + 1, PAIRS_MAX))
		return NULL;
	p->at[p->count] = (struct pair){ .bytes = 0 };
	*number = ++p->count;
	return &p->at[p->count - 1];
}

/* "curl 1234", or "10.0.0.1". */
static void add_end(struct buf *out, const struct run_api *v, int64_t name, int64_t pid, int64_t address)
{
	const struct store_text *text = name == STORE_NULL ? NULL : model_name(v->run, name);

	if (text && text->data && pid != STORE_NULL) {
		buf_addf(out, "%s %" PRId64, text->data, pid);
		return;
	}
	text = address == STORE_NULL ? NULL : model_name(v->run, address);
	buf_adds(out, text && text->data ? text->data : "(unknown)");
}

static int count_one(struct pairs *p, const struct buf *from, const struct buf *to, const struct pair *more)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	struct pair *pair;

	if (!more->packets)
		return 0;
	buf_add(&key, from->data, from->len);
	buf_addc(&key, '\0');
	buf_add(&key, to->data, to->len);
	if (p->count >= PAIRS_MAX && !map_get(&p->numbers, key.data, key.len)) {
		p->is_cut = true;
		return 0;
	}
	pair = buf_error(&key) < 0 ? NULL : pair_of(p, &key);
	if (!pair)
		return -ENOMEM;
	pair->bytes += more->bytes;
	pair->packets += more->packets;
	pair->flows += more->flows;
	return 0;
}

static uint64_t known(int64_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

static int on_flows(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct pairs *p = arg;
	const struct store_column *c = b->columns;
	int rc = 0;

	for (size_t i = 0; i < b->rows && rc == 0; i++) {
		CLEANUP(buf_release) struct buf source = BUF_INIT, destination = BUF_INIT;
		uint64_t flows = known(c[STORE_FLOW_is_new].ints[i]);
		struct pair out = { known(c[STORE_FLOW_bytes_out].ints[i]), known(c[STORE_FLOW_packets_out].ints[i]),
			flows };
		struct pair in = { known(c[STORE_FLOW_bytes_in].ints[i]), known(c[STORE_FLOW_packets_in].ints[i]), 0 };

		if (c[STORE_FLOW_start_ns].ints[i] < p->w.from_ns || c[STORE_FLOW_start_ns].ints[i] >= p->w.to_ns)
			continue;
		add_end(&source, p->v, c[STORE_FLOW_name].ints[i], c[STORE_FLOW_pid].ints[i],
				c[STORE_FLOW_source].ints[i]);
		add_end(&destination, p->v, c[STORE_FLOW_peer_name].ints[i], c[STORE_FLOW_peer_pid].ints[i],
				c[STORE_FLOW_destination].ints[i]);
		rc = count_one(p, &source, &destination, &out);
		if (rc == 0)
			rc = count_one(p, &destination, &source, &in);
	}
	return rc;
}

struct ranked {
	uint64_t bytes;
	size_t number;
};

static int by_bytes(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int write_pairs(const struct pairs *p, size_t limit, struct buf *out)
{
	CLEANUP(cleanup_free) struct ranked *ranks = calloc(p->count + 1, sizeof(*ranks));
	struct json j;

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < p->count; i++)
		ranks[i] = (struct ranked){ p->at[i].bytes, i };
	qsort(ranks, p->count, sizeof(*ranks), by_bytes);
	json_init(&j, out, false);
	json_object(&j);
	json_kbool(&j, "is_all", !p->is_cut && p->count <= limit);
	json_karray(&j, "pairs");
	for (size_t i = 0; i < p->count && i < limit; i++) {
		const struct pair *pair = &p->at[ranks[i].number];
		size_t bytes;
		const char *key = map_key(&p->numbers, ranks[i].number, &bytes);
		size_t first = strnlen(key, bytes);

		json_object(&j);
		json_key(&j, "source");
		json_strn(&j, key, first);
		json_key(&j, "destination");
		json_strn(&j, key + first + 1, first < bytes ? bytes - first - 1 : 0);
		json_kuint(&j, "bytes", pair->bytes);
		json_kuint(&j, "packets", pair->packets);
		json_kuint(&j, "flows", pair->flows);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	return 0;
}

/* Arguments from, to, limit: bytes, packets and flows per pair of endpoints, sorted by bytes. */
int run_api_answer_network(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct pairs p = { .v = v, .numbers = MAP_INIT };
	int64_t limit = PAIRS_DEFAULT;
	int rc = run_api_query_window(v, q, &p.w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &limit, err);
	if (rc < 0)
		return rc;
	struct store_scan_opts opts = { .has_range = true, .from_ns = p.w.from_ns, .to_ns = p.w.to_ns, .threads = 1 };

	pthread_mutex_lock(&v->model);
	if (model_table(v->run, STORE_TABLE_FLOW))
		rc = store_scan(model_table(v->run, STORE_TABLE_FLOW), &opts, on_flows, &p, err);
	pthread_mutex_unlock(&v->model);
	if (rc == 0 && write_pairs(&p, (size_t)limit, out) < 0)
		rc = err_sys(err, ENOMEM, "cannot add up the flows");
	map_release(&p.numbers);
	free(p.at);
	return rc;
}
