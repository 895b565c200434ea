#!/usr/bin/python3
"""Programs of many languages and kinds, where installed: output, status and files as without a recorder, nothing lost."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import tap

JAVA = """
import java.nio.file.*; import java.util.*; import java.util.concurrent.*;
public class Main { public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8); List<Future<Long>> sizes = new ArrayList<>();
    for (int i = 0; i < 16; i++) { final Path path = Paths.get("file" + i); final byte[] bytes = new byte[10000 * i];
        sizes.add(pool.submit(() -> { Files.write(path, bytes); return Files.size(path); })); }
    long sum = 0; for (Future<Long> size : sizes) sum += size.get(); pool.shutdown(); System.gc();
    Process child = new ProcessBuilder("sh", "-c", "echo child; exit 3").start();
    System.out.println(sum + new String(child.getInputStream().readAllBytes()) + child.waitFor());
    System.out.println(System.getenv("LD_PRELOAD"));
    try { deep(0); } catch (StackOverflowError e) { System.out.println("deep"); }
    System.exit(7); }
    static int deep(int i) { return deep(i + 1) + 1; } }
"""
NODE = """
const fs = require('fs'), cp = require('child_process'), { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread) {
    for (let i = 0; i < 4; i++) new Worker(__filename, { workerData: i });
    console.log(cp.execSync('echo child').toString(), cp.spawnSync('false').status, process.env.LD_PRELOAD);
    process.exitCode = 5;
} else fs.writeFileSync('worker' + workerData, Buffer.alloc(100000, workerData));
"""
PYTHON = """
import concurrent.futures as futures, multiprocessing as mp, os, subprocess, sys
def size(i):
    with open('file%d' % i, 'wb') as f: f.write(bytes(i) * 1000)
    return os.path.getsize('file%d' % i)
if __name__ == '__main__':
    for way in ('fork', 'spawn', 'forkserver'):
        with mp.get_context(way).Pool(3) as pool: print(way, pool.map(size, range(10)))
    with futures.ThreadPoolExecutor(8) as pool:
        print(list(pool.map(lambda i: os.system('exit %d' % i) >> 8, range(30))))
        print(list(pool.map(lambda i: os.popen('echo %d' % i).read(), range(30))))
        print(list(pool.map(lambda i: subprocess.run(['sh', '-c', 'exit %d' % i]).returncode, range(30))))
    crash = subprocess.run([sys.executable, '-X', 'faulthandler', '-c', 'import ctypes; ctypes.string_at(0)'], capture_output=True)
    print(crash.returncode, [name for name in os.environ if 'SONDE' in name or 'PRELOAD' in name])
    sys.exit(3)
"""
FORTRAN = """
program main
  real(8) :: x(10000) = 1.5d0
  integer :: i
  open(10, file='sequential', form='unformatted')
  do i = 1, 50
    write(10) x
  end do
  close(10)
  print *, sum(x)
  stop 4
