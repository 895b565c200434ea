/*
 * registry: commands.def comes from the build as commands.inc; rows of features that are not built as missing.inc.
 */
#include "cli/registry.h"

#include "base/shell-words.h"

#include <stdbool.h>
#include <string.h>

enum {
	PROGRAM_front,
	PROGRAM_record,
	PROGRAM_look,
	PROGRAM_serve,
	PROGRAM_duet,
	PROGRAM_tune,
	PROGRAM_live,
	PROGRAM_fleet,
};

static const struct cli_program programs[] = {
	[PROGRAM_front] = { .file = NULL, .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_record] = { .file = "sonde-record", .fail_code = 125 },
	[PROGRAM_look] = { .file = "sonde-look", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_serve] = { .file = "sonde-serve", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_duet] = { .file = "sonde-duet", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_tune] = { .file = "sonde-tune", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_live] = { .file = "sonde-live", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_fleet] = { .file = "sonde-fleet", .fail_code = CLI_EXIT_FAILED },
};

const struct cli_entry cli_entries[] = {
#define X(name, program, group, summary) { #name, summary, &programs[PROGRAM_##program], CLI_GROUP_##group },
#include "cli/commands.inc"
#undef X
	{ .name = NULL },
};

const char *const cli_group_titles[CLI_GROUPS] = {
	[CLI_GROUP_RECORD] = "Record",
	[CLI_GROUP_LOOK] = "Inspect runs",
	[CLI_GROUP_COMPARE] = "Compare and tune",
	[CLI_GROUP_WATCH] = "Watch",
	[CLI_GROUP_FLEET] = "Clusters",
	[CLI_GROUP_MACHINE] = "This machine and this installation",
};

static const char *const names[] = {
#define X(name, program, group, summary) #name,
#include "cli/commands.inc"
#undef X
	NULL,
};

/* Command names of other tools, mapped to ours. */
static const struct {
	const char *alias, *name;
} aliases[] = {
#define ALIAS(alias, name) { #alias, #name },
#include "cli/aliases.inc"
#undef ALIAS
	{ NULL, NULL },
};

static const struct cli_missing missing[] = {
#define MISSING(name, feature, reason, remedy) { #name, feature, reason, remedy },
#include "cli/missing.inc"
#undef MISSING
	{ .name = NULL },
};

static const char *without_alias(const char *name)
{
	for (size_t i = 0; aliases[i].alias; i++)
		if (strcmp(aliases[i].alias, name) == 0)
			return aliases[i].name;
	return name;
}

const struct cli_missing *cli_missing_find(const char *name)
{
	name = without_alias(name);
	for (const struct cli_missing *row = missing; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const struct cli_entry *cli_entry_find(const char *name)
{
	name = without_alias(name);
	for (const struct cli_entry *entry = cli_entries; entry->name; entry++)
		if (strcmp(entry->name, name) == 0)
			return entry;
	return NULL;
}

const char *cli_entry_nearest(const char *typed)
{
	return words_nearest(typed, names);
}

static size_t widest_name(void)
{
	size_t widest = 0;

	for (size_t i = 0; names[i]; i++)
		if (strlen(names[i]) > widest)
			widest = strlen(names[i]);
	return widest;
}

static void list_group(struct buf *out, const struct term *term, enum cli_group group)
{
	size_t indent = widest_name() + 4;

	for (const struct cli_entry *entry = cli_entries; entry->name; entry++) {
		if (entry->group != group)
			continue;
		buf_adds(out, "  ");
		term_add(out, term, TERM_CYAN, entry->name);
		buf_addf(out, "%*s", (int)(indent - 2 - strlen(entry->name)), "");
		term_wrap(out, entry->summary, indent, indent, term->width);
		buf_addc(out, '\n');
	}
}

static bool has_commands(enum cli_group group)
{
	for (const struct cli_entry *entry = cli_entries; entry->name; entry++)
		if (entry->group == group)
			return true;
	return false;
}

void cli_entry_list(struct buf *out, const struct term *term)
{
	for (int group = 0; group < CLI_GROUPS; group++) {
		if (!has_commands(group))
			continue;
		buf_adds(out, group ? "\n" : "");
		term_add(out, term, TERM_BOLD, cli_group_titles[group]);
		buf_addc(out, '\n');
		list_group(out, term, group);
	}
}
