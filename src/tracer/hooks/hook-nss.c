/* Wrappers for name services. */
#include "tracer/hook.h"

#include <grp.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <resolv.h>
#include <shadow.h>

#include "calls/nss.def"
