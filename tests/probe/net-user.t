#!/bin/bash
# --net for an ordinary user: refused with a reason and a hint, until sonde setup has given the helper its right.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/net.sh"

(($(id -u) == 0)) || skip_all 'only root can become somebody else'
command -v getcap >/dev/null || skip_service 'getcap is not installed (libcap2-bin)'
in_net true 2>/dev/null || skip_all 'no network namespaces here'

# An installation of our own, below a root of our own: setup changes nothing else here.
chmod 755 "$TEST_DIR"
mkdir home prefix root
chown 65534:65534 home
cp -r "$SONDE_STAGE/bin" "$SONDE_STAGE/libexec" prefix/
mkdir prefix/lib
cp "$SONDE_STAGE"/lib/libsonde* prefix/lib/
own=$TEST_DIR/prefix/bin/sonde
helper=$TEST_DIR/prefix/libexec/sonde/sonde-capture
as_nobody() { (cd home && in_net setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
as_nobody test -x "$NET_TRUTH" || skip_all 'an ordinary user cannot reach the build'
facility() { as_nobody "$own" doctor --json | jq -r '.facilities[] | select(.name == "packets") | [.state, .fix] | join(" ")'; }

run as_nobody "$own" record -v --net -o before -- "$NET_TRUTH" tcp 127.0.0.1 1000 1000
is 'the program runs all the same' "$status" 0
like 'the probe says why not' "$err" 'net: failed: cannot open a packet socket: '
like 'and what would help' "$err" 'hint: sudo sonde setup'
is 'there are no flows' "$(jq -r '.tables.flow // 0' home/before/run.json)" 0

mount_is_fine() { setcap cap_net_raw+ep "$1" && setcap -r "$1"; }
cp "$helper" try
mount_is_fine try 2>/dev/null || { skip 'the rest' 'files cannot be given rights here'; done_testing; exit; }

# The other steps' files are of a copy; the helper's right is set for real, below the copy's root.
mkdir -p "root$(dirname "$helper")"
cp "$helper" "root$helper"
run env SONDE_SETUP_ROOT="$TEST_DIR/root" "$own" setup
is 'setup exits with 0' "$status" 0
like 'it gives the helper its right' "$out" 'packets +done'
like 'that one alone' "$(getcap "root$helper")" 'cap_net_raw=ep$'
cp --preserve=xattr "root$helper" "$helper.new" && mv "$helper.new" "$helper"

run as_nobody "$own" record -v --net -o after -- "$NET_TRUTH" tcp 127.0.0.1 100000 2000
is 'with the helper it runs' "$status" 0
flow=$(SONDE=$own flows home/after)
is 'bytes sent' "$(jq -r .payload_out <<<"$flow")" "$(jq -r .out <<<"$out")"
is 'bytes received' "$(jq -r .payload_in <<<"$flow")" "$(jq -r .in <<<"$out")"
is 'by whom' "$(jq -r .pid <<<"$flow")" "$(jq -r .pid <<<"$out")"
is 'to whom' "$(jq -r .peer_pid <<<"$flow")" "$(jq -r .peer_pid <<<"$out")"
is 'the run says that the helper helped' "$(jq -r '.probes[] | select(.name == "net").has_helper' home/after/run.json)" true
like 'doctor sees it' "$(facility)" '^works'
run as_nobody "$helper" </dev/null
ok 'without somebody to give it to the helper fails' test "$status" != 0
is 'and says nothing' "$out$err" ''

run env SONDE_SETUP_ROOT="$TEST_DIR/root" "$own" setup --undo
like 'undo takes the right back' "$out" 'packets +done'
is 'it is gone' "$(getcap "root$helper")" ''
cp "root$helper" "$helper"
like 'doctor says what to do' "$(facility)" '^no sudo '
done_testing
