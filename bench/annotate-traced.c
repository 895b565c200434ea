/* Built with -finstrument-functions: what annotate.c calls to see what a traced function costs. */
void traced(void);

static volatile int sink;

void traced(void)
{
	sink = 1;
}
