/* Implements a variadic stdio function by its va_list sibling, which is hooked too. */
#ifndef SONDE_TRACER_HOOKS_FORWARD_H
#define SONDE_TRACER_HOOKS_FORWARD_H

#include "tracer/hook.h"

#define FORWARD(failure, name, sibling, parameters, arguments, file) \
	EXPORT int name parameters \
	{ \
		bool is_wanted = tracer_wants(SONDE_CAT_STDIO); \
		va_list ap; \
		va_start(ap, format); \
		BEFORE_##failure uint64_t start = tick(); \
		int result = REAL(sibling) arguments; \
		va_end(ap); \
		if (is_wanted) \
			call_done(CALL_##name, start, RET_##failure(result), ERROR_##failure(result), \
					CALL(.fd = file)); \
		return result; \
	}

#endif
