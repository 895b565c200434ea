/* Wrappers for reading and writing through descriptors. */
#include "tracer/hook.h"

#include <unistd.h>

#include "tracer/hooks/data.def"
