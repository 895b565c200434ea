"""cases: command lines whose output, status and files must be the same with and without sonde.

A case is a name and a bash script; `around` is a bash script that starts "$@" (which is the
case, alone or under sonde) with something unusual inherited. What differs from run to run by its
nature is named by `varies`, a word of NORMALISERS. `only` restricts a case to one of the modes
"disabled" and "recorded", with the reason.
"""
import dataclasses
import re

# What cannot be the same in two runs, and how it is made so.
NORMALISERS = {
    "pid": ("process ids, in bash's messages and in /proc", re.compile(rb"\b\d{2,7}\b"), b"PID"),
    "inode": ("numbers of anonymous pipes", re.compile(rb"(pipe|socket):\[\d+\]"), rb"\1:[N]"),
    "time": ("dd and time say how long they took", re.compile(rb"[0-9.e-]+ s, [0-9.]+ [kMGT]?B/s|[0-9]+m[0-9.]+s"), b"TIME"),
    "order": ("lines of processes that run at the same time", None, None),
}


def normalise(text, varies):
    """The text without what varies."""
    for word in varies:
        _, pattern, replacement = NORMALISERS[word]
        text = pattern.sub(replacement, text) if pattern else b"".join(sorted(text.splitlines(True)))
    return text


@dataclasses.dataclass
class Case:
    """One row."""
    name: str
    script: str
    around: str = 'exec "$@"'
    stdin: bytes = b""
    varies: tuple = ()
    only: tuple = ()  # (mode, reason)
    needs: tuple = ()  # programs that may not be there


STDIN = b"first line\nsecond line\nthird, without an end"
SIGNAL_STATE = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"
PYTHON = "/usr/bin/python3 -I -c"


