//! What keeps a pod with its volume from running, by its state and the events of
//! the pod, the claim and the Job.

use serde_json::Value;

use crate::launchers::kubectl::Kubectl;
use crate::protocol::wire::clean;
use crate::volumes::manifest::CLAIM_LABEL;

/// What is in the way, in the cluster's words, and what helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// The image.
    #[error(
        "pod {pod}: the image cannot be pulled: {why}; check --image, and that the nodes may pull it"
    )]
    Image {
        /// The pod.
        pod: String,
        /// What the node says.
        why: String,
        /// Whether it will be tried no more.
        is_final: bool,
    },
    /// No node takes the pod.
    #[error("pod {pod} cannot be scheduled: {why}; choose other nodes with --nodes")]
    Unschedulable {
        /// The pod.
        pod: String,
        /// What the scheduler says.
        why: String,
    },
    /// The claim is made when its pod is scheduled.
    #[error(
        "claim {claim} waits for its pod to be scheduled (WaitForFirstConsumer), and that has not \
         happened"
    )]
    WaitsForConsumer {
        /// The claim.
        claim: String,
    },
    /// Nobody makes volumes of the class.
    #[error(
        "claim {claim} is pending: {why}; check that the provisioner of the storage class runs \
         (kubectl get pods --all-namespaces)"
    )]
    NoProvisioner {
        /// The claim.
        claim: String,
        /// What the cluster says.
        why: String,
    },
    /// Who makes them failed.
    #[error("claim {claim}: the volume cannot be made: {why}; check --size and the storage class")]
    Provisioning {
        /// The claim.
        claim: String,
        /// What the provisioner says.
        why: String,
    },
    /// The volume does not get into the pod.
    #[error("pod {pod}: the volume cannot be attached or mounted: {why}")]
    Mount {
        /// The pod.
        pod: String,
        /// What the node says.
        why: String,
    },
    /// The cluster lets no such pod in.
    #[error(
        "the namespace refuses the pod: {why}; choose another --namespace (block volumes need the \
         Pod Security level 'baseline')"
    )]
    Refused {
        /// What admission says.
        why: String,
    },
    /// The container does not start, or ended.
    #[error("pod {pod}: {why}; --image must have the binary at /fathom, of this version")]
    Container {
        /// The pod.
        pod: String,
        /// What the node says.
        why: String,
    },
}

impl Obstacle {
    /// Whether waiting is of no use.
    pub fn is_final(&self) -> bool {
        match self {
            Obstacle::Image { is_final, .. } => *is_final,
            Obstacle::Refused { .. } | Obstacle::Container { .. } => true,
            _ => false,
        }
    }
}

/// The pod of a Job, in a list.
pub(super) fn pod_of<'p>(pods: &'p Value, job: &str) -> Option<&'p Value> {
    let mut all = pods["items"].as_array().into_iter().flatten();
    all.find(|pod| pod["metadata"]["labels"][CLAIM_LABEL] == job)
}

/// What is in the way of the volume and pod of this name, as far as the cluster
/// says it. What cannot be asked now can be asked later.
pub(super) fn of(kubectl: &Kubectl, name: &str, pods: &Value) -> Option<Obstacle> {
    let events = |object: &str| {
        let selector = format!("--field-selector=involvedObject.name={object}");
        let events = kubectl.ask(&["get", "events", &selector, "--output=json"], None);
        events.unwrap_or_default()
    };
    let Some(pod) = pod_of(pods, name) else {
        return refused(&events(name));
    };
    if let Some(found) = of_container(pod) {
        return Some(found);
    }
    let pod_name = text(&pod["metadata"]["name"]);
    let claimed = of_claim(name, &events(name));
    match claimed {
        Some(Obstacle::WaitsForConsumer { .. }) | None => {
            of_pod(&pod_name, pod, &events(&pod_name)).or(claimed)
        }
        found => found,
    }
}

