#!/bin/sh
# build.sh SOURCE_DIR OUT_DIR NODE NPM STAMP DEPFILE: the page into OUT_DIR, from a copy, so that the sources stay clean.
#
# What bundles it comes from the npm registry by name and lockfile. Where that cannot be reached the build continues without
# the page: page-stamp.h has the reason, which sonde view and sonde report print, and DEPFILE makes STAMP depend on a file
# that does not exist, so that the next build tries again.
set -u

source_dir=$1
out_dir=$2
node=$3
npm=$4
stamp=$5
depfile=$6
work=$out_dir/work

# Write standard input to a file; one that has this text already keeps its time, and nothing is compiled again.
update() {
	cat >"$1.new"
	if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

# npm's own reason: the line with the failed request, else its first error. What C or HTML would read otherwise is taken out.
npm_reason() {
	{ grep -m1 'reason:' "$1" || grep -m1 -E '^npm (ERR!|error)' "$1" || tail -n 1 "$1"; } |
		sed 's/^npm \(ERR!\|error\) *//; s/["\\<>&%]//g' | cut -c 1-200
}

# The same without the addresses of this machine's registry or proxy: what is compiled in may be shipped.
without_addresses() {
	sed -E 's#https?://[^ ,]*#the registry#g; s/(E[A-Z_]+) +[^ ,]*[.:][^ ,]*/\1/g'
}

without_page() {
	reason="npm could not fetch what builds it: $(npm_reason "$1")"
	echo "web: sonde is built without its page: $reason" >&2
	reason=$(echo "$reason" | without_addresses)
	echo "web: npm's output is in $1; the next 'make' tries again" >&2
	for file in index.html app.js app.css; do update "$out_dir/$file" </dev/null; done
	printf '#define PAGE_LACK "%s"\n#define PAGE_REMEDY "%s"\n' "$reason" \
		"run 'make' in the source tree of sonde where npm can reach its registry" | update "$out_dir/page-stamp.h"
	echo "$stamp: $out_dir/the-page-is-missing" >"$depfile"
	exit 0
}

mkdir -p "$work" || exit 1
rm -rf "$work/src"
cp -R "$source_dir/src" "$source_dir/build.mjs" "$source_dir/package.json" "$source_dir/package-lock.json" "$work/" || exit 1
if ! cmp -s "$work/package-lock.json" "$work/node_modules/.installed"; then
	(cd "$work" && "$npm" ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 \
		--fetch-retry-mintimeout=1000) >"$work/npm.log" 2>&1 || without_page "$work/npm.log"
	cp "$work/package-lock.json" "$work/node_modules/.installed"
fi
echo "$stamp:" >"$depfile"
exec "$node" "$work/build.mjs" "$out_dir"
