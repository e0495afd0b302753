//! What coordinators and agents say to one another: messages, the frames that
//! carry them, and the two channels of an agent.

pub(crate) mod frame;
pub(crate) mod json;
pub(crate) mod link;
pub(crate) mod message;
pub(crate) mod reason;
pub(crate) mod refusal;
pub(crate) mod wire;
