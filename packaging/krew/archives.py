#!/usr/bin/env python3
"""Archives of the plugin of kubectl, and the manifest that krew installs them by:

    archives.py OUT_FOLDER VERSION ADDRESS x86_64=BINARY aarch64=BINARY

krew takes .tar.gz and .zip. The same input gives the same bytes: times are $SOURCE_DATE_EPOCH.
"""

import gzip
import hashlib
import io
import os
import pathlib
import sys
import tarfile

LICENCE = pathlib.Path(__file__).parent / "../../LICENSE"
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


def archive(binary):
    """The binary under the name of the plugin, with the licence that krew wants beside it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, mode, content in (("LICENSE", 0o644, LICENCE.read_bytes()),
                                    ("kubectl-fathom", 0o755, pathlib.Path(binary).read_bytes())):
            made = tarfile.TarInfo(name)
            made.mode, made.mtime, made.size = mode, EPOCH, len(content)
            tar.addfile(made, io.BytesIO(content))
    return gzip.compress(out.getvalue(), 9, mtime=0)


def main():
    out, version, address = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3].rstrip("/")
    text = (pathlib.Path(__file__).parent / "fathom.yaml").read_text()
    lines = text.splitlines(keepends=True)
    manifest = "".join(line for line in lines if not line.startswith("#"))
    for given in sys.argv[4:]:
        architecture, _, binary = given.partition("=")
        packed = archive(binary)
        (out / f"kubectl-fathom-{version}-{architecture}.tar.gz").write_bytes(packed)
        manifest = manifest.replace(f"SHA256_{architecture}", hashlib.sha256(packed).hexdigest())
    manifest = manifest.replace("VERSION", version).replace("ADDRESS", address)
    if "SHA256_" in manifest:
        sys.exit("archives.py: name the binaries of x86_64 and aarch64")
    (out / "fathom.yaml").write_text(manifest)


if __name__ == "__main__":
    main()
