#include "pfw/import-pool.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct member {
	struct import_pool *pool;
	struct pfw_worker worker;
	const struct pfw_piece *piece; /* current */
	struct pfw_piece seam;         /* a joined line, as a piece */
	bool is_first;                 /* reports progress */
};

static void keep_lost(struct import_pool *c, const struct pfw_lost_line *lost, const char *text)
{
	pthread_mutex_lock(&c->lock);
	pfw_lost_add(&c->lost, lost, text);
	pthread_mutex_unlock(&c->lock);
}

static void report_line(void *arg, const struct pfw_problem *problem)
{
	struct member *m = arg;
	struct pfw_lost_line lost = {
		.part = m->piece->part,
		.piece = m->piece->number,
		.line = problem->line,
		.reason = problem->reason,
		.where = problem->where,
		.bytes = problem->bytes,
	};

	keep_lost(m->pool, &lost, problem->text);
}

/* Pieces. */

/* Counts lines per piece, so that any line can be reported with its number in the file. */
static void record_lines(struct import_pool *c, struct pfw_part *part, size_t number, uint64_t lines)
{
	pthread_mutex_lock(&c->lock);
	size_t had = part->piece_room;
	if (VEC_GROW(part->piece_lines, part->piece_room, number + 1, VEC_MAX)) {
		memset(part->piece_lines + had, 0, (part->piece_room - had) * sizeof(*part->piece_lines));
		part->piece_lines[number] = (uint32_t)lines;
	}
	pthread_mutex_unlock(&c->lock);
}

static void work_on(struct member *m, const struct pfw_piece *piece)
{
	m->piece = piece;
	uint64_t lines = pfw_worker_text(&m->worker, &piece->part->input->ctx, piece->text + piece->from,
			piece->to - piece->from);
	record_lines(m->pool, piece->part, piece->number, lines);
}

/* If a thread is idle and the queue has room, queues the piece and returns another to continue with; otherwise NULL. */
static struct pfw_piece *hand_over(struct import_pool *c, struct pfw_piece *piece)
{
	struct pfw_piece *next = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->idle > c->queued && c->queued < PFW_QUEUE_MAX && piece->cap <= PFW_LONG_BYTES) {
		next = c->spare_count ? c->spare[--c->spare_count] : pfw_piece_new(PFW_PIECE_BYTES);
		if (next) {
			c->queue[c->queued++] = piece;
			pthread_cond_signal(&c->changed);
		}
	}
	pthread_mutex_unlock(&c->lock);
	return next;
}

static struct pfw_piece *take_piece(void *arg, struct pfw_piece *piece)
{
	struct member *m = arg;
	struct pfw_piece *next = m->pool->threads > 1 ? hand_over(m->pool, piece) : NULL;

	if (next)
		return next;
	work_on(m, piece);
	return piece;
}

static void skip_line(void *arg, struct pfw_part *part, size_t number)
{
	struct member *m = arg;
	struct pfw_lost_line lost = { .part = part,
		.piece = number,
		.reason = PFW_TOO_LONG,
		.bytes = PFW_LINE_BYTES_MAX + 1 };

	m->worker.counts.lines++;
	m->worker.counts.too_long++;
	if (number < PFW_FIRST_LINE)
		record_lines(m->pool, part, number, 1);
	keep_lost(m->pool, &lost, NULL);
}

/* Seams: lines that start in one part and end in another, joined once both parts are read. */

static void end_line(struct member *m, struct pfw_part *part, bool is_last)
{
	struct buf *line = &m->pool->seam;
	size_t n = line->len + 1;

	m->seam = (struct pfw_piece){ .part = part, .number = is_last ? PFW_LAST_LINE : PFW_FIRST_LINE };
	buf_addc(line, '\n');
	if (m->pool->is_seam_lost)
		skip_line(m, part, m->seam.number);
	else if (line->len == n && n > 1 && buf_reserve(line, PFW_PADDING)) {
		m->piece = &m->seam;
		pfw_worker_text(&m->worker, &part->input->ctx, line->data, n);
	}
	if (n > PFW_LONG_BYTES)
		buf_release(line);
	buf_reset(line);
	m->pool->is_seam_lost = false;
}

static void add_to_seam(struct import_pool *c, struct buf *bytes, bool is_lost)
{
	buf_add(&c->seam, bytes->data, bytes->len);
	c->is_seam_lost |= is_lost || c->seam.len > PFW_LINE_BYTES_MAX;
	atomic_fetch_sub(&c->seam_bytes, bytes->len);
	buf_release(bytes);
}

static void sew_part(struct member *m, struct pfw_part *part, bool is_last)
{
	bool is_broken = part->status != PFW_GZIP_MEMBER && part->status != PFW_GZIP_END;

	if (!part->input->is_gzip || (part->index == 0 && is_last))
		return;
	add_to_seam(m->pool, &part->head, part->is_head_lost);
	if (part->has_newline || is_broken)
		end_line(m, part, false);
	add_to_seam(m->pool, &part->tail, part->is_tail_lost);
	if (is_broken || is_last)
		end_line(m, part, true);
}

static struct pfw_part *next_to_sew(struct import_pool *c)
{
	struct pfw_part *part = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->sewn < c->part_count && c->parts[c->sewn].is_done)
		part = &c->parts[c->sewn++];
	pthread_mutex_unlock(&c->lock);
	return part;
}

