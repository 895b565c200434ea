/*
 * Work on stacks that are just large enough without a recorder: threads with the
 * least stack, signal handlers on a small alternate one, clone children with two
 * pages. Prints only what goes wrong, and how many signals were handled.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, THREADS = 4, ROUNDS = 300, HANDLER_BYTES = 2 * PAGE, CHILD_BYTES = 2 * PAGE };

extern char **environ;
static volatile sig_atomic_t handled;
static char name[] = "true";
static char *const argv[] = { name, NULL };

static void use_files(void)
{
	char buf[16];
	struct stat st;
	int fd = open("/etc/passwd", O_RDONLY);
	if (read(fd, buf, sizeof(buf)) < 0 || pread(fd, buf, sizeof(buf), 1) < 0)
		_exit(9);
	stat("relative/and/missing", &st);
	close(fd);
}

static void on_signal(int number)
{
	(void)number;
	use_files();
	handled++;
}

static void await(pid_t pid, const char *what)
{
	int status = -1;
	waitpid(pid, &status, 0);
	if (status)
		printf("%s: status %x\n", what, status);
}

static void *run_thread(void *unused)
{
	pid_t pid;
	for (int i = 0; i < ROUNDS; i++)
		use_files();
	if (!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		await(pid, "posix_spawn");
	if (!posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
		await(pid, "posix_spawnp");
	pid = fork();
	if (!pid) {
		use_files();
		execvp("true", argv);
		_exit(8);
	}
	await(pid, "fork");
	return unused;
}

static int run_child(void *unused)
{
	(void)unused;
	use_files();
	execve("/bin/true", argv, environ);
	return 7;
}

/* Memory with a page below it that nobody may touch. */
static char *guarded(size_t bytes)
{
	char *at = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(at, PAGE, PROT_NONE);
	return at + PAGE;
}

int main(void)
{
	pthread_t threads[THREADS];
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], &attributes, run_thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	stack_t small = { .ss_sp = guarded(HANDLER_BYTES), .ss_size = HANDLER_BYTES };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	sigaltstack(&small, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < ROUNDS; i++)
		raise(SIGUSR1);

	char *stack = guarded(CHILD_BYTES);
	await(clone(run_child, stack + CHILD_BYTES, SIGCHLD, NULL), "clone");
	await(clone(run_child, stack + CHILD_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL), "clone on our memory");
	printf("%d\n", (int)handled);
	return 0;
}
