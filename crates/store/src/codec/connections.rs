//! States of single connections, of trials with two ends. Stored behind the
//! details, in a version of their own, and only where there is any.
//!
//! ```text
//! flags        of each sample: a state, its way, its end, TCP, UDP (varint)
//! states       number and CPU, one column each
//! TCP, UDP     of the states that have them, one column a field
//! ```

use fathom_model::Sample;
use fathom_model::network::{ConnectionState, End, TcpState, UdpState, Way};

use super::varint::{Reader, put_column, put_u64};
use super::{Budget, CodecError};

const STATE: u64 = 1;
const REVERSE: u64 = 2;
const RECEIVER: u64 = 4;
const TCP: u64 = 8;
const UDP: u64 = 16;
const ALL_FLAGS: u64 = 31;

/// Numbers of a state of TCP, one column each, and of UDP.
const TCP_NUMBERS: usize = 15;
const UDP_NUMBERS: usize = 4;

/// Whether there is anything to store.
pub(super) fn are_in(samples: &[Sample]) -> bool {
    samples.iter().any(|sample| sample.connection.is_some())
}

fn flags_of(state: &ConnectionState) -> u64 {
    let flag = |is: bool, bit: u64| if is { bit } else { 0 };
    STATE
        | flag(state.way == Way::Reverse, REVERSE)
        | flag(state.end == End::Receiver, RECEIVER)
        | flag(state.tcp.is_some(), TCP)
        | flag(state.udp.is_some(), UDP)
}

/// The columns in stored order. A new field stops the build here: it needs a
/// version of its own.
fn tcp_numbers(state: &TcpState) -> [u64; TCP_NUMBERS] {
    let TcpState {
        retransmits,
        segments_out,
        segments_in,
        rtt_us,
        rtt_var_us,
        min_rtt_us,
        cwnd_segments,
        mss_bytes,
        send_window_bytes,
        path_mtu_bytes,
        delivery_rate,
        busy_us,
        window_limited_us,
        buffer_limited_us,
        reordered,
    } = *state;
    [
        retransmits,
        segments_out,
        segments_in,
        u64::from(rtt_us),
        u64::from(rtt_var_us),
        u64::from(min_rtt_us),
        u64::from(cwnd_segments),
        u64::from(mss_bytes),
        u64::from(send_window_bytes),
        u64::from(path_mtu_bytes),
        delivery_rate,
        busy_us,
        window_limited_us,
        buffer_limited_us,
        u64::from(reordered),
    ]
}

fn udp_numbers(state: &UdpState) -> [u64; UDP_NUMBERS] {
    let UdpState {
        packets,
        lost,
        out_of_order,
        jitter_ns,
    } = *state;
    [packets, lost, out_of_order, jitter_ns]
}

pub(super) fn put(
    out: &mut Vec<u8>,
    samples: &[Sample],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    let states = || samples.iter().filter_map(|s| s.connection.as_deref());
    budget.charge(
        states()
            .count()
            .saturating_mul(size_of::<ConnectionState>()),
    )?;
    for sample in samples {
        put_u64(out, sample.connection.as_deref().map_or(0, flags_of));
    }
    put_column(out, states().map(|s| u64::from(s.number)));
    put_column(out, states().map(|s| u64::from(s.cpu)));
    let tcp: Vec<_> = states()
        .filter_map(|s| s.tcp.as_ref())
        .map(tcp_numbers)
        .collect();
    put_columns(out, &tcp);
    let udp: Vec<_> = states()
        .filter_map(|s| s.udp.as_ref())
        .map(udp_numbers)
        .collect();
    put_columns(out, &udp);
    Ok(())
}

fn put_columns<const N: usize>(out: &mut Vec<u8>, rows: &[[u64; N]]) {
    for column in 0..N {
        put_column(out, rows.iter().map(|row| row[column]));
    }
}

/// Reads states into the samples that they belong to.
pub(super) fn take(
    reader: &mut Reader<'_>,
    samples: &mut [Sample],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    let flags = samples
        .iter()
        .map(|_| reader.u64())
        .collect::<Result<Vec<_>, _>>()?;
    if flags.iter().any(|flags| flags & !ALL_FLAGS != 0) {
        return Err(CodecError::Malformed("an unknown state of a connection"));
    }
    let with = |bit: u64| flags.iter().filter(|f| *f & bit != 0).count();
    budget.charge(with(STATE).saturating_mul(size_of::<ConnectionState>()))?;
    let mut numbers = reader.column_u32(with(STATE))?.into_iter();
    let mut cpus = reader.column_u32(with(STATE))?.into_iter();
    let mut tcp = take_tcp(reader, with(TCP))?.into_iter();
    let mut udp = take_udp(reader, with(UDP))?.into_iter();
    for (sample, flags) in samples.iter_mut().zip(flags) {
        let has = |bit: u64| flags & bit != 0;
        let tcp = if has(TCP) { tcp.next() } else { None };
        let udp = if has(UDP) { udp.next() } else { None };
        if !has(STATE) {
            continue;
        }
        sample.connection = Some(Box::new(ConnectionState {
            way: if has(REVERSE) {
                Way::Reverse
            } else {
                Way::Forward
            },
            end: if has(RECEIVER) {
                End::Receiver
            } else {
                End::Sender
            },
            number: numbers.next().unwrap_or(0),
            cpu: cpus.next().unwrap_or(0),
            tcp,
            udp,
        }));
    }
    Ok(())
}

fn take_tcp(reader: &mut Reader<'_>, count: usize) -> Result<Vec<TcpState>, CodecError> {
    let retransmits = reader.column(count)?;
    let segments_out = reader.column(count)?;
    let segments_in = reader.column(count)?;
    let rtt_us = reader.column_u32(count)?;
    let rtt_var_us = reader.column_u32(count)?;
    let min_rtt_us = reader.column_u32(count)?;
    let cwnd_segments = reader.column_u32(count)?;
    let mss_bytes = reader.column_u32(count)?;
    let send_window_bytes = reader.column_u32(count)?;
    let path_mtu_bytes = reader.column_u32(count)?;
    let delivery_rate = reader.column(count)?;
    let busy_us = reader.column(count)?;
    let window_limited_us = reader.column(count)?;
    let buffer_limited_us = reader.column(count)?;
    let reordered = reader.column_u32(count)?;
    let states = (0..count).map(|i| TcpState {
        retransmits: retransmits[i],
        segments_out: segments_out[i],
        segments_in: segments_in[i],
        rtt_us: rtt_us[i],
        rtt_var_us: rtt_var_us[i],
        min_rtt_us: min_rtt_us[i],
        cwnd_segments: cwnd_segments[i],
        mss_bytes: mss_bytes[i],
        send_window_bytes: send_window_bytes[i],
        path_mtu_bytes: path_mtu_bytes[i],
        delivery_rate: delivery_rate[i],
        busy_us: busy_us[i],
        window_limited_us: window_limited_us[i],
        buffer_limited_us: buffer_limited_us[i],
        reordered: reordered[i],
    });
    Ok(states.collect())
}

fn take_udp(reader: &mut Reader<'_>, count: usize) -> Result<Vec<UdpState>, CodecError> {
    let packets = reader.column(count)?;
    let lost = reader.column(count)?;
    let out_of_order = reader.column(count)?;
    let jitter_ns = reader.column(count)?;
    let states = (0..count).map(|i| UdpState {
        packets: packets[i],
        lost: lost[i],
        out_of_order: out_of_order[i],
        jitter_ns: jitter_ns[i],
    });
    Ok(states.collect())
}
