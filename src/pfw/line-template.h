/*
 * line-template: the fast path for lines that resemble earlier ones.
 *
 * The lines of a trace follow few templates (struct shape): the same fields in the same order, with other numbers. A
 * template is learned from each new line that the general parser (line-parse.h, event-parse.h) converted to a row: the
 * constant bytes, and between them slots, each with the column or text its value is stored in. A matching line is read
 * by comparing the constant text and converting the values with SIMD, in one pass and without searching the end of the
 * line first.
 *
 * A template matches a line only if the general parser would produce the same row. Anything unusual (an escape, a
 * number of 17 digits, a value out of range) does not match, and the general parser reads the line. Templates cache the
 * last process, thread and file, and look them up again only if the text differs.
 *
 * Without AVX2 templates are disabled, and the general parser reads all lines.
 */
#ifndef SONDE_PFW_LINE_TEMPLATE_H
#define SONDE_PFW_LINE_TEMPLATE_H

#include "pfw/event-parse.h"
#include "pfw/name-tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PFW_PADDING 128 /* readable bytes required after a text */

struct pfw_shapes;

/* The row of a matched line; valid until the next match. */
struct pfw_match {
	const char *end;           /* after the line's newline */
	enum store_table_id table; /* io or span */
	const void *row;
	size_t text_bytes;
	struct pfw_thread *thread; /* NULL: out of room */
	int64_t ts_ns, dur_ns;
};

bool pfw_shapes_work(void); /* whether this machine supports it */
int pfw_shapes_open(struct pfw_shapes **out, struct pfw_cache *cache);
void pfw_shapes_free(struct pfw_shapes *s); /* accepts NULL */
/* Templates depend on the time unit and the default host of an input: call when they change. */
void pfw_shapes_context(struct pfw_shapes *s, const struct pfw_context *ctx);
/* Matches the line at `at`. The text must end in a newline, followed by PFW_PADDING readable bytes. */
bool pfw_shapes_match(struct pfw_shapes *s, const char *at, struct pfw_match *match);
/* Learns from a line that became an event; n includes the newline. Unsuitable lines are ignored. */
void pfw_shapes_learn(struct pfw_shapes *s, const char *at, size_t n, const struct pfw_line *line,
		const struct pfw_event *e);

/* Shared by learning and matching templates. Private to line-template*.c. */

#define SLOTS_MAX 32u
#define SAMES_MAX 8u
#define SAME_BYTES_MAX 31u   /* maximum length of a cached value, without the byte after it */
#define SHAPE_LINE_MAX 4096u /* longer lines are left to the general parser */

enum slot_op {
	SLOT_INT,    /* an unscaled number of a column */
	SLOT_SCALED, /* a scaled number of a column, see `scale` */
	SLOT_SAME,   /* process, thread or file: often the same text as in the previous line */
	SLOT_STRING, /* a plain string of args, extra or io.text */
	SLOT_NUMBER, /* any number of args or extra */
	SLOT_FIXED   /* no value: a constant field of args or extra */
};

#define USUAL_VARIES 255

enum slot_left { LEFT_NONE, LEFT_ARGS, LEFT_EXTRA };

enum slot_scale { SCALE_TIME, SCALE_DURATION, SCALE_LEVEL, SCALE_PLAIN, SCALES };

/*
 * The constant text before a value, and the value. Templates are read for every line, and all of them should fit in the
 * L1 cache: rarely used data is kept elsewhere.
 */
struct slot {
	uint32_t fixed_mask;            /* one bit for each of the first 32 bytes of constant text */
	uint16_t fixed_at, fixed_bytes; /* constant text: offset in shape->fixed */
	uint8_t op;                     /* enum slot_op */
	uint8_t column;
	uint8_t scale;   /* enum slot_scale */
	uint8_t usual;   /* number of digits in the last match, or USUAL_VARIES */
	uint16_t prefix; /* bytes from the key's quote to the value */
	uint8_t same;    /* index of its struct same */
	uint8_t kind;    /* enum jsonscan_kind of the value */
	uint8_t role;    /* enum pfw_role */
	uint8_t left;    /* enum slot_left */
};

/* A value of the last line, with the byte after it. */
struct same {
	char text[SAME_BYTES_MAX + 1];
	uint32_t mask;
	uint8_t bytes; /* 0: empty */
};

struct value {
	const char *at;
	size_t bytes;
};

/* The meaning of the SAME slots. */
struct facts {
	struct pfw_process_key process;
	int64_t tid;
	uint64_t file_hash, file2_hash;
	int64_t file_name; /* id of the file */
	unsigned forms;
};

struct shape {
	struct shape *next;    /* in the hash chain of its key */
	struct shape *follows; /* the template of the line after it, last time */
	uint64_t key;
	uint64_t signature;
	enum store_table_id table;
	unsigned slot_count;
	bool has_left, is_hostless, has_product;
	bool has_file, has_file2, has_file_name;
	uint8_t product[2];
	uint8_t ts_column, dur_column;
	char *fixed;                          /* the line it was learned from */
	const struct pfw_scale *scales;       /* by enum slot_scale */
	uint32_t end_at, end_bytes, end_mask; /* constant text after the last value, with the newline */
	unsigned same_count;
	/* values of the SAME slots in the last line */
	struct facts facts;
	struct pfw_process *process;
	struct pfw_thread *thread;
	unsigned epoch; /* of the thread */
	union {
		int64_t words[STORE_COLUMNS_MAX];
		struct store_io io;
		struct store_span span;
	} row;
	struct store_text text, args, extra;
	struct same sames[SAMES_MAX];
	struct slot slots[SLOTS_MAX];
};

static inline uint32_t first_mask(size_t n)
{
	return n >= 32 ? UINT32_MAX : (1u << n) - 1;
}

static inline void remember(struct same *same, const struct value *v)
{
	same->bytes = 0;
	if (v->bytes > SAME_BYTES_MAX)
		return;
	memcpy(same->text, v->at, sizeof(same->text)); /* the bytes after the value are not compared */
	same->bytes = (uint8_t)(v->bytes + 1);
	same->mask = first_mask(same->bytes);
}

/* A hash of the event name, equal for lines of one template. */
uint64_t shape_key(const char *at);
/*
 * Fills values and columns; sets a bit in `changed` for each SAME slot that differs. Returns the position after the
 * line, or NULL.
 */
const char *shape_match(struct shape *s, const char *at, struct value *values, uint32_t *changed);

#endif
