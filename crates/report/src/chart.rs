//! Charts as inline SVG, drawn here so that they work printed, mailed and
//! without scripts. The script of the page only adds read-outs and zoom, from
//! the same numbers, which are embedded beside each chart.

pub(crate) mod bars;
mod distribution;
pub(crate) mod figure;
mod heat;
pub(crate) mod host_cells;
pub(crate) mod host_strip;
pub(crate) mod kind_class;
mod labels;
mod levels;
pub(crate) mod overlay;
pub(crate) mod pairs;
pub(crate) mod plot;
mod series;
mod standalone;
mod svg;
mod time;
mod trial;

pub(crate) use trial::{Drawing, draw};
