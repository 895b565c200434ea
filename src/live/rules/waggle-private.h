/* waggle-private: shared by the grammar of science rules (waggle-expr.c) and its functions (waggle-calls.c). */
#ifndef SONDE_LIVE_RULES_WAGGLE_PRIVATE_H
#define SONDE_LIVE_RULES_WAGGLE_PRIVATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Type of a part: a number or a truth, or samples that must be aggregated first. */
enum waggle_kind { WAGGLE_NUMBER, WAGGLE_TRUTH, WAGGLE_SAMPLES, WAGGLE_RATES, WAGGLE_COMPARED };

struct waggle_part {
	enum waggle_kind kind;
	char text[1024]; /* of samples: `name[window]` */
	char op[3];      /* WAGGLE_COMPARED: comparison operator and right operand */
	char bound[256];
};

struct waggle_reader {
	const char *text, *at;
	struct sonde_err *err;
	int depth;
};

/* Reports an unsupported expression, with the column. Returns -EINVAL. */
int waggle_refuse(struct waggle_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets a part's kind and text; the text may include the old one. */
int waggle_put(struct waggle_reader *r, struct waggle_part *p, enum waggle_kind kind, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));
/* Skips blanks, then consumes the token if it is next. */
bool waggle_take(struct waggle_reader *r, const char *token);

/* Parses a whole expression, such as the argument of a call. */
int waggle_read_or(struct waggle_reader *r, struct waggle_part *out);
/* Parses what follows `name(`, up to and including its closing bracket. */
int waggle_read_call(struct waggle_reader *r, const char *name, struct waggle_part *out);

#endif
