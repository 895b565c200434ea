/*
 * database: the journal of a study as an SQLite database, for SQL queries.
 *
 * It is a copy, rebuilt each time and renamed into place; the journal is authoritative. Tables:
 *
 *	study  key, value                                          name, seed, version, is_paired
 *	trial  id, state, repeats, wall_s, why, asked_at, told_at  state "pending" until it has a result
 *	param  trial, name, value                                  active parameters, in their own type
 *	value  trial, name, value                                  objectives and limited metrics
 *	rung   trial, steps, value                                 of trials that report steps
 *	pair   number, trial, best, start, at                      the confirmation
 */
#ifndef SONDE_TUNE_DATABASE_H
#define SONDE_TUNE_DATABASE_H

#include "tune/study.h"

int tune_database_write(const char *path, const char *journal, const struct tune_study *study, struct sonde_err *err);

#endif
