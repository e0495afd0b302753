//! Trials with known truth through the whole judgement.
