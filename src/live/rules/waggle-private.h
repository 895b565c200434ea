/* waggle-private: between the grammar of science rules (waggle-expr.c) and what is called there (waggle-calls.c). */
#ifndef SONDE_LIVE_RULES_WAGGLE_PRIVATE_H
#define SONDE_LIVE_RULES_WAGGLE_PRIVATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* What a part is: a number or a truth, or samples that something has to be made of first. */
enum waggle_kind { WAGGLE_NUMBER, WAGGLE_TRUTH, WAGGLE_SAMPLES, WAGGLE_RATES, WAGGLE_COMPARED };

struct waggle_part {
	enum waggle_kind kind;
	char text[1024]; /* of samples: `name[window]` */
	char op[3];      /* WAGGLE_COMPARED: samples, and this with */
	char bound[256];
};

struct waggle_reader {
	const char *text, *at;
	struct sonde_err *err;
	int depth;
};

/* That it cannot be said here, with the column; -EINVAL. */
int waggle_refuse(struct waggle_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A part's kind and text, which may be made of the part itself. */
int waggle_put(struct waggle_reader *r, struct waggle_part *p, enum waggle_kind kind, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));
/* Is this token next? Then it is behind us; blanks are anyway. */
bool waggle_take(struct waggle_reader *r, const char *token);

/* A whole expression, as the argument of a call is one. */
int waggle_read_or(struct waggle_reader *r, struct waggle_part *out);
/* What stands behind `name(`, with its closing bracket. */
int waggle_read_call(struct waggle_reader *r, const char *name, struct waggle_part *out);

#endif
