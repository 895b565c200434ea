/* The filter in classic BPF instructions; see filter.h. */
#include "probe/net/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define CODE_MAX 128
/* Complete opcodes: some of the kernel's macros that they are made of are 0. */
#define LOAD_KIND BPF_ABS
#define LOAD_HALF (BPF_H | BPF_ABS)
#define LOAD_BYTE (BPF_B | BPF_ABS)
#define LOAD_BEHIND_X (BPF_B | BPF_IND)
#define SET_X BPF_LDX
#define ADD_NUMBER BPF_ALU
#define ADD_X (BPF_ALU | BPF_X)
#define V6_BYTES 40
#define UDP_BYTES 8

struct code {
	struct sock_filter at[CODE_MAX];
	unsigned count;
};

static void add(struct code *c, unsigned op, unsigned k)
{
	if (c->count < CODE_MAX)
		c->at[c->count++] = (struct sock_filter){ .code = (uint16_t)op, .k = k };
}

/* Starts a branch, up to `end`, that runs if A equals k. */
static unsigned when(struct code *c, unsigned k)
{
	add(c, BPF_JMP | BPF_JEQ | BPF_K, k);
	return c->count - 1;
}

static void end(struct code *c, unsigned from)
{
	c->at[from].jf = (uint8_t)(c->count - from - 1);
}

static void load_kind(struct code *c, int what)
{
	add(c, LOAD_KIND, (unsigned)(SKF_AD_OFF + what));
}

/* Loads the length of the TCP header at X + at into A, and returns it plus X + `before`. */
static void return_tcp(struct code *c, unsigned at, unsigned before)
{
	add(c, LOAD_BEHIND_X, at + 12);
	add(c, BPF_ALU | BPF_AND | BPF_K, 0xf0);
	add(c, BPF_ALU | BPF_RSH | BPF_K, 2);
	add(c, ADD_X, 0);
	add(c, ADD_NUMBER, before);
	add(c, BPF_RET | BPF_A, 0);
}

/* Returns X + bytes. */
static void return_x(struct code *c, unsigned bytes)
{
	add(c, BPF_MISC | BPF_TXA, 0);
	add(c, ADD_NUMBER, bytes);
	add(c, BPF_RET | BPF_A, 0);
}

/* The protocol is in A, its header at X + at. */
static void return_transport(struct code *c, unsigned at)
{
	unsigned tcp = when(c, IPPROTO_TCP);
	return_tcp(c, at, at);
	end(c, tcp);
	unsigned udp = when(c, IPPROTO_UDP);
	return_x(c, at + UDP_BYTES);
	end(c, udp);
	return_x(c, at);
}

static void return_v4(struct code *c, unsigned at)
{
	add(c, BPF_LDX | BPF_B | BPF_MSH, at);
	add(c, LOAD_HALF, at + 6);
	add(c, BPF_JMP | BPF_JSET | BPF_K, 0x1fff);
	unsigned first = c->count - 1;
	return_x(c, at); /* a later fragment: no ports */
	end(c, first);
	add(c, LOAD_BYTE, at + 9);
	return_transport(c, at);
}

static void return_v6(struct code *c, unsigned at)
{
	static const unsigned extensions[] = { IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_DSTOPTS };
	for (unsigned i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
		add(c, LOAD_BYTE, at + 6);
		unsigned none = when(c, extensions[i]);
		add(c, LOAD_BYTE, at + V6_BYTES + 1);
		add(c, ADD_NUMBER, 1);
		add(c, BPF_ALU | BPF_LSH | BPF_K, 3);
		add(c, BPF_MISC | BPF_TAX, 0);
		if (extensions[i] == IPPROTO_FRAGMENT)
			return_x(c, at + V6_BYTES); /* only the first has ports: count all in the same way */
		else
			add(c, LOAD_BYTE, at + V6_BYTES), return_transport(c, at + V6_BYTES);
		end(c, none);
	}
	add(c, SET_X, 0);
	add(c, LOAD_BYTE, at + 6);
	return_transport(c, at + V6_BYTES);
}

/* Passes IP only. A packet that leaves with a VLAN tag has the tag's protocol, but also starts with the IP header. */
static void keep_ip(struct code *c)
{
	static const unsigned protocols[] = { ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_8021AD };
	unsigned count = sizeof(protocols) / sizeof(*protocols);
	load_kind(c, SKF_AD_PROTOCOL);
	for (unsigned i = 0; i < count; i++) {
		add(c, BPF_JMP | BPF_JEQ | BPF_K, protocols[i]);
		c->at[c->count - 1].jt = (uint8_t)(count - i);
	}
	add(c, BPF_RET | BPF_K, 0);
}

static void make(struct code *c)
{
	c->count = 0;
	load_kind(c, SKF_AD_HATYPE);
	unsigned other = when(c, ARPHRD_LOOPBACK);
	load_kind(c, SKF_AD_PKTTYPE);
	unsigned comes = when(c, PACKET_OUTGOING);
	add(c, BPF_RET | BPF_K, 0);
	end(c, comes);
	end(c, other);
	keep_ip(c);
	add(c, LOAD_BYTE, 0);
	add(c, BPF_ALU | BPF_RSH | BPF_K, 4);
	unsigned v4 = when(c, 4);
	return_v4(c, 0);
	end(c, v4);
	unsigned v6 = when(c, 6);
	return_v6(c, 0);
	end(c, v6);
	add(c, BPF_RET | BPF_K, 0);
}

int filter_socket(void)
{
	struct code code;
	struct sock_fprog program = { .filter = code.at };
	int one = 1;
	make(&code);
	program.len = (unsigned short)code.count;
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (code.count == CODE_MAX || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
			setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &one, sizeof(one))) {
		int error = errno;
		close(fd);
		return -error;
	}
	return fd;
}
