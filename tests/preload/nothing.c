/* A program that does nothing, built in ways that libsonde cannot enter. */
int main(void)
{
	return 0;
}
