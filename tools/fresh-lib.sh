# shellcheck shell=bash
# fresh-lib.sh: pristine Debian 12 roots for tools/check-fresh. Needs root.
#
#	make_root FILE         write a minimal root as a tar file, with no setting of this machine in it
#	unpack_root FILE DIR   unpack it, mount what a running system has, add the user `fresh`
#	enter DIR COMMAND...   run a command in it, as root, with a clean environment and this machine's network
#	enter_offline USER DIR COMMAND...   the same as this user, with loopback alone
#
# The machine's package sources, npm settings and certificates are needed to download and are nobody else's business:
# they are written to DIR/run/machine, a tmpfs that only the caller's mount namespace has, and `filter_hosts` removes
# their host names from what is printed. Callers run in their own mount and PID namespaces (unshare --mount --pid), so
# that mounts and processes vanish with them.

FRESH_SUITE=bookworm
FRESH_PACKAGES=make,git,ca-certificates
FRESH_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# Debian's package sources as this machine has them; other sources would make the root something else than Debian 12.
machine_sources() {
	local sources
	# shellcheck disable=SC2016 # apt expands these
	sources=$(apt-get indextargets --format '$(ORIGIN)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		grep -E "^Debian\|deb [^ ]+ $FRESH_SUITE(-updates|-security)? " | cut -d'|' -f2 | sort -u)
	if [[ -z $sources ]]; then
		sources="deb http://deb.debian.org/debian $FRESH_SUITE main
deb http://deb.debian.org/debian $FRESH_SUITE-updates main
deb http://deb.debian.org/debian-security $FRESH_SUITE-security main"
	fi
	printf '%s\n' "$sources"
}

# How this machine's apt reaches them: proxies, and whether it accepts old indices.
machine_apt_conf() { apt-config dump Acquire | grep -E '^Acquire::(http|https|ftp)::|^Acquire::Check-Valid-Until' || true; }

# Write what downloads need into the directory $1.
write_machine_settings() {
	local dir=$1 file
	machine_sources >"$dir/sources.list"
	{
		machine_apt_conf
		printf 'Dir::Etc::sourcelist "/run/machine/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
		printf 'Dir::Etc::netrc "/run/machine/auth.conf";\n'
	} >"$dir/apt.conf"
	cat /etc/apt/auth.conf /etc/apt/auth.conf.d/*.conf 2>/dev/null >"$dir/auth.conf" || true
	for file in "$(npm config get globalconfig 2>/dev/null)" ~/.npmrc; do
		[[ ! -f $file ]] || cat "$file"
		echo
	done | grep -vE '^(cafile|nodedir|prefix|cache)[ =]' >"$dir/npmrc"
	cp /etc/ssl/certs/ca-certificates.crt "$dir/ca.crt"
	cp -L /etc/resolv.conf "$dir/resolv.conf"
}

# A sed program that hides the hosts the settings in directory $1 name.
write_filter() {
	grep -hoE '//[^/ "]+' "$1/sources.list" "$1/apt.conf" "$1/npmrc" | sed 's#^//##; s#.*@##; s#:[0-9]*$##' | sort -u |
		sed 's/[.]/\\./g; s/.*/s#&#MIRROR#g/'
}

make_root() {
	local file=$1 settings option
	settings=$(mktemp -d)
	write_machine_settings "$settings"
	write_filter "$settings" >"$settings/filter"
	local options=()
	while read -r option; do options+=("--aptopt=$option"); done < <(machine_apt_conf)
	# shellcheck disable=SC2016 # mmdebstrap passes the directory as $1
	# What mmdebstrap leaves of the machine goes before the tar file is written: mirrors, proxies, resolver, host name.
	mmdebstrap --quiet --mode=root --format=tar --dpkgopt=force-unsafe-io --variant=minbase --include="$FRESH_PACKAGES" "${options[@]}" \
		--customize-hook='rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/dpkg/dpkg.cfg.d/99mmdebstrap' \
		--customize-hook=': >"$1/etc/resolv.conf"; echo fresh >"$1/etc/hostname"; rm -rf "$1"/var/lib/apt/lists/* "$1"/var/log/apt/*' \
		"$FRESH_SUITE" "$file.new" "$settings/sources.list" 2>&1 | sed -f "$settings/filter"
	local status=${PIPESTATUS[0]}
	rm -rf "$settings"
	[[ $status == 0 ]] && mv "$file.new" "$file"
}

unpack_root() {
	local file=$1 root=$2
	mkdir -p "$root"
	tar -xpf "$file" -C "$root" --numeric-owner --exclude='./dev/*'
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	mount -t tmpfs -o mode=755 tmpfs "$root/run"
	mkdir -m 700 "$root/run/machine"
	mkdir -p "$root/run/lock"
	write_machine_settings "$root/run/machine"
	chmod 755 "$root/run/machine"
	mount --bind "$root/run/machine/resolv.conf" "$root/etc/resolv.conf"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fresh" # it does not outlive a crash
	echo '127.0.0.1 localhost fresh' >"$root/etc/hosts"
	chroot "$root" useradd -m -s /bin/bash fresh
}

# Downloaded packages are kept in directory $1; they are Debian's, whatever mirror they came from.
keep_archives() {
	mkdir -p "$1/partial"
	mount --bind "$1" "$2/var/cache/apt/archives"
}

# A shell program: make the directory $1 the root of a mount namespace and execute the rest. Below a chroot, `/` is no
# mount point: a program in it cannot change how mounts spread, as sandboxes and half of the tests do.
# shellcheck disable=SC2016 # the shell that runs it expands these
ENTER_ROOT='mount --rbind "$1" "$1" && cd "$1" && pivot_root . . && umount -l . && cd / && shift && exec "$@"'

fresh_env() { env -i PATH="$FRESH_PATH" LANG=C.UTF-8 TERM=dumb "$@"; }

enter() {
	local root=$1 name proxies=()
	shift
	for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
		[[ -z ${!name-} ]] || proxies+=("$name=${!name}")
	done
	fresh_env HOME=/root USER=root "${proxies[@]}" APT_CONFIG=/run/machine/apt.conf NODE_EXTRA_CA_CERTS=/run/machine/ca.crt \
		NPM_CONFIG_USERCONFIG=/run/machine/npmrc unshare --mount sh -c "$ENTER_ROOT" sh "$root" "$@" </dev/null
}

enter_offline() {
	local user=$1 root=$2 home
	shift 2
	home=/home/$user
	[[ $user != root ]] || home=/root
	fresh_env HOME="$home" USER="$user" unshare --net --mount sh -c "ip link set lo up && $ENTER_ROOT" sh "$root" \
		setpriv --reuid "$user" --regid "$user" --init-groups "$@" </dev/null
}
