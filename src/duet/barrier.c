#include "duet/suite.h"

#include "launch/spawn-command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void object_name(char *out, size_t size, const char *name)
{
	snprintf(out, size, "%s%s", DUET_BARRIER_PREFIX, name);
}

static int make_barrier(struct duet_barrier *b, int fd)
{
	pthread_barrierattr_t attr;
	int rc;

	if (ftruncate(fd, sizeof(pthread_barrier_t)))
		return -errno;
	b->memory = mmap(NULL, sizeof(pthread_barrier_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (b->memory == MAP_FAILED) {
		b->memory = NULL;
		return -errno;
	}
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	rc = pthread_barrier_init(b->memory, &attr, 2);
	pthread_barrierattr_destroy(&attr);
	return -rc;
}

int duet_barrier_open(struct duet_barrier *b, const char *name, struct sonde_err *err)
{
	char object[300];
	int fd, rc;

	*b = (struct duet_barrier)DUET_BARRIER_INIT;
	if (strlen(name) >= sizeof(b->name) || strchr(name, '/'))
		return err_set(err, EINVAL, "'%s' cannot be the name of a barrier", name);
	object_name(object, sizeof(object), name);
	fd = shm_open(object, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_sys(err, errno, "cannot make the barrier '%s'", name);
	snprintf(b->name, sizeof(b->name), "%s", name);
	rc = make_barrier(b, fd);
	close(fd);
	if (rc) {
		duet_barrier_release(b);
		return err_sys(err, -rc, "cannot make the barrier '%s'", name);
	}
	return 0;
}

void duet_barrier_remove_left(void)
{
	DIR *dir = opendir("/dev/shm");
	int pid;

	for (const struct dirent *e; dir && (e = readdir(dir));)
		if (sscanf(e->d_name, DUET_BARRIER_PREFIX DUET_BARRIER_SUITE "%d.", &pid) == 1 && pid > 0 &&
				kill(pid, 0) && errno == ESRCH)
			shm_unlink(e->d_name);
	if (dir)
		closedir(dir);
}

int duet_barrier_stand_in(struct duet_barrier *b, struct sonde_err *err)
{
	pid_t parent = getpid();

	if (b->stand_in || !b->memory)
		return 0;
	b->stand_in = fork();
	if (b->stand_in < 0) {
		b->stand_in = 0;
		return err_sys(err, errno, "cannot stand in at the barrier");
	}
	if (b->stand_in)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pthread_barrier_wait(b->memory);
	_exit(0);
}

void duet_barrier_release(struct duet_barrier *b)
{
	char object[300];

	if (b->stand_in > 0) {
		kill(b->stand_in, SIGKILL);
		launch_reap(b->stand_in);
	}
	if (b->memory)
		munmap(b->memory, sizeof(pthread_barrier_t));
	if (b->name[0]) {
		object_name(object, sizeof(object), b->name);
		shm_unlink(object);
	}
	*b = (struct duet_barrier)DUET_BARRIER_INIT;
}
