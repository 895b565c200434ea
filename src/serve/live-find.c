/* Requests the address of the page of a running `sonde live` over its control socket; see live-page.h. */
#include <jansson.h>

#include "serve/live-page.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_SECONDS 10
#define ANSWER_BYTES_MAX 65536

static int connect_to(const char *path, struct sonde_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path))
		return err_set(err, ENAMETOOLONG, "'%s' is too long for a socket", path);
	memcpy(to.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		return fd;
	}
	err_sys(err, errno, "cannot reach the control socket '%s'", path);
	err_hint(err, "it is that of a running 'sonde live --control SOCKET'");
	if (fd >= 0)
		close(fd);
	return -EIO;
}

/* Reads until the peer closes the connection, which ends an HTTP/1.0 response. */
static int ask(int fd, struct buf *answer, struct sonde_err *err)
{
	static const char request[] = "POST /api/link HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
	char part[4096];
	ssize_t n = send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);

	if (n == (ssize_t)sizeof(request) - 1)
		while ((n = recv(fd, part, sizeof(part), 0)) > 0 && answer->len < ANSWER_BYTES_MAX)
			buf_add(answer, part, (size_t)n);
	return n < 0 ? err_sys(err, errno, "no response from the control socket") : 0;
}

int live_page_find(const char *socket, struct buf *url, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = connect_to(socket, err);
	CLEANUP(buf_release) struct buf answer = BUF_INIT;
	const char *body, *text;
	json_t *said;
	int rc = fd < 0 ? fd : ask(fd, &answer, err);

	if (rc < 0)
		return rc;
	body = strstr(answer.data, "\r\n\r\n");
	said = body ? json_loads(body + 4, 0, NULL) : NULL;
	text = json_string_value(json_object_get(said, "url"));
	if (text)
		buf_adds(url, text);
	else
		rc = err_set(err, EPROTO, "the server at '%s' is not a sonde live with a page: %.80s", socket,
				answer.data);
	json_decref(said);
	return rc;
}
