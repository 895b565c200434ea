#!/usr/bin/python3
"""The benchmarks that bench/README.md names are those that `make bench` runs."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import tap  # noqa: E402

BENCH = os.path.join(tap.SOURCE_DIR, "bench")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    rows = [row for row in re.findall(r"^\| (.*) \|$", read(os.path.join(BENCH, "README.md")), re.M) if "Not part of" not in row]
    named = {row.split(" |")[0] for row in rows[1:]}
    scripts = [read(path) for path in glob.glob(os.path.join(BENCH, "**", "meson.build"), recursive=True)]
    registered = {name for text in scripts for name in re.findall(r"^ *benchmark\('([a-z-]+)'", text, re.M)}
    families = registered | {name.split("-")[0] for name in registered}
    tap.check("each that is named is there", [f"there is no {name}" for name in sorted(named - families)])
    tap.check("each that is there is named", [f"no word of {name}" for name in sorted(registered) if not {name, name.split("-")[0]} & named])
    tap.check("there are some", [] if len(registered) > 9 else [f"only {len(registered)}"])
    return tap.done()


sys.exit(main())
