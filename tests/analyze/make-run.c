/* make-run make DIR EVENTS: a run of that size, see bench/analyze/synthetic.h. */
#include "synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct sonde_err err = SONDE_ERR_INIT;

	if (argc != 4 || strcmp(argv[1], "make") != 0) {
		fprintf(stderr, "usage: make-run make DIR EVENTS\n");
		return 2;
	}
	if (synthetic_run(argv[2], strtoull(argv[3], NULL, 10), &err) < 0) {
		fprintf(stderr, "make-run: %s\n", err.text);
		return 1;
	}
	return 0;
}
