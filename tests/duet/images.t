#!/bin/bash
# sonde duet images: what it asks of an engine and of ssh, with stand-ins that write down what they were asked.
. "$(dirname "$0")/../lib/tap.sh"

mkdir bin remote
export PATH=$PWD/bin:$PATH LOG=$PWD/log REMOTE=$PWD/remote
cat >bin/engine <<'EOS'
#!/bin/bash
printf '%s\n' "engine $*" >>"$LOG"
case $1 in
build) [ -e "${!#}/Dockerfile" ] || { echo 'no Dockerfile' >&2; exit 125; } ;;
save) [ "$2" != missing ] || exit 125; head -c 200000 /dev/zero; printf 'image %s' "$2" ;;
load) [ ! -e "$REMOTE/full" ] || exit 1; cat >"$REMOTE/loaded.$(ls "$REMOTE" | wc -l)" ;;
esac
EOS
cat >bin/ssh <<'EOS'
#!/bin/bash
printf '%s\n' "ssh $1" >>"$LOG"
shift
exec "$@"
EOS
chmod +x bin/*
images() { : >"$LOG"; run timeout 60 "$SONDE" duet --docker engine images "$@"; }

mkdir -p suites/renaissance suites/dacapo suites/empty
touch suites/renaissance/Dockerfile suites/dacapo/Dockerfile
images build suites/renaissance suites/dacapo/
is 'every directory with a Dockerfile becomes an image of its name' "$status $(<"$LOG")" \
	"0 engine build --tag renaissance suites/renaissance
engine build --tag dacapo suites/dacapo/"
is 'and that is said' "$out" $'built suites/renaissance\nbuilt suites/dacapo/'
images build suites/empty suites/dacapo
is 'a build that fails is a failure' "$status" 1
like 'that names the image, after what the engine said' "$err" "no Dockerfile.*cannot build the image 'empty': status 125"
is 'and ends it' "$(grep -c engine "$LOG")" 1
run timeout 60 "$SONDE" duet --docker 'env X=1 engine' images build suites/dacapo
is 'what builds them may have arguments of its own' "$status $(tail -n 1 "$LOG")" '0 engine build --tag dacapo suites/dacapo'
images build .
is 'a directory without a name is refused' "$status" 1

images move host.example renaissance dacapo
is 'images are moved' "$status" 0 || diag "$err"
is 'one after the other' "$(sed 's/^ssh.*/ssh/' "$LOG" | sort | uniq -c | tr -s ' ' | tr '\n' ';')" ' 2 engine load; 1 engine save dacapo; 1 engine save renaissance; 2 ssh;'
is 'in order, to the host' "$(grep -n 'save' "$LOG" | cut -d ' ' -f 3 | tr '\n' ' ')$(grep -c '^ssh host.example$' "$LOG")" 'renaissance dacapo 2'
is 'whole' "$(stat -c %s remote/loaded.0) $(tail -c 17 remote/loaded.0)" '200017 image renaissance'
is 'nothing else is written' "$(ls remote | wc -l)" 2
images move host.example missing dacapo
is 'an image that cannot be saved is a failure' "$status" 1
like 'that names it' "$err" "cannot save the image 'missing'"
is 'and the next is not begun' "$(grep -c 'save dacapo' "$LOG")" 0
touch remote/full
images move host.example dacapo
like 'so is one that the host cannot load' "$status $err" "1 .*cannot load the image 'dacapo'"
images move -oProxyCommand=x dacapo
is 'a host that would be an option is refused' "$status $(grep -c ssh "$LOG")" '2 0'
images move host.example
is 'no image is a usage error' "$status" 2
images shrink x
is 'so is another word' "$status" 2

run "$SONDE" duet --docker no-such-engine images build suites/dacapo
like 'an engine that is not there is told' "$status $err" "1 .*no-such-engine"

done_testing
