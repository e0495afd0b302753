//! What a network's figures mean: what sets the rate of a pair of hosts, which
//! packets pass and why, which links and hosts stand out.

mod evidence;
mod limit;
mod outliers;
mod packet_size;
mod remarks;
mod stored;

use fathom_model::RunRecord;
use fathom_model::network::{MatrixMode, MatrixReport, PairReport};

pub use limit::wire_factor;

/// What a run says of the network between hosts.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkReport {
    /// A pair of hosts.
    Pair(Box<PairReport>),
    /// All pairs of several hosts.
    Matrix(Box<MatrixReport>),
}

/// Judges a run of a network from its trials; `None` for a run of anything
/// else.
pub fn judge_network(record: &RunRecord) -> Option<NetworkReport> {
    if let Some(mut matrix) = stored::matrix(record) {
        judge_matrix(&mut matrix);
        return Some(NetworkReport::Matrix(Box::new(matrix)));
    }
    let mut pair = stored::pair(record)?;
    judge_pair(&mut pair);
    Some(NetworkReport::Pair(Box::new(pair)))
}

/// Adds to a report what its figures mean: the limiter of each direction, the
/// packet sizes, and remarks.
pub fn judge_pair(report: &mut PairReport) {
    report.mtu = packet_size::finding(report);
    report.limits = [limit::Way::There, limit::Way::Back]
        .into_iter()
        .filter_map(|way| Some((way.words().to_owned(), limit::limit(report, way)?)))
        .collect();
    let remarks = remarks::of_pair(report);
    report.remarks.extend(remarks);
}

/// Adds to a matrix which links and hosts stand out, and remarks.
pub fn judge_matrix(report: &mut MatrixReport) {
    let hosts = report.hosts.len();
    let mut unconfirmed = Vec::new();
    if let Some(alone) = report.rounds.iter().find(|r| r.mode == MatrixMode::Alone) {
        report.outliers = outliers::find(hosts, &alone.cells);
        // One slow measurement can be a host that stood still for a moment.
        let links = &mut report.outliers.links;
        unconfirmed = links
            .extract_if(.., |link| !outliers::is_confirmed(link, &alone.cells))
            .collect();
    }
    let remarks = remarks::of_matrix(report, &unconfirmed);
    report.remarks.extend(remarks);
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "stored_tests.rs"]
mod stored_tests;
