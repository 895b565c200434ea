#!/bin/sh
# build.sh SOURCE_DIR OUT_DIR NODE NPM: the page into OUT_DIR, from a copy, so that the sources stay clean.
#
# What bundles it comes from the npm registry by name and lockfile. Where that cannot be reached the build goes on with a
# page that says so: the API and everything else are whole without it.
set -u

source_dir=$1
out_dir=$2
node=$3
npm=$4
work=$out_dir/work

without_page() {
	echo "web: $1; sonde will have no page" >&2
	printf '<!doctype html><html lang=en><meta charset=utf-8><title>sonde</title><p>This sonde was built without its page: %s. The API is at /api/run, /api/tracks and so on.\n' "$1" >"$out_dir/index.html"
	: >"$out_dir/app.js"
	: >"$out_dir/app.css"
	printf '#define PAGE_STAMP "none"\n#define PAGE_IS_MISSING 1\n' >"$out_dir/page-stamp.h"
	exit 0
}

mkdir -p "$work" || exit 1
rm -rf "$work/src"
cp -R "$source_dir/src" "$source_dir/build.mjs" "$source_dir/package.json" "$source_dir/package-lock.json" "$work/" || exit 1
if ! cmp -s "$work/package-lock.json" "$work/node_modules/.installed"; then
	(cd "$work" && "$npm" ci --ignore-scripts --no-audit --no-fund --silent) >"$work/npm.log" 2>&1 ||
		without_page "its tools could not be fetched, see $work/npm.log"
	cp "$work/package-lock.json" "$work/node_modules/.installed"
fi
exec "$node" "$work/build.mjs" "$out_dir"
