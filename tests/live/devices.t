#!/bin/bash
# GPUs and energy in live metrics: from NVML or a command that prints (stand-ins), and from meters below a tree of our own;
# what is not there has no family, and what is old is not shown.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"
unset LD_LIBRARY_PATH # the build has stand-ins on it

mkdir -p bin meters/intel-rapl:0 meters/intel-rapl:0:0 none
echo package-0 >meters/intel-rapl:0/name
echo dram >meters/intel-rapl:0:0/name
echo 9500000 >meters/intel-rapl:0/energy_uj
echo 10000000 >meters/intel-rapl:0/max_energy_range_uj
echo 100 >meters/intel-rapl:0:0/energy_uj
# with DIR VARIABLE...: sonde live with these meters and this environment; its page is in `page`.
with() {
	printf 'powercap: %s\n' "$TEST_DIR/$1" >live.yml
	env PATH="$TEST_DIR/bin:$PATH" "${@:2}" "$SONDE" live --listen 127.0.0.1:0 --config live.yml >url 2>url.err &
	live=$!
	poll test -s url
	scrape
}
scrape() { curl -s -o page "$(<url)/metrics"; }
stop() {
	kill "$live"
	wait "$live"
	rm url
}
value() { sed -n "s/^$1 //p" page; }
has() { scrape && [[ $(value "$1") == "$2" ]]; }

with meters LD_LIBRARY_PATH="$FAKES"
is 'NVML: busy' "$(value 'sonde_gpu_busy_ratio{gpu="0"}')" 0.87
is 'NVML: memory that is used is not what is free' "$(value 'sonde_gpu_memory_used_bytes{gpu="0"}')" 3221225472
is 'NVML: of how much' "$(value 'sonde_gpu_memory_size_bytes{gpu="0"}')" 17179869184
is 'NVML: power' "$(value 'sonde_gpu_power_watts{gpu="0"}')" 71.5
is 'NVML: every device' "$(value 'sonde_gpu_temperature_celsius{gpu="1"}')" 45
is 'NVML: what a device does not tell is missing' "$(value 'sonde_gpu_power_watts{gpu="1"}')" ''
is 'energy counts from the first look' "$(value 'sonde_energy_joules_total{zone="package-0"}')" 0
echo 250000 >meters/intel-rapl:0/energy_uj
scrape
is 'and over the meter'"'"'s end' "$(value 'sonde_energy_joules_total{zone="package-0"}')" 0.75
is 'a part of a package has its name' "$(value 'sonde_energy_joules_total{zone="package-0.dram"}')" 0
if command -v promtool >/dev/null; then
	ok 'promtool finds nothing to mend' promtool check metrics <page
else
	skip 'promtool finds nothing to mend' 'prometheus, of the services, is not installed'
fi
stop

# tegrastats prints ten lines a second whether somebody asks or not: the newest is shown, not the oldest in a queue.
cat >bin/tegrastats <<END
#!/bin/bash
echo \$\$ >$TEST_DIR/tegra.pid
for ((i = 0; i < 20000; i++)); do echo "RAM \$((i < 19000 ? 1000 : 2000))/3964MB (lfb 2x4MB) CPU [5%@1224] GR3D_FREQ 37%@76 VDD_GPU 1234/1200"; done
touch $TEST_DIR/printed
exec sleep 1000
END
chmod +x bin/tegrastats
with none
poll test -e printed
ok 'tegrastats: the newest of 20 000 lines' poll has 'sonde_gpu_memory_used_bytes{gpu="0"}' $((2000 << 20))
is 'tegrastats: busy' "$(value 'sonde_gpu_busy_ratio{gpu="0"}')" 0.37
is 'tegrastats: power' "$(value 'sonde_gpu_power_watts{gpu="0"}')" 1.234
ok 'what was said long ago is not shown' poll has 'sonde_gpu_busy_ratio{gpu="0"}' ''
is 'no meter, no energy' "$(grep -c sonde_energy page)" 0
stop
ok 'the command has ended with us' test ! -d "/proc/$(<tegra.pid)"

rm bin/tegrastats
if [[ ! -e /dev/nvidiactl ]]; then
	with none
	is 'no GPU, no family' "$(grep -c sonde_gpu page)" 0
	stop
fi
done_testing
