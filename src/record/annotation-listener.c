#include "record/annotation-listener.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "record/ringdir.h"
#include "store/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_BYTES_MAX (256ull << 20)
#define PROCESS_BYTES_MAX (4ull << 20)

static void on_step(void *arg, const struct store_step *step)
{
	struct announce *a = arg;

	if (a->step_name == STORE_NULL)
		a->step_name = step->name;
	if (step->name == a->step_name && a->o.take_step)
		a->o.take_step(a->o.arg, step->ts_ns, step->index, step->value);
}

/* Unused rows (spans, processes) are written to the ring directory. */
static int open_sink(struct announce *a, struct sonde_err *err)
{
	int rc;

	if (mkdirat(a->ring.fd, "tables", 0700) < 0)
		return err_sys(err, errno, "cannot create '%s/tables'", a->ring.path.data);
	a->tables_fd = openat(a->ring.fd, "tables", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->tables_fd < 0)
		return err_sys(err, errno, "cannot open '%s/tables'", a->ring.path.data);
	rc = store_sink_open(&a->sink, a->tables_fd, err);
	a->has_sink = rc == 0;
	return rc;
}

static int open_drain(struct announce *a, struct sonde_err *err)
{
	int rc = drain_init(&a->drain, &a->ring, &a->sink, true, err);

	if (rc < 0)
		return rc;
	a->has_drain = true;
	a->drain.step = on_step;
	a->drain.step_arg = a;
	a->drain.board = a->o.take_board;
	a->drain.board_arg = a->o.arg;
	a->step_name = a->o.step ? store_strings_of(&a->sink.strings, a->o.step) : STORE_NULL;
	return 0;
}

static int build_env(struct announce *a, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf library = BUF_INIT;
	int rc = preload_library(&a->ring, &library, err);

	if (rc < 0)
		return rc;
	preload_value(&a->preload, library.data);
	buf_addf(&a->place, "SONDE_RING=%s", a->ring.path.data);
	a->env[0] = a->preload.data;
	a->env[1] = a->place.data;
	return buf_error(&a->preload) < 0 || buf_error(&a->place) < 0 ? err_sys(err, ENOMEM, "cannot start it") : 0;
}

int announce_open(struct announce *a, const char *dir, const struct announce_options *o, struct sonde_err *err)
{
	const struct ring_options ring = { .categories = SONDE_CAT_SPAN,
		.overflow = SONDE_OVERFLOW_DROP,
		.run_bytes_max = RUN_BYTES_MAX,
		.process_bytes_max = PROCESS_BYTES_MAX,
		.wishes = o->wishes,
		.knob_init_count = o->knob_init_count };
	int rc;

	memset(a, 0, sizeof(*a));
	a->o = *o;
	a->ring = (struct ring_dir)RING_DIR_INIT;
	a->tables_fd = -1;
	buf_init(&a->preload, 0);
	buf_init(&a->place, 0);
	rc = ring_dir_create(&a->ring, dir, &ring, err);
	if (rc == 0)
		rc = open_sink(a, err);
	if (rc == 0)
		rc = open_drain(a, err);
	if (rc == 0)
		rc = build_env(a, err);
	if (rc < 0)
		announce_release(a);
	return rc;
}

const char *const *announce_env(const struct announce *a)
{
	return a->env;
}

void announce_pass(struct announce *a)
{
	drain_pass(&a->drain);
}

void announce_finish(struct announce *a)
{
	drain_finish(&a->drain);
}

void announce_release(struct announce *a)
{
	if (a->has_drain)
		drain_release(&a->drain);
	if (a->has_sink)
		store_sink_close(&a->sink, NULL);
	if (a->ring.control) {
		if (a->tables_fd >= 0)
			close(a->tables_fd);
		store_tables_remove(a->ring.fd, "tables");
		ring_dir_remove(&a->ring);
		ring_dir_release(&a->ring);
	}
	buf_release(&a->preload);
	buf_release(&a->place);
	memset(a, 0, sizeof(*a));
}

/*
 * Knobs on boards. The traced program owns the board, so it is read and written, not mapped, and every index is
 * checked.
 */

