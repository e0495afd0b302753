use std::convert::Infallible;

use fathom_model::diagnosis::{Answer, CausalTest, Diagnosis, Shortage};
use fathom_model::rng::Rng;
use proptest::prelude::{prop_assert_eq, proptest};

use super::conductor::order;
use super::*;

/// An application whose progress is known for a volume of a size, under a
/// clock of its own.
struct Simulated {
    rng: Rng,
    seconds: f64,
    progress: f64,
    limited: bool,
    /// What a smaller volume does, relative.
    effect: f64,
    /// Noise of a tenth of a second, as a share of its progress, and how much
    /// of it lasts until the next one.
    noise: f64,
    lasting: f64,
    state: f64,
    /// Change of progress per second, relative.
    drift: f64,
    /// Ends after so long.
    ends_at: f64,
    changes: Vec<bool>,
}

const STEP: f64 = 0.1;

impl Simulated {
    fn new(seed: u64, effect: f64) -> Simulated {
        Simulated {
            rng: Rng::new(seed),
            seconds: 0.0,
            progress: 0.0,
            limited: false,
            effect,
            noise: 0.03,
            lasting: 0.8,
            state: 0.0,
            drift: 0.001,
            ends_at: f64::MAX,
            changes: Vec::new(),
        }
    }

    /// About normal, with a deviation of 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.rng.unit()).sum::<f64>() - 6.0
    }
}

impl Experiment for Simulated {
    type Error = Infallible;

    fn limit(&mut self, on: bool) -> Result<(), Infallible> {
        self.changes.push(on);
        self.limited = on;
        Ok(())
    }

    fn progress(&mut self) -> Result<f64, Infallible> {
        Ok(self.progress)
    }

    fn operations(&mut self) -> Option<f64> {
        Some(2.0 * self.progress)
    }

    fn now_seconds(&mut self) -> f64 {
        self.seconds
    }

    fn wait(&mut self, seconds: f64) -> bool {
        for _ in 0..(seconds / STEP).round() as u32 {
            let fresh = self.normal();
            self.state = self.lasting * self.state + (1.0 - self.lasting.powi(2)).sqrt() * fresh;
            let volume = if self.limited { 1.0 + self.effect } else { 1.0 };
            let drift = 1.0 + self.drift * self.seconds;
            let rate = 100.0 * volume * drift * (1.0 + self.noise * self.state);
            self.progress += rate.max(0.0) * STEP;
            self.seconds += STEP;
        }
        self.seconds < self.ends_at
    }
}

fn design(seed: u64) -> CausalDesign {
    CausalDesign {
        blocks: 8,
        part_seconds: 5.0,
        throttle: 0.1,
        seed,
    }
}

fn subject(stands_for_all: bool) -> CausalSubject {
    CausalSubject {
        group: "/db".to_owned(),
        limit: "900 operations/s on sda".to_owned(),
        progress: "transactions".to_owned(),
        stands_for_all,
    }
}

fn tested(seed: u64, mut application: Simulated) -> CausalTest {
    let design = design(seed);
    let effect = experiment(&design, &mut application).unwrap();
    assert!(!application.limited, "the limit stays on");
    causal_test(&design, subject(true), &effect)
}

/// What makes an application another one.
type Change = fn(&mut Simulated);

/// How many of 400 applications with this effect get each answer (yes, no, not
/// proven), and how many intervals hold the truth.
fn many(effect: f64, change: Change) -> ([usize; 3], usize) {
    let (mut answers, mut held) = ([0; 3], 0);
    for seed in 0..400 {
        let mut application = Simulated::new(seed, effect);
        change(&mut application);
        let test = tested(seed + 10_000, application);
        answers[test.answer as usize] += 1;
        let [lower, upper] = test.interval.unwrap();
        held += usize::from((lower..=upper).contains(&effect));
    }
    (answers, held)
}

#[test]
fn what_the_volume_does_not_hold_back_is_hardly_ever_blamed_on_it() {
    let kinds: [(&str, Change); 4] = [
        ("usual", |_| ()),
        ("lasting noise", |a| a.lasting = 0.97),
        ("much noise", |a| a.noise = 0.2),
        ("steep drift", |a| a.drift = 0.02),
    ];
    for (name, change) in kinds {
        let ([yes, no, _], held) = many(0.0, change);
        assert!(yes < 20, "{name}: {yes} of 400 are false");
        assert!(held > 360, "{name}: {held} of 400 intervals hold the truth");
        if name == "usual" {
            assert!(no > 350, "{no} of 400 are cleared");
        }
    }
}

