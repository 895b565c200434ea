#!/bin/bash
# Datasets of a session: from the web, S3 (signed; botocore checks) and Sage; resumed, checked, cached.
. "$(dirname "$0")/../lib/tap.sh"
/usr/bin/python3 -c 'import botocore' 2>/dev/null || skip_service 'python3-botocore is not installed'
poll() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

mkdir store
/usr/bin/python3 -c 'import random; random.seed(1); open("store/data", "wb").write(random.randbytes(3000000))'
cp store/data 'store/a b+c.bin'
sum=$(sha256sum store/data | cut -d' ' -f1)
/usr/bin/python3 "$SOURCE_DIR/tests/session/store.py" "$TEST_DIR/store" 2>store.err &
server=$!
poll test -e store/port
web=http://127.0.0.1:$(<store/port)
export XDG_CACHE_HOME=$TEST_DIR/cache AWS_ACCESS_KEY_ID=test-id AWS_SECRET_ACCESS_KEY=test-secret AWS_REGION=eu-test-1 SAGE_TOKEN=secret
unset http_proxy https_proxy AWS_SESSION_TOKEN AWS_ENDPOINT_URL

# fetch SOURCE [SHA256]: a session with that dataset; it prints the digest of what it got.
fetch() {
	rm -rf out
	printf 'command: [sha256sum]\nargs: ["{dataset}"]\ndataset: { source: "%s", endpoint: %s%s }\n' "$1" "$web${3-}" "${2:+, sha256: $2}" >s.yml
	run "$SONDE" session s.yml -o out --json
}
of() { jq -r ".dataset.$1" out/profile.json; }

fetch "$web/plain/data" "$sum"
is 'from the web' "$status $(of sha256)" "0 $sum"
like 'the application finds it' "$err" "$sum"
asked=$(wc -l <store/asked)
fetch "$web/plain/data" "$sum"
is 'again from the cache' "$status $(of was_cached) $(wc -l <store/asked)" "0 true $asked"
fetch "$web/moved" "$sum"
is 'a redirect is followed' "$status" 0
fetch "$web/plain/nothing" "$sum"
like 'what is not there is said to be' "$status $err" "1 .*not found"
wrong=$(printf x | sha256sum | cut -d' ' -f1)
fetch "$web/plain/data" "$wrong"
like 'a wrong digest is refused' "$status $err" "1 .*sha256 is $sum, expected $wrong"

touch store/CUT
rm -rf cache
fetch "$web/plain/data" "$sum"
like 'a transfer that breaks off is tried a few times' "$status $err" '1 .*cannot fetch'
like 'each from where the one before stopped' "$(tail -n 1 store/asked)" '/plain/data bytes=2250000-'
rm store/CUT
fetch "$web/plain/data" "$sum"
is 'and goes on the next time' "$status $(of sha256)" "0 $sum"
is 'with what was there' "$(of resumed_bytes)" 2625000

fetch "s3://bucket/some/a b+c.bin" "$sum"
is 'from S3, with a signature that botocore agrees with' "$status $(of sha256)" "0 $sum"
AWS_SECRET_ACCESS_KEY=other fetch "s3://bucket/data" "$sum"
like 'a wrong signature is refused' "$status $err" '1 .*access denied \(HTTP 403\)'
fetch "sage://some/data" "$sum" /objects
is 'from the Sage object store' "$status $(of sha256)" "0 $sum"
SAGE_TOKEN=x fetch "sage://some/other" "$sum" /objects
like 'with its token' "$err" 'access denied \(HTTP 401\)'
fetch "ftp://x/y"
like 'no other scheme' "$status $err" '1 .*invalid dataset .*file:PATH'
kill "$server"
wait "$server" 2>/dev/null
done_testing
