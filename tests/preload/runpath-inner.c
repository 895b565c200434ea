/* The library that only runpath-caller.c can find. */
__attribute__((visibility("default"))) int answer(void);
int answer(void)
{
	return 42;
}
