#!/bin/bash
# What `make install` puts into a prefix works from there, and `make uninstall` leaves nothing behind.
. "$(dirname "$0")/../lib/tap.sh"

prefix=$TEST_DIR/a\ prefix
ok 'it installs' "$SOURCE_DIR/tools/install-tree" "$SONDE_STAGE/meson" "$SONDE_STAGE" "$prefix"
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

ok 'it uninstalls' "$SOURCE_DIR/tools/install-tree" --remove "$prefix"
is 'nothing is left' "$(find "$prefix" -type f 2>/dev/null)" ''
done_testing
