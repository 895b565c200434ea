#include "calls/calls-text.h"

#define WORDS(category, kind, bytes, wait, dft) #category " " #kind " " #bytes " " #wait " " #dft
#define ROW(how, name, names) #name " " WORDS how " " names "\n"
const char calls_text[] =
#include "calls/calls-each.h"
		;
const size_t calls_text_bytes = sizeof(calls_text) - 1;
