#!/bin/bash
# Jobs that bring their files.
. "$(dirname "$0")/fleet.sh"

export TMPDIR=$TEST_DIR/tmp
mkdir tmp
sonde fleet up --lease 3s >/dev/null || fail 'a fleet comes up'
mkdir -p code/deep code/.git
echo 'echo "$1 $(cat deep/data)"; pwd; ls -A; echo mess >new; echo changed >deep/data; [ -x tool ] && echo tool; readlink link' >code/main.sh
echo first >code/deep/data
echo secret >code/.git/config
printf '#!/bin/sh\n' >code/tool
chmod +x code/tool
ln -s deep/data code/link
job=$(sonde submit --push code -- sh main.sh hello)
ok 'a job with its files ends' wait_for is_now "$job" "done"
mapfile -t lines < <(sonde job log "$job")
is 'it finds what it brought' "${lines[0]}" 'hello first'
like 'in a directory of its own' "${lines[1]}" "^$TMPDIR/sonde-job\\."
is 'without version control'"'"'s' "${lines[*]:2:4}" 'deep link main.sh tool'
is 'modes and links are kept' "${lines[*]:6:2}" 'tool deep/data'
ok 'which is gone' test ! -e "${lines[1]}"
is 'ours is as it was' "$(cat code/deep/data) $(find code -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort | xargs)" 'first .git deep link main.sh tool'

echo second >code/deep/data
again=$(sonde submit --push code -- sh main.sh hello)
ok 'a changed one ends' wait_for is_now "$again" "done"
is 'it finds the change' "$(sonde job log "$again" | head -n 1)" 'hello second'

# More than one chunk, byte for byte.
head -c 3000000 /dev/urandom >code/big
sum=$(sha256sum <code/big)
job=$(sonde submit --push code -- sha256sum big)
ok 'a bigger one ends' wait_for is_now "$job" "done"
is 'and is whole' "$(sonde job log "$job" | cut -d' ' -f1)" "${sum%% *}"
same=$(sonde submit --push code -- sha256sum big)
ok 'pushed again, it ends' wait_for is_now "$same" "done"

cat >jobs.yml <<'X'
- {name: row, command: [cat, deep/data], push: code, cpus: 1, memory: 1M, times: 2}
- {name: big, command: ["true"], memory: 4096T}
X
mapfile -t rows < <(sonde submit --batch jobs.yml)
is 'a file of jobs brings files too' "${#rows[@]}" 3
ok 'its jobs end' wait_for is_now "${rows[1]}" "done"
is 'with what was pushed' "$(sonde job log "${rows[1]}")" second
like 'and know what they need' "$(sonde job show "${rows[2]}")" 'needs +4194304.0 GiB'
sonde job cancel "${rows[2]}"
run sonde submit --push nowhere -- true
is 'a directory that is not there' "$status" 1
like 'is named' "$err" "cannot pack 'nowhere'"

# Its agent killed, the directory is swept away by the next.
cat >code/main.sh <<'END'
pwd >>"$1"
[ "$(wc -l <"$1")" -gt 1 ] || exec sleep 1000
END
job=$(sonde submit --push code -- sh main.sh "$PWD/places")
ok 'a job runs' wait_for test -s places
kill -9 "$(processes agent)"
sonde fleet add
ok 'its agent killed, another ends it' wait_for is_now "$job" "done"
gone() { ! compgen -G "$TMPDIR/sonde-job.*" >/dev/null; }
ok 'no directory is left' wait_for gone
is 'each attempt had its own' "$(sort -u places | wc -l)" 2
sonde fleet down
done_testing