def _coreutils():
    simple = r"""
        ls|ls -a .
        ls -la|ls -la
        ls -laR|ls -laR dir
        ls missing|ls nothing-here dir
        ls quoted|ls --quoting-style=shell-escape dir
        cat|cat letters.txt numbers.txt
        cat -A|cat -A binary | head -c 2000
        cat stdin|cat - letters.txt
        tac|tac letters.txt
        nl|nl -ba left.txt
        head|head -n 3 letters.txt numbers.txt
        head -c|head -c 100 binary | od -c
        tail|tail -n 5 numbers.txt
        tail +n|tail -n +190 letters.txt
        tail -f|sleep 0.1 & tail -f --pid=$! left.txt
        sort|sort letters.txt
        sort -n -u|sort -n -u numbers.txt
        sort -k|sort -t, -k3,3 -k2,2nr table.csv
        sort -S|sort -S 16k -T . numbers.txt
        sort --parallel|sort --parallel=2 numbers.txt
        uniq|sort letters.txt | uniq -c
        wc|wc letters.txt numbers.txt binary
        wc -c|wc -c < binary
        tr|tr a-z A-Z < letters.txt
        cut|cut -d, -f1,3 table.csv
        paste|paste left.txt right.txt
        join|join left.txt right.txt
        comm|comm left.txt right.txt
        fold|fold -w 7 table.csv
        fmt|fmt -w 20 letters.txt
        expand|printf 'a\tb\n' | expand -t 4
        od|od -A x -t x1z binary
        base64|base64 binary
        base64 -d|base64 binary | base64 -d | cmp - binary
        md5sum|md5sum letters.txt numbers.txt
        sha256sum -c|sha256sum letters.txt > sums; sha256sum -c sums
        cksum|cksum binary
        dd|dd if=binary of=copy bs=1000 count=7 skip=1 status=none; cksum copy
        dd pipe|cat binary | dd bs=512 iflag=fullblock status=none | cksum
        dd conv|dd if=letters.txt of=copy conv=ucase,notrunc,fsync status=none
        dd sparse|dd if=/dev/zero of=hole bs=1k seek=1000 count=1 status=none; stat -c '%s' hole
        tee|tee a b < letters.txt
        tee -a|tee -a letters.txt
        cp|cp letters.txt copy
        cp -a|cp -a dir copied
        cp -r link|cp -rL link copy; cp -P link other
        cp --sparse|truncate -s 1M hole; cp --sparse=always hole hole2; du -k hole2 | cut -f1
        cp fails|cp dir copied
        install|install -m 640 letters.txt installed
        mv|mv letters.txt moved
        mv across|mv letters.txt /dev/shm/sonde-transparency.$$ && mv /dev/shm/sonde-transparency.$$ back
        mv dir|mv dir elsewhere
        rm|rm letters.txt
        rm -r|rm -r dir
        rm -f missing|rm -f nothing; rm nothing
        rm -rv|rm -rv dir | sort
        rmdir|mkdir -p x/y/z; rmdir -p x/y/z
        rmdir not empty|rmdir dir
        mkdir -p|mkdir -p a/b/c; mkdir -m 700 d
        mkdir exists|mkdir dir
        ln|ln letters.txt another; ln -s ../x sym; ln -sf other sym
        ln exists|ln letters.txt numbers.txt
        ln across|ln letters.txt /dev/shm/x.$RANDOM 2>&1 | sed 's/x\.[0-9]*/X/'
        link unlink|link letters.txt l2; unlink letters.txt
        touch|touch -d @1234567890 stamped; stat -c '%n %s %a %Y' stamped
        touch -r|touch -r letters.txt new; stat -c %Y new
        truncate|truncate -s 10 letters.txt; truncate -s +5 left.txt
        stat|stat -c '%n %s %a %F %U %h %N' letters.txt dir link broken
        stat -f|stat -f -c '%T' .
        du|du -a --apparent-size dir | sort
        df|df --output=target .
        sync|sync letters.txt
        split|split -n 4 -d binary part.
        csplit|csplit -s sections.txt '/^==/' '{*}'
        readlink|readlink link; readlink -f link | sed s,.*/,,
        realpath|realpath --relative-to=. link dir/../plain
        basename dirname|basename /a/b.c .c; dirname /a/b.c
        pathchk|pathchk -p 'a:b'
        mktemp|f=$(mktemp ./t.XXXXXX) && [[ $f =~ ^./t\.[A-Za-z0-9]{6}$ ]] && stat -c %a $f; rm $f
        date|date -u -d @0; date -u -r letters.txt +%s
        seq|seq -w 1 7 99; seq 1e3 1001
        seq long|seq 1 200000 | cksum
        yes head|yes abc | head -n 1000 | cksum; echo ${PIPESTATUS[@]}
        true false|true; echo $?; false
        test|test -f letters.txt && test ! -e nothing && [ 3 -gt 2 ]; echo $?
        expr|expr 3 + 4; expr abc : 'a\(.*\)'; expr 0
        factor|factor 1234567890123456789 97
        numfmt|echo 123456789 | numfmt --to=iec
        printf|printf '%5.2f|%q|%b\n' 3.14159 'a b' 'x\ty'; /usr/bin/printf '%d\n' 42
        echo|/bin/echo -e 'a\nb\c'
        env|env | sort
        env order|env -i A=1 B=2 C=3 env
        printenv|printenv HOME NOTHING
        env -i|env -i X=1 /usr/bin/env
        env -u|env -u HOME /usr/bin/printenv | sort
        env -C|env -C dir pwd
        env split|env -S 'A=1 printenv A'
        id|id; id -un
        nproc|nproc; nproc --ignore=1
        uname|uname -sm
        tty|tty
        pwd|pwd -P | sed s,.*/,,; cd dir; pwd | sed s,.*/,,
        nohup|nohup printf 'still here\n'
        timeout|timeout 0.2 sleep 5; echo $?; timeout 5 printf in-time
        timeout own|timeout 0.2 sleep 5
        nice|nice -n 7 nice
        stdbuf|stdbuf -oL printf 'a\nb\n'
        shuf|shuf --random-source=numbers.txt letters.txt | head -n 20
        sort -R|sort -R --random-source=binary letters.txt | head -n 20
        tsort|printf 'a b b c\n' | tsort
        ptx|ptx -G left.txt
        pr|pr -h title -D now left.txt
        chmod|chmod -R go= dir; chmod u+s plain; stat -c %a dir plain
        chown|chown 1234:4321 plain; stat -c %u:%g plain
        mkfifo|mkfifo p; cat letters.txt > p & cat p; wait; stat -c %F p
        mknod|mknod p p; stat -c %F p
        shred|shred -n 1 -u plain; ls plain
        sleep|sleep 0.01
        b2sum|b2sum binary
        basenc|basenc --base16 -w 0 binary | head -c 100
        groups|groups
        who|who /dev/null
        uptime-free|arch; hostid > h; wc -c < h
    """
    rows = [line.strip().split("|", 1) for line in simple.strip().splitlines()]
    return [Case("coreutils: " + name, script, stdin=STDIN) for name, script in rows]


