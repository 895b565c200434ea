/* A loop whose iterations sonde paces: loop [WORK [MOST [HOW]]]. HOW: die, hang, chatter, silent after 5 iterations. */
#include <sonde/duet.h>
#include <sonde/sonde.h>

static volatile double sink;

static void work(long n)
{
	for (long i = 0; i < n; i++)
		sink = sink + 1.0 / (double)(i + 1);
}

static int misbehave(const char *how)
{
	if (!strcmp(how, "die"))
		abort();
	if (!strcmp(how, "hang"))
		pause();
	if (!strcmp(how, "chatter"))
		return write(sonde_duet_fd_, "hello\n", 6) != 6;
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100000, most = argc > 2 ? strtol(argv[2], NULL, 10) : 100000;
	const char *how = argc > 3 ? argv[3] : "";

	if (!strcmp(how, "silent"))
		return 0;
	for (long i = 0; i < most && sonde_duet_begin(); i++) {
		work(n);
		sonde_duet_end((double)n);
		sonde_step("turn", i, (double)n);
		if (i == 5 && misbehave(how))
			return 1;
	}
	return 0;
}
