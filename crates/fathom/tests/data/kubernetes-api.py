"""A stand-in for the API server of Kubernetes, and for its kubelets.

Answers what kubectl asks to create, patch, list and delete Jobs, Secrets, Pods
and Nodes; the pods of a Job are processes of this machine. Nothing is checked
as a real server would. Usage: kubernetes-api.py NODE,NODE… LOG; prints its port.
"""
import json, os, re, subprocess, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

nodes, log = sys.argv[1].split(","), sys.argv[2]
kept = {"secrets": {}, "jobs": {}, "pods": {}}
children = {}


def resource(name, kind, namespaced=True):
    verbs = ["create", "get", "list", "delete", "patch"]
    return {"name": name, "singularName": kind.lower(), "namespaced": namespaced, "kind": kind, "verbs": verbs}


def openapi(group, version, kind, path):
    # That a server checks fields itself is what kubectl looks for.
    operation = {
        "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
        "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind},
        "responses": {},
    }
    return {"openapi": "3.0.0", "info": {"title": "k", "version": "1"}, "paths": {path: {"patch": operation}}}


ANSWERS = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [{
        "name": "batch",
        "versions": [{"groupVersion": "batch/v1", "version": "v1"}],
        "preferredVersion": {"groupVersion": "batch/v1", "version": "v1"}}]},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        resource("secrets", "Secret"), resource("pods", "Pod"), resource("nodes", "Node", False)]},
    "/apis/batch/v1": {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "batch/v1",
                       "resources": [resource("jobs", "Job")]},
    "/openapi/v3": {"paths": {
        "api/v1": {"serverRelativeURL": "/openapi/v3/api/v1"},
        "apis/batch/v1": {"serverRelativeURL": "/openapi/v3/apis/batch/v1"}}},
    "/openapi/v3/api/v1": openapi("", "v1", "Secret", "/api/v1/namespaces/{namespace}/secrets/{name}"),
    "/openapi/v3/apis/batch/v1": openapi("batch", "v1", "Job", "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"),
    "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.0"},
}


def start(job):
    template = job["spec"]["template"]
    affinity = template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms = affinity["nodeSelectorTerms"]
    wanted = [term["matchFields"][0]["values"][0] for term in terms]
    # A cluster has its own order.
    for index, node in enumerate(reversed(wanted)):
        if node not in nodes:
            continue
        container = template["spec"]["containers"][0]
        environment = dict(os.environ)
        for entry in container["env"]:
            source = entry["valueFrom"]
            if "fieldRef" in source:
                environment[entry["name"]] = node
            else:
                key = source["secretKeyRef"]
                environment[entry["name"]] = kept["secrets"][key["name"]]["stringData"][key["key"]]
        words = [re.sub(r"\$\((\w+)\)", lambda m: environment.get(m.group(1), m.group(0)), word)
                 for word in container["args"]]
        name = "%s-%d-abcde" % (job["metadata"]["name"], index)
        children[name] = subprocess.Popen(container["command"] + words, env=environment, stdout=2)
        kept["pods"][name] = {"apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": node},
                              "metadata": {"name": name, "labels": template["metadata"]["labels"]}}


def pods():
    for name, pod in kept["pods"].items():
        status = children[name].poll()
        state = {"running": {}} if status is None else {"terminated": {"exitCode": status, "reason": "Error"}}
        phase = "Running" if status is None else "Failed" if status else "Succeeded"
        pod["status"] = {"phase": phase, "containerStatuses": [{"state": state}]}
    return list(kept["pods"].values())


class Api(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, value, code=200):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def asked(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        path = self.path.split("?")[0]
        with open(log, "a") as out:
            out.write("%s %s %s\n" % (self.command, path, body))
        kind, name = path.split("/")[-2:]
        return path, kind, name, json.loads(body) if body.startswith("{") else {}

    def missing(self):
        self.answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}, 404)

    def do_GET(self):
        path, kind, name, _ = self.asked()
        if path in ANSWERS:
            self.answer(ANSWERS[path])
        elif name == "nodes":
            ready = {"conditions": [{"type": "Ready", "status": "True"}]}
            items = [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": node}, "spec": {}, "status": ready}
                     for node in nodes]
            self.answer({"kind": "NodeList", "apiVersion": "v1", "items": items})
        elif name == "pods":
            self.answer({"kind": "PodList", "apiVersion": "v1", "items": pods()})
        elif name in kept.get(kind, {}):
            self.answer(kept[kind][name])
        else:
            self.missing()

    def do_POST(self):
        _, _, kind, value = self.asked()
        value["metadata"]["uid"] = "uid-of-" + value["metadata"]["name"]
        kept[kind][value["metadata"]["name"]] = value
        if kind == "jobs":
            start(value)
        self.answer(value, 201)

    def do_PATCH(self):
        _, kind, name, value = self.asked()
        kept[kind][name]["metadata"].update(value["metadata"])
        self.answer(kept[kind][name])

    def do_DELETE(self):
        _, kind, name, _ = self.asked()
        gone = kept[kind].pop(name, None)
        self.answer(gone) if gone else self.missing()


server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
print(server.server_address[1], flush=True)
server.serve_forever()