def _others():
    return [
        Case("find", "find . -type f -size +0 | sort; find dir -name 't*' -exec cat {} +; find dir -delete"),
        Case("find -exec each", "find dir -type f -exec basename {} ';' | sort"),
        Case("xargs", "printf '%s\\n' a b c | xargs -n 1 echo got"),
        Case("xargs -P2", "seq 1 20 | xargs -P 2 -n 1 sh -c 'echo $0; exit 0'", varies=("order",)),
        Case("xargs fails", "seq 1 3 | xargs -n 1 sh -c 'exit 3'; echo $?"),
        Case("grep", "grep -n '^a' letters.txt; grep -r one dir; grep -c x empty; echo $?; grep x nothing"),
        Case("grep -q pipe", "yes | grep -q y; echo ${PIPESTATUS[@]}"),
        Case("sed", "sed -n '2,5p;s/a/A/gp' letters.txt; sed -i s/one/ONE/ dir/one"),
        Case("awk", "awk -F, '{s[$3]+=$2} END {for (k in s) print k, s[k] | \"sort\"}' table.csv; awk 'BEGIN{\"date -u -d @0\"|getline d; print d; exit 4}'"),
        Case("diff", "diff left.txt right.txt; echo $?; diff -r dir dir; diff left.txt nothing"),
        Case("cmp", "cmp letters.txt numbers.txt; cmp letters.txt hard"),
        Case("tar", "tar --sort=name -cf a.tar dir letters.txt link && tar -tvf a.tar --utc && mkdir out && tar -xf a.tar -C out && rm a.tar"),
        Case("tar gz", "tar --sort=name -czf - dir | tar -tzf - | sort"),
        Case("gzip", "gzip -nk letters.txt && gzip -l letters.txt.gz && zcat letters.txt.gz | cmp - letters.txt; gunzip nothing"),
        Case("bzip2 xz", "bzip2 -k letters.txt; xz -k numbers.txt; xzcat numbers.txt.xz | cksum", needs=("bzip2", "xz")),
        Case("zstd", "zstd -q numbers.txt -o n.zst && zstd -dc n.zst | cmp - numbers.txt", needs=("zstd",)),
        Case("zstd -T2", "cat numbers.txt numbers.txt | zstd -q -T2 | zstd -qdc | cksum", needs=("zstd",)),
        Case("cpio", "find dir -depth -print0 | sort -z | cpio -0o --quiet | cpio -it --quiet", needs=("cpio",)),
        Case("make", "make; make -q b; echo $?; make fail; echo $?; make nothing"),
        Case("make -j2", "make -j2 all"),
        Case("gcc", "gcc -O1 -o main main.c && ./main; s=$?; rm main; exit $s"),
        Case("gcc fails", "echo 'int main(void) { return x; }' > bad.c; gcc bad.c -o bad"),
        Case("perl", "perl -ne 'print scalar reverse' letters.txt | head -n 5; perl -e 'open F, \"nothing\" or print \"$!\\n\"; exit 6'"),
        Case("perl fork", "perl -e '$|=1; if (!fork) { print \"child\\n\"; exit 3 } wait; print $?>>8, \"\\n\"'"),
        Case("perl die", "perl -e 'die \"dead\\n\"'"),
        Case("hexdump", "hexdump -C binary | head -n 5", needs=("hexdump",)),
        Case("xxd", "xxd binary | tail -n 3; xxd -p letters.txt | xxd -r -p | cmp - letters.txt", needs=("xxd",)),
        Case("column rev", "column -s, -t table.csv | head -n 4; rev left.txt", needs=("column", "rev")),
        Case("getopt", "getopt -o ab: -- -a -b x rest", needs=("getopt",)),
        Case("flock", "flock lockfile echo locked; (flock -n 9 && echo got) 9>lockfile", needs=("flock",)),
        Case("timeout -s KILL", "timeout -s KILL 0.2 sleep 5; echo $?", varies=("pid",)),
        Case("setsid", "setsid -w sh -c 'exit 4'; echo $?"),
        Case("setpriv", "setpriv --reuid=65534 --regid=65534 --clear-groups cat noperm", needs=("setpriv",)),
        Case("no-new-privs", "setpriv --no-new-privs grep NoNewPrivs /proc/self/status", needs=("setpriv",)),
        Case("taskset", "taskset -c 0 nproc", needs=("taskset",)),
        Case("unshare", "unshare -n -m sh -c 'cat letters.txt | wc -l'", needs=("unshare",)),
        Case("chroot", "chroot / /bin/sh -c 'cat /etc/hostname | wc -l'"),
        Case("prlimit", "prlimit --nofile=9:9 sh -c 'ulimit -n; cat left.txt | tail -n 1'", needs=("prlimit",)),
        Case("mountpoint", "mountpoint /proc; mountpoint .", needs=("mountpoint",)),
        Case("file systems", "findmnt -no FSTYPE /proc", needs=("findmnt",)),
        Case("dash", "dash -c 'for i in 1 2 3; do echo $i; done | (read x; echo first $x)'"),
        Case("bc", "echo '2^100' | bc", needs=("bc",)),
        Case("sqlite3", "sqlite3 db 'create table t(x); insert into t values(1),(2); select sum(x) from t;'", needs=("sqlite3",)),
        Case("git", "git init -q r && cd r && git -c user.name=n -c user.email=e commit -q --allow-empty -m m --date=@0 && "
             "git log --format=%s && cd .. && rm -rf r", needs=("git",)),
        Case("ldd", "ldd /bin/true | grep -c libc.so.6", only=("recorded", "ldd lists what the user preloads")),
        Case("musl, static and busybox", "busybox echo hello; busybox ls | head -n 2; busybox nothing", needs=("busybox",)),
    ]


