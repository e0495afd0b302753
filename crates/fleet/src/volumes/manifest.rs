//! The Job and the claim of a volume.

use serde_json::{Value, json};

use crate::launchers::pods::CONTAINER;
use crate::volumes::request::{VolumeMode, VolumeRequest};
use crate::volumes::taint::ToleratedTaint;

/// Everything of one request has it.
pub(super) const ID_LABEL: &str = "fathom-volumes";

/// The Job and pod of one volume have it.
pub(super) const CLAIM_LABEL: &str = "fathom-volume";

/// The kinds that are made, or made by those.
pub(super) const KINDS: &str = "jobs,persistentvolumeclaims,pods";

/// What is removed; the pods go with their Jobs.
pub(super) const REMOVED_KINDS: &str = "jobs,persistentvolumeclaims";

/// User and group of the image.
const USER: u32 = 65532;

/// A finished Job that nobody removed goes after so long, and its claim with it.
const FINISHED_SECONDS: u32 = 60;

/// Beyond the time for pods to be ready: the first agent comes when all are.
const HOLD_MORE_SECONDS: u64 = 120;

/// The labels of everything that is made.
fn labels(id: &str, name: &str) -> Value {
    json!({"app.kubernetes.io/name": "fathom", ID_LABEL: id, CLAIM_LABEL: name})
}

/// The claim; it belongs to the Job of this uid.
pub(super) fn claim(id: &str, name: &str, uid: &str, request: &VolumeRequest) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name, "labels": labels(id, name),
            "ownerReferences": [{
                "apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}],
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": request.mode.name(),
            "storageClassName": request.class.as_str(),
            "resources": {"requests": {"storage": request.bytes.to_string()}},
        },
    })
}

/// The Job whose pod has the volume, on the node where one is chosen.
pub(super) fn job(id: &str, name: &str, node: Option<&str>, request: &VolumeRequest) -> Value {
    let labels = labels(id, name);
    let mut pod = pod(name, request);
    if let Some(node) = node {
        // The scheduler has to place it: volumes that wait for their first consumer
        // are made where it does.
        let terms = json!([{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": [node]}]}]);
        pod["affinity"] = json!({"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    }
    if !request.tolerated.is_empty() {
        let tolerated = request.tolerated.iter();
        pod["tolerations"] = tolerated.map(ToleratedTaint::toleration).collect();
    }
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            // A pod that comes a second time would have an empty volume.
            "backoffLimit": 0,
            "activeDeadlineSeconds": request.time_limit.as_secs(),
            "ttlSecondsAfterFinished": FINISHED_SECONDS,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    })
}

fn pod(name: &str, request: &VolumeRequest) -> Value {
    let hold = request.patience.as_secs() + HOLD_MORE_SECONDS;
    let mut container = json!({
        "name": CONTAINER, "image": request.image,
        "command": ["/fathom"],
        "args": ["agent", "--hold", format!("{hold}s")],
        "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "home", "mountPath": "/home/fathom"}, {"name": "home", "mountPath": "/tmp"}],
    });
    let path = request.path.to_string_lossy();
    let security = match request.mode {
        VolumeMode::Filesystem => {
            let volume = json!({"name": "volume", "mountPath": path});
            if let Some(mounts) = container["volumeMounts"].as_array_mut() {
                mounts.push(volume);
            }
            json!({
                "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            })
        }
        // A device belongs to root in its pod: it is opened by that user, who has no
        // other right of root there.
        VolumeMode::Block => {
            container["volumeDevices"] = json!([{"name": "volume", "devicePath": path}]);
            json!({"runAsUser": 0, "fsGroup": USER, "seccompProfile": {"type": "RuntimeDefault"}})
        }
    };
    json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": 15,
        "securityContext": security,
        "containers": [container],
        "volumes": [
            {"name": "volume", "persistentVolumeClaim": {"claimName": name}},
            {"name": "home", "emptyDir": {}},
        ],
    })
}