#[test]
fn what_the_volume_holds_back_is_found() {
    let ([yes, no, _], held) = many(-0.1, |_| ());
    assert!(yes > 380 && no == 0, "{yes} found, {no} wrongly cleared");
    assert!(held > 360, "{held} of 400 intervals hold the truth");
    // At the border neither answer is given lightly.
    let ([yes, no, _], _) = many(-0.025, |_| ());
    assert!(yes < 20 && no < 20, "{yes} and {no}");
}

#[test]
fn words_name_the_effect_with_its_interval() {
    let test = tested(1, Simulated::new(1, -0.1));
    assert_eq!(test.answer, Answer::Yes);
    assert!(
        test.words
            .starts_with("with a volume 10 % smaller the progress (transactions) changes by -"),
        "{}",
        test.words
    );
    assert!(test.words.ends_with(": the storage sets its pace"));
    assert!((test.operations_effect.unwrap() + 0.1).abs() < 0.03);
}

#[test]
fn cpu_time_that_stays_clears_nobody() {
    let design = design(1);
    let mut application = Simulated::new(1, 0.0);
    let effect = experiment(&design, &mut application).unwrap();
    let by_cpu = causal_test(&design, subject(false), &effect);
    assert_eq!(by_cpu.answer, Answer::NotProven);
    assert!(by_cpu.words.contains("--progress"), "{}", by_cpu.words);
}

#[test]
fn a_test_that_ends_early_takes_the_limit_off_and_says_nothing() {
    let design = design(3);
    let mut application = Simulated::new(3, -0.1);
    application.ends_at = 33.0;
    let effect = experiment(&design, &mut application).unwrap();
    assert_eq!(effect.blocks, 1);
    assert_eq!(application.changes.last(), Some(&false));
    let test = causal_test(&design, subject(true), &effect);
    assert_eq!((test.answer, test.effect), (Answer::NotProven, None));
    assert!(test.words.contains("ended too early"), "{}", test.words);
}

/// Fails at the tenth reading.
struct Failing(u32, bool);

impl Experiment for Failing {
    type Error = &'static str;

    fn limit(&mut self, on: bool) -> Result<(), Self::Error> {
        self.1 = on;
        Ok(())
    }

    fn progress(&mut self) -> Result<f64, Self::Error> {
        self.0 += 1;
        match self.0 {
            10 => Err("gone"),
            n => Ok(f64::from(n)),
        }
    }

    fn operations(&mut self) -> Option<f64> {
        None
    }

    fn now_seconds(&mut self) -> f64 {
        f64::from(self.0)
    }

    fn wait(&mut self, _: f64) -> bool {
        true
    }
}

#[test]
fn a_failure_takes_the_limit_off() {
    let mut failing = Failing(0, false);
    let ended = experiment(&design(1), &mut failing);
    assert_eq!(ended, Err(ExperimentError::Application("gone")));
    assert!(!failing.1);
}

#[test]
fn the_test_decides_what_the_recording_does_not() {
    let recorded = |answer, limiter| Diagnosis {
        answer,
        limiter,
        evidence: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
        settle: vec!["d".to_owned()],
        ..fathom_diagnose::diagnose(&fathom_diagnose::recording::Recording::default(), |_| None)
    };
    let with = |before: Diagnosis, effect: f64| {
        let after = with_causal(before, tested(2, Simulated::new(2, effect)));
        assert!(after.evidence.len() <= 3 && after.causal.is_some());
        (after.answer, after.limiter, after.settle.len())
    };
    let unknown = || recorded(Answer::NotProven, Shortage::Unknown);
    assert_eq!(with(unknown(), -0.1), (Answer::Yes, Shortage::Disk, 0));
    assert_eq!(with(unknown(), 0.0), (Answer::No, Shortage::Nothing, 0));
    let cpu = recorded(Answer::No, Shortage::CpuQueue);
    assert_eq!(with(cpu.clone(), 0.0).0, Answer::No);
    assert_eq!(with(cpu, -0.1), (Answer::NotProven, Shortage::Unknown, 1));
    let full = recorded(Answer::Yes, Shortage::VolumeCap);
    assert_eq!(with(full.clone(), -0.1).1, Shortage::VolumeCap);
    assert_eq!(with(full, 0.0).0, Answer::NotProven);
}

proptest! {
    #[test]
    fn every_block_has_two_parts_of_each_side(seed: u64, blocks in 1u32..40) {
        let order = order(&CausalDesign { blocks, ..design(seed) });
        prop_assert_eq!(order.len(), 4 * blocks as usize);
        for block in order.chunks_exact(4) {
            prop_assert_eq!(block.iter().filter(|limited| **limited).count(), 2);
            // A straight drift hits both sides alike.
            prop_assert_eq!(block[0], block[3]);
        }
    }
}
