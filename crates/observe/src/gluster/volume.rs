//! `gluster volume info`: which bricks hold the same, and which tier they are.

/// How a volume is put together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GlusterVolume {
    /// `Distributed-Replicate`, ….
    pub kind: String,
    /// Bricks with their tier: `hot`, `cold`, or nothing where there are none.
    pub bricks: Vec<(String, Option<String>)>,
    /// Options that were changed.
    pub options: Vec<(String, String)>,
}

/// Reads the text of `gluster volume info VOLUME`.
pub fn parse_gluster_volume(text: &str) -> GlusterVolume {
    let mut volume = GlusterVolume::default();
    let mut tier: Option<String> = None;
    let mut reconfigured = false;
    for line in text.lines().map(str::trim) {
        let lower = line.to_ascii_lowercase();
        if lower.starts_with("hot tier") {
            tier = Some("hot".to_owned());
        } else if lower.starts_with("cold tier") {
            tier = Some("cold".to_owned());
        } else if line == "Options Reconfigured:" {
            reconfigured = true;
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        let number = key.strip_prefix("Brick").unwrap_or_default();
        if reconfigured && !value.is_empty() {
            volume
                .options
                .push((key.trim().to_owned(), value.to_owned()));
        } else if key == "Type" && volume.kind.is_empty() {
            value.clone_into(&mut volume.kind);
        } else if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            // `host:/path (arbiter)`
            let name = value.split(" (").next().unwrap_or(value);
            volume.bricks.push((name.to_owned(), tier.clone()));
        }
    }
    volume
}