def _python():
    return [
        Case("python3", f"{PYTHON} 'print(sum(range(10))); raise SystemExit(3)'"),
        Case("python3 error", f"{PYTHON} 'open(\"nothing\")'"),
        Case("python3 subprocess", f"{PYTHON} 'import subprocess as s; r = s.run([\"sh\", \"-c\", \"cat; exit 7\"], input=b\"in\", capture_output=True); print(r)'"),
        Case("python3 clean environment", f"{PYTHON} 'import subprocess as s; print(s.run([\"env\"], env={{\"A\": \"1\"}}, capture_output=True))'"),
        Case("python3 threads", f"{PYTHON} 'import threading as t; r = []; ts = [t.Thread(target=lambda i=i: r.append(len(open(\"numbers.txt\").read()) + i)) for i in range(20)]; [x.start() for x in ts]; [x.join() for x in ts]; print(sorted(r))'"),
        Case("python3 multiprocessing", f"{PYTHON} 'import multiprocessing as m; p = m.get_context(\"fork\").Pool(2); print(p.map(abs, [-1, -2])); p.close(); p.join()'"),
        Case("python3 os.fork", f"{PYTHON} 'import os; p = os.fork() or os._exit(3); print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))'"),
        Case("python3 mmap", f"{PYTHON} 'import mmap; m = mmap.mmap(open(\"letters.txt\", \"r+b\").fileno(), 0); m[:3] = b\"xyz\"; m.flush(); print(len(m))'"),
        Case("python3 sockets", f"{PYTHON} 'import socket; a, b = socket.socketpair(); a.sendall(b\"hi\"); a.close(); print(b.recv(9), b.recv(9))'"),
        Case("python3 asyncio", f"{PYTHON} 'import asyncio; print(asyncio.run(asyncio.wait_for(asyncio.sleep(0.01, 5), 5)))'"),
        Case("python3 ctypes", f"{PYTHON} 'import ctypes; print(ctypes.CDLL(None).getpid() > 0, ctypes.CDLL(\"libm.so.6\").abs(-3))'"),
        Case("a program looks for its preload", f"{PYTHON} 'import os; print([k for k in os.environ if k.startswith((\"LD_\", \"SONDE\"))], os.getenv(\"LD_PRELOAD\"))'",
             only=("recorded", "without a recorder LD_PRELOAD is the user's own setting")),
        Case("a shell looks for its preload", "echo \"[${LD_PRELOAD-unset}]\"; set | grep -c -e ^SONDE -e ^LD_; sh -c 'echo \"[${LD_PRELOAD-unset}]\"'",
             only=("recorded", "without a recorder LD_PRELOAD is the user's own setting")),
        Case("a preload of its own", "LD_PRELOAD=libc.so.6 sh -c 'echo \"$LD_PRELOAD\"; env | grep ^LD_'",
             only=("recorded", "without a recorder LD_PRELOAD is the user's own setting")),
    ]


