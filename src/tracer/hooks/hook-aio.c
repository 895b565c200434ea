/* Wrappers for POSIX asynchronous input and output. libc reads the control block itself, so its address is good. */
#include "tracer/hook.h"

#include <aio.h>

#include "calls/aio.def"
