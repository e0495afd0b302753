//! Agents as the pods of an Indexed Job of Kubernetes, applied with `kubectl`
//! and whatever access that has.
//!
//! The user's manifest says what only the user knows: image, volumes, limits.
//! Here it is given one pod for each node, kept on nodes of their own, and the
//! way back, which comes from a Secret ([`crate::launchers::call_back`]). Job and Secret
//! are removed at the end; should the coordinator be killed, the pods end with
//! their connection, and the cluster removes the Job, and with it the Secret,
//! after ten minutes.

use std::path::Path;
use std::time::{Duration, Instant};

use fathom_deadline::paths;
use serde_json::{Value, json};

use crate::credentials::CredentialsError;
use crate::host_list::{HostName, parse_hosts};
use crate::launchers::call_back::{CALL_BACK_VARIABLE, Invitation};
use crate::launchers::call_back_launch::CallBackLaunch;
use crate::launchers::kubectl::Kubectl;
use crate::launchers::kubernetes_error::KubernetesError;
use crate::launchers::program::Starter;
use crate::launchers::{Launch, LaunchError, LaunchRequest, LauncherKind};
use crate::protocol::wire::clean;

/// Time for pods to be scheduled, images to be pulled, agents to start.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often pods are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// A finished Job that nobody removed goes after so long.
const FINISHED_SECONDS: u64 = 600;

pub(super) static LAUNCHER: LauncherKind = LauncherKind {
    name: "kubernetes",
    about: "They are the pods of a Job (--job); all nodes are the default",
    starts_agents: true,
    default_hosts: Some(|| Ok(kubernetes_nodes()?)),
    start: launch,
};

