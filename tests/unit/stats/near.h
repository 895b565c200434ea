/* near: floating-point comparisons for tests, with words when they fail. */
#ifndef SONDE_TEST_STATS_NEAR_H
#define SONDE_TEST_STATS_NEAR_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Within `tolerance` of it, relatively. */
static inline bool is_near(double got, double expected, double tolerance)
{
	if (got == expected || (isnan(got) && isnan(expected)))
		return true;
	if (fabs(got - expected) <= tolerance * fmax(fabs(got), fabs(expected)))
		return true;
	print_message("# got %.17g, expected %.17g\n", got, expected);
	return false;
}

/* Within `distance` of it. */
static inline bool is_within(double got, double expected, double distance)
{
	if (fabs(got - expected) <= distance)
		return true;
	print_message("# got %.17g, expected %.17g\n", got, expected);
	return false;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#endif
