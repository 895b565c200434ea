#include "analyze/pass.h"

#define X(name) extern const struct analyze_pass analyze_pass_##name;
#include "analyze/passes.def"
#undef X

#define X(name) &analyze_pass_##name,
const struct analyze_pass *const analyze_passes[] = {
#include "analyze/passes.def"
	NULL,
};
