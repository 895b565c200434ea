#!/bin/bash
# The shipped sessions run: sound, an application that needs another one, and one that lives by its network.
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$SONDE_STAGE/lib/sonde/python

free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
cp "$SONDE_STAGE"/share/sonde/sessions/* .
web=$(free_port) stream=$(free_port)
sed -i "s/18099/$web/; s/18099/$web/" companion.yml
sed -i "s/18098/$stream/" network.yml
sed -i 's/\[python3,/[\/usr\/bin\/python3,/' ./*.yml
sed -i '/^  metric_per_second/d' network.yml
sed -i '/^thresholds/,$d' audio.yml # how fast a machine is, is not ours to say
/usr/bin/python3 tone.py tone.wav 3

steps() { jq -r ".values[] | select(.name == \"steps\" and .step == \"$2\") | .median" "$1/profile.json"; }
for name in audio companion network; do
	run "$SONDE" session "$name.yml" -o "out-$name"
	is "$name ends well" "$status" 0 || diag "$err"
done
is 'every window was heard, in each repeat' "$(steps out-audio window)" 30
is 'a program of one thread kept one processor busy, in each repeat' \
	"$(jq '[.values[] | select(.name == "cpus") | .max < 1.3] | all' out-audio/profile.json)" true
is 'every request was answered' "$(steps out-companion request)" 50
is 'every mebibyte came' "$(steps out-network mebibyte)" 64
is 'and is in the profile' "$(jq -r '.values[] | select(.name == "metric_total" and .metric == "received_bytes") | .median' out-network/profile.json)" $((64 << 20))
is 'with how much came a second' \
	"$(jq -r '.values[] | select(.name == "metric_per_second" and .metric == "received_bytes") | .median > 0' out-network/profile.json)" true
done_testing
