#!/usr/bin/env python3
"""Compares an SBOM with the list of packages in a binary: contents.py SBOM BINARY

cargo-auditable puts the list into a section of the binary when it is linked, so the two
come from different tools. Status 1 where the SBOM lacks a package of the binary. What only
the SBOM has are macros, and what they are made of: they run in the compiler.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import zlib


def in_binary(path):
    with tempfile.TemporaryDirectory() as folder:
        section = pathlib.Path(folder, "section")
        command = ["objcopy", f"--dump-section=.dep-v0={section}", path, "/dev/null"]
        subprocess.run(command, check=True)
        packages = json.loads(zlib.decompress(section.read_bytes()))["packages"]
    return {(p["name"], p["version"]) for p in packages if p.get("kind", "runtime") == "runtime"}


def in_sbom(path):
    sbom = json.loads(pathlib.Path(path).read_text())
    listed = {(c["name"], c["version"]) for c in sbom["components"]}
    top = sbom["metadata"]["component"]
    return listed | {(top["name"], top["version"])}


def main():
    sbom, binary = in_sbom(sys.argv[1]), in_binary(sys.argv[2])
    for name, version in sorted(binary - sbom):
        print(f"in the binary only: {name} {version}")
    print("in the SBOM only:", ", ".join(name for name, _ in sorted(sbom - binary)))
    print(f"{len(binary)} packages in the binary, {len(sbom)} in the SBOM")
    return 1 if binary - sbom else 0


if __name__ == "__main__":
    sys.exit(main())