def _shells():
    return [
        Case("bash pipes", "printf '3\\n1\\n2\\n' | sort | while read x; do echo got $x; done | tac; echo ${PIPESTATUS[@]}"),
        Case("bash here-documents", "cat <<E | tr a-z A-Z\nhere $((1 + 2))\nE\ncat <<< string; read a b <<< 'x y'; echo $b"),
        Case("bash long here-document", "cat <<E | cksum\n$(seq 1 20000)\nE"),
        Case("bash subshells", "x=1; (x=2; exit 3); echo $x $?; y=$(echo sub; exit 4); echo $y $?; { echo group; } > out; cat out"),
        Case("bash process substitution", "diff <(seq 3) <(seq 4); paste <(echo a) <(echo b)"),
        Case("bash coproc", "coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x"),
        Case("bash redirections", "exec 7>out; echo a >&7; exec 7>&-; echo b >&7; cat out; exec 8<out 9<&8 8<&-; cat <&9; ls 2>&1 >/dev/null nothing | cat"),
        Case("bash noclobber", "set -C; echo x > letters.txt; echo $?; echo y >| letters.txt; cat letters.txt"),
        Case("bash traps", "trap 'echo bye' EXIT; trap 'echo term' TERM; kill -TERM $$; trap 'echo usr' USR1; kill -USR1 $$; exit 6"),
        Case("bash trap in a child", "sh -c 'trap \"echo caught; exit 8\" TERM; kill -TERM $$; sleep 1'; echo $?"),
        Case("bash errexit", "set -e; trap 'echo failed at $LINENO' ERR; false; echo not reached"),
        Case("bash job control", "set -m; sleep 0.05 & wait %1; echo $?; sh -c 'kill -STOP $$; echo resumed; exit 5' & p=$!; "
             "while ! grep -q 'State:.T' /proc/$p/status; do sleep 0.01; done; jobs | sed 's/ *$//'; kill -CONT %1; wait %1; echo $?"),
        Case("bash background", "sleep 0.05 & p=$!; wait $p; echo $?; (exit 9) & wait $!; echo $?"),
        Case("bash many children", "for i in {1..60}; do /bin/true; done; for i in {1..10}; do (exit $i) & done; wait; echo all"),
        Case("bash messages of killed children", "sh -c 'kill -KILL $$'; echo $?; sh -c 'kill -SEGV $$'; echo $?", varies=("pid",)),
        Case("bash exec", "exec cat letters.txt"),
        Case("bash exec missing", "exec nothing-of-this-name"),
        Case("bash source eval", "echo 'f() { echo in f $1; }' > lib.sh; . ./lib.sh; eval 'f 3'; type f | head -n 1"),
        Case("bash read", "read -r a; echo \"[$a]\"; cat", stdin=STDIN),
        Case("bash reads its script from stdin", "bash -s one two", stdin=b"echo $1 $2\nread x\nthis is data\necho $x\nexit 11\n"),
        Case("bash umask", "umask 077; touch private; stat -c %a private; umask"),
        Case("bash /dev/tcp closed", "echo > /dev/tcp/127.0.0.1/1"),
        Case("bash printf to full device", "echo full > /dev/full; echo $?"),
        Case("script", "./script.sh a b"),
        Case("script with no interpreter", "./bad-interpreter"),
        Case("not executable", "./plain"),
        Case("not found", "nothing-of-this-name"),
        Case("is a directory", "./dir"),
        Case("time", "time cat empty", varies=("time",)),
        Case("exec -a", "(exec -a strange-name /bin/sh -c 'echo $0; tr \"\\0\" \" \" < /proc/$$/cmdline; cat /proc/$$/comm')"),
        Case("busybox-like argv[0]", "ln -s /usr/bin/python3 pylink; ./pylink -I -c 'import sys; print(sys.argv)'"),
        Case("empty argv[0]", "(exec -a '' /usr/bin/printf 'x\\n')"),
        Case("very long argv", "/bin/echo $(seq 1 20000) | cksum"),
        Case("too long argv", "/bin/echo $(seq 1 600000) | cksum"),
        Case("very long environment", "export BIG=$(printf 'x%.0s' {1..100000}); env | grep ^BIG= | wc -c; for i in {1..500}; do export V$i=$i; done; env | grep -c ^V"),
        Case("script by env", "printf '#!/usr/bin/env python3\\nprint(7)\\n' > p; chmod +x p; ./p"),
        Case("cwd deleted", "mkdir gone; cd gone; rmdir ../gone; /bin/pwd; ls; cat ../left.txt; echo $?"),
        Case("/proc/self/fd", "ls -l /proc/self/fd | awk '{ print $1, $9, $10, $11 }'", varies=("inode", "pid")),
        Case("/proc/self/fd of a shell", "for f in /proc/$$/fd/*; do echo ${f##*/}; done"),
        Case("descriptors of a child", "exec 5<letters.txt 77>out; ls /proc/self/fd | cat; true"),
        Case("/proc/self/exe", "readlink /proc/self/exe; cat /proc/self/comm"),
        Case("/proc/self/status", "grep -E '^(Name|Umask|Threads|Seccomp|Groups|NoNewPrivs):' /proc/self/status"),
        Case("limits", "ulimit -n; ulimit -s; ulimit -f; ulimit -c; ulimit -u"),
    ]


