/* Wrappers for synchronisation with the device. */
#include "tracer/hook.h"

#include <unistd.h>

#include "tracer/hooks/sync.def"
