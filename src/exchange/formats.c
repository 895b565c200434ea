/* The formats: a row each. See exchange.h. */
#include "exchange/exchange.h"

#include <stddef.h>

/* X(name): its table is exchange_<name>, in <name>.c; those of pfw are in pfw-write.c. */
#define FORMATS(X) X(chrome) X(pfw) X(pfw_c) X(pfw_d) X(pfw_e) X(folded)

#define DECLARE(name) extern const struct exchange_format exchange_##name;
#define ROW(name) &exchange_##name,
#define NAME(name) #name,

FORMATS(DECLARE)
const struct exchange_format *const exchange_formats[] = { FORMATS(ROW) };
const char *const exchange_names[] = { FORMATS(NAME) NULL };
