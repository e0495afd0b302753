//! The description of a storage service, as `vinfra node disk show` prints it:
//! a table of two columns, in whose second `service_params` holds lines of
//! `name: value`.

use fathom_model::machine::HostReading;

/// Lines that are looked at.
const LINES_MAX: usize = 100_000;

/// What the description tells of journals; nothing where it is none.
pub fn service_readings(text: &str) -> Vec<HostReading> {
    let mut readings = Vec::new();
    let mut disk = String::new();
    for line in text.lines().take(LINES_MAX) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let Some(place) = cells
            .iter()
            .position(|cell| matches!(*cell, "device" | "id"))
        {
            disk = cells
                .get(place + 1)
                .map_or(String::new(), |name| (*name).to_owned());
        }
        for cell in cells {
            let Some((key, value)) = cell.split_once(':') else {
                continue;
            };
            let (quantity, value) = match (key.trim(), value.trim()) {
                ("journal_data_size", bytes) => ("journal_bytes", bytes.parse().ok()),
                ("journal_type", kind) => (
                    "journal_inner",
                    Some(f64::from(u8::from(kind == "inner_cache"))),
                ),
                _ => continue,
            };
            if let Some(value) = value {
                readings.push(HostReading {
                    quantity: quantity.to_owned(),
                    instance: disk.clone(),
                    value,
                    ..HostReading::default()
                });
            }
        }
    }
    readings
}
