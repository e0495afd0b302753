#!/usr/bin/env python3
"""Stands in for kubectl and the cluster behind it. Objects are files of $FAKE_CLUSTER/objects; a pod
is there with its Job and runs at once, unless $FAKE_CLUSTER/trouble holds one of: image, provisioner,
unscheduled, refused, forbidden, unreachable. What is executed in a pod runs on this machine, with
$FAKE_FATHOM in place of /fathom. Each call is a line of $FAKE_CLUSTER/log.
"""
import json
import os
import pathlib
import sys

cluster = pathlib.Path(os.environ["FAKE_CLUSTER"])
objects = cluster / "objects"
objects.mkdir(exist_ok=True)
file = cluster / "trouble"
trouble = file.read_text().strip() if file.exists() else ""
words = sys.argv[1:]
with open(cluster / "log", "a") as log:
    log.write(" ".join(words) + "\n")
options = [word for word in words if word.startswith("--") and "=" in word]
option = dict(word[2:].split("=", 1) for word in options)
plain = [word for word in words if word not in options]


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def answer(value):
    print(json.dumps(value))
    sys.exit(0)


def kept():
    return [json.loads(path.read_text()) for path in sorted(objects.iterdir())]


def path_of(value):
    return objects / f"{value['kind']}-{value['metadata']['name']}"


def keep(value):
    path_of(value).write_text(json.dumps(value))


def matching(kinds):
    chosen = {kind.rstrip("s") for kind in kinds.lower().split(",")}
    name, _, wanted = option.get("selector", "").partition("=")
    for value in kept():
        label = value["metadata"].get("labels", {}).get(name)
        if value["kind"].lower() in chosen and (label == wanted if wanted else label is not None):
            yield value


def pod_of(job):
    template = job["spec"]["template"]
    node = "n1"
    affinity = template["spec"].get("affinity")
    if affinity:
        required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        node = required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0]
    state, conditions, phase = {"running": {}}, [], "Running"
    if trouble == "image":
        waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
        state, phase = {"waiting": waiting}, "Pending"
    if trouble in ("unscheduled", "provisioner"):
        said = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity"
        conditions = [{"type": "PodScheduled", "status": "False", "message": said}]
        phase = "Pending"
    tolerated = [toleration["key"] for toleration in template["spec"].get("tolerations", [])]
    if trouble == "tainted" and "dedicated" not in tolerated:
        said = "0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: storage}"
        conditions = [{"type": "PodScheduled", "status": "False", "message": said}]
        phase = "Pending"
    status = {"phase": phase, "conditions": conditions}
    if phase == "Running" or trouble == "image":
        status["containerStatuses"] = [{"state": state}]
    for volume in template["spec"]["containers"][0].get("volumeDevices", []):
        with open(volume["devicePath"], "wb") as device:
            device.write(b"\0" * (64 << 20))
    name = job["metadata"]["name"] + "-x"
    metadata = {"name": name, "labels": template["metadata"]["labels"]}
    return {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}, "status": status}


def events(name):
    found = []
    def add(kind, reason, message):
        found.append({"involvedObject": {"kind": kind, "name": name}, "reason": reason,
                      "message": message, "lastTimestamp": "2026-01-01T00:00:00Z"})
    if trouble == "provisioner":
        add("PersistentVolumeClaim", "ProvisioningFailed", "storage pool is full")
    if trouble == "refused":
        add("Job", "FailedCreate", "violates PodSecurity \"restricted:latest\"")
    return found


if trouble == "unreachable":
    fail("The connection to the server localhost:8080 was refused - did you specify the right host or port?")
verb = plain[0]
if verb == "create":
    value = json.load(sys.stdin)
    if trouble == "forbidden" and value["kind"] == "PersistentVolumeClaim":
        fail('Error from server (Forbidden): persistentvolumeclaims is forbidden: User "u" cannot create')
    value["metadata"]["uid"] = "uid-of-" + value["metadata"]["name"]
    keep(value)
    if value["kind"] == "Job" and trouble != "refused":
        keep(pod_of(value))
    answer(value)
if verb == "get" and plain[1] == "storageclasses":
    answer({"items": [{"metadata": {"name": name}} for name in ("fast", "slow")]})
if verb == "get" and plain[1] == "events":
    answer({"items": events(option["field-selector"].split("=", 1)[1])})
if verb == "get":
    answer({"items": list(matching(plain[1]))})
if verb == "delete":
    for value in matching(plain[1]):
        path_of(value).unlink()
        pod = objects / f"Pod-{value['metadata']['name']}-x"
        pod.unlink(missing_ok=True)
    sys.exit(0)
if verb == "exec":
    command = words[words.index("--") + 1:]
    assert command[0] == "/fathom", command
    os.execv(os.environ["FAKE_FATHOM"], command)
fail(f"error: unknown command {words}")
