//! How a plan is spread over several hosts.

use fathom_model::host_mode::{HostData, HostMode, HostTurns};

use crate::check::host_mode::{check, of_keys};
use crate::diagnostic::{Diagnostics, Problems};
use crate::node::Located;
use crate::plan::Plan;
use crate::value::{HostDataChoice, HostTurnsChoice};

impl Plan {
    /// How the plan is spread over several hosts.
    pub fn host_mode(&self) -> HostMode {
        of_keys(&self.keys)
    }

    /// Chooses whose data each host uses, and who works when. `None` leaves it
    /// as it is.
    ///
    /// # Errors
    /// What the two together cannot be.
    pub fn set_host_mode(
        &mut self,
        data: Option<HostData>,
        turns: Option<HostTurns>,
    ) -> Result<(), Diagnostics> {
        if let Some(data) = data {
            let choice = match data {
                HostData::Own => HostDataChoice::Own,
                HostData::Divided => HostDataChoice::Divided,
                HostData::Rotated => HostDataChoice::Rotated,
            };
            self.keys.host_data = Some(Located::new(choice));
        }
        if let Some(turns) = turns {
            let choice = match turns {
                HostTurns::Together => HostTurnsChoice::Together,
                HostTurns::OneByOne => HostTurnsChoice::OneByOne,
                HostTurns::Growing => HostTurnsChoice::Growing,
            };
            self.keys.host_turns = Some(Located::new(choice));
        }
        let mut problems = Problems::default();
        check(&self.keys, &mut problems);
        match problems.has_errors() {
            true => Err(problems.finish(&self.source)),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(keys: &str) -> Result<Plan, Diagnostics> {
        let text = format!("plan: 1\n{keys}\nworkloads: [{{rw: read, size: 1m, runtime: 1s}}]");
        crate::parse("test.yaml", &text)
    }

    #[test]
    fn the_keys_are_the_mode_of_the_plan() {
        assert!(!plan("").unwrap().host_mode().is_special());
        let mode = plan("host_data: divided\nhost_turns: growing");
        let mode = mode.unwrap().host_mode();
        assert_eq!(mode.data, HostData::Divided);
        assert_eq!(mode.turns, HostTurns::Growing);
        let mut changed = plan("host_data: divided").unwrap();
        let (rotated, turns) = (Some(HostData::Rotated), Some(HostTurns::OneByOne));
        changed.set_host_mode(rotated, turns).unwrap();
        let again = crate::parse("again.yaml", &changed.to_yaml()).unwrap();
        assert_eq!(again.host_mode(), changed.host_mode());
    }

    #[test]
    fn nobody_rotates_alone() {
        let told = plan("host_data: rotated\nhost_turns: growing").unwrap_err();
        assert_eq!(told.items()[0].id, "host_mode");
        let mut rotated = plan("host_data: rotated").unwrap();
        let told = rotated.set_host_mode(None, Some(HostTurns::Growing));
        assert!(told.is_err());
    }
}
