/* Name services. Queries go no further than this machine. */
#include "expect.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <nss.h>
#include <pwd.h>
#include <resolv.h>
#include <shadow.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int r;
static char buf[4096];

#define FINDS(call, arguments, name, more) \
	errno = 0; \
	found = call arguments; \
	WANT(call, .text = name, .ret = found != NULL, .err = found ? 0 : errno, .args = more)
#define TELLS(call, arguments, name, more) \
	r = call arguments; \
	WANT(call, .text = name, .ret = r, .err = r, .args = more)
#define NOTHING(call, ...) \
	call(__VA_ARGS__); \
	WANT(call)

static void users(void)
{
	void *found;
	struct passwd entry, *p;
	FINDS(getpwnam, ("root"), "root", "");
	CHECK(found);
	FINDS(getpwnam, ("no-such-user"), "no-such-user", "");
	FINDS(getpwuid, (0), NULL, " uid=0");
	TELLS(getpwnam_r, ("root", &entry, buf, sizeof(buf), &p), "root", "");
	TELLS(getpwnam_r, ("root", &entry, buf, 1, &p), "root", "");
	CHECK(r == ERANGE);
	TELLS(getpwuid_r, (0, &entry, buf, sizeof(buf), &p), NULL, " uid=0");
	NOTHING(setpwent);
	FINDS(getpwent, (), NULL, "");
	TELLS(getpwent_r, (&entry, buf, sizeof(buf), &p), NULL, "");
	NOTHING(endpwent);
	r = getpw(0, buf);
	WANT(getpw, .ret = r, .args = " uid=0");
	raw_file("passwd", "u:x:1:2:g:/h:/s\nv:x:1:2:g:/h:/s\n");
	FILE *f = fopen("passwd", "r+");
	int fd = fileno(f);
	const char *path = KEEP(P("passwd"));
	WANT(fopen, .fd = fd, .path = path, .text = "r+", .ret = fd);
	CHECK(fgetpwent(f));
	WANT(fgetpwent, .fd = fd, .path = path, .ret = 1);
	r = fgetpwent_r(f, &entry, buf, sizeof(buf), &p);
	WANT(fgetpwent_r, .fd = fd, .path = path, .ret = r);
	r = fgetpwent_r(f, &entry, buf, sizeof(buf), &p);
	WANT(fgetpwent_r, .fd = fd, .path = path, .ret = r, .err = r);
	CHECK(r == ENOENT);
	struct passwd line = { "w", "x", 1, 2, "g", "/h", "/s" };
	r = putpwent(&line, f);
	WANT(putpwent, .fd = fd, .path = path, .ret = r);
	FINDS(getspnam, ("no-such-user"), "no-such-user", "");
	struct spwd shadow, *s;
	TELLS(getspnam_r, ("no-such-user", &shadow, buf, sizeof(buf), &s), "no-such-user", "");
	NOTHING(setspent);
	FINDS(getspent, (), NULL, "");
	NOTHING(endspent);
	struct spwd secret = { .sp_namp = "u", .sp_pwdp = "x" };
	r = putspent(&secret, f);
	WANT(putspent, .fd = fd, .path = path, .ret = r);
	errno = 0;
	found = fgetspent(f);
	WANT(fgetspent, .fd = fd, .path = path, .ret = found != NULL, .err = found ? 0 : errno);
}

static void groups(void)
{
	void *found;
	struct group entry, *g;
	gid_t list[64];
	int n = 64;
	FINDS(getgrnam, ("root"), "root", "");
	CHECK(found);
	FINDS(getgrnam, ("no-such-group"), "no-such-group", "");
	FINDS(getgrgid, (0), NULL, " gid=0");
	TELLS(getgrnam_r, ("root", &entry, buf, sizeof(buf), &g), "root", "");
	TELLS(getgrgid_r, (0, &entry, buf, sizeof(buf), &g), NULL, " gid=0");
	NOTHING(setgrent);
	FINDS(getgrent, (), NULL, "");
	TELLS(getgrent_r, (&entry, buf, sizeof(buf), &g), NULL, "");
	NOTHING(endgrent);
	raw_file("group", "g:x:1:a\nh:x:1:a\n");
	FILE *f = fopen("group", "r+");
	int fd = fileno(f);
	const char *path = KEEP(P("group"));
	WANT(fopen, .fd = fd, .path = path, .text = "r+", .ret = fd);
	CHECK(fgetgrent(f));
	WANT(fgetgrent, .fd = fd, .path = path, .ret = 1);
	r = fgetgrent_r(f, &entry, buf, sizeof(buf), &g);
	WANT(fgetgrent_r, .fd = fd, .path = path, .ret = r);
	char *none[] = { NULL };
	struct group line = { "w", "x", 1, none };
	r = putgrent(&line, f);
	WANT(putgrent, .fd = fd, .path = path, .ret = r);
	r = getgrouplist("root", 0, list, &n);
	WANT(getgrouplist, .text = "root", .ret = r, .args = " gid=0");
	int child = (int)raw(SYS_fork);
	if (child == 0) {
		r = initgroups("root", 0);
		WANT(initgroups, .text = "root", .ret = r, .args = " gid=0");
		raw(SYS_exit_group, 0);
	}
	raw(SYS_wait4, child, NULL, 0, NULL);
}

