"""browsing: a script of playwright-core in Debian's chromium, for tests of the page."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import tap  # noqa: E402


def playwright(where):
    """Put playwright-core there, by lockfile."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), where)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=where,
                          capture_output=True, timeout=tap.LIMIT_SECONDS * 2, check=False)
    if done.returncode:
        tap.skip_service("npm cannot fetch playwright-core: " + done.stderr.decode(errors="replace")[-200:])


def browse(where):
    """A function that runs a script of this directory with its arguments and returns its status."""
    chromium, modules = shutil.which("chromium"), os.path.join(where, "modules")
    if not chromium or not shutil.which("node") or not shutil.which("npm"):
        tap.skip_service("chromium, node or npm is not installed")
    os.makedirs(modules)
    playwright(modules)

    def run(script, *arguments):
        return subprocess.run(["node", os.path.join(HERE, script), chromium, modules, *arguments],
                              timeout=tap.LIMIT_SECONDS * 5, check=False).returncode
    return run