def _inherited():
    python_mask = "exec /usr/bin/python3 -I -c 'import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [{}]); os.execv(sys.argv[1], sys.argv[1:])' \"$@\""
    return [
        Case("closed stdin", "cat; echo $?; ls /proc/self/fd | head -n 1", around='exec "$@" <&-'),
        Case("closed stdout", "cat letters.txt; echo $? >&2", around='exec "$@" >&-'),
        Case("closed stderr", "ls nothing; echo $?", around='exec "$@" 2>&-'),
        Case("closed stdin, stdout and stderr", "cat letters.txt > out; ls /proc/self/fd > fds; exit 5", around='exec "$@" <&- >&- 2>&-'),
        Case("a file as stdin", "head -n 2; cat | tail -n 1", around='exec "$@" < letters.txt'),
        Case("stdin's offset is shared", "head -c 3 >/dev/null", around='exec 8<binary; "$@" <&8; od -A d -t x1 -N 4 <&8'),
        Case("a file as stdout", "echo one; cat left.txt; echo two", around='exec "$@" > out'),
        Case("appending stdout", "echo more", around='exec "$@" >> left.txt'),
        Case("stdout and stderr in one file", "echo a; ls nothing; echo b", around='exec "$@" > out 2>&1'),
        Case("an inherited descriptor", "echo through >&9; ls /proc/self/fd | tail -n 1", around='exec "$@" 9> out'),
        Case("SIGPIPE ignored", f"yes | head -n 1; echo ${{PIPESTATUS[@]}}; {SIGNAL_STATE}", around="trap '' PIPE; exec \"$@\""),
        Case("SIGCHLD ignored", f"(exit 3); echo $?; {SIGNAL_STATE}", around="trap '' CHLD; exec \"$@\""),
        Case("SIGINT and SIGQUIT ignored", f"{SIGNAL_STATE}; kill -INT $$; echo alive", around="trap '' INT QUIT; exec \"$@\""),
        Case("SIGHUP ignored", f"{SIGNAL_STATE}; kill -HUP $$; echo alive", around="trap '' HUP; exec \"$@\""),
        Case("SIGTERM ignored", "kill -TERM $$; echo alive", around="trap '' TERM; exec \"$@\""),
        Case("signals as usual", SIGNAL_STATE),
        Case("blocked signals", SIGNAL_STATE, around=python_mask.format("signal.SIGUSR1, signal.SIGTERM, signal.SIGWINCH")),
        Case("blocked SIGCHLD", SIGNAL_STATE, around=python_mask.format("signal.SIGCHLD")),
        Case("nice value", "nice", around='exec nice -n 3 "$@"'),
        Case("umask", "umask; touch made; mkdir made-dir; stat -c %a made made-dir", around='umask 027; exec "$@"'),
        Case("umask 777", "umask; cat letters.txt | wc -l", around='umask 777; exec "$@"'),
        Case("8 descriptors", "ulimit -n 8; ulimit -n; cat left.txt letters.txt | tail -n 1; cp left.txt copy; exec 3<left.txt 4<&3 5<&3 6<&3 7<&3; cat <&7 | head -n 1; exec 9<left.txt"),
        Case("4 descriptors", "ulimit -n 4; exec cat left.txt"),
        Case("32 descriptors for all", "ulimit -n; cat left.txt | tail -n 1", around='ulimit -n 32; exec "$@"'),
        Case("file size limit", "ulimit -f 1; cat binary > copy; echo $?", varies=("pid",)),
        Case("file size limit 0", "ulimit -f 0; cat left.txt | tail -n 1; echo x > y; echo $?", varies=("pid",)),
        Case("address space limit", "ulimit -v 60000; sort numbers.txt | head -n 2"),
        Case("stack limit", "ulimit -s 256; sort letters.txt | tail -n 1"),
        Case("no process limit change", "ulimit -u 4000; sh -c 'ulimit -u'"),
        Case("a deleted directory", "/bin/pwd; echo $?; cat /etc/hostname | wc -l", around='mkdir gone; cd gone; rmdir ../gone; exec "$@"'),
        Case("an empty environment", "env", around='exec /usr/bin/env -i PATH="$PATH" "$@"'),
        Case("a locale", "ls nothing; printf '%s\\n' 'ü' | wc -m", around='LC_ALL=C.UTF-8 exec "$@"'),
    ]


