#!/bin/bash
# An ordinary user: a sandbox by a user namespace, in which nothing can be done that could not be done outside; limits are refused
# with the reason.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/launch/lib.sh"

(($(id -u) == 0)) || skip_all 'only root can become somebody else'
chmod 755 "$TEST_DIR"
mkdir home
chown 65534:65534 home
as_nobody() { (cd home && HOME=$PWD XDG_CACHE_HOME=$PWD setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
as_nobody test -x "$SONDE" || skip_all 'an ordinary user cannot reach the build'

run as_nobody "$SONDE" record -q -o limits --pids-limit 10 -- true
is 'limits are refused' "$status" 125
like 'with the reason' "$err" 'control'
like 'and what would help' "$err" 'hint:'

if ! as_nobody "$SONDE" record -q -o can --sandbox -- true 2>why; then
	like 'no sandbox here: there is a reason' "$(cat why)" 'sonde: cannot'
	like 'and a hint' "$(cat why)" 'hint:'
	diag "$(head -1 why)"
	done_testing
fi
echo before >home/file
chown 65534:65534 home/file
echo secret >root-only
chmod 600 root-only
run as_nobody "$SONDE" record -q -o boxed --sandbox -- sh -c 'cat file; echo inside >file; cat file; echo new >../home/other; id -u; exit 7'
is 'its code' "$status" 7
is 'it writes, and reads what it wrote' "$out" "$(printf 'before\ninside\n65534')"
is 'what it wrote has vanished' "$(cat home/file) $(ls home)" "before $(printf 'boxed\ncan\nfile')"
like 'it is traced' "$("$SONDE" events home/boxed)" 'file'
run as_nobody "$SONDE" record -q -o secret --sandbox -- cat ../root-only
unlike 'what is closed stays closed' "$out" secret
run as_nobody "$SONDE" record -q -o root --sandbox -- sh -c 'echo x >/etc/passwd || echo refused'
is 'files of root stay as they are' "$out" refused
run as_nobody "$SONDE" record -q -o pids --sandbox -- sh -c 'ls -d /proc/[0-9]* | wc -l'
ok 'it has processes of its own' test "$out" -lt 10
is 'programs do the same inside' "$(as_nobody "$SONDE" record -q -o tar --sandbox -- sh -c 'tar -cf - /etc/hostname /usr/share/doc/tar 2>/dev/null | tar -tf -')" \
	"$(tar -cf - /etc/hostname /usr/share/doc/tar 2>/dev/null | tar -tf -)"
check_ladder 'a user'\''s sandbox' as_nobody "$SONDE" record -q -o ladder --timeout 1s --sandbox
is 'no mount is left' "$(grep -c upperdir=/proc/u /proc/self/mountinfo)" 0
done_testing
