#!/bin/bash
# tools/install-deps installs what is missing, states how much that is, and otherwise prints the command to run.
. "$(dirname "$0")/../lib/tap.sh"

mkdir fake
for tool in bash env dirname awk sed grep comm sort cat tail; do ln -s "$(command -v "$tool")" fake/; done
fake() {
	printf '#!/bin/bash\n%s\n' "$2" >"fake/$1"
	chmod +x "fake/$1"
}
# Only gcc is installed; apt has two packages to fetch, or cannot reach anything.
fake dpkg-query 'echo "ii  gcc"'
fake apt-cache 'exit 0'
fake apt-get 'echo "$*" >>'"$TEST_DIR"'/calls
case "$*" in
*--print-uris*) printf "%b\n" "\x27http://server/a.deb\x27 a.deb 3000000 MD5" "\x27http://server/b.deb\x27 b.deb 500000 MD5" ;;
*update*) if [[ -e '"$TEST_DIR"'/offline ]]; then echo "W: Failed to fetch http://server/InRelease  Could not resolve" >&2; fi ;;
*" install "*) if [[ -e '"$TEST_DIR"'/offline ]]; then echo "E: Failed to fetch http://server/a.deb" >&2; exit 100; fi ;;
esac'
fake id 'echo 0'
deps() { run env PATH="$TEST_DIR/fake" bash "$SOURCE_DIR/tools/install-deps" "$@"; }

deps build
is 'what is missing is installed' "$status" 0
like 'with its number and size' "$err" 'installing 2 packages \(4 MB\): .*libzstd-dev'
unlike 'what is there is not' "$err" ' gcc( |$)'
like 'by apt-get' "$(cat calls)" 'install -y --no-install-recommends .*meson'
unlike 'nothing of other groups' "$(cat calls)" 'nodejs|libcmocka'
rm calls
deps --plan build
is 'a plan is one line' "$out" '2 packages (4 MB)'
unlike 'and installs nothing' "$(grep -v print-uris calls)" 'install'

touch offline
deps build
is 'without a network it fails' "$status" 1
like 'with the reason of apt' "$err" 'cannot install packages: W: Failed to fetch http://server/InRelease  Could not resolve'
like 'the missing packages' "$err" 'missing packages: .*libdw-dev'
like 'and the command' "$err" 'run as root: apt-get update && apt-get install --no-install-recommends .*libdw-dev'
deps --optional build
is 'what is optional is no failure' "$status" 0

fake id 'echo 1000'
rm -f calls
deps build
is 'without root and sudo it fails' "$status" 1
like 'with the reason' "$err" 'not root, and sudo is not installed'
like 'and the command, too' "$err" 'run as root: apt-get update && apt-get install'
is 'and apt is not asked' "$(cat calls 2>/dev/null)" ''

fake node 'exit 0'
fake npm 'exit 0'
deps web
is 'a command that is there needs no package' "$status" 0
deps nonsense
is 'an unknown group is a usage error' "$status" 2
done_testing
