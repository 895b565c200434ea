/*
 * Many threads that run shells at once, one that is cancelled inside system(), and
 * changes of the environment meanwhile. It prints what it finds; a recorder must
 * change nothing of it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { THREADS = 8, ROUNDS = 20 };

static void *run_shells(void *sum)
{
	for (int i = 0; i < ROUNDS; i++)
		*(int *)sum += WEXITSTATUS(system("exit 3"));
	return NULL;
}

static void *run_long_shell(void *unused)
{
	system("exec sleep 30");
	return unused;
}

static int is_ours_visible(void)
{
	return getenv("SONDE_RING") != NULL || getenv("LD_PRELOAD") != NULL;
}

int main(void)
{
	pthread_t threads[THREADS], sleeper;
	int sums[THREADS] = { 0 }, sum = 0, status;
	setenv("KEPT", "before", 1);
	setenv("GONE", "before", 1);

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_shells, &sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += sums[i];
	}
	printf("at once: %d, environment %s\n", sum, is_ours_visible() ? "changed" : "kept");

	/* Changes made while a shell runs are made for good. */
	pthread_create(&sleeper, NULL, run_long_shell, NULL);
	usleep(200000);
	setenv("KEPT", "after", 1);
	unsetenv("GONE");
	fflush(stdout);
	pid_t child = fork();
	if (!child)
		_exit(is_ours_visible() || strcmp(getenv("KEPT"), "after") != 0);
	waitpid(child, &status, 0);
	pthread_cancel(sleeper);
	pthread_join(sleeper, NULL);
	printf("cancelled: environment %s, child's %s\n", is_ours_visible() ? "changed" : "kept",
			status ? "changed" : "kept");
	printf("changes: %s, %s\n", getenv("KEPT"), getenv("GONE") ? "still there" : "gone");

	/* The arrays are the program's own again. */
	for (char **one = environ; *one; one++)
		if (!strncmp(*one, "KEPT=", 5))
			puts(*one);
	return 0;
}
