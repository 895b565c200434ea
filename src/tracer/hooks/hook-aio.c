/* Wrappers for POSIX asynchronous I/O. libc reads the control block itself, so its address is valid. */
#include "tracer/hook.h"

#include <aio.h>

#include "calls/aio.def"
