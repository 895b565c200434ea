#include "messages.h"

#include "pfw/pfwlog.h"
#include "pfw/line-write.h"
#include "tracer/raw-syscall.h"

#define LINE_BYTES (2 * PFWLOG_PATH_BYTES)

/* dftracer: WHAT 'ABOUT': WHY */
static void say(const char *what, const char *about, const char *why)
{
	char line[LINE_BYTES], *at = PUT(line, "dftracer: ");
	if (strlen(what) + strlen(about) + (why ? strlen(why) : 0) + 32 > sizeof(line))
		return;
	at = put_text(at, what);
	at = PUT(at, " '");
	at = put_text(at, about);
	*at++ = '\'';
	if (why) {
		at = PUT(at, ": ");
		at = put_text(at, why);
	}
	*at++ = '\n';
	sys3(SYS_write, 2, line, at - line);
}

static void say_rules(const struct settings *s)
{
	static struct rules rules;
	rules_read(&rules, s->rules);
	if (rules.broken)
		say("leaves out rules that make no sense in", s->aggregation_file, NULL);
}

void messages_begin(const struct settings *s, const struct pfwlog_setup *u, int rc)
{
	if (rc > 0)
		return;
	if (s->log_level >= LEVEL_WARN && s->unread)
		say("cannot read", s->unread, NULL);
	if (s->log_level >= LEVEL_WARN && *s->rules)
		say_rules(s);
	if (s->log_level >= LEVEL_ERROR && rc < 0)
		say("cannot write", u->path, strerrordesc_np(-rc));
	if (s->log_level >= LEVEL_INFO && !rc)
		say("writes", u->path, NULL);
	if (s->log_level >= LEVEL_DEBUG && !rc)
		say("has settings", u->facts, NULL);
}
