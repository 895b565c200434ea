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

# The other steps' files are of a copy, and so is the file of groups; the helper's right is set for real, below the copy's root.
group=games gid=$(getent group games | cut -d: -f3)
[[ -n $gid ]] || { skip 'the rest' 'there is no group games here'; done_testing; exit; }
as_member() { (cd home && in_net setpriv --reuid 65534 --regid 65534 --groups "$gid" "$@"); }
mkdir -p "root$(dirname "$helper")" root/etc
cp "$helper" "root$helper"
chmod 755 "root$helper"
grep -v '^sonde-capture:' /etc/group >root/etc/group
in_root() { env SONDE_SETUP_ROOT="$TEST_DIR/root" "$own" setup "$@"; }
seen() { stat -c '%a %U:%g' "root$helper"; getcap "root$helper"; }
before=$(seen) groups=$(<root/etc/group)

run in_root
is 'setup exits with 0' "$status" 0 || diag "$out$err"
like 'it makes a group' "$(<root/etc/group)" 'sonde-capture:x:[0-9]+:'
like 'which alone may run the helper' "$(seen)" "750 root:$(awk -F: '$1 == "sonde-capture" { print $3 }' root/etc/group)"
run in_root
unlike 'a second time does nothing' "$out" 'done'
run in_root --group "$group"
is 'another group is refused' "$status" 1
like 'with what to do first' "$out$err" "set up for the group 'sonde-capture'"
run in_root --undo
is 'undo exits with 0' "$status" 0 || diag "$out$err"
is 'it removes the group that it made' "$(<root/etc/group)" "$groups"
is 'and restores the helper as it was' "$(seen)" "$before"

run in_root --group "$group"
is 'a group that is there already can be named' "$status" 0 || diag "$out$err"
like 'it gives the helper its right' "$out" 'packets +done'
like 'that one alone' "$(getcap "root$helper")" 'cap_net_raw=ep$'
cp --preserve=all "root$helper" "$helper.new" && mv "$helper.new" "$helper"

run as_nobody "$own" record -v --net -o outside -- "$NET_TRUTH" tcp 127.0.0.1 1000 1000
is 'a user outside of the group runs the program all the same' "$status" 0
like 'the probe reports whom the helper is for' "$err" "net: failed: .*it is for members of the group '$group'"
like 'and the next step' "$err" "hint: sudo usermod -aG $group "
like 'so does doctor' "$(facility)" "^no sudo usermod -aG $group "
run as_nobody sh -c '"$1" 2>&1' sh "$helper"
like 'the helper is not run for them' "$out" 'Permission denied'

run as_member "$own" record -v --net -o after -- "$NET_TRUTH" tcp 127.0.0.1 100000 2000
is 'with the helper it runs' "$status" 0
flow=$(SONDE=$own flows home/after)
is 'bytes sent' "$(jq -r .payload_out <<<"$flow")" "$(jq -r .out <<<"$out")"
is 'bytes received' "$(jq -r .payload_in <<<"$flow")" "$(jq -r .in <<<"$out")"
is 'by whom' "$(jq -r .pid <<<"$flow")" "$(jq -r .pid <<<"$out")"
is 'to whom' "$(jq -r .peer_pid <<<"$flow")" "$(jq -r .peer_pid <<<"$out")"
is 'the run says that the helper helped' "$(jq -r '.probes[] | select(.name == "net").has_helper' home/after/run.json)" true
is 'the kernel dropped nothing' "$(jq -r '.probes[] | select(.name == "net").dropped_by_kernel' home/after/run.json)" 0
facility() { as_member "$own" doctor --json | jq -r '.facilities[] | select(.name == "packets") | [.state, .fix] | join(" ")'; }
like 'doctor sees it' "$(facility)" '^works'

# A member gets headers and nothing else.
run as_member timeout 60 "$NET_ATTACK" "$helper"
is 'the attacker runs' "$status" 0
is 'no frame can be sent by the helper, nor promiscuous mode be set, nor the helper be read' "$out" ''
run as_member "$helper" </dev/null
ok 'without a reader the helper fails' test "$status" != 0
is 'and prints nothing' "$out$err" ''
helpers() { find /proc -mindepth 2 -maxdepth 2 -name exe -lname "$helper" 2>/dev/null; }
is 'no helper is left' "$(helpers)" ''

run in_root --undo
like 'undo takes the right back' "$out" 'packets +done'
is 'it is gone' "$(seen)" "$before"
is 'a group that was there stays' "$(<root/etc/group)" "$groups"
cp -p "root$helper" "$helper"
like 'doctor says what to do' "$(facility)" '^no sudo '

# The record of an earlier sonde, which gave the right to all.
setcap cap_net_raw+ep "root$helper"
mkdir -p root/var/lib/sonde
echo '{"version": 1, "changes": [{"step": "packets", "before": "none", "after": "cap_net_raw"}]}' >root/var/lib/sonde/setup.json
run in_root --undo
like 'what an earlier sonde set up is undone too' "$out" 'packets +done'
is 'as it was' "$(seen)" "$before"
done_testing
