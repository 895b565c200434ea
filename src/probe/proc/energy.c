#include "probe/proc/energy.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_text(int dirfd, const char *name, char *out, size_t size)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return true;
}

static bool read_number(int fd, uint64_t *value)
{
	char text[32], *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	*value = strtoull(text, &end, 10);
	return end != text;
}

/* "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it; the control type itself has no number. */
static bool is_zone(const char *name)
{
	const char *colon = strchr(name, ':');
	return colon && colon[1] >= '0' && colon[1] <= '9' && strstr(name, "rapl") && !strstr(name, "mmio");
}

/* "energy.package-0.core": a part is prefixed with its package, found by the number in the entry name. */
static void name_zone(struct energy_zone *z, int dirfd, const char *entry)
{
	char own[24] = "", package[24] = "", path[64];
	const char *second = strchr(strchr(entry, ':') + 1, ':');
	read_text(dirfd, "name", own, sizeof(own));
	if (second) {
		snprintf(path, sizeof(path), "../%.*s/name", (int)(second - entry), entry);
		if (!read_text(dirfd, path, package, sizeof(package)))
			snprintf(package, sizeof(package), "%.*s", (int)(second - entry), entry);
	}
	snprintf(z->name, sizeof(z->name), "energy.%s%s%s_joules", package, second ? "." : "", own);
}

static int open_zone(struct energy_zone *z, int dirfd, const char *entry)
{
	char text[32];
	*z = (struct energy_zone){ .fd = -1 };
	int zone = openat(dirfd, entry, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (zone < 0)
		return -errno;
	z->fd = openat(zone, "energy_uj", O_RDONLY | O_CLOEXEC);
	int rc = z->fd < 0 ? -errno : 0;
	if (!rc) {
		name_zone(z, zone, entry);
		if (read_text(zone, "max_energy_range_uj", text, sizeof(text)))
			z->range_uj = strtoull(text, NULL, 10);
	}
	close(zone);
	return rc;
}

int energy_open(struct energy *e, const char *path, struct sonde_err *err)
{
	CLEANUP(cleanup_dir) DIR *dir = opendir(path);
	const struct dirent *entry;
	int denied = 0;
	e->count = 0;
	while (dir && e->count < ENERGY_ZONES_MAX && (entry = readdir(dir))) {
		if (!is_zone(entry->d_name))
			continue;
		int rc = open_zone(&e->zones[e->count], dirfd(dir), entry->d_name);
		e->count += !rc;
		denied = rc ? rc : denied;
	}
	if (e->count)
		return 0;
	if (!denied)
		return err_set(err, ENODEV, "this machine does not meter the energy of its CPUs");
	err_sys(err, -denied, "the CPUs' meters of energy cannot be read");
	return denied;
}

void energy_look(struct energy *e)
{
	for (size_t i = 0; i < e->count; i++) {
		struct energy_zone *z = &e->zones[i];
		uint64_t now_uj;
		if (!read_number(z->fd, &now_uj))
			continue;
		if (z->is_read && now_uj >= z->last_uj)
			z->joules += (double)(now_uj - z->last_uj) / 1e6;
		else if (z->is_read && z->range_uj >= z->last_uj) /* the counter wrapped */
			z->joules += (double)(z->range_uj - z->last_uj + now_uj) / 1e6;
		z->last_uj = now_uj;
		z->is_read = true;
	}
}

void energy_read(struct energy *e, struct counters *c)
{
	energy_look(e);
	for (size_t i = 0; i < e->count; i++) {
		struct energy_zone *z = &e->zones[i];
		if (!z->is_read)
			continue;
		if (!z->counter.name)
			counter_init(c, &z->counter, z->name, "joules", true, STORE_NULL);
		counter_set(c, &z->counter, z->joules);
	}
}

void energy_release(struct energy *e)
{
	for (size_t i = 0; i < e->count; i++)
		close(e->zones[i].fd);
	e->count = 0;
}

void energy_close(struct energy *e, struct counters *c)
{
	for (size_t i = 0; i < e->count; i++)
		counter_finish(c, &e->zones[i].counter);
	energy_release(e);
}
