//! Latencies by two quantities, as a map.

/// A map of latencies: rows by columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LatencyMap {
    /// Above a picture.
    pub title: String,
    /// The title for who does not see the picture.
    pub description: String,
    /// Above rows and columns of characters.
    pub heading: String,
    /// What the columns are.
    pub x_title: String,
    /// What the rows are.
    pub y_title: String,
    /// Names of the columns, from left to right.
    pub columns: Vec<String>,
    /// Names of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// Row by row; what is missing lies beyond saturation and was not measured.
    pub cells: Vec<Vec<Option<MapCell>>>,
    /// Up to which column each row holds the target.
    pub holding: Vec<usize>,
    /// The target, where one was set.
    pub target: Option<String>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct MapCell {
    /// Nanoseconds, where the data support it.
    pub latency_ns: Option<f64>,
    /// The offered load was not reached.
    pub saturated: bool,
    /// Not trusted.
    pub untrusted: bool,
    /// Whether the figures hold the target, where one was set and they tell.
    pub holds: Option<bool>,
}

impl LatencyMap {
    /// Smallest and largest latency of cells that are not saturated.
    pub fn extent(&self) -> Option<(f64, f64)> {
        let all = || {
            let cells = self.cells.iter().flatten().flatten();
            cells.filter(|c| !c.saturated).filter_map(|c| c.latency_ns)
        };
        let low = all().min_by(f64::total_cmp)?;
        Some((low, all().max_by(f64::total_cmp)?))
    }
}
