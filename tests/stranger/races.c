/* Made with ThreadSanitizer: threads that use files and shells but share nothing. It must stay silent. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 2000, TIMES = 2 };

static void *run(void *unused)
{
	char buf[64];
	struct stat st;
	for (int i = 0; i < ROUNDS; i++) {
		int fd = open("/etc/passwd", O_RDONLY);
		(void)!read(fd, buf, sizeof(buf));
		fstatat(AT_FDCWD, "relative/and/missing", &st, 0);
		close(fd);
		if (i % 1000 == 0)
			(void)!system(":");
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];
	for (int time = 0; time < TIMES; time++) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, run, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	puts("done");
	return 0;
}
