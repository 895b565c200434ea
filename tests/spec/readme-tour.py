#!/usr/bin/python3
"""README.md: every line of its tour runs, prints what the comment above it has in quotation marks, or writes that file;
what it links to exists."""
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import tap  # noqa: E402

LINES_MIN = 8
VERDICTS = {"sonde diff": (0, 3), "sonde duet": (0, 3)}  # B is slower is an answer: the machine may be busy
SERVERS = ("sonde view",)  # run until they are interrupted


def tour(text):
    """Its command lines, each with the texts in quotation marks of the comments above it."""
    block = re.search(r"<!-- tour -->\n```sh\n(.*?)```\n<!-- /tour -->", text, re.S)
    lines, comment = [], ""
    for line in block[1].splitlines() if block else []:
        if line.startswith("#"):
            comment += line + "\n"
        elif line:
            lines.append((line, comment))
            comment = ""
    return lines


def source_tree(where):
    """What the lines find: the sources' share, and a build with the staged programs."""
    os.symlink(os.path.join(tap.SOURCE_DIR, "share"), os.path.join(where, "share"))
    os.mkdir(os.path.join(where, "build"))
    for name in os.listdir(tap.STAGE):
        os.symlink(os.path.join(tap.STAGE, name), os.path.join(where, "build", name))


def dead_links(text):
    targets = [target for target in re.findall(r"\]\(([^)#]+)", text) if not target.startswith("http")]
    return [f"'{target}' does not exist" for target in targets if not os.path.exists(os.path.join(tap.SOURCE_DIR, target))]


class Shell:
    """One bash for all lines, as a reader has one."""

    def __init__(self, where):
        env = {"PATH": "/usr/bin:/bin", "HOME": where, "LANG": "C.UTF-8"}
        self.output = os.path.join(where, "output")
        self.bash = subprocess.Popen(["bash", "--norc"], cwd=where, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     text=True, start_new_session=True)

    def ask(self, text):
        """Send lines that print one line: that line."""
        self.bash.stdin.write(text + "\n")
        self.bash.stdin.flush()
        return self.bash.stdout.readline().strip()

    def run(self, line):
        """Exit status of a line; its output is in the file."""
        return int(self.ask(f"{{ {line}\n}} >'{self.output}' 2>&1 </dev/null; echo $?"))

    def serve(self, line):
        """Start a server, wait until it has printed its address, interrupt it: its exit status."""
        pid = int(self.ask(f"{{ exec {line}\n}} >'{self.output}' 2>&1 </dev/null & echo $!"))
        self.ask(f"while [[ ! -s '{self.output}' ]] && kill -0 {pid} 2>/dev/null; do sleep 0.1; done; echo")
        os.kill(pid, signal.SIGTERM)
        return int(self.ask(f"wait {pid}; echo $?"))

    def directory(self):
        return self.ask("pwd")

    def close(self):
        self.bash.stdin.close()
        self.bash.wait(timeout=tap.LIMIT_SECONDS)


def problems_of(shell, line, comment):
    """What is wrong with what a line did."""
    words = " ".join(line.split()[:2])
    status = shell.serve(line) if words in SERVERS else shell.run(line)
    with open(shell.output, encoding="utf-8", errors="replace") as file:
        output = file.read()
    problems = [] if status in VERDICTS.get(words, (0,)) else [f"exit status {status}"]
    for verb, text in re.findall(r'(writes )?"([^"]+)"', comment):
        if verb and not os.path.exists(os.path.join(shell.directory(), text)):
            problems.append(f"file '{text}' is missing")
        elif not verb and text not in output:
            problems.append(f"the output lacks '{text}'")
    return problems + output.splitlines()[-20:] if problems else []


def main():
    with open(os.path.join(tap.SOURCE_DIR, "README.md"), encoding="utf-8") as file:
        text = file.read()
    lines = tour(text)
    tap.check("links of README.md", dead_links(text))
    tap.check("a dead link is noticed", [] if dead_links("[a](no/such/file)") else ["it is not"])
    tap.check("README.md has a tour", [] if len(lines) >= LINES_MIN else [f"{len(lines)} lines"])
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="sonde-test.") as where:  # on a disk: fdatasync takes time there
        source_tree(where)
        shell = Shell(where)
        for line, comment in lines:
            tap.check(line[:70], problems_of(shell, line, comment))
        tap.check("a line that fails is noticed", [] if problems_of(shell, "sonde summary nowhere", "") else ["it is not"])
        tap.check("missing output is noticed", [] if problems_of(shell, "echo a", '"b"') else ["it is not"])
        tap.check("a missing file is noticed", [] if problems_of(shell, "true", 'writes "b"') else ["it is not"])
        shell.close()
    return tap.done()


sys.exit(main())
