#!/bin/bash
# With every optional feature off the core builds, records, summarises and queries, and needs nothing else.
. "$(dirname "$0")/../lib/tap.sh"

run meson setup --prefix "$TEST_DIR/stage" -Dauto_features=disabled "$TEST_DIR/build" "$SOURCE_DIR"
is 'the core is configured' "$status" 0
like 'and no feature' "$out" 'duet +: no'
run nice ninja -C build -j 2 --quiet
is 'it is built' "$status" 0
run meson install -C build --no-rebuild --quiet
is 'and installed' "$status" 0

sonde=$TEST_DIR/stage/bin/sonde
run "$sonde" record -o run -- cat /etc/hostname
is 'record runs a program' "$status" 0
run "$sonde" summary run
is 'summary reads the run' "$status" 0
run "$sonde" query --json run "select count(*) as n from io"
is 'query does' "$status" 0
like 'and finds the calls' "$out" '"n": ?[1-9]'
is 'the recorder needs libc and zstd alone' \
	"$(readelf -d stage/libexec/sonde/sonde-record | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | paste -sd ' ')" 'libc.so.6 libzstd.so.1'

run "$sonde" duet -- true
is 'a command that is not built fails' "$status" 1
like 'the reason is its feature' "$err" "^sonde: cannot run 'sonde duet': this sonde was built without duet"
like 'the hint is the next step' "$err" 'hint: .*-Dduet=enabled'
run "$sonde" viz
like 'an alias leads to the same reason' "$err" "cannot run 'sonde view': this sonde was built without serve"
unlike 'the help does not list it' "$("$sonde" help)" '^  duet '
is 'it has no man page' "$(find stage -name 'sonde-duet*')" ''
unlike 'and no completion' "$(cat stage/share/bash-completion/completions/sonde)" 'duet'
done_testing
