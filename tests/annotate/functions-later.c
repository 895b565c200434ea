/* Traced functions of a library that is loaded at run time, before and after a fork. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void function(void);

static __attribute__((noinline)) void in_child(function *plugin)
{
	plugin();
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	function *plugin = library ? (function *)dlsym(library, "plugin") : NULL;
	int status = 0;
	if (!plugin)
		return 1;
	plugin();
	pid_t child = fork();
	if (!child) {
		in_child(plugin);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child ? status : 1;
}