static off_t knob_at(uint32_t slot, size_t field)
{
	return (off_t)(SONDE_SEGMENT_HEAD_BYTES + offsetof(struct sonde_board, knobs) +
			slot * sizeof(struct sonde_knob) + field);
}

/* Find a knob by name on an open board. Returns its slot, or -1. */
static int find_knob(int fd, const char *name, struct sonde_knob *k)
{
	const off_t count_at = SONDE_SEGMENT_HEAD_BYTES + (off_t)offsetof(struct sonde_board, knob_count);
	uint32_t count;

	if (pread(fd, &count, sizeof(count), count_at) != (ssize_t)sizeof(count))
		return -1;
	for (uint32_t i = 0; i < count && i < SONDE_KNOBS_MAX; i++) {
		if (pread(fd, k, sizeof(*k), knob_at(i, 0)) != (ssize_t)sizeof(*k))
			return -1;
		k->choices[sizeof(k->choices) - 1] = '\0';
		if (k->kind && strncmp(k->name, name, sizeof(k->name)) == 0)
			return (int)i;
	}
	return -1;
}

/* Convert an initial value to the bits of a knob of this kind; false if the value does not fit. */
static bool bits_of(const struct sonde_knob *k, const struct sonde_knob_init *w, uint64_t *bits)
{
	size_t length = strnlen(w->choice, sizeof(w->choice));
	const char *at = k->choices;

	if (k->kind == SONDE_KNOB_INT) {
		*bits = (uint64_t)w->whole;
		return w->whole != SONDE_NONE;
	}
	if (k->kind == SONDE_KNOB_REAL) {
		memcpy(bits, &w->real, sizeof(*bits));
		return isfinite(w->real);
	}
	for (*bits = 0; *at; ++*bits) {
		size_t n = strcspn(at, "|");

		if (n == length && strncmp(at, w->choice, n) == 0)
			return true;
		at += n + (at[n] == '|');
	}
	return false;
}

static bool set_knob(int fd, const struct sonde_knob_init *w)
{
	struct sonde_knob k;
	int slot = find_knob(fd, w->name, &k);
	uint64_t bits;

	if (slot < 0 || !bits_of(&k, w, &bits))
		return false;
	k.generation++;
	return pwrite(fd, &bits, sizeof(bits), knob_at((uint32_t)slot, offsetof(struct sonde_knob, wanted))) ==
			(ssize_t)sizeof(bits) &&
			pwrite(fd, &k.generation, sizeof(k.generation),
					knob_at((uint32_t)slot, offsetof(struct sonde_knob, generation))) ==
			(ssize_t)sizeof(k.generation);
}

static bool is_open(int fd, const struct sonde_knob_init *w)
{
	struct sonde_knob k;

	return find_knob(fd, w->name, &k) >= 0 && k.seen != k.generation;
}

struct counting {
	const struct sonde_knob_init *wishes;
	size_t count;
	bool (*what)(int fd, const struct sonde_knob_init *w);
	int n;
};

static void count_on_board(void *arg, int dirfd, const char *name)
{
	struct counting *c = arg;
	CLEANUP(cleanup_fd) int board = openat(dirfd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	for (size_t i = 0; board >= 0 && i < c->count; i++)
		c->n += c->what(board, &c->wishes[i]);
}

/* Count the (board, knob) pairs for which `what` is true. */
static int count_knobs(const struct announce *a, const struct sonde_knob_init *wishes, size_t count,
		bool (*what)(int fd, const struct sonde_knob_init *w))
{
	struct counting c = { wishes, count, what, 0 };
	int rc = ring_dir_boards(&a->ring, count_on_board, &c);

	return rc < 0 ? rc : c.n;
}

int announce_set_knobs(struct announce *a, const struct sonde_knob_init *wishes, size_t count)
{
	return count_knobs(a, wishes, count, set_knob);
}

size_t announce_open_knobs(const struct announce *a, const struct sonde_knob_init *wishes, size_t count)
{
	int n = count_knobs(a, wishes, count, is_open);

	return n < 0 ? 0 : (size_t)n;
}
