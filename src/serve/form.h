/* form: the fields of a body of type application/x-www-form-urlencoded. */
#ifndef SONDE_SERVE_FORM_H
#define SONDE_SERVE_FORM_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* Append the decoded value of the first field `name`; *is_there says whether it has one. -EINVAL: it is malformed. */
int form_field(const struct buf *body, const char *name, struct buf *out, bool *is_there, struct sonde_err *err);

#endif
