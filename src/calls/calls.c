#include "calls/calls.h"

#define ROW(how, name, names) { #name, names, FACTS how },
const struct call_info call_info[CALL_COUNT] = {
#include "calls/calls-each.h"
};
