/* Built with -finstrument-functions: called by annotate.c to measure the cost of an instrumented function. */
void traced(void);

static volatile int sink;

void traced(void)
{
	sink = 1;
}
