#!/bin/bash
# What `make install` puts into a prefix works from there, and `make uninstall` leaves nothing behind.
. "$(dirname "$0")/../lib/tap.sh"

prefix=$TEST_DIR/a\ prefix
ok 'it installs' "$SOURCE_DIR/tools/install-tree" "$SONDE_STAGE/meson" "$SONDE_STAGE" "$prefix"
is 'no file that is read names the build' "$(grep -rlI "$SONDE_STAGE" "$prefix")" ''
ok "what is installed in two places is in both" cmp "$prefix/lib/sonde/compat/selftf/client.py" "$prefix/lib/sonde/compat/selftf/bin/client.py"
run "$prefix/bin/sonde" record -- true
is 'the installed program records' "$status" 0
run "$prefix/bin/sonde" info --json
is 'and reads what it recorded' "$(jq -r .state <<<"$out")" complete

cat >annotated.c <<'C'
#include <sonde/sonde.h>
int main(void)
{
	sonde_step("turn", 1, 0.5);
	return 0;
}
C
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
eval "flags=($(pkg-config --cflags sonde))"
ok 'pkg-config finds the header wherever it was put' gcc "${flags[@]}" annotated.c -o annotated
run "$prefix/bin/sonde" record -- ./annotated
is 'a program compiled against it runs' "$status" 0
is 'and its step is recorded' "$("$prefix/bin/sonde" events --table step --json | jq -r .name)" turn

# What `sonde env` prints puts the prefix on a shell's paths.
run bash -c "eval \"\$('$prefix/bin/sonde' env)\"; command -v sonde; /usr/bin/python3 -c 'import sonde; print(sonde.is_on())'"
is 'sonde env activates it' "$out" "$prefix/bin/sonde
False"

cat >step.py <<'PY'
import os
import sonde
sonde.step("turn", 2, 0.5)
print(sorted({"SONDE_RING", "PYTHONPATH", "LD_PRELOAD"} & set(os.environ)))
PY
run env -u PYTHONPATH "$prefix/bin/sonde" record -o python-run -- /usr/bin/python3 step.py
is 'a recorded Python program imports the package and its environment shows nothing' "$out" '[]'
is 'its step is recorded' "$("$prefix/bin/sonde" events python-run --table step --json | jq -r .name)" turn
run env PYTHONPATH=/nowhere "$prefix/bin/sonde" record -o other-run -- /usr/bin/python3 -c \
	'import ctypes, os, sonde; get = ctypes.CDLL(None).getenv; get.restype = ctypes.c_char_p; print(os.environ["PYTHONPATH"], get(b"PYTHONPATH"))'
is 'a PYTHONPATH of its own stays as it is, for all but the interpreter' "$out" "/nowhere b'/nowhere'"

ok 'it uninstalls' "$SOURCE_DIR/tools/install-tree" --remove "$prefix"
is 'nothing is left, no directory either' "$(find "$prefix" 2>/dev/null)" ''

# The prefix that Debian's Python searches; what others have there stays.
mkdir -p dest/usr/local/lib
ok 'it installs for a package' "$SOURCE_DIR/tools/install-tree" "$SONDE_STAGE/meson" "$SONDE_STAGE" /usr/local "$TEST_DIR/dest"
pth=$(find dest -name sonde.pth)
run env -u PYTHONPATH /usr/bin/python3 -c 'import site, sys; site.addsitedir(sys.argv[1]); import sonde; print(sonde.__file__)' "$TEST_DIR/$(dirname "$pth")"
is 'sonde.pth leads Python to the package' "$out" "$TEST_DIR/dest/usr/local/lib/sonde/python/sonde/__init__.py"
"$SOURCE_DIR/tools/install-tree" "$SONDE_STAGE/meson" "$SONDE_STAGE" /usr/local "$TEST_DIR/dest" >/dev/null
ok 'after a second installation it uninstalls' "$SOURCE_DIR/tools/install-tree" --remove /usr/local "$TEST_DIR/dest"
is 'and leaves the directories that were there before' "$(find dest)" "dest
dest/usr
dest/usr/local
dest/usr/local/lib"
run "$SOURCE_DIR/tools/install-tree" --remove /usr/local "$TEST_DIR/dest"
is 'what is not installed cannot be removed' "$status" 1
done_testing
