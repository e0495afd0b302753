//! What earlier calls made in a cluster and could not remove.

use serde_json::Value;

use crate::launchers::kubectl::Kubectl;
use crate::protocol::wire::clean;
use crate::volumes::error::VolumeError;
use crate::volumes::manifest::{ID_LABEL, KINDS, REMOVED_KINDS};

/// Jobs, claims and pods with the label of volumes, also those of a run that is
/// under way elsewhere.
#[derive(Debug)]
pub struct VolumeLeftovers {
    /// What they are, such as `job/fathom-0a1b2c3d4e-0`.
    pub names: Vec<String>,
}

impl VolumeLeftovers {
    /// Looks for them.
    ///
    /// # Errors
    /// What kubectl complains about.
    pub fn find(kubectl: &Kubectl) -> Result<VolumeLeftovers, VolumeError> {
        let selector = format!("--selector={ID_LABEL}");
        let words = ["get", KINDS, &selector, "--output=json"];
        Ok(VolumeLeftovers {
            names: names(&kubectl.ask(&words, None)?),
        })
    }

    /// Has the cluster remove them; pods go with their Jobs.
    ///
    /// # Errors
    /// What kubectl complains about.
    pub fn remove(&self, kubectl: &Kubectl) -> Result<(), VolumeError> {
        let selector = format!("--selector={ID_LABEL}");
        let words = [
            "delete",
            REMOVED_KINDS,
            &selector,
            "--ignore-not-found",
            "--wait=false",
        ];
        Ok(kubectl.tell(&words)?)
    }
}

/// Kind and name of each object of a list.
pub(super) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .map(|item| {
            let kind = item["kind"]
                .as_str()
                .unwrap_or("object")
                .to_ascii_lowercase();
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            clean(&format!("{kind}/{name}"))
        })
        .collect()
}
