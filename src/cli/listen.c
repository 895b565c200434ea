#include "cli/listen.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int listen_parse(const char *text, struct arena *arena, const char **address, unsigned *port, struct sonde_err *err)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	char *end = NULL;
	unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon[1] < '0' || colon[1] > '9' || *end || number > 65535)
		return err_set(err, EINVAL, "'%s' is not ADDRESS:PORT, such as 127.0.0.1:8080", text);
	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	*port = (unsigned)number;
	*address = n ? arena_copy(arena, text, n) : "127.0.0.1";
	return *address ? 0 : err_sys(err, ENOMEM, "cannot listen");
}

void listen_block(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int listen_say(const char *address, unsigned port, bool is_json, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT, text = BUF_INIT;
	struct json j;

	buf_addf(&url, strchr(address, ':') ? "http://[%s]:%u" : "http://%s:%u", address, port);
	if (is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kstr(&j, "url", url.data);
		json_end(&j);
	} else {
		buf_adds(&text, url.data);
	}
	printf("%s\n", text.data);
	return fflush(stdout) == 0 ? 0 : err_sys(err, errno, "cannot say where it listens");
}
