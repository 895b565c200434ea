#!/bin/bash
# Where npm cannot reach its registry the build continues without the page, has the reason, and tries again.
. "$(dirname "$0")/../lib/tap.sh"

mkdir bin
cat >bin/npm <<'SH'
#!/bin/bash
echo >>"$TEST_DIR/calls"
if [[ -e $TEST_DIR/online ]]; then mkdir -p node_modules && exit 0; fi
echo 'npm ERR! code ECONNREFUSED' >&2
echo 'npm ERR! FetchError: request to https://registry.example/esbuild failed, reason: connect ECONNREFUSED "127.0.0.1:9"' >&2
exit 1
SH
cat >bin/node <<'SH'
#!/bin/bash
if [[ $1 == --version ]]; then echo v18.0.0 && exit; fi
echo '<p>page' >"$2/index.html"
touch "$2/app.js" "$2/app.css"
echo '#define PAGE_STAMP "made"' >"$2/page-stamp.h"
SH
chmod +x bin/*
export PATH=$TEST_DIR/bin:$PATH
run meson setup -Dauto_features=disabled -Dserve=enabled -Dweb=enabled build "$SOURCE_DIR"
is 'the page is configured' "$status" 0
object=$(cd build && ninja -t targets all | sed -n 's,^\(.*/page\.c\.o\):.*,\1,p')
build() { run ninja -C build web/page-stamp.h "$object"; }

build
is 'a build without the registry succeeds' "$status" 0
like 'and has the error of npm' "$out$err" 'built without its page: npm could not fetch .*reason: connect ECONNREFUSED 127.0.0.1:9'
ok 'which the programs have, too' grep -q 'npm could not fetch what builds it: .*ECONNREFUSED' "build/$object"
is 'without the address of the registry' "$(grep -cE 'registry\.example|127\.0\.0\.1:9' "build/$object")" 0
build
is 'the next build tries again' "$(wc -l <calls)" 2
touch online
build
is 'a build with the registry succeeds' "$status" 0
like 'and has the page' "$(cat build/web/page-stamp.h)" 'PAGE_STAMP "made"'
ok 'in the programs' grep -q '<p>page' "build/$object"
build
is 'after that npm is not run again' "$(wc -l <calls)" 3
done_testing
