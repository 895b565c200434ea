#!/bin/sh
# filters.sh LIBSONDE RINGDUMP PROGRAM: what is not recorded is still followed, so that the rest is told rightly.
# PROGRAM is filters.c. The control page is changed as a recorder would have made it.
set -u
lib=$(realpath "$1") ringdump=$(realpath "$2") program=$(realpath "$3")
top=$(mktemp -d "${TMPDIR:-/tmp}/sonde-filters.XXXXXX")
trap 'rm -rf "$top"' EXIT
cd "$top" || exit 1
mkdir in out
for file in in/a in/b out/a; do echo 0123456789 >$file; done
failed=0

# control LAYOUT VALUE...: a ring directory whose control page has these values at these offsets.
control()
{
	rm -rf ring
	env LD_PRELOAD="$lib" SONDE_RING="$top/ring" true
	python3 - "$top/ring/control" "$@" <<'PYTHON'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    page = bytearray(file.read())
    for argument in sys.argv[2:]:
        name, value = argument.split("=")
        if name == "categories":
            struct.pack_into("<I", page, 24, int(value))
        elif name == "min_dur":
            struct.pack_into("<Q", page, 32, int(value))
        else:
            struct.pack_into("<II", page, 80, int(name == "include"), int(name == "exclude"))
            text = value.encode() + b"\0"
            page[len(page) - 3072:len(page) - 3072 + len(text)] = text
    file.seek(0)
    file.write(page)
PYTHON
}

traced()
{
	what=$1
	env LD_PRELOAD="$lib" SONDE_RING="$top/ring" "$program"
	"$ringdump" ring "$(basename "$program")" | cut -d' ' -f3- | sed "s|$top/||g" | grep -v ^exit >got
	if diff want got >difference; then
		echo "ok: $what"
	else
		echo "NOT ok: $what"
		cat difference
		failed=1
	fi
}

control categories=1
cat >want <<'EOT'
read fd=3 path=in/a size=2 offset=0 ret=2
read fd=3 path=in/b size=2 offset=0 ret=2
read fd=4 path=in/b size=2 ret=2
read fd=3 path=out/a size=2 offset=0 ret=2
read fd=3 path=out/../in/a size=2 offset=0 ret=2
EOT
traced "only reading and writing"

control include="$top/in"
cat >want <<'EOT'
open fd=3 path=in/a ret=3 flags=0
read fd=3 path=in/a size=2 offset=0 ret=2
close fd=3 path=in/a ret=0
open fd=3 path=in/b ret=3 flags=0
read fd=3 path=in/b size=2 offset=0 ret=2
dup fd=3 path=in/b ret=4
read fd=4 path=in/b size=2 ret=2
close fd=4 path=in/b ret=0
close fd=3 path=in/b ret=0
open fd=3 path=out/../in/a ret=3 flags=0
read fd=3 path=out/../in/a size=2 offset=0 ret=2
close fd=3 path=out/../in/a ret=0
EOT
traced "only one directory"

control exclude="$top/in"
cat >want <<'EOT'
chdir path=out ret=0
open fd=3 path=out/a ret=3 flags=0
read fd=3 path=out/a size=2 offset=0 ret=2
close fd=3 path=out/a ret=0
EOT
traced "all but one directory"

control min_dur=1000000000000
: >want
traced "nothing that is short"
exit $failed
