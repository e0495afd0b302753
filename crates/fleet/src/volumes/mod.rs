//! Volumes of a storage class, each in a pod on a node of its own, made for the
//! time of a run and removed after it.
//!
//! A Job runs the pod; the claim belongs to the Job, and the pod to both. What a
//! killed coordinator leaves goes by itself: the pod ends when no agent has run in
//! it for a while, at the latest with the Job's deadline; the cluster then removes
//! the Job, and with it the claim. Agents come by `kubectl exec`
//! ([`crate::launchers::pods`]), so no pod needs a way back to the coordinator.

mod error;
mod leftovers;
mod manifest;
mod name;
mod obstacle;
mod request;
mod taint;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

pub use error::VolumeError;
pub use leftovers::VolumeLeftovers;
pub use name::{NameError, ObjectName};
pub use obstacle::Obstacle;
pub use request::{VolumeMode, VolumeRequest};
pub use taint::{TaintError, ToleratedTaint};

use crate::credentials::CredentialsError;
use crate::interrupt::Interrupt;
use crate::launchers::kubectl::Kubectl;
use crate::launchers::kubernetes_error::KubernetesError;
use crate::launchers::pods::Pod;

/// How often pods are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often events are asked for, which are many calls.
const ASK_WHY_EVERY: Duration = Duration::from_secs(5);

/// How long the cluster may take to remove what it was asked to remove.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(90);

/// What was made of a request.
#[derive(Debug)]
pub struct Volumes {
    kubectl: Kubectl,
    id: String,
    claims: Vec<Claim>,
    patience: Duration,
    is_removed: bool,
}

/// One volume with its pod; the Job and the claim have the same name.
#[derive(Debug)]
struct Claim {
    name: String,
    node: Option<String>,
}