static void sew(struct member *m)
{
	struct import_pool *c = m->pool;
	struct pfw_part *part;

	pthread_mutex_lock(&c->seam_lock);
	while ((part = next_to_sew(c)) != NULL)
		sew_part(m, part, part + 1 == c->parts + c->part_count || part[1].input != part->input);
	pthread_mutex_unlock(&c->seam_lock);
}

/* Parts. */

static void work_on_part(struct member *m, struct pfw_part *part)
{
	struct import_pool *c = m->pool;
	struct pfw_part_ops ops = { .take = take_piece,
		.skip = skip_line,
		.arg = m,
		.seam_bytes = &c->seam_bytes,
		.long_lock = &c->long_lock };
	uint64_t end = part->to < part->input->bytes ? part->to : part->input->bytes, done;

	pfw_part_read(part, &ops);
	pthread_mutex_lock(&c->lock);
	part->is_done = true;
	pthread_mutex_unlock(&c->lock);
	sew(m);
	pthread_mutex_lock(&c->lock);
	c->reading--;
	c->text_bytes += part->text_bytes;
	c->is_misplit |= part->is_misplit;
	done = c->done_bytes += end > part->from ? end - part->from : 0;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	if (m->is_first && c->progress)
		c->progress(c->arg, done, c->all_bytes);
}

/* Seams wait for the parts before them: a thread that must wait for a slow part processes its pieces meanwhile. */
static bool has_seam_room(struct import_pool *c)
{
	return c->reading == 0 || atomic_load(&c->seam_bytes) <= PFW_SEAM_BYTES_MAX / 2;
}

/* Gets the next work item, with the lock held: a piece, a part, or neither if all is done. */
static void next_work(struct import_pool *c, struct pfw_piece **piece, struct pfw_part **part)
{
	*piece = NULL;
	*part = NULL;
	for (;;) {
		if (c->queued) {
			*piece = c->queue[0];
			memmove(c->queue, c->queue + 1, --c->queued * sizeof(struct pfw_piece *));
			return;
		}
		if (c->next_part < c->part_count && !c->is_misplit && has_seam_room(c)) {
			*part = &c->parts[c->next_part++];
			c->reading++;
			return;
		}
		if (!c->reading)
			return;
		c->idle++;
		pthread_cond_wait(&c->changed, &c->lock);
		c->idle--;
	}
}

static void work(struct member *m)
{
	struct import_pool *c = m->pool;
	struct pfw_piece *piece;
	struct pfw_part *part;

	for (;;) {
		pthread_mutex_lock(&c->lock);
		next_work(c, &piece, &part);
		pthread_mutex_unlock(&c->lock);
		if (piece) {
			work_on(m, piece);
			pthread_mutex_lock(&c->lock);
			if (c->spare_count < PFW_QUEUE_MAX) {
				c->spare[c->spare_count++] = piece;
				piece = NULL;
			}
			pthread_mutex_unlock(&c->lock);
			pfw_piece_free(piece);
		} else if (part) {
			work_on_part(m, part);
		} else {
			return;
		}
	}
}

/* Threads. */

static void *run_member(void *arg)
{
	struct member *m = arg;

	work(m);
	pfw_worker_release(&m->worker);
	return NULL;
}

/* The calling thread is always a member. */
static int start(struct import_pool *c, struct member *members, pthread_t *threads, unsigned *started)
{
	unsigned i = 0;

	do {
		int rc = pfw_worker_init(&members[i].worker, c->dims, c->tables, !c->is_general);

		members[i].pool = c;
		members[i].is_first = i == 0;
		members[i].worker.tell = report_line;
		members[i].worker.arg = &members[i];
		if (rc < 0)
			return rc;
	} while (++i < c->threads);
	/* If a thread cannot be created, fewer do the work. */
	for (*started = 1; *started < c->threads; ++*started)
		if (pthread_create(&threads[*started], NULL, run_member, &members[*started]) != 0)
			break;
	return 0;
}

int import_pool_run(struct import_pool *c)
{
	struct member *members = calloc(c->threads, sizeof(*members));
	pthread_t *threads = calloc(c->threads, sizeof(*threads));
	unsigned started = 0;
	int rc = members && threads && c->threads ? 0 : -ENOMEM;

	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->long_lock, NULL);
	pthread_mutex_init(&c->seam_lock, NULL);
	buf_init(&c->seam, 2 * PFW_LINE_BYTES_MAX);
	pthread_cond_init(&c->changed, NULL);
	if (rc == 0)
		rc = start(c, members, threads, &started);
	if (rc == 0)
		work(&members[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; members && i < c->threads; i++) {
		pfw_counts_add(&c->counts, &members[i].worker.counts);
		if (members[i].pool && (i == 0 || i >= started))
			pfw_worker_release(&members[i].worker);
	}
	free(members);
	free(threads);
	return rc;
}

void import_pool_release(struct import_pool *c)
{
	while (c->spare_count)
		pfw_piece_free(c->spare[--c->spare_count]);
	for (size_t i = 0; i < c->part_count; i++)
		pfw_part_release(&c->parts[i]);
	free(c->parts);
	pfw_lost_release(&c->lost);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->long_lock);
	pthread_mutex_destroy(&c->seam_lock);
	buf_release(&c->seam);
	pthread_cond_destroy(&c->changed);
}