def _deaths():
    codes = [Case(f"exit {n}", f"exit {n}") for n in (0, 1, 2, 3, 42, 64, 124, 125, 126, 127, 128, 129, 130, 143, 200, 254, 255)]
    signals = [Case(f"killed by SIG{s}", f"echo before; kill -{s} $$", around='ulimit -c 0; exec "$@"')
               for s in ("TERM", "INT", "PIPE", "KILL", "HUP", "QUIT", "SEGV", "ABRT", "BUS", "FPE", "ILL", "USR1", "USR2", "ALRM", "XFSZ", "RTMIN")]
    return codes + signals


def _errors():
    return [
        Case("ENOENT", "cat nothing; ls -l no/such/path"),
        Case("ENOTDIR", "cat plain/x; ls letters.txt/"),
        Case("EISDIR", "cat dir; echo x > dir"),
        Case("EEXIST", "mkdir dir; ln -s x link"),
        Case("ENOTEMPTY", "rmdir dir; mv -T dir/deep dir"),
        Case("ELOOP", "cat loop"),
        Case("ENAMETOOLONG", "cat $(printf 'n%.0s' {1..300}); mkdir $(printf 'n%.0s' {1..300})"),
        Case("EACCES", "setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'cat noperm; echo x > new; ls /root; mkdir d'", needs=("setpriv",)),
        Case("EPERM", "setpriv --reuid=65534 --regid=65534 --clear-groups chown root plain; kill -0 1", needs=("setpriv",)),
        Case("ENOSPC", "cat letters.txt > /dev/full; dd if=/dev/zero of=/dev/full count=1 status=none"),
        Case("ENXIO", "mkfifo p; dd of=p oflag=nonblock if=/dev/null status=none"),
        Case("ENODEV, ENOTTY, EINVAL", "stty -F letters.txt size; dd if=letters.txt iflag=direct bs=1 status=none of=/dev/null; tail -c 1 /proc/self/mem"),
        Case("EXDEV", "ln letters.txt /proc/x"),
        Case("EROFS, EPERM in /proc", "touch /proc/x; mkdir /sys/x; rm /proc/version"),
        Case("ETXTBSY", "cp /bin/sleep s; ./s 60 & p=$!; until readlink /proc/$p/exe | grep -q '/s$'; do sleep 0.01; done; "
             "echo x > s; kill $p; wait $p; rm s", varies=("pid",)),
        Case("ENOEXEC", "head -c 100 binary > bad; chmod +x bad; ./bad"),
        Case("E2BIG", f"{PYTHON} 'import os\ntry: os.execv(\"/bin/true\", [\"x\" * 200000])\nexcept OSError as e: print(e)'"),
        Case("EFAULT", f"{PYTHON} 'import ctypes, os\nc = ctypes.CDLL(None, use_errno=True)\nfor r in (c.open(1, 0), c.write(1, 8, 4), c.read(0, 8, 4), c.rename(8, b\"x\"), c.stat(8, 8)): print(r, os.strerror(ctypes.get_errno()))'",
             stdin=STDIN),
        Case("EBADF", f"{PYTHON} 'import os\nfor f in (os.close, os.fsync, os.dup, os.fstat):\n  try: f(99)\n  except OSError as e: print(e)'"),
        Case("EAGAIN", f"{PYTHON} 'import os\nr, w = os.pipe()\nos.set_blocking(r, False)\ntry: os.read(r, 1)\nexcept OSError as e: print(e)'"),
        Case("EMFILE", f"ulimit -n 12; {PYTHON} 'import os\ntry:\n  for i in range(20): os.dup(0)\nexcept OSError as e: print(e)'"),
    ]


CASES = _coreutils() + _others() + _python() + _shells() + _inherited() + _deaths() + _errors()
