"""The program of the tour in README.md: compress each module of Python's standard library, store it in SQLite.

    index.py [--workers N] DATABASE [BATCH]

Worker threads read and compress, the main thread inserts and commits after every BATCH modules.
"""
import argparse
import sqlite3
import sysconfig
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    from sonde import span
except ImportError:  # built without the feature python: nothing is annotated
    def span(_name):
        return lambda function: function


@span("compress")
def read_module(path):
    source = path.read_bytes()
    return path.name, len(source), zlib.compress(source, 9)


@span("commit")
def commit(database):
    database.commit()


def store(database, rows, batch):
    """Insert the rows, a transaction for each batch; their number."""
    count = 0
    for count, row in enumerate(rows, 1):
        database.execute("INSERT INTO module VALUES(?, ?, ?)", row)
        if count % batch == 0:
            commit(database)
    commit(database)
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2, help="threads that read and compress")
    parser.add_argument("database")
    parser.add_argument("batch", nargs="?", type=int, default=1, help="modules per transaction")
    options = parser.parse_args()
    Path(options.database).unlink(missing_ok=True)
    database = sqlite3.connect(options.database)
    database.execute("CREATE TABLE module(name, bytes, compressed)")
    modules = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    with ThreadPoolExecutor(options.workers) as pool:
        print(store(database, pool.map(read_module, modules), options.batch), "modules stored")


main()
