/* The preloaded library needs no binding: the dynamic linker resolves its hooks first. */
#include "bind.h"

bool bind_is_pending;

void bind_calls(void) {}