/// The nodes of the cluster that take pods.
///
/// # Errors
/// What kubectl complains about, or that there are none.
fn kubernetes_nodes() -> Result<Vec<HostName>, KubernetesError> {
    let list = Kubectl::default().ask(&["get", "nodes", "--output=json"], None)?;
    let mut names = Vec::new();
    for node in list["items"].as_array().into_iter().flatten() {
        let conditions = node["status"]["conditions"].as_array();
        let ready = conditions
            .into_iter()
            .flatten()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        let taints = node["spec"]["taints"].as_array();
        let closed = taints
            .into_iter()
            .flatten()
            .any(|taint| matches!(taint["effect"].as_str(), Some("NoSchedule" | "NoExecute")));
        if let Some(name) = node["metadata"]["name"]
            .as_str()
            .filter(|_| ready && !closed)
        {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(KubernetesError::NoNodes);
    }
    Ok(parse_hosts(&names.join(","))?)
}

/// Applies a Job with an agent on each of the nodes.
fn launch(request: &LaunchRequest) -> Result<Box<dyn Launch>, LaunchError> {
    let manifest = request.job.as_deref().ok_or(KubernetesError::NoManifest)?;
    let job = read_manifest(manifest)?;
    let (hosts, call_back) = (&request.hosts, request.call_back.as_ref());
    let launch = CallBackLaunch::begin(call_back, hosts, PATIENCE, |invitation| {
        let started = Job::apply(job, invitation, request)?;
        Ok(Box::new(started))
    })?;
    Ok(Box::new(launch))
}

/// kubectl itself turns YAML into JSON.
fn read_manifest(path: &Path) -> Result<Value, KubernetesError> {
    let text = path.to_str();
    let text = text.ok_or_else(|| KubernetesError::NotUtf8(path.to_owned()))?;
    // kubectl would wait for it, and Ctrl-C is not for kubectl.
    paths::answers(path).map_err(|silent| KubernetesError::OutOfReach(text.to_owned(), silent))?;
    let file = format!("--filename={text}");
    let job = Kubectl::default().ask(
        &[
            "create",
            "--dry-run=client",
            "--validate=false",
            "--output=json",
            &file,
        ],
        None,
    )?;
    match job["kind"].as_str() {
        Some("Job") => Ok(job),
        _ => Err(KubernetesError::NotAJob {
            path: text.to_owned(),
        }),
    }
}

/// The user's Job, made into one with an agent on each node.
pub(crate) fn complete(
    mut job: Value,
    name: &str,
    hosts: &[HostName],
    arguments: &[String],
) -> Result<Value, KubernetesError> {
    let count = hosts.len();
    let metadata = object(&mut job["metadata"])?;
    for made in [
        "generateName",
        "creationTimestamp",
        "uid",
        "resourceVersion",
    ] {
        metadata.remove(made);
    }
    metadata.insert("name".to_owned(), json!(name));
    if let Some(object) = job.as_object_mut() {
        object.remove("status");
    }
    let spec = object(&mut job["spec"])?;
    spec.insert("completionMode".to_owned(), json!("Indexed"));
    spec.insert("completions".to_owned(), json!(count));
    spec.insert("parallelism".to_owned(), json!(count));
    // A pod that comes a second time is told that its host is in the run.
    spec.insert("backoffLimit".to_owned(), json!(count.max(3) * 2));
    spec.insert(
        "ttlSecondsAfterFinished".to_owned(),
        json!(FINISHED_SECONDS),
    );
    let template = object(spec.entry("template").or_insert(json!({})))?;
    let metadata = object(template.entry("metadata").or_insert(json!({})))?;
    let labels = object(metadata.entry("labels").or_insert(json!({})))?;
    labels.insert("fathom-launch".to_owned(), json!(name));
    let pod = object(template.entry("spec").or_insert(json!({})))?;
    pod.insert("restartPolicy".to_owned(), json!("Never"));
    place(pod.entry("affinity").or_insert(json!({})), name, hosts)?;
    let containers = pod.get_mut("containers").and_then(Value::as_array_mut);
    let container = containers.and_then(|all| all.first_mut());
    let container = container.ok_or(KubernetesError::NoContainer)?;
    let container = object(container)?;
    container.entry("command").or_insert(json!(["fathom"]));
    let mut words = vec!["agent", "--call-back", "$(FATHOM_NODE)"];
    words.extend(arguments.iter().map(String::as_str));
    container.insert("args".to_owned(), json!(words));
    let env = container.entry("env").or_insert(json!([]));
    let env = env
        .as_array_mut()
        .ok_or(KubernetesError::MalformedEnvironment)?;
    env.push(json!({"name": "FATHOM_NODE",
        "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}));
    env.push(json!({"name": CALL_BACK_VARIABLE,
        "valueFrom": {"secretKeyRef": {"name": name, "key": "call-back"}}}));
    Ok(job)
}

/// One pod for each node, on the named ones only.
fn place(affinity: &mut Value, name: &str, hosts: &[HostName]) -> Result<(), KubernetesError> {
    let affinity = object(affinity)?;
    let terms: Vec<Value> = hosts
        .iter()
        .map(|host| {
            json!({"matchFields": [{"key": "metadata.name", "operator": "In",
                "values": [host.name]}]})
        })
        .collect();
    affinity.insert(
        "nodeAffinity".to_owned(),
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}),
    );
    affinity.insert(
        "podAntiAffinity".to_owned(),
        json!({"requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"fathom-launch": name}}}]}),
    );
    Ok(())
}

pub(crate) fn object(
    value: &mut Value,
) -> Result<&mut serde_json::Map<String, Value>, KubernetesError> {
    if value.is_null() {
        *value = json!({});
    }
    value.as_object_mut().ok_or(KubernetesError::MalformedJob)
}

/// The secret that the pods' environment comes from.
pub(crate) fn secret(name: &str, invitation: &Invitation) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": name, "labels": {"fathom-launch": name}},
        "stringData": {"call-back": invitation.reveal()},
    })
}

/// An applied Job.
struct Job {
    name: String,
    kubectl: Kubectl,
    looked: Option<Instant>,
    pods: Value,
}

impl Job {
    fn apply(
        manifest: Value,
        invitation: &Invitation,
        request: &LaunchRequest,
    ) -> Result<Job, KubernetesError> {
        let mut random = [0; 5];
        ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut random)
            .map_err(|_| CredentialsError::NoRandomNumbers)?;
        let name = format!("fathom-{}", hex::encode(random));
        let namespace = match (
            &request.namespace,
            manifest["metadata"]["namespace"].as_str(),
        ) {
            (Some(chosen), _) => Some(chosen.clone()),
            (None, own) => own.map(str::to_owned),
        };
        let mut manifest = complete(manifest, &name, &request.hosts, &request.arguments)?;
        if let Some(namespace) = &namespace {
            manifest["metadata"]["namespace"] = json!(namespace);
        }
        // From here on, what was made is removed when this is dropped.
        let job = Job {
            name: name.clone(),
            kubectl: Kubectl {
                namespace,
                ..Kubectl::default()
            },
            looked: None,
            pods: Value::Null,
        };
        job.kubectl.ask(
            &["create", "--filename=-", "--output=json"],
            Some(&secret(&name, invitation)),
        )?;
        let made = job.kubectl.ask(
            &["create", "--filename=-", "--output=json"],
            Some(&manifest),
        )?;
        let owner = json!({"metadata": {"ownerReferences": [{
            "apiVersion": "batch/v1", "kind": "Job", "name": name,
            "uid": made["metadata"]["uid"]}]}});
        let patch = format!("--patch={owner}");
        job.kubectl.ask(
            &[
                "patch",
                "secret",
                &name,
                "--type=merge",
                &patch,
                "--output=json",
            ],
            None,
        )?;
        Ok(job)
    }

    /// Looks at the pods now and then.
    fn look(&mut self) {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return;
        }
        let selector = format!("--selector=fathom-launch={}", self.name);
        // What cannot be asked now can be asked later.
        if let Ok(pods) = self
            .kubectl
            .ask(&["get", "pods", &selector, "--output=json"], None)
        {
            self.pods = pods;
        }
        self.looked = Some(Instant::now());
    }

    fn pods(&self) -> impl Iterator<Item = &Value> {
        self.pods["items"].as_array().into_iter().flatten()
    }
}

