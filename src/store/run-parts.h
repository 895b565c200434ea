/*
 * run-parts: remove a run, or parts of one, from a directory that may hold other files.
 *
 * Files with the names that a run's writers use are unlinked by descriptor and name, then the directories that held
 * them, if they are empty. A foreign file is kept, and so is its directory. Symbolic links are not followed.
 */
#ifndef SONDE_STORE_RUN_PARTS_H
#define SONDE_STORE_RUN_PARTS_H

#define STORE_PYRAMID_DIR "pyramid"
#define STORE_PYRAMID "lanes.pyr"
#define STORE_PYRAMID_TEMPORARY "lanes.tmp"
#define STORE_TABLES_NEW "tables.new" /* output of an unfinished recovery */

/*
 * Remove the directory `name` of table files. 0 if it is gone or did not exist; -errno if something could not be
 * removed.
 */
int store_tables_remove(int dirfd, const char *name);
void store_tables_empty(int tablesfd); /* only its table files */
int store_pyramid_remove(int dirfd);
/* Remove all parts of the run in this directory but not the directory. 0, or -errno of the first part that remains. */
int store_run_remove_parts(int dirfd);

#endif
