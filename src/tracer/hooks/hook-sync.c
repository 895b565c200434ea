/* Wrappers for synchronisation with storage. */
#include "tracer/hook.h"

#include <unistd.h>

#include "calls/sync.def"