static void hosts(void)
{
	void *found;
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *list;
	struct hostent entry, *h;
	struct in_addr lo = { htonl(INADDR_LOOPBACK) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = lo };
	int error;
	r = getaddrinfo("127.0.0.1", NULL, &hints, &list);
	WANT(getaddrinfo, .text = "127.0.0.1", .ret = r);
	r = getaddrinfo("not-a-number", NULL, &hints, &list);
	WANT(getaddrinfo, .text = "not-a-number", .ret = r);
	r = getnameinfo((struct sockaddr *)&to, sizeof(to), buf, 64, NULL, 0, NI_NUMERICHOST);
	WANT(getnameinfo, .ret = r, .args = F(" flags=%d", NI_NUMERICHOST));
	FINDS(gethostbyname, ("127.0.0.1"), "127.0.0.1", "");
	FINDS(gethostbyname2, ("127.0.0.1", AF_INET), "127.0.0.1", F(" family=%d", AF_INET));
	TELLS(gethostbyname_r, ("127.0.0.1", &entry, buf, sizeof(buf), &h, &error), "127.0.0.1", "");
	TELLS(gethostbyname2_r, ("127.0.0.1", AF_INET, &entry, buf, sizeof(buf), &h, &error), "127.0.0.1",
			F(" family=%d", AF_INET));
	FINDS(gethostbyaddr, (&lo, sizeof(lo), AF_INET), NULL, F(" family=%d", AF_INET));
	TELLS(gethostbyaddr_r, (&lo, sizeof(lo), AF_INET, &entry, buf, sizeof(buf), &h, &error), NULL,
			F(" family=%d", AF_INET));
	NOTHING(sethostent, 0);
	FINDS(gethostent, (), NULL, "");
	NOTHING(endhostent);
}

static void services(void)
{
	void *found;
	struct servent service, *s;
	struct protoent protocol, *p;
	FINDS(getservbyname, ("http", "tcp"), "http", "");
	FINDS(getservbyname, ("no-such", "tcp"), "no-such", "");
	FINDS(getservbyport, (htons(80), "tcp"), NULL, " port=80");
	TELLS(getservbyname_r, ("http", "tcp", &service, buf, sizeof(buf), &s), "http", "");
	TELLS(getservbyport_r, (htons(80), "tcp", &service, buf, sizeof(buf), &s), NULL, " port=80");
	NOTHING(setservent, 0);
	FINDS(getservent, (), NULL, "");
	NOTHING(endservent);
	FINDS(getprotobyname, ("tcp"), "tcp", "");
	FINDS(getprotobynumber, (6), NULL, " number=6");
	TELLS(getprotobyname_r, ("tcp", &protocol, buf, sizeof(buf), &p), "tcp", "");
	TELLS(getprotobynumber_r, (6, &protocol, buf, sizeof(buf), &p), NULL, " number=6");
	NOTHING(setprotoent, 0);
	FINDS(getprotoent, (), NULL, "");
	NOTHING(endprotoent);
	FINDS(getnetbyname, ("loopback"), "loopback", "");
	FINDS(getnetbyaddr, (127, AF_INET), NULL, F(" type=%d", AF_INET));
	NOTHING(setnetent, 0);
	FINDS(getnetent, (), NULL, "");
	NOTHING(endnetent);
	r = setnetgrent("no-such");
	WANT(setnetgrent, .text = "no-such", .ret = r);
	NOTHING(endnetgrent);
	r = innetgr("no-such", NULL, NULL, NULL);
	WANT(innetgr, .text = "no-such", .ret = r);
	struct ether_addr ether = { { 1, 2, 3, 4, 5, 6 } };
	r = ether_ntohost(buf, &ether);
	WANT(ether_ntohost, .ret = r, .err = 0);
	r = ether_hostton("no-such", &ether);
	WANT(ether_hostton, .text = "no-such", .ret = r, .err = 0);
}

/* A name server that is not there: port 1 of this machine. */
static void nowhere(res_state state)
{
	state->nscount = 1;
	state->nsaddr_list[0] = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons(1),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	state->retrans = state->retry = 1;
	state->dnsrch[0] = NULL;
}

static void resolver(void)
{
	unsigned char answer[512];
	static struct __res_state state;
	r = res_init();
	WANT(__res_init, .ret = r);
	r = res_ninit(&state);
	WANT(__res_ninit, .ret = r);
	nowhere(&_res);
	nowhere(&state);
#define ASK(call, ...) \
	r = call(__VA_ARGS__ "name.invalid.", ns_c_in, ns_t_a, answer, sizeof(answer)); \
	WANT(call, .text = "name.invalid.", .ret = r, .args = F(" class=%d type=%d", ns_c_in, ns_t_a))
#define COMMA ,
	ASK(res_query);
	ASK(res_search);
	ASK(res_nquery, &state COMMA);
	ASK(res_nsearch, &state COMMA);
}

/* Plug-ins make calls of their own; only what is built into libc is asked here. */
static void files_only(void)
{
	static const char *const databases[] = { "passwd", "group", "shadow", "initgroups", "hosts", "services",
		"protocols", "networks", "netgroup", "ethers" };
	for (size_t i = 0; i < sizeof(databases) / sizeof(*databases); i++)
		CHECK(!__nss_configure_lookup(databases[i], "files"));
}

int main(void)
{
	files_only();
	users();
	groups();
	resolver();
	hosts();
	services();
	return ended();
}
