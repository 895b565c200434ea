/*
 * run-parts: removing a run, or parts of one, from a directory that may hold other files.
 *
 * Everything goes by descriptor and by name: files with the names that a run's writers
 * use are unlinked, then the directories that held them, if that leaves them empty. A
 * foreign file stays and keeps its directory. No symbolic link is followed.
 */
#ifndef SONDE_STORE_RUN_PARTS_H
#define SONDE_STORE_RUN_PARTS_H

#define STORE_PYRAMID_DIR "pyramid"
#define STORE_PYRAMID "lanes.pyr"
#define STORE_PYRAMID_TEMPORARY "lanes.tmp"
#define STORE_TABLES_NEW "tables.new" /* what a recovery has written so far */

/* The directory `name` of table files. 0 when it is gone, or was not there; -errno of what stayed. */
int store_tables_remove(int dirfd, const char *name);
void store_tables_empty(int tablesfd); /* its table files alone */
int store_pyramid_remove(int dirfd);
/* All parts of the run in this directory; the directory itself stays. 0, or -errno of the first part that stayed. */
int store_run_remove_parts(int dirfd);

#endif
