//! On how many hosts the work runs.

use fathom_model::host_mode::growing_numbers;

/// Which numbers of hosts are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScaleNumbers {
    /// Every number from 1 on, not only 1, 2, 4 and so on.
    pub every: bool,
    /// These, where any are named.
    pub named: Vec<usize>,
}

/// Why hosts cannot be counted up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumbersError {
    /// There are not as many.
    #[error("{wanted} hosts are needed; {present} are there")]
    TooMany {
        /// What was asked for.
        wanted: usize,
        /// Hosts that can work.
        present: usize,
    },
    /// One number alone does not grow.
    #[error("a study needs two numbers of hosts at least; {present} are there")]
    TooFew {
        /// Hosts that can work.
        present: usize,
    },
}

impl ScaleNumbers {
    /// The numbers in ascending order, where so many hosts can work.
    ///
    /// # Errors
    /// There are too few hosts, or too few numbers.
    pub fn of(&self, present: usize) -> Result<Vec<usize>, NumbersError> {
        let mut numbers = match (self.every, self.named.is_empty()) {
            (true, _) => (1..=present).collect(),
            (false, true) => growing_numbers(present),
            (false, false) => self.named.clone(),
        };
        numbers.sort_unstable();
        numbers.dedup();
        let possible = 1..=present;
        if let Some(wanted) = numbers.iter().copied().find(|n| !possible.contains(n)) {
            return Err(NumbersError::TooMany { wanted, present });
        }
        match numbers.len() < 2 {
            true => Err(NumbersError::TooFew { present }),
            false => Ok(numbers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_doubled_unless_others_are_named() {
        let named = |named: &[usize]| ScaleNumbers {
            every: false,
            named: named.to_vec(),
        };
        assert_eq!(named(&[]).of(6).unwrap(), [1, 2, 4, 6]);
        assert_eq!(named(&[5, 1, 5]).of(6).unwrap(), [1, 5]);
        let every = ScaleNumbers {
            every: true,
            named: Vec::new(),
        };
        assert_eq!(every.of(3).unwrap(), [1, 2, 3]);
        let (wanted, present) = (7, 6);
        let too_many = NumbersError::TooMany { wanted, present };
        assert_eq!(named(&[1, 7]).of(6), Err(too_many));
        assert_eq!(every.of(1), Err(NumbersError::TooFew { present: 1 }));
    }
}
