"""fixture: the directory that each case of cases.py starts in, always the same, and what has become of it."""
import hashlib
import os
import random
import shutil
import stat

BEGIN = 1_000_000_000  # times of all files: whatever is younger afterwards was written by the case


def _files():
    chance = random.Random(7)
    letters = [chr(ord("a") + i % 26) * (1 + i % 5) for i in range(200)]
    chance.shuffle(letters)
    return {
        "letters.txt": "\n".join(letters) + "\n",
        "numbers.txt": "".join(f"{chance.randrange(10**6)}\n" for _ in range(1000)),
        "left.txt": "".join(f"{k} left{k}\n" for k in range(10, 40, 2)),
        "right.txt": "".join(f"{k} right{k}\n" for k in range(10, 40, 3)),
        "table.csv": "".join(f"{i},{i * i},{'even' if i % 2 == 0 else 'odd'}\n" for i in range(50)),
        "sections.txt": "".join(f"== {i}\nbody {i}\n" for i in range(5)),
        "empty": "",
        "dir/one": "one\n",
        "dir/two": "two\n" * 100,
        "dir/deep/three": "three\n",
        "dir/with space and 'quote'": "odd name\n",
        "dir/new\nline": "odder name\n",
        "noperm": "secret\n",
        "plain": "no program\n",
        "script.sh": "#!/bin/sh\necho script \"$0\" \"$@\"\nexit 5\n",
        "bad-interpreter": "#!/nonexistent/interpreter\n",
        "Makefile": "all: a b\na:\n\t@echo made a\nb: a\n\t@echo made b; touch b\nfail:\n\t@exit 3\n",
        "main.c": '#include <stdio.h>\nint main(void)\n{\n\tputs("compiled");\n\treturn 9;\n}\n',
    }


def build(root):
    """Make the tree below `root`, which does not exist."""
    for name, text in _files().items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(root, "binary"), "wb") as f:
        f.write(bytes(range(256)) * 64)
    for name in ("script.sh", "bad-interpreter"):
        os.chmod(os.path.join(root, name), 0o755)
    os.chmod(os.path.join(root, "noperm"), 0)
    os.symlink("letters.txt", os.path.join(root, "link"))
    os.symlink("nowhere", os.path.join(root, "broken"))
    os.symlink("loop", os.path.join(root, "loop"))
    os.link(os.path.join(root, "letters.txt"), os.path.join(root, "hard"))
    for folder, _, names in os.walk(root, topdown=False):
        for name in names:
            os.utime(os.path.join(folder, name), (BEGIN, BEGIN), follow_symlinks=False)
        os.utime(folder, (BEGIN, BEGIN))
    os.utime(os.path.dirname(root), (BEGIN, BEGIN))


def _facts(path):
    st = os.lstat(path)
    facts = [stat.filemode(st.st_mode), st.st_uid, st.st_gid]
    if st.st_mtime < BEGIN + 1:
        facts.append("old")
    if stat.S_ISLNK(st.st_mode):
        facts.append(os.readlink(path))
    elif stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            facts += [st.st_nlink, st.st_size, hashlib.sha256(f.read()).hexdigest()]
    return tuple(facts)


def snapshot(root):
    """What is there: kind, mode, owner, contents, and whether the time is still that of the fixture."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = _facts(path)
    return found


def remove(root):
    """Take it away, whatever modes it has got."""
    if not os.path.lexists(root):
        return
    for folder, folders, _ in os.walk(root):
        for name in folders:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(root)
