//! A plan file as a tree of nodes, each with its place in the text, and the
//! tree that is written back.
//!
//! Reading into a tree first, and into typed keys after, is what lets one
//! pass report every mistake instead of the first.

/// A stretch of the plan's text in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span as a range of `text`, moved outwards to whole characters and
    /// cut to the text.
    pub fn range_in(self, text: &str) -> std::ops::Range<usize> {
        let mut start = (self.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (self.end as usize).clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }
}

/// A value and where it was written; `None` when it came from a flag or from
/// code. Two values are equal wherever they were written.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Option<Span>,
}

impl<T> Located<T> {
    /// A value that was written nowhere.
    pub fn new(value: T) -> Self {
        Located { value, span: None }
    }
}

impl<T: PartialEq> PartialEq for Located<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// One node of a plan file.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where it stands in the text.
    pub span: Option<Span>,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Nothing was written.
    Null,
    /// A plain or quoted scalar, as text.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// A map in the order of the file; keys may repeat.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// A scalar without a place in a file: the value of a flag.
    pub(crate) fn flag(text: &str) -> Node {
        Node {
            span: None,
            kind: NodeKind::Scalar(text.to_owned()),
        }
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// What the node is, for messages.
    pub fn describe(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "nothing",
            NodeKind::Scalar(_) => "a single value",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }
}

/// A value to be written to a plan file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Out {
    /// Text; quoted where the format needs it.
    Text(String),
    /// A whole number, written bare.
    Number(u64),
    /// `true` or `false`.
    Switch(bool),
    /// A list on one line.
    Row(Vec<Out>),
    /// A list with one entry a line.
    List(Vec<Out>),
    /// A map.
    Map(Vec<(String, Out)>),
}
