/* Threads cancelled inside calls that wait, and afterwards a thread that goes on working. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2], full[2], sockets[2];
static FILE *stream;
static char buf[1 << 17];
static int cleaned;

static void in_read(void)
{
	(void)!read(ends[0], buf, 1);
}

static void in_readv(void)
{
	struct iovec iov = { buf, 3 };
	(void)!readv(ends[0], &iov, 1);
}

static void in_write(void)
{
	(void)!write(full[1], buf, sizeof(buf));
}

static void in_recv(void)
{
	recv(sockets[0], buf, 1, 0);
}

static void in_poll(void)
{
	poll(NULL, 0, 60000);
}

static void in_fgets(void)
{
	(void)!fgets(buf, 10, stream);
}

static void in_getc(void)
{
	getc(stream);
}

static void anywhere(void)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		(void)!pread(ends[0], buf, 1, 0);
}

static struct place {
	const char *name;
	void (*wait)(void);
} places[] = { { "read", in_read }, { "readv", in_readv }, { "write", in_write }, { "recv", in_recv },
	{ "poll", in_poll }, { "fgets", in_fgets }, { "getc", in_getc }, { "anywhere", anywhere } };

static void clean(void *unused)
{
	(void)unused;
	cleaned++;
}

static void *run(void *place)
{
	pthread_cleanup_push(clean, NULL);
	((struct place *)place)->wait();
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel_in(struct place *place, useconds_t after)
{
	pthread_t thread;
	void *result;
	stream = fdopen(dup(ends[0]), "r");
	pthread_create(&thread, NULL, run, place);
	usleep(after);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		printf("%s: not cancelled\n", place->name);
}

int main(void)
{
	const int count = sizeof(places) / sizeof(places[0]);
	if (pipe(ends) || pipe(full) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 2;
	for (int i = 0; i < count; i++)
		cancel_in(&places[i], 20000);
	printf("%d of %d cleaned up\n", cleaned, count);
	for (int i = 0; i < 200; i++)
		cancel_in(&places[i % 2 ? count - 1 : 0], 0);
	fflush(stdout);
	return write(ends[1], "still here", 10) == 10 ? 0 : 1;
}
