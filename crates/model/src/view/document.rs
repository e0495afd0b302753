//! A result that stands alone: not beside the results of a run.

use super::Table;

/// What was asked, a section for each thing that was looked at, and what came out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What was done, in a sentence.
    pub lead: String,
    /// One after the other.
    pub sections: Vec<Section>,
    /// The answer, and where the rest is.
    pub fields: Vec<Field>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// What it is.
    pub heading: String,
    /// Its figures.
    pub table: Table,
    /// What has to be known to read them, a sentence each.
    pub remarks: Vec<String>,
    /// What else is worth knowing.
    pub lists: Vec<List>,
    /// The lists are for readers who want to know everything.
    pub lists_on_demand: bool,
}

/// Items under a title. One without items is not shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List {
    /// What they are.
    pub title: String,
    /// In order.
    pub items: Vec<String>,
}

/// A line of the answer with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name, a word.
    pub name: &'static str,
    /// What it says.
    pub text: String,
    /// The words with which the text begins, and how to take them.
    pub stressed: Option<(&'static str, Tone)>,
    /// What limits it, in a sentence.
    pub remark: Option<String>,
}

impl Field {
    /// A line without more.
    pub fn new(name: &'static str, text: impl Into<String>) -> Field {
        Field {
            name,
            text: text.into(),
            stressed: None,
            remark: None,
        }
    }
}

/// How words are to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// All is well.
    Good,
    /// Look twice.
    Warning,
    /// Something is wrong.
    Bad,
    /// Neither, but important.
    Strong,
}
