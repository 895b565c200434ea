# shellcheck shell=bash
# Commands that read and write other tools' files: export, import, trace.

formats_of() { sonde "$1" --help | tr -s ' \n' ' ' | sed -n "s/.* $2 FORMAT [^.]*\. One of: \([^.]*\)\..*/\1/p" | tr -d ,; }

smoke_export() {
	local format formats
	formats=$(formats_of export --to)
	[[ $formats == *chrome*sofa* ]]
	for format in $formats; do
		echo "format $format"
		sonde export --to "$format" -o "run.$format" "$RUN"
		[[ -s run.$format || -d run.$format ]]
	done
	gzip -dc run.pprof 2>/dev/null >profile || cp run.pprof profile
	[[ -s profile ]]
	want 'traceEvents' head -c 4000 run.chrome
	want '^.*,' head -n 2 run.csv
	want 'speedscope' head -c 4000 run.speedscope
	want '.' ls run.sofa
}

# What export writes and import reads comes back as a run; the others are written by hand.
smoke_import() {
	local format
	for format in chrome pfw folded; do
		sonde export --to "$format" -o "in.$format" "$RUN"
		sonde import -q -o "from-$format" "in.$format"
		is_complete "from-$format"
		want "\"format\": *\"$format\"" cat "from-$format/run.json"
	done
	cat >in.strace <<'TEXT'
101 1700000000.000100 execve("/bin/cat", ["cat", "x"], 0x7ffd /* 3 vars */) = 0 <0.000200>
101 1700000000.000500 openat(AT_FDCWD, "x", O_RDONLY) = 3 <0.000010>
101 1700000000.000600 read(3, "hello\n", 131072) = 6 <0.000007>
101 1700000000.000700 openat(AT_FDCWD, "y", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000005>
101 1700000000.000800 close(3) = 0 <0.000002>
101 1700000000.000900 +++ exited with 0 +++
TEXT
	cat >in.perf <<'TEXT'
cat   101 [000]  1000.000100:   10101010 cpu-clock:
	    55d0c0ffee10 work+0x10 (/bin/cat)
	    7f0000001234 main+0x20 (/bin/cat)

cat   101 [001]  1000.010100:   10101010 cpu-clock:
	    7f0000001234 main+0x20 (/bin/cat)

TEXT
	# A capture of one UDP packet: file header, packet header, Ethernet, IPv4, UDP, data.
	{
		printf '\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0'
		printf '\0\xf1\x53\x65\x10\0\0\0\x2e\0\0\0\x2e\0\0\0'
		printf '\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0'
		printf '\x45\0\0\x20\0\x01\0\0\x40\x11\x26\xca\x0a\0\0\x01\x0a\0\0\x02\x04\xd2\x16\x2e\0\x0c\0\0data'
	} >in.pcap
	for format in strace perf pcap; do
		sonde import -q -o "from-$format" "in.$format"
		is_complete "from-$format"
		want "\"format\": *\"$format\"" cat "from-$format/run.json"
	done
	want '^2$' sonde query --csv from-strace "SELECT count(*) FROM io WHERE call = 'openat'"
	want '^2$' sonde query --csv from-perf 'SELECT count(*) FROM sample'
	want '^1$' sonde query --csv from-pcap 'SELECT count(*) FROM packet'
	# Each format that import knows was read above.
	want '^auto chrome pfw folded strace perf pcap$' formats_of import --from
}

smoke_trace() {
	sonde export --to pfw -o run.pfw.gz "$RUN"
	want '[1-9]' sonde trace count run.pfw.gz
	want '.' sonde trace info run.pfw.gz
	quietly sonde trace validate run.pfw.gz
	quietly sonde trace split -s 64K -o parts run.pfw.gz
	quietly sonde trace merge -o whole.pfw.gz parts
	quietly sonde trace anonymize -o public run.pfw.gz
	[[ $(sonde trace count whole.pfw.gz | grep -oE '[0-9]+' | head -n 1) == $(sonde trace count run.pfw.gz | grep -oE '[0-9]+' | head -n 1) ]]
}
