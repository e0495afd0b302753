#!/usr/bin/env python3
"""The licences of everything that is linked into fathom: notices.py TARGET > NOTICES

Reads `cargo metadata` and the files that the packages bring. The same text is printed
once, with the packages that it is for.
"""

import json
import pathlib
import re
import subprocess
import sys

NAMES = re.compile(r"^(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)


def linked(metadata):
    """The packages below the binary, without what only builds or tests it."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    root = next(p["id"] for p in packages.values() if p["name"] == "fathom")
    found, left = set(), [root]
    while left:
        at = left.pop()
        if at in found:
            continue
        found.add(at)
        for dep in nodes[at]["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]):
                left.append(dep["pkg"])
    # A procedural macro runs in the compiler.
    kinds = lambda p: {kind for target in p["targets"] for kind in target["kind"]}
    foreign = [packages[at] for at in found if packages[at]["source"]]
    return sorted((p for p in foreign if "proc-macro" not in kinds(p)), key=lambda p: (p["name"], p["version"]))


def texts(package):
    """The files of a package that say under which conditions it is passed on."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [file for file in folder.iterdir() if file.is_file() and NAMES.match(file.name)]
    for folder in (folder / "LICENSES", folder / "licenses"):
        if folder.is_dir():
            files += [file for file in folder.iterdir() if file.is_file()]
    return [file.read_text(errors="replace").strip() for file in sorted(files)]


def main():
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={sys.argv[1]}"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = linked(metadata)
    print("fathom is under the licence in LICENSE. Linked into it are:\n")
    owners = {}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        print(f"  {name}: {package['license']}")
        for text in texts(package):
            owners.setdefault(text, []).append(name)
    for text, names in owners.items():
        print("\n" + "=" * 78)
        print("\n".join(names))
        print("-" * 78)
        print(text)


if __name__ == "__main__":
    main()
