#!/usr/bin/env python3
"""An image of the static binaries, written as an OCI layout in a tar file, without a daemon:

    oci.py OUT.tar VERSION COMMIT amd64=BINARY [arm64=BINARY ...]

From scratch: the binary, a user (65532) and an empty home and /tmp. An index has an image for
each architecture. The same input gives the same bytes: times are $SOURCE_DATE_EPOCH.
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
USER = 65532
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def entry(name, kind=tarfile.REGTYPE, mode=0o644, owner=0):
    made = tarfile.TarInfo(name)
    made.type, made.mode, made.mtime, made.uid, made.gid = kind, mode, EPOCH, owner, owner
    return made


def add(tar, made, content=b""):
    made.size = len(content)
    tar.addfile(made, io.BytesIO(content))


def layer(binary):
    """The files of an image, as the bytes of a tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        add(tar, entry("etc", tarfile.DIRTYPE, 0o755))
        add(tar, entry("etc/group"), f"root:x:0:\nfathom:x:{USER}:\n".encode())
        users = f"root:x:0:0:root:/:/none\nfathom:x:{USER}:{USER}:fathom:/home/fathom:/none\n"
        add(tar, entry("etc/passwd"), users.encode())
        add(tar, entry("fathom", mode=0o755), binary)
        add(tar, entry("home", tarfile.DIRTYPE, 0o755))
        add(tar, entry("home/fathom", tarfile.DIRTYPE, 0o700, USER))
        add(tar, entry("tmp", tarfile.DIRTYPE, 0o1777))
    return out.getvalue()


class Layout:
    """Blobs by their digest."""

    def __init__(self):
        self.blobs = {}

    def put(self, media_type, content, **more):
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content), **more}

    def image(self, architecture, binary, created, labels):
        files = layer(binary)
        packed = self.put(LAYER, gzip.compress(files, 9, mtime=0))
        config = {
            "architecture": architecture,
            "os": "linux",
            "created": created,
            "config": {
                "User": f"{USER}:{USER}",
                "Env": ["PATH=/", "HOME=/home/fathom"],
                "Entrypoint": ["/fathom"],
                "WorkingDir": "/home/fathom",
                "Labels": labels,
            },
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(files).hexdigest()]},
            "history": [{"created": created, "created_by": "packaging/oci.py"}],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.put(CONFIG, config),
            "layers": [packed],
            "annotations": labels,
        }
        return self.put(MANIFEST, manifest, platform={"architecture": architecture, "os": "linux"})

    def write(self, path, top):
        with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
            index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [top]}
            add(tar, entry("oci-layout"), b'{"imageLayoutVersion":"1.0.0"}')
            add(tar, entry("index.json"), json.dumps(index, sort_keys=True).encode())
            add(tar, entry("blobs", tarfile.DIRTYPE, 0o755))
            add(tar, entry("blobs/sha256", tarfile.DIRTYPE, 0o755))
            for digest in sorted(self.blobs):
                add(tar, entry(f"blobs/sha256/{digest}"), self.blobs[digest])


def main():
    out, version, commit, *binaries = sys.argv[1:]
    created = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": "fathom",
        "org.opencontainers.image.description": "Measures storage honestly and says what limits it",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.revision": commit,
        "org.opencontainers.image.created": created,
    }
    layout = Layout()
    images = []
    for word in sorted(binaries):
        architecture, path = word.split("=", 1)
        with open(path, "rb") as file:
            images.append(layout.image(architecture, file.read(), created, labels))
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": images, "annotations": labels}
    name = f"fathom:{version}"
    names = {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": f"localhost/{name}"}
    top = layout.put(INDEX, index, annotations=names)
    layout.write(out, top)


if __name__ == "__main__":
    main()
