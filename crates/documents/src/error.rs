//! Why a file that was handed in is of no use.

use std::fmt;

use fathom_compat::recordings::RecordingError;
use fathom_compat::results::ResultError;
use fathom_observe::gluster::GlusterProfileError;
use fathom_recorder::given_files::GivenFilesError;
use fathom_recorder::{JoinError, ReadError};

use crate::text::TextError;

/// Why what was handed in cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// One of several things, by its name.
    #[error("{name}: {problem}")]
    Of {
        /// The file, or what it is taken for.
        name: String,
        /// What is wrong with it.
        problem: Box<DocumentError>,
    },
    /// Several are wrong.
    #[error("{}", words(.0))]
    Several(Vec<DocumentError>),
    /// A file that cannot be read as text.
    #[error("{0}")]
    Text(#[from] TextError),
    /// A folder without recordings.
    #[error("{0}")]
    Folder(#[from] GivenFilesError),
    /// No recording that is known.
    #[error("{0}")]
    Recording(#[from] RecordingError),
    /// No recording of fathom that can be read.
    #[error("{0}")]
    Own(#[from] ReadError),
    /// Parts that are not of one recording.
    #[error("{0}")]
    Parts(#[from] JoinError),
    /// No result that is known.
    #[error("{0}")]
    Result(#[from] ResultError),
    /// A document of fathom that cannot be read.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A profile of Gluster that cannot be read.
    #[error("{0}")]
    Profile(#[from] GlusterProfileError),
    /// A profile as XML, whose unit depends on the version.
    #[error(
        "XML does not say whether it counts in micro- or nanoseconds; give --gluster-version, which \
         `gluster --version` prints"
    )]
    NoGlusterVersion,
    /// Dumps of two kinds of cluster.
    #[error("give dumps of Ceph and of Gluster apart")]
    TwoClusters,
    /// Dumps beside recordings.
    #[error("give dumps of a cluster and recordings of a host apart")]
    DumpsAndRecordings,
    /// Nothing to diagnose.
    #[error("no recording was given")]
    NoRecording,
    /// More recordings with devices than there are uses for.
    #[error("a third recording with devices; give one of the real load and one of a test load")]
    Third,
    /// Recordings of several hosts.
    #[error(
        "it is of {other}, and the recording of the load of {load}; give recordings of one host"
    )]
    OtherHost {
        /// The host of this one.
        other: String,
        /// The host of the load.
        load: String,
    },
    /// Recordings that cannot be looked at as one.
    #[error("give recordings of fathom, or one file of another tool")]
    Mixed,
    /// A recording in which nothing happens.
    #[error("the recording is too short: it takes two readings")]
    TooShort,
    /// A document of fathom of another kind.
    #[error("it holds no result; `fathom runs show RUN --json` writes one")]
    NoResult,
}

impl DocumentError {
    /// What is wrong with the thing that has this name.
    pub(crate) fn about<E: Into<DocumentError>>(
        name: impl fmt::Display,
    ) -> impl Fn(E) -> DocumentError {
        move |problem| DocumentError::Of {
            name: name.to_string(),
            problem: Box::new(problem.into()),
        }
    }
}

fn words(problems: &[DocumentError]) -> String {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    all.join("\n")
}
