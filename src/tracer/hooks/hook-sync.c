/* Wrappers for synchronisation with the device. */
#include "tracer/hook.h"

#include <unistd.h>

#include "calls/sync.def"
