# normal.py FOLDER CHECKOUT RUN < podman-compose's output: the podman commands of a dry run, with
# every path absolute, sealed copies under the names of what they are copies of, and without the two
# labels that say where the files were read
import hashlib
import os
import sys

folder, checkout, run = sys.argv[1:4]
names = {}
for top, _, files in os.walk(checkout):
    for name in files:
        path = os.path.join(top, name)
        beneath = os.path.relpath(path, checkout)
        names[f"{run}/file-{hashlib.sha256(beneath.encode()).hexdigest()[:16]}"] = path


def plain(path):
    path = os.path.normpath(os.path.join(folder, path))
    return names.get(path, path)


def pair(word):
    source, colon, rest = word.partition(":")
    return plain(source) + colon + rest if source[:1] in "./" else word


for line in sys.stdin:
    words = line.rstrip("\n").split(" ")
    if not words[0].endswith("/podman") and not words[0].startswith("['/"):
        continue
    out = []
    for i, word in enumerate(words):
        before = words[i - 1] if i else ""
        if word.startswith(("com.docker.compose.project.working_dir=", "com.docker.compose.project.config_files=")):
            word = "-"
        elif before == "--env-file" or (words[1] == "build" and (before == "-f" or i == len(words) - 1)):
            word = plain(word)
        elif before in ("-v", "--volume"):
            word = pair(word)
        elif before == "--security-opt" and word.startswith("seccomp=") and word[8:9] in "./":
            word = "seccomp=" + plain(word[8:])
        out.append(word)
    print(" ".join(out))
