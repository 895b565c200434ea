/* One function, 20 000 calls deep. */
static volatile int sink;

static __attribute__((noinline)) int descend(int n)
{
	return n ? descend(n - 1) + sink : sink;
}

int main(void)
{
	return descend(19999);
}
