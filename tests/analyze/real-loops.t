#!/bin/bash
# Loops of real programs that announce nothing: as many iterations as there are, and none where there is no loop.
. "$(dirname "$0")/../lib/tap.sh"

# found NAME COMMAND...: records it; the number of iterations that are found, or null
found() {
	"$SONDE" record -q --probes trace -o "$1" -- "${@:2}" >/dev/null 2>&1 || diag "$1 failed" >&2
	"$SONDE" info "$1" --json | jq -e '.loss == []' >/dev/null || diag "$1: $("$SONDE" info "$1" --json | jq -c .loss)" >&2
	"$SONDE" summary "$1" --json | jq -r '.iterations.count'
}
probe() { jq -r ".probes[] | select(.name == \"$2\").$3" "$1/run.json"; }
where() { "$SONDE" summary "$1" --json | jq -r '.iterations | "\(.source): \(.by_name[0].name)"'; }
# has COMMAND NAME: is it installed? Else the test is skipped.
has() { command -v "$1" >/dev/null || { skip_missing "$2" "$1 is not installed"; false; }; }

mkdir tree data
for k in 1 2 3 4 5 6 7 8 9 10; do
	mkdir "tree/$k"
	for ((n = 0; n < 5 + 2 * k; n++)); do head -c $((n * 100 + k)) /dev/zero >"tree/$k/$n"; done
done
for k in {1..25}; do head -c $((k * k * 40000 + 7)) /dev/zero >"data/$k"; done

# Who starts programs one after the other loops, though they make all the calls.
is 'tar of ten directories, by a shell' "$(found tar sh -c 'for k in 1 2 3 4 5 6 7 8 9 10; do tar -cf "$k.tar" "tree/$k"; done')" 10
is 'found in what the shell starts' "$(where tar)" "found in the programs that it starts: $(realpath "$(command -v tar)")"
is 'a pipeline is one iteration' "$(found pipes sh -c 'for k in 1 2 3 4 5 6 7 8 9 10; do cat tree/$k/* | gzip >$k.gz; done')" 10
if has git 'two commands of git'; then
	git init -q repository
	is 'two commands of git are one iteration' "$(found git sh -c 'cd repository && for k in 1 2 3 4 5 6 7 8 9; do cp ../data/1 $k; git add $k;
		git -c user.name=a -c user.email=b commit -qm $k; done')" 9
fi
if has gcc 'make' && has make 'make'; then
	mkdir src
	for k in {1..9}; do printf '#include <stdio.h>\nint f%d(void) { return printf("%%d", %d); }\n' "$k" "$k" >"src/$k.c"; done
	printf 'all: %s\n%%.o: %%.c\n\tgcc -c -o $@ $<\n' "$(printf '%s.o ' {1..9})" >src/Makefile
	is 'nine files compiled by make' "$(found make make -C src)" 9
	is 'one file compiled is no loop' "$(found gcc gcc -c -o one.o src/1.c)" null
fi

# Inside one program.
cat >compile.py <<'PY'
import glob, os, py_compile
for path in sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))[:40]:
    py_compile.compile(path, cfile="out.pyc", doraise=True)
PY
cat >hash.py <<'PY'
import hashlib, glob
for path in sorted(glob.glob("data/*")):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while piece := f.read(65536):
            h.update(piece)
PY
cat >transactions.py <<'PY'
import sqlite3
db = sqlite3.connect("t.db", isolation_level=None)
db.execute("CREATE TABLE t(a, b)")
for i in range(30):
    db.execute("INSERT INTO t VALUES (?, hex(randomblob(200)))", (i,))
PY
cat >epochs.py <<'PY'
import os, random, time
fd = os.open("data/25", os.O_RDONLY)
for epoch in range(8):
    for batch in range(10):
        for k in range(3):
            os.pread(fd, 4096, random.randrange(1 << 20))
        end = time.process_time() + 0.003
        while time.process_time() < end:
            pass
    with open("checkpoint.tmp", "wb") as f:
        f.write(os.urandom(100000))
    os.rename("checkpoint.tmp", "checkpoint")
PY
is 'modules compiled by Python' "$(found compile /usr/bin/python3 compile.py)" 40
is 'files of different size read to their end' "$(found hash /usr/bin/python3 hash.py)" 25
is 'transactions, and the one that made the table' "$(found transactions /usr/bin/python3 transactions.py)" 31
is 'epochs of batches: the outer loop' "$(found epochs /usr/bin/python3 epochs.py)" 8
if has perl 'files read by lines'; then
	is 'files read by lines' "$(found lines perl -e 'for my $f (glob("data/?"), glob("data/1?")) { open(my $h, "<", $f); $n++ while <$h>; close($h); }')" 19
fi

# A program that calls nothing: by the functions that samples find it in.
"$SONDE" record -q --probes cpu -o loop -- "$LOOP" 20
if [[ $(probe loop cpu state) == ran ]]; then
	run "$SONDE" summary loop --json
	is 'phases without calls' "$(jq .iterations.count <<<"$out")" 20
	is 'found in samples' "$(where loop)" 'found in samples: load'
else
	skip_missing 'phases without calls' "$(probe loop cpu reason)"
fi

# No loop.
is 'a computation' "$(found compute /usr/bin/python3 -c 'print(sum(i * i for i in range(3000000)))')" null
is 'sorting' "$(found sort sh -c 'seq 100000 | sort -R | md5sum')" null

done_testing
