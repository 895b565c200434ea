/*
 * Functions of programs built with -finstrument-functions: one FUNC record per call, written when it returns.
 *
 * Entry and return are matched by the function and by its stack address, so that recursion, inlined functions and
 * calls left by longjmp are handled. A compiler may jump to the return hook instead of calling it: then the stack
 * pointer is already the caller's. The return address is the caller's too, which identifies this case.
 */
#include "tracer/frames.h"
#include "tracer/module.h"

#define HOOK_FUNCTION EXPORT __attribute__((no_instrument_function))

HOOK_FUNCTION void __cyg_profile_func_enter(void *function, void *site);
HOOK_FUNCTION void __cyg_profile_func_exit(void *function, void *site);

HOOK_FUNCTION void __cyg_profile_func_enter(void *function, void *site)
{
	if (!tracer_wants(SONDE_CAT_FUNC))
		return;
	if (unlikely((uintptr_t)function - thread.module >= thread.module_bytes))
		module_use((uintptr_t)function);
	struct origin origin = { .from = (uint32_t)(uintptr_t)__builtin_return_address(0),
		.site = (uint32_t)(uintptr_t)site };
	uint32_t depth = frames_push(tick(), FRAME_CODE | (uintptr_t)function, (uintptr_t)__builtin_dwarf_cfa(),
			origin);
	if (unlikely(depth == FRAMES_NONE))
		ring_drop();
}

/*
 * Find the returning frame if it is not simply the top. Of the frames that are not above `sp`, the outermost stack
 * address is the function's own; there the last one of this function (others are inlined into it). Else, as after
 * alloca or on another stack, the last one of this function.
 */
static uint32_t find_frame(uint64_t what, uintptr_t sp)
{
	const struct frame *f = thread.frames;
	uint32_t depth = thread.depth, low = depth;
	while (low && f[low - 1].sp && f[low - 1].sp <= sp)
		low--;
	uintptr_t place = low < depth ? f[low].sp : 0;
	for (uint32_t i = depth; i-- > low;)
		if (f[i].sp == place && f[i].what == what)
			return i;
	for (uint32_t i = depth; i-- > 0;)
		if (f[i].what == what)
			return i;
	return FRAMES_NONE;
}

static bool settle_return(uint64_t what, uintptr_t sp)
{
	uint32_t at = find_frame(what, sp);
	if (at == FRAMES_NONE)
		return false; /* entered before recording started, or before a fork */
	frames_leave(at + 1);
	frames_mirror();
	return true;
}

HOOK_FUNCTION void __cyg_profile_func_exit(void *function, void *site)
{
	if (!tracer_wants(SONDE_CAT_FUNC) || thread.frames_epoch != thread.epoch)
		return;
	uint64_t end = tick(), what = FRAME_CODE | (uintptr_t)function;
	bool is_jump = __builtin_return_address(0) == site;
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa() - is_jump;
	const struct frame *f = frames_top();
	if (unlikely(thread.depth >= thread.frames_max && sp < f->sp))
		return; /* too deep: it was not pushed */
	bool is_top = f->what == what && (f->sp == sp || (is_jump && f[-1].sp > sp));
	if (unlikely(!is_top) && !settle_return(what, sp))
		return;
	f = frames_top();
	uint64_t start = f->ticks;
	uint32_t depth = thread.depth - 1;
	struct sonde_rec_note *r = NULL;
	if (likely(end - start >= tracer.min_dur_ticks))
		r = ring_reserve(SONDE_NOTE_SHORT_BYTES);
	else
		ring_count_filtered();
	frames_pop();
	if (unlikely(!r))
		return;
	r->ticks = start;
	r->dur_ticks = end - start;
	r->name = (uintptr_t)function;
	r->category = 0;
	r->depth = depth;
	ring_commit(&r->head, SONDE_NOTE_SHORT_BYTES, SONDE_REC_FUNC, 0, 0);
}
