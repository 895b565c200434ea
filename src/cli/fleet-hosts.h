/*
 * fleet-hosts: where `sonde fleet` starts agents besides here, as its options say it.
 */
#ifndef SONDE_CLI_FLEET_HOSTS_H
#define SONDE_CLI_FLEET_HOSTS_H

#include "cli/cli.h"
#include "fleet/home.h"

struct fleet_places {
	struct cli_list names; /* "slurm" alone: the nodes of our allocation */
	const char *file, *shell, *remote;
};

#define FLEET_PLACES_GROUP "Other hosts"
#define FLEET_PLACES_OPTIONS(S, places) \
	{ 0, "hosts", "LIST", CLI_WORDS(S, places.names), .group = FLEET_PLACES_GROUP, \
		.help = "Start the agents on these hosts instead of here; slurm: on each node of the " \
			"allocation." }, \
			{ 0, "hosts-file", "FILE", CLI_PATH(S, places.file), .group = FLEET_PLACES_GROUP, \
				.help = "On the hosts of a file: a line is HOST, or HOST agents=N." }, \
			{ 0, "ssh", "COMMAND", CLI_STRING(S, places.shell), .group = FLEET_PLACES_GROUP, \
				.default_text = "ssh -T", \
				.help = "The remote shell: a host and a command are put behind it." }, \
	{ \
		0, "remote", "PATH", CLI_STRING(S, places.remote), .group = FLEET_PLACES_GROUP, \
								   .default_words = "as here", \
								   .help = "Where sonde is on the hosts." \
	}

bool fleet_places_are_given(const struct fleet_places *p); /* other hosts, or Slurm's */
bool fleet_places_are_slurm(const struct fleet_places *p);
/* The hosts become members of the home, with `agents` each where their file does not say. */
int fleet_places_take(struct cli_context *ctx, const struct fleet_places *p, int64_t agents, struct fleet_home *home);

#endif