impl Volumes {
    /// Makes a Job and a claim for each node. What was made until an error is
    /// removed.
    ///
    /// # Errors
    /// What the cluster refuses.
    pub fn make(kubectl: &Kubectl, request: &VolumeRequest) -> Result<Volumes, VolumeError> {
        check_class(kubectl, &request.class)?;
        let mut random = [0; 5];
        ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut random)
            .map_err(|_| CredentialsError::NoRandomNumbers)?;
        let mut made = Volumes {
            kubectl: kubectl.clone(),
            id: format!("fathom-{}", hex::encode(random)),
            claims: Vec::new(),
            patience: request.patience,
            is_removed: false,
        };
        let nodes = request.nodes.iter().map(|node| Some(node.as_str()));
        let nodes: Vec<Option<&str>> = match request.nodes.is_empty() {
            true => vec![None],
            false => nodes.collect(),
        };
        for (index, node) in nodes.into_iter().enumerate() {
            let name = format!("{}-{index}", made.id);
            made.claims.push(Claim {
                name: name.clone(),
                node: node.map(str::to_owned),
            });
            // The Job comes first: with an owner, a claim is never left alone.
            let job = manifest::job(&made.id, &name, node, request);
            let job = made.create(&job)?;
            let uid = job["metadata"]["uid"].as_str().unwrap_or_default();
            made.create(&manifest::claim(&made.id, &name, uid, request))?;
        }
        Ok(made)
    }

    fn create(&self, manifest: &Value) -> Result<Value, VolumeError> {
        let words = ["create", "--filename=-", "--output=json"];
        Ok(self.kubectl.ask(&words, Some(manifest))?)
    }

    /// Waits until all pods run. `tell` is told what they wait for, when that
    /// changes.
    ///
    /// # Errors
    /// What keeps a pod from running, the user's wish to end, or that it takes
    /// too long.
    pub fn pods(
        &self,
        interrupt: &Interrupt,
        tell: &dyn Fn(&str),
    ) -> Result<Vec<Pod>, VolumeError> {
        let began = Instant::now();
        let mut asked: Option<Instant> = None;
        let mut obstacles: HashMap<&str, Obstacle> = HashMap::new();
        loop {
            if interrupt.is_raised() {
                return Err(VolumeError::Interrupted);
            }
            let pods = match self.list("pods") {
                Ok(pods) => pods,
                Err(error) if error.is_lasting() || began.elapsed() > self.patience => {
                    return Err(error);
                }
                // The next question may be answered.
                Err(_) => {
                    sleep(interrupt, LOOK_EVERY);
                    continue;
                }
            };
            let ready: Vec<Option<Pod>> = self.claims.iter().map(|c| running(&pods, c)).collect();
            if let Some(all) = ready.iter().cloned().collect() {
                return Ok(all);
            }
            if asked.is_none_or(|at| at.elapsed() >= ASK_WHY_EVERY) {
                for (claim, _) in self.claims.iter().zip(&ready).filter(|(_, r)| r.is_none()) {
                    let Some(now) = obstacle::of(&self.kubectl, &claim.name, &pods) else {
                        continue;
                    };
                    if now.is_final() {
                        return Err(now.into());
                    }
                    if obstacles.get(claim.name.as_str()) != Some(&now) {
                        tell(&format!("waiting: {now}"));
                    }
                    obstacles.insert(&claim.name, now);
                }
                asked = Some(Instant::now());
            }
            if began.elapsed() > self.patience {
                let claim = self.claims.iter().zip(&ready).find(|(_, r)| r.is_none());
                let claim = claim.map_or("", |(claim, _)| claim.name.as_str());
                return Err(VolumeError::NotReady {
                    claim: claim.to_owned(),
                    waited: self.patience,
                    obstacle: obstacles.remove(claim).map(Box::new),
                });
            }
            sleep(interrupt, LOOK_EVERY);
        }
    }

    fn list(&self, kinds: &str) -> Result<Value, VolumeError> {
        let selector = format!("--selector={}={}", manifest::ID_LABEL, self.id);
        Ok(self
            .kubectl
            .ask(&["get", kinds, &selector, "--output=json"], None)?)
    }

    /// Removes everything that was made and waits until it is gone.
    ///
    /// # Errors
    /// What is still there, and the command that removes it.
    pub fn remove(mut self) -> Result<(), VolumeError> {
        self.is_removed = true;
        let began = Instant::now();
        loop {
            // A network that is gone for a moment must leave nothing behind.
            let left = self.delete().and_then(|()| self.list(manifest::KINDS));
            let is_late = began.elapsed() > REMOVAL_PATIENCE;
            match left.map(|left| leftovers::names(&left)) {
                Ok(left) if left.is_empty() => return Ok(()),
                Ok(left) if is_late => return Err(VolumeError::StillThere(left)),
                Err(error) if is_late || error.is_lasting() => return Err(error),
                _ => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    fn delete(&self) -> Result<(), VolumeError> {
        let selector = format!("--selector={}={}", manifest::ID_LABEL, self.id);
        let words = [
            "delete",
            manifest::REMOVED_KINDS,
            &selector,
            "--ignore-not-found",
            "--wait=false",
        ];
        Ok(self.kubectl.tell(&words)?)
    }
}

impl Drop for Volumes {
    fn drop(&mut self) {
        if !self.is_removed {
            // What cannot be said now, the Job's deadline does.
            let _ = self.delete();
        }
    }
}

/// Waits, unless the user ends it.
fn sleep(interrupt: &Interrupt, time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time && !interrupt.is_raised() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The pod of a claim, once an agent can be started in it.
fn running(pods: &Value, claim: &Claim) -> Option<Pod> {
    let pod = obstacle::pod_of(pods, &claim.name)?;
    let state = &pod["status"]["containerStatuses"][0]["state"];
    let is_up = pod["status"]["phase"] == "Running" && state["running"].is_object();
    let node = claim.node.as_deref().or(pod["spec"]["nodeName"].as_str())?;
    is_up.then_some(Pod {
        node: node.to_owned(),
        name: pod["metadata"]["name"].as_str()?.to_owned(),
    })
}

/// Refuses a class that the cluster does not have, while nothing has been made.
/// Who may not look at classes goes on: the events of the claim will say it.
fn check_class(kubectl: &Kubectl, class: &ObjectName) -> Result<(), VolumeError> {
    let words = ["get", "storageclasses", "--output=json"];
    let known = match kubectl.ask(&words, None) {
        Ok(known) => known,
        Err(KubernetesError::Forbidden(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let items = known["items"].as_array().into_iter().flatten();
    let names: Vec<String> = items
        .filter_map(|item| ObjectName::of(item["metadata"]["name"].as_str()?))
        .map(|name| name.to_string())
        .collect();
    match names.iter().any(|name| name == class.as_str()) {
        true => Ok(()),
        false => Err(VolumeError::NoSuchClass {
            class: class.to_string(),
            known: names,
        }),
    }
}

#[cfg(test)]
mod tests;
