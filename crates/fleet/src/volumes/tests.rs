use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::launchers::kubernetes::tests::check;

fn request(mode: VolumeMode) -> VolumeRequest {
    VolumeRequest {
        class: "fast".parse().unwrap(),
        mode,
        bytes: 10 << 30,
        nodes: Vec::new(),
        tolerated: Vec::new(),
        image: "registry.example.com/fathom:1".to_owned(),
        path: PathBuf::from("/data"),
        patience: Duration::from_secs(300),
        time_limit: Duration::from_secs(3600),
    }
}

#[test]
fn names_are_checked_before_kubectl_sees_them() {
    for good in ["fast", "ceph-rbd", "node-1.example.com", "a"] {
        assert_eq!(good.parse::<ObjectName>().unwrap().as_str(), good);
    }
    let long = "a".repeat(254);
    for bad in ["", "-o", "--all", "Fast", "a/b", "a b", "a-", &long] {
        let error = bad.parse::<ObjectName>().unwrap_err().to_string();
        assert!(error.contains("expected lower-case letters"), "{error}");
    }
}

#[test]
fn what_is_made_fits_the_schemas_of_kubernetes() {
    for mode in [VolumeMode::Filesystem, VolumeMode::Block] {
        let request = VolumeRequest {
            tolerated: vec!["dedicated=storage:NoSchedule".parse().unwrap()],
            ..request(mode)
        };
        let job = manifest::job("fathom-1", "fathom-1-0", Some("n1"), &request);
        check("io.k8s.api.batch.v1.Job", &job);
        let tolerations = &job["spec"]["template"]["spec"]["tolerations"];
        assert_eq!(tolerations[0]["value"], "storage");
        let claim = manifest::claim("fathom-1", "fathom-1-0", "uid-7", &request);
        check(
            "io.k8s.api.core.v1.PersistentVolumeClaimSpec",
            &claim["spec"],
        );
    }
}

#[test]
fn a_claim_belongs_to_its_job_and_goes_with_it() {
    let claim = manifest::claim(
        "fathom-1",
        "fathom-1-0",
        "uid-7",
        &request(VolumeMode::Block),
    );
    let owner = &claim["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["uid"]),
        (&json!("Job"), &json!("uid-7"))
    );
    assert_eq!(claim["spec"]["volumeMode"], "Block");
    assert_eq!(
        claim["spec"]["resources"]["requests"]["storage"],
        "10737418240"
    );
    assert_eq!(claim["metadata"]["labels"][manifest::ID_LABEL], "fathom-1");
}

#[test]
fn a_job_ends_by_itself_and_runs_without_rights() {
    let job = manifest::job(
        "fathom-1",
        "fathom-1-0",
        Some("n1"),
        &request(VolumeMode::Filesystem),
    );
    let spec = &job["spec"];
    assert_eq!(spec["activeDeadlineSeconds"], 3600);
    assert_eq!(spec["ttlSecondsAfterFinished"], 60);
    assert_eq!(spec["backoffLimit"], 0);
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["automountServiceAccountToken"], false);
    let container = &pod["containers"][0];
    assert_eq!(container["args"], json!(["agent", "--hold", "420s"]));
    assert_eq!(
        container["securityContext"]["capabilities"]["drop"],
        json!(["ALL"])
    );
    let mounts = container["volumeMounts"].as_array().unwrap();
    assert!(mounts.contains(&json!({"name": "volume", "mountPath": "/data"})));
    let terms = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution\
                 /nodeSelectorTerms/0/matchFields/0/values/0";
    assert_eq!(pod.pointer(terms), Some(&json!("n1")));
    // Without a node the scheduler chooses.
    let job = manifest::job("fathom-1", "fathom-1-0", None, &request(VolumeMode::Block));
    let pod = &job["spec"]["template"]["spec"];
    assert!(pod.get("affinity").is_none());
    let devices = &pod["containers"][0]["volumeDevices"];
    assert_eq!(devices, &json!([{"name": "volume", "devicePath": "/data"}]));
    assert_eq!(pod["securityContext"]["runAsUser"], 0);
}

fn pod(status: Value) -> Value {
    json!({"items": [{
        "metadata": {"name": "fathom-1-0-x", "labels": {manifest::CLAIM_LABEL: "fathom-1-0"}},
        "spec": {"nodeName": "n9"}, "status": status}]})
}

#[test]
fn a_pod_counts_once_its_container_runs() {
    let claim = Claim {
        name: "fathom-1-0".to_owned(),
        node: None,
    };
    let state = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let up = pod(json!({"phase": "Running", "containerStatuses": [{"state": state}]}));
    let found = running(&up, &claim).unwrap();
    assert_eq!(
        (found.node.as_str(), found.name.as_str()),
        ("n9", "fathom-1-0-x")
    );
    assert_eq!(running(&pod(json!({"phase": "Pending"})), &claim), None);
    assert_eq!(running(&json!({"items": []}), &claim), None);
}

fn event(kind: &str, reason: &str, message: &str, at: &str) -> Value {
    json!({"involvedObject": {"kind": kind}, "reason": reason, "message": message,
        "lastTimestamp": at})
}

#[test]
fn what_is_in_the_way_is_named_by_its_events() {
    let events = |list: &[Value]| json!({"items": list});
    let claim = "PersistentVolumeClaim";
    let first = event(
        claim,
        "WaitForFirstConsumer",
        "waiting",
        "2026-01-01T00:00:00Z",
    );
    let found = obstacle::of_claim("c", &events(std::slice::from_ref(&first))).unwrap();
    assert!(matches!(found, Obstacle::WaitsForConsumer { .. }));
    let waiting = event(
        claim,
        "ExternalProvisioning",
        "by 'csi.x'",
        "2026-01-01T00:00:01Z",
    );
    let conflict = event(
        claim,
        "ProvisioningFailed",
        "the object has been modified",
        "2026-01-01T00:00:02Z",
    );
    let all = events(&[first.clone(), waiting.clone(), conflict]);
    let found = obstacle::of_claim("c", &all).unwrap();
    assert!(
        found
            .to_string()
            .contains("by 'csi.x'; check that the provisioner"),
        "{found}"
    );
    let failed = event(
        claim,
        "ProvisioningFailed",
        "no space",
        "2026-01-01T00:00:02Z",
    );
    let found = obstacle::of_claim("c", &events(&[first, waiting, failed])).unwrap();
    assert!(
        found
            .to_string()
            .contains("cannot be made: no space; check --size"),
        "{found}"
    );
    let job = event(
        "Job",
        "FailedCreate",
        "violates PodSecurity",
        "2026-01-01T00:00:00Z",
    );
    let found = obstacle::refused(&events(&[job])).unwrap();
    assert!(found.is_final() && found.to_string().contains("violates PodSecurity"));
    let waiting = json!({"reason": "ImagePullBackOff", "message": "no such image"});
    let pods = pod(json!({"phase": "Pending",
        "containerStatuses": [{"state": {"waiting": waiting}}]}));
    let found = obstacle::of_container(&pods["items"][0]).unwrap();
    assert!(
        found.is_final() && found.to_string().contains("no such image"),
        "{found}"
    );
    let conditions = json!([{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]);
    let pods = pod(json!({"phase": "Pending", "conditions": conditions}));
    let found = obstacle::of_pod("p", &pods["items"][0], &events(&[])).unwrap();
    assert_eq!(
        found.to_string(),
        "pod p cannot be scheduled: 0/3 nodes; choose other nodes with --nodes"
    );
    assert!(!found.is_final());
}
