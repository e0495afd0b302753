//! Pressure stall information (Documentation/accounting/psi.rst, since Linux
//! 4.20). Only the running totals are used; the averages have a memory of
//! their own. Tasks that wait for asynchronous completions mostly do not count
//! as stalled, so low I/O pressure proves nothing.

use fathom_model::observation::Pressure;

/// The `total=` of a line (`some` or `full`) of `/proc/pressure/*`, in
/// microseconds.
pub fn parse_total_us(text: &str, line: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|text| text.strip_prefix(line)?.strip_prefix(' '))?;
    line.split(' ')
        .find_map(|field| field.strip_prefix("total="))?
        .parse()
        .ok()
}

/// Running totals of all three files, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PressureTotals {
    cpu_some_us: u64,
    io_some_us: u64,
    io_full_us: u64,
    memory_some_us: u64,
}

impl PressureTotals {
    /// From the texts of the three files; `None` when one says nothing.
    pub(crate) fn parse(cpu: &str, io: &str, memory: &str) -> Option<Self> {
        Some(PressureTotals {
            cpu_some_us: parse_total_us(cpu, "some")?,
            io_some_us: parse_total_us(io, "some")?,
            io_full_us: parse_total_us(io, "full")?,
            memory_some_us: parse_total_us(memory, "some")?,
        })
    }

    /// Stall time since `last`.
    pub(crate) fn since(&self, last: &PressureTotals) -> Pressure {
        let ns = |now: u64, last: u64| now.saturating_sub(last).saturating_mul(1000);
        Pressure {
            cpu_some_ns: ns(self.cpu_some_us, last.cpu_some_us),
            io_some_ns: ns(self.io_some_us, last.io_some_us),
            io_full_ns: ns(self.io_full_us, last.io_full_us),
            memory_some_ns: ns(self.memory_some_us, last.memory_some_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IO: &str = "some avg10=9.70 avg60=2.88 avg300=0.70 total=6168652\nfull avg10=9.67 avg60=2.86 avg300=0.69 total=6011735\n";
    const CPU: &str = "some avg10=1.19 avg60=1.19 avg300=0.63 total=1000\n";

    #[test]
    fn totals_are_read_by_line() {
        assert_eq!(parse_total_us(IO, "some"), Some(6_168_652));
        assert_eq!(parse_total_us(IO, "full"), Some(6_011_735));
        assert_eq!(
            parse_total_us(CPU, "full"),
            None,
            "before 5.13 the CPU has no full line"
        );
        assert_eq!(parse_total_us("", "some"), None);
    }

    #[test]
    fn differences_are_nanoseconds() {
        let first = PressureTotals::parse(CPU, IO, CPU).unwrap();
        let later = PressureTotals::parse(&CPU.replace("1000", "1500"), IO, CPU).unwrap();
        assert_eq!(later.since(&first).cpu_some_ns, 500_000);
        assert_eq!(later.since(&first).io_some_ns, 0);
        assert_eq!(PressureTotals::parse("", IO, CPU), None);
    }
}
