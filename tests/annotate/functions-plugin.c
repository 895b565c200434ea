/* A library with traced functions. */
void plugin(void);

static volatile int sink;

static __attribute__((noinline)) int plugin_inner(void)
{
	return sink++;
}

__attribute__((visibility("default"))) void plugin(void)
{
	sink += plugin_inner();
}
