/*
 * A program that knows what it sent: it prints one JSON object to be compared with the flows recorded.
 *
 *	net-truth tcp ADDRESS OUT IN       a child serves; OUT bytes go to it, IN bytes come back
 *	net-truth serve ADDRESS PORT       serves one such connection, PORT 0: any; says the port on stdout first
 *	net-truth ask ADDRESS PORT OUT IN  the client alone
 *	net-truth udp ADDRESS N SIZE       N datagrams of SIZE bytes to a child, each answered by one byte
 *	net-truth short ADDRESS N          N connections, of 100 bytes each
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLD_US 400000 /* that ends live on: who has a socket can be seen only while it is there */

struct place {
	struct sockaddr_storage at;
	socklen_t n;
};

static long number(const char *text)
{
	return strtol(text, NULL, 10);
}

static void check(int is_fine, const char *what)
{
	if (is_fine)
		return;
	fprintf(stderr, "net-truth: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct place place_of(const char *address, long port)
{
	struct place p = { .n = 0 };
	struct sockaddr_in *in = (void *)&p.at;
	struct sockaddr_in6 *in6 = (void *)&p.at;
	if (inet_pton(AF_INET, address, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons((uint16_t)port);
		p.n = sizeof(*in);
	} else {
		check(inet_pton(AF_INET6, address, &in6->sin6_addr) == 1, address);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)port);
		p.n = sizeof(*in6);
	}
	return p;
}

static int port_of(int fd)
{
	struct place p = { .n = sizeof(p.at) };
	check(!getsockname(fd, (void *)&p.at, &p.n), "getsockname");
	return ntohs(((struct sockaddr_in *)(void *)&p.at)->sin_port);
}

static int open_at(const char *address, long port, int type)
{
	struct place p = place_of(address, port);
	int one = 1, fd = socket(p.at.ss_family, type, 0);
	check(fd >= 0, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	check(!bind(fd, (void *)&p.at, p.n), "bind");
	check(type == SOCK_DGRAM || !listen(fd, 64), "listen");
	return fd;
}

static int connect_to(const char *address, int port, int type)
{
	struct place p = place_of(address, port);
	int fd = socket(p.at.ss_family, type, 0);
	check(fd >= 0 && !connect(fd, (void *)&p.at, p.n), "connect");
	return fd;
}

static void send_bytes(int fd, long bytes)
{
	static char data[65536];
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes < (long)sizeof(data) ? (size_t)bytes : sizeof(data));
		check(n > 0, "write");
		bytes -= n;
	}
}

static long take_bytes(int fd)
{
	static char data[65536];
	long sum = 0;
	for (ssize_t n; (n = read(fd, data, sizeof(data))) > 0;)
		sum += n;
	return sum;
}

/* The client's first eight bytes say how much it wants back. */
static void serve_one(int listener)
{
	int fd = accept(listener, NULL, NULL);
	int64_t back = 0;
	check(fd >= 0 && read(fd, &back, sizeof(back)) == sizeof(back), "accept");
	take_bytes(fd);
	send_bytes(fd, back);
	shutdown(fd, SHUT_WR);
	usleep(HOLD_US);
	close(fd);
}

static void ask(const char *address, int port, long out, long in, int server)
{
	int fd = connect_to(address, port, SOCK_STREAM), own = port_of(fd);
	int64_t back = in;
	check(write(fd, &back, sizeof(back)) == sizeof(back), "write");
	send_bytes(fd, out - (long)sizeof(back));
	shutdown(fd, SHUT_WR);
	long got = take_bytes(fd);
	usleep(HOLD_US);
	printf("{\"pid\":%d,\"port\":%d,\"peer_pid\":%d,\"peer_port\":%d,\"out\":%ld,\"in\":%ld}\n", (int)getpid(), own,
			server, port, out, got);
}

static void do_tcp(const char *address, long out, long in)
{
	int listener = open_at(address, 0, SOCK_STREAM), port = port_of(listener);
	pid_t child = fork();
	if (!child) {
		serve_one(listener);
		_exit(0);
	}
	close(listener);
	ask(address, port, out, in, child);
	waitpid(child, NULL, 0);
}

static void do_udp(const char *address, long n, long size)
{
	static char data[65536];
	int server = open_at(address, 0, SOCK_DGRAM), port = port_of(server);
	pid_t child = fork();
	for (long i = 0; !child && i < n; i++) {
		struct place from = { .n = sizeof(from.at) };
		recvfrom(server, data, sizeof(data), 0, (void *)&from.at, &from.n);
		sendto(server, data, 1, 0, (void *)&from.at, from.n);
	}
	if (!child) {
		usleep(HOLD_US);
		_exit(0);
	}
	close(server);
	int fd = connect_to(address, port, SOCK_DGRAM), own = port_of(fd);
	for (long i = 0; i < n; i++) {
		check(write(fd, data, (size_t)size) == size, "write");
		check(read(fd, data, 1) == 1, "read");
	}
	printf("{\"pid\":%d,\"port\":%d,\"peer_pid\":%d,\"peer_port\":%d,\"out\":%ld,\"in\":%ld}\n", (int)getpid(), own,
			(int)child, port, n * size, n);
	waitpid(child, NULL, 0);
}

static void do_short(const char *address, long n)
{
	int listener = open_at(address, 0, SOCK_STREAM), port = port_of(listener);
	pid_t child = fork();
	for (long i = 0; !child && i < n; i++) {
		int fd = accept(listener, NULL, NULL);
		check(fd >= 0 && take_bytes(fd) == 100, "accept");
		close(fd);
	}
	if (!child) {
		usleep(2 * HOLD_US);
		_exit(0);
	}
	close(listener);
	for (long i = 0; i < n; i++) {
		int fd = connect_to(address, port, SOCK_STREAM);
		send_bytes(fd, 100);
		shutdown(fd, SHUT_WR);
		take_bytes(fd);
		close(fd);
	}
	printf("{\"pid\":%d,\"peer_pid\":%d,\"peer_port\":%d,\"out\":%ld,\"in\":0}\n", (int)getpid(), (int)child, port,
			100 * n);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	long a = argc > 3 ? number(argv[3]) : 0, b = argc > 4 ? number(argv[4]) : 0;
	if (argc < 4)
		return 2;
	if (!strcmp(argv[1], "tcp")) {
		do_tcp(argv[2], a, b);
	} else if (!strcmp(argv[1], "udp")) {
		do_udp(argv[2], a, b);
	} else if (!strcmp(argv[1], "short")) {
		do_short(argv[2], a);
	} else if (!strcmp(argv[1], "ask") && argc > 5) {
		ask(argv[2], (int)a, b, number(argv[5]), 0);
	} else if (!strcmp(argv[1], "serve")) {
		int listener = open_at(argv[2], a, SOCK_STREAM);
		printf("%d\n", port_of(listener));
		fflush(stdout);
		serve_one(listener);
	} else {
		return 2;
	}
	return 0;
}
