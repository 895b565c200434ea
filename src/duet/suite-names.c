/*
 * suite-names: names of result files, compatible with duetbench, so that its tools and ours can read each other's
 * directories.
 */
#include "duet/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const duet_design_types
		[] = { [DUET_SEQ] = "seqn", [DUET_RMIT] = NULL, [DUET_SYNC] = "syncduet", [DUET_ASYNC] = "duet" };

static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/* Fields are separated by dots, so names must not contain any. */
static char *dotless(const char *text, struct arena *arena)
{
	char *copy = arena_strdup(arena, text);

	for (char *c = copy; c && *c; c++)
		if (!strchr(name_letters, *c))
			*c = '_';
	return copy;
}

char *duet_step_result_name(const struct duet_step *step, enum duet_side side, const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *order = step->design == DUET_SEQ ? "None" : step->is_first_b ? "BA" : "AB";
	char *suite = dotless(step->benchmark->suite, arena), *benchmark = dotless(step->benchmark->name, arena);

	if (!suite || !benchmark)
		return NULL;
	return arena_printf(arena, "%s.%s.%" PRId64 ".%s.%s.%c.%s", suite, benchmark, step->runid,
			duet_design_types[step->design], order, "AB"[side], *base ? base : "results");
}

/* Copies the field up to the next dot; false if too long, empty or with other characters. */
static bool take_field(const char **at, char *out, size_t size, const char *letters)
{
	size_t n = strcspn(*at, ".");

	if (!n || n >= size || (*at)[n] != '.' || (letters && strspn(*at, letters) != n))
		return false;
	memcpy(out, *at, n);
	out[n] = '\0';
	*at += n + 1;
	return true;
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(*words, text))
			return true;
	return false;
}

bool duet_result_name_parse(struct duet_result_name *out, const char *name)
{
	static const char *const types[] = { "duet", "syncduet", "seqn", NULL };
	static const char *const orders[] = { "AB", "BA", "None", NULL };
	char runid[24], pair[4];
	const char *at = name;

	if (!take_field(&at, out->suite, sizeof(out->suite), name_letters) ||
			!take_field(&at, out->benchmark, sizeof(out->benchmark), name_letters) ||
			!take_field(&at, runid, 19, "0123456789") ||
			!take_field(&at, out->type, sizeof(out->type), NULL) ||
			!take_field(&at, out->order, sizeof(out->order), NULL) ||
			!take_field(&at, pair, sizeof(pair), "AB"))
		return false;
	if (!is_one_of(out->type, types) || !is_one_of(out->order, orders) || pair[1] || !*at)
		return false;
	out->runid = strtoll(runid, NULL, 10);
	out->pair = pair[0];
	out->base = at;
	return true;
}
