/* Shared by learning and matching templates. Private to line-template*.c. */
#ifndef SONDE_PFW_LINE_TEMPLATE_PRIVATE_H
#define SONDE_PFW_LINE_TEMPLATE_PRIVATE_H

#include "pfw/line-template.h"

#include <string.h>

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

/* line-template-learn.c: the template of this line, or NULL if it cannot be one. `scales` must stay valid. */
struct shape *shape_learn(const struct pfw_context *ctx, const struct pfw_scale *scales, const char *at, size_t n,
		const struct pfw_line *line, const struct pfw_event *e);
void shape_free(struct shape *s);
/* A hash of the event name, equal for lines of one template. */
uint64_t shape_key(const char *at);
/*
 * Fills values and columns; sets a bit in `changed` for each SAME slot that differs. Returns the position after the
 * line, or NULL.
 */
const char *shape_match(struct shape *s, const char *at, struct value *values, uint32_t *changed);

#endif