impl Starter for Job {
    fn ended(&mut self) -> Option<String> {
        self.look();
        let words = |pod: &Value| {
            let why = trouble(pod)?;
            Some(format!("pod {}: {why}", pod["metadata"]["name"].as_str()?))
        };
        let all = self.pods().count();
        let troubled: Vec<String> = self.pods().filter_map(words).collect();
        // One that is well may still be the one that is waited for.
        (all > 0 && troubled.len() == all).then(|| troubled.last().cloned())?
    }

    fn about(&mut self, host: &str) -> Option<String> {
        self.look();
        self.pods()
            .filter(|pod| pod["spec"]["nodeName"] == host)
            .find_map(trouble)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // With the Job go its pods. One that is gone already is no complaint.
        for kind in ["job", "secret"] {
            let words = [
                "delete",
                kind,
                &self.name,
                "--ignore-not-found",
                "--wait=false",
            ];
            let _ = self.kubectl.tell(&words);
        }
    }
}

/// What keeps a pod from calling back, if that will not pass by itself.
pub(crate) fn trouble(pod: &Value) -> Option<String> {
    let status = &pod["status"];
    let container = &status["containerStatuses"][0]["state"];
    let waiting = container["waiting"]["reason"].as_str().unwrap_or_default();
    let hopeless = [
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "CreateContainerError",
        "RunContainerError",
    ];
    if hopeless.contains(&waiting) {
        let message = container["waiting"]["message"].as_str().unwrap_or_default();
        return Some(clean(format!("{waiting} {message}").trim()));
    }
    if status["phase"] == "Failed" {
        let ended = &container["terminated"];
        let reason = ended["reason"].as_str().or(status["reason"].as_str());
        let code = ended["exitCode"].as_i64();
        let code = code
            .map(|code| format!(" (exit status {code})"))
            .unwrap_or_default();
        return Some(clean(&format!("{}{code}", reason.unwrap_or("Failed"))));
    }
    if status["phase"] == "Succeeded" {
        return Some("it ended without a call; `kubectl logs` says why".to_owned());
    }
    let conditions = status["conditions"].as_array();
    let unscheduled = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "PodScheduled" && condition["status"] == "False");
    let message = unscheduled?["message"].as_str()?;
    Some(clean(&format!("not scheduled: {message}")))
}

#[cfg(test)]
#[path = "kubernetes_tests.rs"]
pub(crate) mod tests;
