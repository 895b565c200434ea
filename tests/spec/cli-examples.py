#!/usr/bin/python3
"""Command lines in the documents, the help texts and what is shipped: their commands and options are there."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import tap  # noqa: E402

FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "doc", "share", "src", "bench")
ENDINGS = (".md", ".in", ".scd", ".yml", ".yaml", ".json", ".service", ".sh", ".xml", ".rules")
OTHER_NAMES = {"viz": "view", "analyze": "summary"}
COMMAND_LINE = re.compile(r"(?<![\w/-])sonde ([a-z]+)((?: [^`|\"\n]*)?)")
END = re.compile(r" -- | \| |;|&&|\)|, ")  # where what follows is no option of ours
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z](?= |$))")


def say(*words):
    return subprocess.run([tap.SONDE, *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def options_of(text):
    listed = re.split("\n(?:Examples|Exit codes)\n", text.split("\nOptions\n")[1])[0]
    return set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?=[ ,\n=])", listed))


def documents():
    for top in FILES:
        top = os.path.join(tap.SOURCE_DIR, top)
        paths = [top] if os.path.isfile(top) else [os.path.join(base, name) for base, _, names in os.walk(top) for name in names]
        for path in sorted(p for p in paths if p.endswith(ENDINGS)):
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, tap.SOURCE_DIR), file.read()


def wrong_in(name, text, options):
    """How many command lines there are, and what is wrong with them."""
    count, wrong = 0, []
    for number, line in enumerate(text.split("\n"), 1):
        for command, rest in COMMAND_LINE.findall(line.replace("*", "").replace("\\", "")):
            command = OTHER_NAMES.get(command, command)
            if command not in options:
                continue
            count += 1
            unknown = [o for o in OPTION.findall(END.split(rest)[0]) if o not in options[command]]
            wrong += [f"{name}:{number}: sonde {command} has no {option}" for option in unknown]
    return count, wrong


def main():
    helps = {command: say(command, "--help") for command in re.findall(r"^  ([a-z]+)  ", say("help"), re.M)}
    options = {command: options_of(text) for command, text in helps.items()}
    for command, text in helps.items():
        tap.check(f"sonde {command} --help", wrong_in("help", text, options)[1])
    count, wrong = 0, []
    for name, text in documents():
        found = wrong_in(name, text, options)
        count, wrong = count + found[0], wrong + found[1]
    tap.check("documents", wrong)
    tap.check("there are some", [] if count > 200 else [f"only {count}"])
    tap.check("an option that is not there is noticed", [] if wrong_in("x", "sonde info --nonsense", options)[1] else ["it is not"])
    return tap.done()


sys.exit(main())
