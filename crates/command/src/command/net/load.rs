//! A single load, asked for with the letters that users of iperf3 know.

use clap::Args;
use fathom_model::network::{Direction, LoadSpec, Protocol, SendMethod};
use fathom_model::unit::{parse_bytes, parse_count};

/// Payload of a datagram unless another is asked for: it passes everywhere.
const DATAGRAM_BYTES: u32 = 1448;
/// Rate of datagrams unless another is asked for: an unasked flood is none of
/// our business.
const DATAGRAM_BITS: u64 = 100_000_000;

/// Flags of a single load.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "A single load instead of everything")]
pub(super) struct LoadFlags {
    /// Streams (of all pairs, where there are several hosts).
    #[arg(long, short = 'P', value_name = "N")]
    pub(super) parallel: Option<u32>,
    /// From the other host to this one.
    #[arg(long, short = 'R', conflicts_with = "bidir")]
    reverse: bool,
    /// Both ways at the same time.
    #[arg(long)]
    bidir: bool,
    /// UDP datagrams; at 100 Mbit/s unless -b says otherwise.
    #[arg(long, short = 'u')]
    udp: bool,
    /// Bits of payload per second of all streams together, for example 1G; 0
    /// is as fast as it goes.
    #[arg(long, short = 'b', value_name = "BITS", value_parser = parse_count)]
    bitrate: Option<u64>,
    /// Bytes handed over at once, for example 128k; payload of a datagram.
    #[arg(long, short = 'l', value_name = "BYTES", value_parser = parse_length)]
    length: Option<u32>,
    /// Size of socket buffers.
    #[arg(long, short = 'w', value_name = "BYTES", value_parser = parse_length)]
    window: Option<u32>,
    /// Largest segment.
    #[arg(long, short = 'M', value_name = "BYTES")]
    set_mss: Option<u32>,
    /// Send small segments at once.
    #[arg(long, short = 'N')]
    no_delay: bool,
    /// Congestion control of both ends, for example cubic.
    #[arg(long, short = 'C', value_name = "NAME")]
    congestion: Option<String>,
    /// Seconds of warm-up that do not count.
    #[arg(long, short = 'O', value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=3600))]
    omit: Option<u32>,
    /// Send with write, which copies, instead of sendfile.
    #[arg(long)]
    copy: bool,
    /// Send with sendfile, which is the default.
    #[arg(long, short = 'Z', conflicts_with = "copy")]
    zerocopy: bool,
    /// The receiver lets the kernel throw data away without copying them.
    #[arg(long)]
    skip_rx_copy: bool,
}

impl LoadFlags {
    /// Whether a single load is asked for.
    pub(super) fn is_asked(&self) -> bool {
        let flags = [
            self.reverse,
            self.bidir,
            self.udp,
            self.no_delay,
            self.zerocopy,
            self.copy,
        ];
        let given = [
            self.parallel.is_some(),
            self.bitrate.is_some(),
            self.length.is_some(),
            self.window.is_some(),
            self.set_mss.is_some(),
            self.congestion.is_some(),
            self.omit.is_some(),
            self.skip_rx_copy,
        ];
        flags.into_iter().chain(given).any(|asked| asked)
    }

    /// The load.
    pub(super) fn spec(&self, seconds: u32) -> LoadSpec {
        let usual = LoadSpec::stream(seconds);
        let (protocol, block_bytes, rate) = match self.udp {
            true => (Protocol::Udp, DATAGRAM_BYTES, Some(DATAGRAM_BITS)),
            false => (Protocol::Tcp, usual.block_bytes, None),
        };
        LoadSpec {
            protocol,
            direction: match (self.reverse, self.bidir) {
                (_, true) => Direction::Both,
                (true, _) => Direction::Reverse,
                _ => Direction::Forward,
            },
            streams: self.parallel.unwrap_or(1),
            block_bytes: self.length.unwrap_or(block_bytes),
            warmup_ns: self
                .omit
                .map_or(usual.warmup_ns, |s| u64::from(s) * 1_000_000_000),
            rate_bits: match self.bitrate {
                Some(0) => None,
                Some(bits) => Some(bits),
                None => rate,
            },
            nodelay: self.no_delay,
            buffer_bytes: self.window,
            mss_bytes: self.set_mss,
            congestion: self.congestion.clone(),
            method: match self.copy {
                true => SendMethod::Write,
                false => SendMethod::Sendfile,
            },
            discard: self.skip_rx_copy,
            ..usual
        }
    }
}

fn parse_length(text: &str) -> Result<u32, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    u32::try_from(bytes).map_err(|_| format!("{bytes} bytes are too many"))
}
