/* A preloaded library has nothing to bind: the loader found its hooks first. */
#include "bind.h"

bool bind_is_pending;

void bind_calls(void) {}
