#!/bin/bash
# A dataset from an S3 server that others wrote (s3rver, of npm): put there by botocore, fetched by us; broken off and resumed,
# with a wrong hash, with a wrong signature. s3rver does not check signatures: botocore does, on the way.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"
/usr/bin/python3 -c 'import botocore' 2>/dev/null || skip_service 'python3-botocore is not installed'
command -v npm >/dev/null || skip_service 'npm is not installed'
cp "$SOURCE_DIR"/tests/session/s3rver/package*.json .
npm ci --ignore-scripts --no-audit --no-fund --silent >npm.log 2>&1 || skip_service "npm cannot fetch s3rver: $(tail -n 1 npm.log)"

port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir objects way
node node_modules/.bin/s3rver --directory objects --address 127.0.0.1 --port "$port" --configure-bucket data >s3.log 2>&1 &
server=$!
is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
poll is_open || diag "$(<s3.log)"
/usr/bin/python3 "$SOURCE_DIR/tests/session/way.py" "$port" "$TEST_DIR/way" &
way=$!
poll test -e way/way-port
/usr/bin/python3 -c 'import random; random.seed(2); open("data", "wb").write(random.randbytes(3000000))'
sum=$(sha256sum data | cut -d' ' -f1)
unset http_proxy https_proxy AWS_SESSION_TOKEN AWS_ENDPOINT_URL AWS_PROFILE
/usr/bin/python3 - "$port" <<'END' || diag "$(<s3.log)"
import sys
import botocore.config
import botocore.session
client = botocore.session.Session().create_client(
    "s3", region_name="us-east-1", endpoint_url=f"http://127.0.0.1:{sys.argv[1]}", aws_access_key_id="S3RVER",
    aws_secret_access_key="S3RVER", config=botocore.config.Config(s3={"addressing_style": "path"}))
client.put_object(Bucket="data", Key="some/a b+c.bin", Body=open("data", "rb").read())
END

export XDG_CACHE_HOME=$TEST_DIR/cache AWS_ACCESS_KEY_ID=S3RVER AWS_SECRET_ACCESS_KEY=S3RVER AWS_REGION=us-east-1
# fetch SHA256: a session with the object as its dataset.
fetch() {
	rm -rf out
	printf 'command: [sha256sum]\nargs: ["{dataset}"]\ndataset: { source: "s3://data/some/a b+c.bin", endpoint: "http://127.0.0.1:%s", sha256: %s }\n' \
		"$(<way/way-port)" "$1" >s.yml
	run "$SONDE" session s.yml -o out --json
}
of() { jq -r ".dataset.$1" out/profile.json; }

fetch "$sum"
is 'what botocore put is fetched' "$status $(of sha256)" "0 $sum" || diag "$err" "$(tail -n 3 s3.log)"
like 'and is what the application gets' "$err" "$sum"
rm -rf cache
AWS_SECRET_ACCESS_KEY=other fetch "$sum"
like 'a wrong signature is refused' "$status $err" '1 .*access denied \(HTTP 403\)'
wrong=$(printf x | sha256sum | cut -d' ' -f1)
fetch "$wrong"
like 'a wrong hash too' "$status $err" "1 .*sha256 is $sum, expected $wrong"

rm -rf cache
touch way/CUT
rm way/asked
fetch "$sum"
is 'an answer that breaks off is gone on with' "$status $(of sha256)" "0 $sum"
is 'each time from where it stopped, which s3rver agrees to' "$(<way/asked)" '200 -
206 bytes=1000000-
206 bytes=2000000-'
kill "$server" "$way"
wait "$server" "$way" 2>/dev/null
done_testing
