/* Ask and tell in C: prints what the test expects, and everything twice with the same seed. */
#include <math.h>
#include <sonde/tune.h>
#include <stdio.h>
#include <string.h>

static const char study[] = "params: [{name: x, type: float, low: 0, high: 1, default: 0.9},\n"
			    "  {name: mode, type: categorical, choices: [a, b]},\n"
			    "  {name: level, type: ordinal, choices: [1, 2, 4], active_if: {mode: [b]}}]\n"
			    "objective: {name: value, goal: minimize}\n";

static double measure(struct sonde_tune *t, int64_t trial)
{
	double x = sonde_tune_number(t, trial, "x"), level = sonde_tune_number(t, trial, "level");
	int is_b = strcmp(sonde_tune_text(t, trial, "mode"), "b") == 0;

	if (is_b == isnan(level))
		printf("wrong: mode and level\n");
	return pow(x - 0.4, 2) + (is_b ? 0.1 * level : 1);
}

static double search(double *best_x)
{
	struct sonde_tune *t = sonde_tune_parse(study, 7, NULL);
	double sum = 0, value, lo, hi;
	int64_t best;

	for (int i = 0; i < 20; i++) {
		int64_t trial = sonde_tune_ask(t);

		sum += sonde_tune_number(t, trial, "x") * (i + 1);
		if (i == 3)
			sonde_tune_fail(t, trial);
		else
			sonde_tune_tell(t, trial, i == 5 ? NAN : measure(t, trial));
	}
	best = sonde_tune_best(t, &value, &lo, &hi);
	*best_x = sonde_tune_number(t, best, "x");
	printf("best %s %s %d\n", sonde_tune_text(t, best, "mode"), sonde_tune_text(t, best, "level"),
			lo <= value && value <= hi && fabs(*best_x - 0.4) < 0.1);
	sonde_tune_close(t);
	return sum;
}

static void mistakes(void)
{
	const char *own[] = { "x", "0.25", "mode", "b", NULL }, *wrong[] = { "y", "1", NULL };
	char why[SONDE_TUNE_WHY_BYTES];
	struct sonde_tune *t = sonde_tune_parse(study, -1, why);
	int64_t trial;
	int first, second;

	printf("none yet %d\n", (int)sonde_tune_best(t, NULL, NULL, NULL));
	trial = sonde_tune_add(t, own);
	printf("own %s", sonde_tune_text(t, trial, "x"));
	printf(" %s\n", sonde_tune_text(t, trial, "level"));
	first = sonde_tune_tell(t, trial, 1);
	second = sonde_tune_tell(t, trial, 1);
	printf("twice %d %d %s\n", first, second < 0, sonde_tune_why(t));
	second = (int)sonde_tune_add(t, wrong);
	printf("unknown %d %s\n", second < 0, sonde_tune_why(t));
	printf("nothing %d\n", isnan(sonde_tune_number(t, 99, "x")) && !sonde_tune_text(t, trial, "z"));
	sonde_tune_close(t);
	t = sonde_tune_parse("params: [{name: x, type: flaot}]", 1, why);
	printf("%s %s\n", t ? "taken" : "refused", why);
	printf("%s\n", sonde_tune_open("/nowhere/study.yml", 1, NULL) ? "taken" : "not there");
	sonde_tune_close(NULL);
}

int main(void)
{
	double x, y, first = search(&x), second = search(&y);

	printf("same %d\n", first == second && x == y);
	mistakes();
	return 0;
}