end program
"""
FIO = "fio --name=x --rw=randrw --bs=4k --size=1m --numjobs=2 --verify=crc32c --verify_state_save=0 --output=/dev/null --ioengine="
STRESS = "stress-ng -q -t 1 --temp-path . "

# name, programs it needs, files, shell command
CASES = [
    ("java", ["javac", "java"], {"Main.java": JAVA}, "javac Main.java && java -Xmx128m Main; s=$?; rm -f *.class; exit $s"),
    ("node", ["node"], {"main.js": NODE}, "node main.js"),
    ("python", ["/usr/bin/python3"], {"main.py": PYTHON}, "/usr/bin/python3 main.py"),
    ("fortran", ["gfortran"], {"main.f90": FORTRAN}, "gfortran main.f90 -o main && ./main"),
    ("perl threads", ["perl"], {}, "perl -e 'use threads; print join(\",\", map { $_->join } map { my $i = $_; threads->create("
     "sub { open my $f, \">\", \"f$i\"; print $f \"x\" x 1000; $i }) } 1 .. 8), `echo hi`; kill 9, $$'"),
    ("ruby", ["ruby"], {}, "ruby -e 'puts 8.times.map { |i| Thread.new { File.write(\"r#{i}\", \"x\" * i); `echo #{i}` } }.map(&:value)'"),
    ("git", ["git"], {}, "git init -q a && cd a && git config user.email a@b && git config user.name n && for i in 1 2 3; do echo $i >f$i;"
     " git add . && git commit -qm $i; done; git gc -q; cd .. && git clone -q a b && git -C b log --format=%s; rm -rf a b"),
    ("gcc -flto", ["gcc"], {"a.c": "int g(int); int main(void) { return g(3); }", "b.c": "int g(int x) { return x * 2; }"},
     "gcc -O2 -flto=2 a.c b.c -o a; ./a; s=$?; rm -f a; exit $s"),
    ("gdb", ["gdb", "gcc"], {"a.c": "int f(int x) { return x + 1; } int main(void) { return f(3); }"},
     "gcc -g a.c -o a && gdb --batch -ex 'b f' -ex run -ex bt ./a 2>&1 | grep -c '^#'; rm -f a"),
    ("valgrind", ["valgrind"], {}, "valgrind -q sh -c 'echo hi; wc /etc/passwd'"),
    ("fakeroot", ["fakeroot"], {}, "touch a; fakeroot sh -c 'chown 12:34 a; stat -c %u:%g a'"),
    ("stdbuf", ["stdbuf"], {}, "seq 1000 | stdbuf -oL grep 1 | head -3"),
    ("eatmydata", ["eatmydata", "sqlite3"], {}, "eatmydata sqlite3 x.db 'create table t(a); select 1'; eatmydata env | grep -c PRELOAD"),
    ("little descriptors", ["prlimit"], {}, "prlimit --nofile=5:5 sh -c 'ls /; cat /etc/hostname'"),
    ("little stack", ["prlimit", "perl"], {}, "prlimit --stack=131072:131072 perl -e 'print 1'"),
    ("no files", ["prlimit"], {}, "prlimit --fsize=0 sh -c 'echo x >a; ls /'"),
] + [("fio " + e, ["fio"], {}, FIO + e + "; s=$?; rm -f x.*; exit $s") for e in ("psync", "libaio", "mmap", "posixaio", "io_uring")] \
  + [("stress-ng " + s, ["stress-ng"], {}, STRESS + f"--{s} 2 >/dev/null 2>&1; rm -rf tmp-*") for s in
     ("vfork", "clone", "seccomp", "sigsegv", "aio", "splice", "sigq", "unshare", "chroot", "daemon", "userfaultfd")]


def contents(directory):
    found = {}
    for base, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = hashlib.sha256(file.read()).hexdigest()
    return found


def run_in(directory, files, start):
    """The same directory for both: its path may be among what a program prints."""
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    for name, text in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)
    done = start(cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, timeout=tap.LIMIT_SECONDS)
    return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr, "files": contents(directory)}


def check(work, name, needs, files, text):
    missing = [program for program in needs if not shutil.which(program)]
    if missing:
        tap.skip_missing(name, f"{missing[0]} is not installed")
        return
    command, directory, run = ["bash", "-c", text], os.path.join(work, "in"), os.path.join(work, "run")
    shutil.rmtree(run, ignore_errors=True)
    alone = run_in(directory, files, lambda **how: subprocess.run(command, check=False, **how))
    recorded = run_in(directory, files, lambda **how: tap.record(run, command, "-q", **how))
    problems = [f"{what}: {alone[what]!r} alone, {recorded[what]!r} recorded" for what in alone if alone[what] != recorded[what]]
    if tap.trace_probe(run)["damaged"]:
        problems.append("there are damaged records")
    tap.check(name, problems)


def main():
    with tempfile.TemporaryDirectory(prefix="sonde-programs-") as work:
        for case in CASES:
            check(work, *case)
    return tap.done()


sys.exit(main())