/// What the node says about the container.
pub(super) fn of_container(pod: &Value) -> Option<Obstacle> {
    let name = text(&pod["metadata"]["name"]);
    let status = &pod["status"];
    let state = &status["containerStatuses"][0]["state"];
    let waiting = state["waiting"]["reason"].as_str().unwrap_or_default();
    let why = || clean(format!("{waiting} {}", text(&state["waiting"]["message"])).trim());
    match waiting {
        "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull" => {
            return Some(Obstacle::Image {
                pod: name,
                why: why(),
                // The first failure may be the network's; the second try comes by itself.
                is_final: waiting != "ErrImagePull",
            });
        }
        "CreateContainerError" | "RunContainerError" | "CreateContainerConfigError" => {
            return Some(Obstacle::Container {
                pod: name,
                why: why(),
            });
        }
        _ => {}
    }
    let phase = status["phase"].as_str().unwrap_or_default();
    if !matches!(phase, "Failed" | "Succeeded") {
        return None;
    }
    let ended = &state["terminated"];
    let reason = ended["reason"].as_str().or(status["reason"].as_str());
    let code = ended["exitCode"].as_i64();
    let code = code.map(|code| format!(" (exit status {code})"));
    let why = format!(
        "it ended: {}{}",
        reason.unwrap_or(phase),
        code.unwrap_or_default()
    );
    Some(Obstacle::Container {
        pod: name,
        why: clean(&why),
    })
}

/// Why the Job has no pod.
pub(super) fn refused(events: &Value) -> Option<Obstacle> {
    let why = last(events, "Job", &["FailedCreate"])?;
    Some(Obstacle::Refused { why })
}

pub(super) fn of_claim(name: &str, events: &Value) -> Option<Obstacle> {
    let of = |reasons: &[&str]| last(events, "PersistentVolumeClaim", reasons);
    let claim = name.to_owned();
    if let Some(why) = of(&["ProvisioningFailed"]) {
        return Some(Obstacle::Provisioning { claim, why });
    }
    if let Some(why) = of(&["FailedBinding", "ExternalProvisioning"]) {
        return Some(Obstacle::NoProvisioner { claim, why });
    }
    of(&["WaitForFirstConsumer", "WaitForPodScheduled"])?;
    Some(Obstacle::WaitsForConsumer { claim })
}

pub(super) fn of_pod(name: &str, pod: &Value, events: &Value) -> Option<Obstacle> {
    let pod_name = name.to_owned();
    let mounts = ["FailedAttachVolume", "FailedMount", "FailedMapVolume"];
    if let Some(why) = last(events, "Pod", &mounts) {
        return Some(Obstacle::Mount { pod: pod_name, why });
    }
    let conditions = pod["status"]["conditions"].as_array();
    let unscheduled = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "PodScheduled" && condition["status"] == "False");
    let why = clean(unscheduled?["message"].as_str()?);
    Some(Obstacle::Unschedulable { pod: pod_name, why })
}

/// The message of the last event of one of these reasons.
fn last(events: &Value, kind: &str, reasons: &[&str]) -> Option<String> {
    let all = events["items"].as_array().into_iter().flatten();
    let fits = |event: &&Value| {
        let reason = event["reason"].as_str().unwrap_or_default();
        event["involvedObject"]["kind"] == kind && reasons.contains(&reason)
    };
    let time = |event: &&Value| {
        let seen = event["lastTimestamp"].as_str();
        seen.or(event["eventTime"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    // Two parts of the cluster wrote at the same time; they try again at once.
    let is_conflict = |event: &&Value| {
        let message = event["message"].as_str().unwrap_or_default();
        message.contains("the object has been modified")
    };
    let all = all.filter(fits).filter(|event| !is_conflict(event));
    let event = all.max_by_key(time)?;
    Some(clean(event["message"].as_str()?))
}

fn text(value: &Value) -> String {
    clean(value.as_str().unwrap_or_default())
}
