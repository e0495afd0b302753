use super::*;
use crate::launchers::call_back::Secret as Shared;

/// Trimmed from what Kubernetes publishes of itself.
const SCHEMAS: &str = include_str!("../../tests/data/kubernetes-1.36.schema.json");

/// What is wrong with a value, by the schema of its kind: unknown fields, wrong
/// types, missing fields.
fn faults(schemas: &Value, schema: &Value, value: &Value, at: &str, faults_: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return faults(schemas, &schemas[name], value, at, faults_);
    }
    for one in schema["allOf"].as_array().into_iter().flatten() {
        faults(schemas, one, value, at, faults_);
    }
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    if !fits {
        faults_.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    for item in value.as_array().into_iter().flatten() {
        faults(schemas, &schema["items"], item, at, faults_);
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        if value.get(required.as_str().unwrap()).is_none() {
            faults_.push(format!("{at}: {required} is missing"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let below = format!("{at}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Null) if schema["type"] == "object" => {
                faults_.push(format!("{below}: there is no such field"));
            }
            (Value::Null, other) => faults(schemas, other, inner, &below, faults_),
            (known, _) => faults(schemas, known, inner, &below, faults_),
        }
    }
}

#[track_caller]
pub(crate) fn check(kind: &str, value: &Value) {
    let published: Value = serde_json::from_str(SCHEMAS).unwrap();
    let schema = &published["schemas"][kind];
    assert!(schema.is_object(), "{kind} is published");
    let mut found = Vec::new();
    faults(&published["schemas"], schema, value, "", &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

/// As `kubectl create --dry-run=client --output=json` prints
/// examples/kubernetes-job.yaml.
fn manifest() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "fathom", "namespace": "default", "creationTimestamp": null},
        "spec": {"template": {"metadata": {"creationTimestamp": null}, "spec": {
            "containers": [{
                "name": "agent", "image": "registry.example.com/fathom:latest",
                "command": ["/fathom"],
                "resources": {"requests": {"cpu": "1", "memory": "256Mi"}},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
            "volumes": [{"name": "data",
                "persistentVolumeClaim": {"claimName": "shared-data"}}]}}},
        "status": {},
    })
}

fn completed() -> Value {
    let hosts = parse_hosts("node-1,node-2,node-3").unwrap();
    let arguments = ["--allow".to_owned(), "/data".to_owned()];
    complete(manifest(), "fathom-0a1b2c3d4e", &hosts, &arguments).unwrap()
}

#[test]
fn the_job_is_one_that_kubernetes_publishes() {
    let mut job = completed();
    // kubectl writes these, and API servers take them.
    job["spec"]["template"]["metadata"]["creationTimestamp"].take();
    let metadata = job["spec"]["template"]["metadata"].as_object_mut().unwrap();
    metadata.remove("creationTimestamp");
    check("io.k8s.api.batch.v1.Job", &job);
    let spec = &job["spec"];
    assert_eq!(spec["completionMode"], "Indexed");
    assert_eq!(
        (&spec["completions"], &spec["parallelism"]),
        (&json!(3), &json!(3))
    );
    let container = &spec["template"]["spec"]["containers"][0];
    assert_eq!(
        container["args"],
        json!(["agent", "--call-back", "$(FATHOM_NODE)", "--allow", "/data"])
    );
    // What the user wrote is still there.
    assert_eq!(container["volumeMounts"][0]["mountPath"], "/data");
    assert_eq!(container["command"], json!(["/fathom"]));
}

#[test]
fn the_secret_is_one_that_kubernetes_publishes_and_stays_out_of_the_job() {
    let invitation = Invitation {
        addresses: vec!["10.0.0.1:4000".to_owned()],
        secret: Shared::fresh().unwrap(),
    };
    check(
        "io.k8s.api.core.v1.Secret",
        &secret("fathom-0a1b2c3d4e", &invitation),
    );
    let job = completed().to_string();
    assert!(!job.contains(&invitation.reveal()), "{job}");
}

#[test]
fn the_check_of_these_tests_finds_what_is_wrong() {
    let published: Value = serde_json::from_str(SCHEMAS).unwrap();
    let mut job = completed();
    job["spec"]["completions"] = json!("three");
    job["spec"]["complitions"] = json!(3);
    let mut found = Vec::new();
    let schema = &published["schemas"]["io.k8s.api.batch.v1.Job"];
    faults(&published["schemas"], schema, &job, "", &mut found);
    let found = found.join("\n");
    assert!(
        found.contains(".spec.completions: \"three\" is no"),
        "{found}"
    );
    assert!(
        found.contains(".spec.complitions: there is no such field"),
        "{found}"
    );
}

#[test]
fn what_keeps_a_pod_away_is_told_and_what_passes_is_not() {
    let waiting = |reason: &str| {
        json!({"status": {"phase": "Pending", "containerStatuses": [
            {"state": {"waiting": {"reason": reason, "message": "no such image"}}}]}})
    };
    assert_eq!(trouble(&waiting("ContainerCreating")), None);
    assert_eq!(
        trouble(&waiting("ErrImagePull")).unwrap(),
        "ErrImagePull no such image"
    );
    let failed = json!({"status": {"phase": "Failed", "containerStatuses": [
        {"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}]}});
    assert_eq!(trouble(&failed).unwrap(), "OOMKilled (exit status 137)");
    let unscheduled = json!({"status": {"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]}});
    assert!(trouble(&unscheduled).unwrap().contains("0/3 nodes"));
    assert_eq!(trouble(&json!({"status": {"phase": "Running"}})), None);
    let over = trouble(&json!({"status": {"phase": "Succeeded"}})).unwrap();
    assert!(over.contains("kubectl logs"), "{over}");
}

#[test]
fn odd_manifests_are_refused_in_words() {
    let hosts = parse_hosts("a").unwrap();
    for odd in [
        json!({}),
        json!({"spec": 3}),
        json!({"spec": {"template": {"spec": {"containers": []}}}}),
    ] {
        assert!(complete(odd, "fathom-1", &hosts, &[]).is_err());
    }
}
