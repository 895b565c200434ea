"""programs: the real programs that are compared, each a function that prepares a directory and returns (argv, environment)."""
import os

PYTHON = """
import os, subprocess, numpy
a = numpy.arange(10000).reshape(100, 100)
numpy.savez('a.npz', a=a, b=a.T)
numpy.save('a.npy', a)
loaded = numpy.load('a.npz')
assert (loaded['b'] == a.T).all() and (numpy.load('a.npy', mmap_mode='r') == a).all()
print(subprocess.run(['cat', 'text/1'], stdout=subprocess.PIPE).stdout)
print(subprocess.check_output('ls text | wc -l', shell=True))
for folder, folders, names in os.walk('.'):
    print(folder, len(names), sum(os.path.getsize(os.path.join(folder, n)) for n in names))
os.rename('a.npy', 'b.npy')
os.unlink('b.npy')
"""

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
static int twice(int x) { return 2 * x; }
int main(int argc, char **argv) { printf("%d %zu\n", twice(argc), strlen(argv[0])); return 0; }
"""


def _write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def _tree(folder, files=12):
    for i in range(files):
        _write(os.path.join(folder, "text", str(i)), f"file {i}\n" * (i % 12 * 50 + 1))
    _write(os.path.join(folder, "text", "deep", "er", "name with space"), "x")
    os.symlink("text/3", os.path.join(folder, "link"))


def _shell(lines):
    return ["/bin/sh", "-e", "-c", "\n".join(lines)]


def tar(folder):
    _tree(folder, 100)
    return _shell(["tar -cf a.tar text link", "tar -tvf a.tar", "mkdir out", "tar -xf a.tar -C out", "tar -czf a.tgz text", "tar -xzf a.tgz -C out",
                   "tar --diff -f a.tar"]), {}


def sqlite3(folder):
    sql = ("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT); INSERT INTO t(v) VALUES('one'),('two'); "
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t(v) SELECT 'v' || i FROM n; "
           "CREATE INDEX i ON t(v); UPDATE t SET v = v || '!' WHERE k % 7 = 0; SELECT count(*), max(v) FROM t; DELETE FROM t WHERE k > 1500; VACUUM;")
    return _shell([f'sqlite3 rollback.db "{sql}"', f'sqlite3 wal.db "PRAGMA journal_mode=WAL; {sql} PRAGMA wal_checkpoint(TRUNCATE);"',
                   'sqlite3 wal.db ".dump" > dump', "sqlite3 copy.db < dump", 'sqlite3 copy.db "SELECT count(*) FROM t"']), {}


def python3(folder):
    _tree(folder)
    _write(os.path.join(folder, "script.py"), PYTHON)
    return ["/usr/bin/python3", "script.py"], {"PYTHONDONTWRITEBYTECODE": "1"}


def git(folder):
    _tree(folder)
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "n"), ("EMAIL", "e@x"))}
    return _shell(["git init -q", "git add text", "git commit -q -m first", "echo more >> text/1", "git add -A", "git commit -q -m second",
                   "git log --stat", "git checkout -q -b side HEAD~1", "echo side > side", "git add side", "git commit -q -m side", "git merge -q -m merged master",
                   "git gc -q", "git fsck", "git status --short", "git diff HEAD~1 --stat"]), who | {
                       "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "init.defaultBranch",
                       "GIT_CONFIG_VALUE_0": "master"}


def gcc(folder):
    _write(os.path.join(folder, "main.c"), PROGRAM)
    return _shell(["gcc -O1 -g -c main.c -o main.o", "gcc main.o -o main", "./main a b", "gcc -O2 -pipe main.c -o both -lm", "ar rcs lib.a main.o", "nm main.o"]), {}


PROGRAMS = {"tar": tar, "sqlite3": sqlite3, "python3 with numpy": python3, "git": git, "gcc": gcc}
