//! Where the first byte of a target lies on each device below.

use fathom_model::stack::Stack;

/// No real stack is deeper; a loop in broken facts must end.
const DEPTH_MAX: usize = 32;
/// Ways through the stack at most.
const WAYS_MAX: usize = 4096;

/// The first byte of the target on one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// The device.
    pub device: String,
    /// Bytes from its beginning; absent where a layer does not tell.
    pub offset_bytes: Option<u64>,
    /// The devices passed on the way, top first, without this one.
    pub way: Vec<String>,
}

/// Follows the target through its stack, the top devices first.
pub fn landings(stack: &Stack) -> Vec<Landing> {
    let mut found: Vec<Landing> = stack
        .top
        .iter()
        .map(|name| Landing {
            device: name.clone(),
            offset_bytes: Some(0),
            way: Vec::new(),
        })
        .collect();
    let mut at = 0;
    while at < found.len() && found.len() < WAYS_MAX {
        let here = found[at].clone();
        at += 1;
        let device = stack.devices.iter().find(|d| d.facts.name == here.device);
        let Some(device) = device.filter(|_| here.way.len() < DEPTH_MAX) else {
            continue;
        };
        let left = WAYS_MAX.saturating_sub(found.len());
        for place in device.places.iter().take(left) {
            let mut way = here.way.clone();
            way.push(here.device.clone());
            let landing = Landing {
                device: place.below.clone(),
                offset_bytes: here
                    .offset_bytes
                    .zip(place.offset_bytes)
                    .and_then(|(a, b)| a.checked_add(b)),
                way,
            };
            found.push(landing);
        }
    }
    found
}
