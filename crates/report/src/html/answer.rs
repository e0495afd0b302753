//! What stands first on a page: a few figures, one sentence, and what is to be said of
//! validity and limiter.

use fathom_model::view::Tone;

use super::key_figures::KeyFigure;

/// The first screen of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    /// Four to six figures, the most important first.
    pub(crate) figures: Vec<KeyFigure>,
    /// What they mean, in one sentence.
    pub(crate) sentence: String,
    /// The questions that the report answers.
    pub(crate) boxes: Vec<AnswerBox>,
    /// What to do next; a command stands between backticks.
    pub(crate) next: Option<String>,
}

/// A question with its answer.
#[derive(Debug, Clone)]
pub(crate) struct AnswerBox {
    /// `Limiter: what set it?`
    pub(crate) question: &'static str,
    /// How good or bad the answer is; `Strong` where it is neither.
    pub(crate) tone: Tone,
    /// The answer, in a few words.
    pub(crate) words: String,
    /// Its evidence in one line.
    pub(crate) more: String,
    /// The rest of the evidence, shown on demand.
    pub(crate) lines: Vec<String>,
}

/// The question whether figures are true.
pub(crate) const VALIDITY: &str = "Validity: is it true?";
/// The question what limits them.
pub(crate) const LIMITER: &str = "Limiter: what set it?";

impl AnswerBox {
    /// An answer without more evidence than one line.
    pub(crate) fn new(question: &'static str, tone: Tone, words: impl Into<String>) -> AnswerBox {
        AnswerBox {
            question,
            tone,
            words: words.into(),
            more: String::new(),
            lines: Vec::new(),
        }
    }

    /// With its evidence.
    pub(crate) fn because(mut self, more: impl Into<String>) -> AnswerBox {
        self.more = more.into();
        self
    }

    /// With lines that are shown on demand.
    pub(crate) fn with(mut self, lines: Vec<String>) -> AnswerBox {
        self.lines = lines;
        self
    }

    pub(super) fn class(&self) -> &'static str {
        match self.tone {
            Tone::Good => "good",
            Tone::Warning => "warn",
            Tone::Bad => "bad",
            Tone::Strong => "plain",
        }
    }

    /// A sign of its own shape, so that colour is never alone.
    pub(super) fn sign(&self) -> &'static str {
        match self.tone {
            Tone::Good => "✓",
            Tone::Warning => "▲",
            Tone::Bad => "✕",
            Tone::Strong => "",
        }
    }
}
