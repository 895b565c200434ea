# shellcheck shell=bash
# Commands that record: record, stat, host.

# A program with something to see of every kind: processes, files, pipes, time on a CPU, a failing call.
write_work() {
	cat >"$1" <<'WORK'
set -eu
mkdir -p data
for i in 1 2 3 4 5 6 7 8; do head -c 20000 /usr/bin/env >"data/$i"; done
tar -cf - data | gzip >data.tar.gz
sort data/1 data/2 | md5sum >sum
for ((i = 0; i < 200000; i++)); do :; done
if test -e /does/not/exist; then exit 1; fi
WORK
}

smoke_record() {
	write_work work.sh
	sonde record -q -o "$RUN" -- bash work.sh
	is_complete "$RUN"
	want '"call":"open' sonde events --json --path "$PWD/data" "$RUN"
	want '^[1-9]' sonde query --csv "$RUN" 'SELECT count(*) FROM sample' # the CPU probe works here
	# The program's own status comes through, and failures of sonde are told from it.
	fails 7 '' sonde record -q -- sh -c 'exit 7'
	fails 127 'sonde: .*does-not-exist' sonde record -q -- ./does-not-exist
	# A second run, for those commands that take two.
	sonde record -q -o "$RUN-2" -- bash work.sh
	# What needs a program that is not here names it.
	if ! command -v podman >/dev/null && ! command -v docker >/dev/null; then
		fails 125 'podman|docker' sonde record -q --image debian -- true
	fi
	if ! command -v srun >/dev/null; then
		fails 2 'Slurm' sonde record -q --hosts slurm -- true
	fi
}

smoke_stat() {
	write_work work.sh
	sonde stat -- bash work.sh >out 2>err
	grep -qiE 'cpu|wall|elapsed' err out
}

# The far end of `record --hosts`: started by it, on this machine without ssh.
smoke_host() {
	cat >shell <<'SH'
#!/bin/sh
shift # the host's name
exec sh -c "$*"
SH
	chmod +x shell
	sonde record -q --hosts one,two --ssh "$PWD/shell" --remote "$(command -v sonde)" -o both -- sh -c 'ls / >/dev/null'
	is_complete both
	[[ -d both/hosts/0-one && -d both/hosts/1-two ]]
	want '^2$' sonde query --csv both "SELECT count(*) FROM process WHERE exe LIKE '%/ls'"
}
