/* The second file of the program. */
#include "expect.h"

#include <sonde/sonde.h>

void other_file(void);

void other_file(void)
{
	expect("span", "other file", NULL, 1);
	SONDE_SPAN("other file");
}
