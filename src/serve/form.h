/* form: the fields of an application/x-www-form-urlencoded body. */
#ifndef SONDE_SERVE_FORM_H
#define SONDE_SERVE_FORM_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* Appends the decoded value of the first field `name`; sets *is_there if the field exists. -EINVAL: malformed. */
int form_field(const struct buf *body, const char *name, struct buf *out, bool *is_there, struct sonde_err *err);

#endif
