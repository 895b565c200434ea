/*
 * duet-preset: configuration files with the published settings, as a starting point.
 */
#include "base/shell-words.h"
#include "cli/duet-cli.h"

#include <errno.h>
#include <string.h>

/* 100 iterations or 10 minutes (SPEC CPU 10 or 60); 4 repetitions of each type (SPEC 2; Renaissance without a
 * barrier). */
static const struct preset {
	const char *suite, *run_base, *sync_base, *results, *benchmarks;
	int duet, sync, sequential, timeout_s;
} presets[] = {
	{ "renaissance",
			"java -Xms1536M -Xmx1536M -jar /duet/renaissance.jar --repetitions 100 --json "
			"/duet/results.json",
			NULL, "/duet/results.json", "chi-square", 4, 0, 4, 600 },
	{ "dacapo", "java -Xms1536M -Xmx1536M -jar /duet/dacapo.jar -n 100 -o /duet/results.csv",
			"java -Xms1536M -Xmx1536M -agentpath:/duet/libubench-agent.so -jar "
			"/duet/dacapo.jar -n 100 -o /duet/results.csv "
			"--iteration-barrier $$",
			"/duet/results.csv", "avrora", 4, 4, 4, 600 },
	{ "scalabench", "java -Xms1536M -Xmx1536M -jar /duet/scalabench.jar -n 100 -o /duet/results.csv",
			"java -Xms1536M -Xmx1536M -agentpath:/duet/libubench-agent.so -jar "
			"/duet/scalabench.jar -n 100 -o "
			"/duet/results.csv --iteration-barrier $$",
			"/duet/results.csv", "kiama", 4, 4, 4, 600 },
	{ "speccpu", "runcpu --action onlyrun --tuning peak --iterations 10", NULL, "/spec/result", "505.mcf_r", 2, 0,
			2, 3600 },
};

static void print_preset(const struct preset *p, char **names)
{
	const char *only[] = { p->benchmarks, NULL };

	printf("# The published settings of %s; adjust image, paths and the list of duets.\nduetbench:\n", p->suite);
	printf("  suite: %s\n  image: %s\n  docker_command: podman\n  schedule: randomized_interleaving_trials\n",
			p->suite, p->suite);
	printf("  duet_repetitions: %d\n  syncduet_repetitions: %d\n  sequential_repetitions: %d\n  timeout: %d\n",
			p->duet, p->sync, p->sequential, p->timeout_s);
	printf("  run_base: %s\n", p->run_base);
	if (p->sync_base)
		printf("  syncduet_run_base: %s\n", p->sync_base);
	printf("  results: [ %s ]\n  artifacts:\n    date: date\n    hostname: hostname\n    uname: uname "
	       "-a\n    lscpu: lscpu\n",
			p->results);
	printf("    meminfo: cat /proc/meminfo\n  duets:\n");
	for (size_t i = 0; *names ? names[i] != NULL : only[i] != NULL; i++)
		printf("    - %s\n", *names ? names[i] : only[i]);
	for (size_t i = 0; *names ? names[i] != NULL : only[i] != NULL; i++)
		printf("%1$s:\n  A:\n    run: %1$s\n", *names ? names[i] : only[i]);
}

int duet_run_preset(struct cli_context *ctx)
{
	const char *words[sizeof(presets) / sizeof(*presets) + 1] = { NULL },
							       *word = ctx->arg_count > 1 ? ctx->args[1] : "", *nearest;

	for (size_t i = 0; i < sizeof(presets) / sizeof(*presets); i++) {
		words[i] = presets[i].suite;
		if (!strcmp(word, words[i])) {
			print_preset(&presets[i], ctx->args + 2);
			return 0;
		}
	}
	cli_usage(ctx, "'%s' is not one of the presets renaissance, dacapo, scalabench, speccpu", word);
	nearest = words_nearest(word, words);
	if (nearest)
		err_hint(ctx->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}
