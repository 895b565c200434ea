/*
 * pyramid: a zoom index: reading any window at any zoom costs time proportional to its pixels, not its events.
 *
 * A lane is a sequence of events ordered by start: slices (start, duration, name) or points (time, value). The events
 * of a lane are the leaves of a tree with fan-out 16. A node summarizes its subtree: start and end, number of events,
 * busy time, the longest event and its name, and the set of names that can occur (slices), or minimum, maximum and
 * sum (points). A visit descends only where a node is wider than the requested resolution.
 *
 * A pyramid is a cache: it can be rebuilt from the tables at any time, and `stamp` identifies the tables it was built
 * from. It is written in one pass with memory for the lanes, not for the events. The file is untrusted: a hash covers
 * the directory, every offset is bounded, and children lie before their parents, so a visit terminates.
 *
 *   file = struct pyramid_head, (leaf | node[1..16])*, struct pyramid_lane[]
 *   leaf = 1..16 events: varint start relative to the previous event's (the first: to the node's), then
 *          varint duration, varint name (a slice) or 8 bytes of a double (a point)
 */
#ifndef SONDE_STORE_PYRAMID_H
#define SONDE_STORE_PYRAMID_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYRAMID_FAN 16
#define PYRAMID_LEVELS_MAX 14 /* 16^14 events */

struct pyramid_node {
	int64_t start_ns; /* of the first event */
	int64_t end_ns;   /* of the one that ends last */
	uint64_t count;   /* of events */
	uint64_t offset;  /* of its children or its leaf in the file */
	uint32_t children;
	uint32_t name; /* of the longest slice; the bytes of the leaf are found by reading it */
	union {
		struct {
			int64_t busy_ns;
			int64_t longest_ns;
			uint64_t names; /* bit pyramid_name_bit of every name in the subtree */
		};
		struct {
			double min, max, sum;
		};
	};
};

enum pyramid_kind { PYRAMID_SLICES = 1, PYRAMID_POINTS = 2 };

/* Identity of a lane; defined by the caller and opaque to the pyramid. */
struct pyramid_key {
	uint32_t kind; /* enum pyramid_kind */
	uint32_t what; /* enum model_lane */
	int64_t process;
	int64_t tid;
	int64_t name;
	uint32_t depth;
	uint32_t zero;
};

struct pyramid_lane {
	struct pyramid_key key;
	uint32_t level; /* of the root: 0 is a leaf's node */
	uint32_t zero;
	struct pyramid_node root;
};

struct pyramid_slice {
	int64_t start_ns, dur_ns;
	uint32_t name;
};

/* Durations are unchecked: an end beyond INT64_MAX is clamped. */
static inline int64_t pyramid_slice_end(const struct pyramid_slice *s)
{
	int64_t end_ns;

	return __builtin_add_overflow(s->start_ns, s->dur_ns, &end_ns) ? INT64_MAX : end_ns;
}

struct pyramid_point {
	int64_t ts_ns;
	double value;
};

/* The bit of a name in pyramid_node.names. */
static inline uint64_t pyramid_name_bit(uint32_t name)
{
	return (uint64_t)1 << (name * 2654435761u >> 26);
}

/*
 * Writing. Events of a lane are added in order of start; the start of one that is out of order is raised to the last
 * one's.
 */
struct pyramid_writer;

/* fd must be empty; the caller closes it. */
int pyramid_writer_open(struct pyramid_writer **out, int fd, uint64_t stamp, struct sonde_err *err);
/* Add a lane; returns its number or -errno. */
int64_t pyramid_add_lane(struct pyramid_writer *w, const struct pyramid_key *key);
int pyramid_add_slice(struct pyramid_writer *w, int64_t lane, const struct pyramid_slice *slice);
int pyramid_add_point(struct pyramid_writer *w, int64_t lane, const struct pyramid_point *point);
int pyramid_writer_close(struct pyramid_writer *w, struct sonde_err *err); /* frees w, even on failure */
void pyramid_writer_free(struct pyramid_writer *w);                        /* without finishing; NULL is allowed */

/* Reading. Several threads may read at once. */
struct pyramid;

int pyramid_open(struct pyramid **out, int fd, struct sonde_err *err); /* the caller closes fd */
void pyramid_free(struct pyramid *p);                                  /* NULL is allowed */
uint64_t pyramid_stamp(const struct pyramid *p);
uint64_t pyramid_bytes(const struct pyramid *p);
const struct pyramid_lane *pyramid_lanes(const struct pyramid *p, size_t *count);

#define PYRAMID_DEEPER 0x7eee

struct pyramid_visit {
	int64_t from_ns, to_ns; /* only events that overlap [from, to) */
	int64_t resolution_ns;  /* nodes at most this wide are shown as nodes; 0: every event */
	uint64_t names;         /* only subtrees with one of these bits set; 0: all */
	/*
	 * Neighbours are merged into one node, at most the resolution wide and with 0 children, if all their events
	 * are shorter than merge_long_ns and follow each other within merge_gap_ns on average. The visit cannot
	 * descend into a merged node. 0: no merging.
	 */
	int64_t merge_long_ns, merge_gap_ns;
	void *arg;
	/*
	 * A nonzero result ends the visit and is returned, except PYRAMID_DEEPER, which descends into the node. Each
	 * may be NULL.
	 */
	int (*node)(void *arg, const struct pyramid_node *node);
	int (*slice)(void *arg, const struct pyramid_slice *slice);
	int (*point)(void *arg, const struct pyramid_point *point);
};

/* Visit in order of start. Returns 0, the result of a callback, or -EBADMSG. */
int pyramid_visit(const struct pyramid *p, size_t lane, const struct pyramid_visit *v);

/*
 * Iterate over the slices of a lane that overlap [from, to), e.g. to walk several lanes in parallel. Members are
 * private; nothing to release.
 */
struct pyramid_cursor {
	const struct pyramid *pyramid;
	int64_t from_ns, to_ns;
	struct {
		const struct pyramid_node *nodes;
		uint32_t count;
		uint64_t offset; /* of the nodes in the file */
	} levels[PYRAMID_LEVELS_MAX];
	uint32_t level; /* of the current nodes */
	const uint8_t *at, *end;
	uint32_t left; /* slices of the leaf not yet returned */
	struct pyramid_slice slice;
};

void pyramid_cursor_init(struct pyramid_cursor *c, const struct pyramid *p, size_t lane, int64_t from_ns,
		int64_t to_ns);
/* The next slice, valid until the next call; NULL at the end or if the pyramid is damaged. */
const struct pyramid_slice *pyramid_cursor_next(struct pyramid_cursor *c);

/* The last point before ts_ns (is_before), else the first at or after it. 1: found, 0: none, or -EBADMSG. */
int pyramid_point_beside(const struct pyramid *p, size_t lane, int64_t ts_ns, bool is_before,
		struct pyramid_point *out);

#endif
