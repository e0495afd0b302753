//! What jobs of fio's `net` engine become.

use fathom_model::workload::{EngineKind, PeerProtocol};

use super::{FioMapped, FixedSurroundings, map_fio, read_fio};

fn mapped(text: &str) -> Result<FioMapped, String> {
    let mut machine = FixedSurroundings::default();
    machine.files.insert("job.fio".to_owned(), text.to_owned());
    let request = read_fio(&["job.fio".to_owned()], &machine).map_err(|p| p.to_string())?;
    map_fio(&request, &machine, 7).1.map_err(|p| p.to_string())
}

fn refusal(options: &str) -> String {
    mapped(&format!("[a]\nioengine=net\nsize=1m\n{options}\n")).unwrap_err()
}

#[test]
fn both_ends_run_at_the_same_time_and_meet() {
    let jobs = mapped(
        "[global]\nioengine=net\nport=8888\nprotocol=tcp\nbs=4k\nsize=100g\nnodelay=1\n\
         window_size=64k\nmss=1000\n\n[receiver]\nlisten\nrw=read\n\n[sender]\n\
         hostname=localhost\nstartdelay=1\nrw=write\n",
    )
    .unwrap();
    let [receiver, sender] = jobs.schedule.trials.as_slice() else {
        panic!("{:?}", jobs.schedule.trials);
    };
    assert_eq!(receiver.workload.engine, EngineKind::Net);
    assert_eq!(receiver.together, sender.together);
    // fio's clock of a listening job starts with the connection.
    assert_eq!(receiver.start_delay_ns, sender.start_delay_ns);
    assert_eq!(receiver.start_delay_ns, 1_000_000_000);
    assert_eq!(receiver.target.to_string(), "peer:tcp/*/8888");
    assert_eq!(sender.target.to_string(), "peer:tcp/localhost/8888");
    let peer = sender.workload.peer().unwrap();
    assert_eq!(peer.protocol, PeerProtocol::Tcp);
    assert!(peer.nodelay && !peer.listen && !peer.ping_pong);
    assert_eq!((peer.buffer_bytes, peer.mss_bytes), (65_536, 1000));
    assert!(receiver.workload.peer().unwrap().listen);
    assert!(sender.workload.data_set.named.is_none());
}

#[test]
fn who_reads_datagrams_listens() {
    let jobs = mapped(
        "[global]\nioengine=net\nprotocol=udp\nhostname=239.0.0.0\nport=1\nttl=3\nbs=64\n\
         size=1m\n[r]\nrw=read\npingpong\n[w]\nrw=write\n",
    )
    .unwrap();
    let peers: Vec<_> = jobs
        .schedule
        .trials
        .iter()
        .filter_map(|t| t.workload.peer().cloned())
        .collect();
    assert_eq!(peers.len(), 2);
    assert!(peers[0].listen && peers[0].ping_pong && peers[0].ttl == 3);
    assert!(!peers[1].listen && !peers[1].ping_pong);
}

#[test]
fn what_no_connection_can_do_is_told() {
    assert!(refusal("protocol=vsock\nport=1\nlisten").contains("virtual machines"));
    assert!(refusal("protocol=tcpv6\nport=1\nlisten").contains("fathom net"));
    assert!(refusal("protocol=carrier\nport=1\nlisten").contains("not a protocol"));
    assert!(refusal("hostname=h").contains("port is 0"));
    assert!(refusal("port=99999\nlisten").contains("port is 99999"));
    assert!(refusal("port=5\nrw=write").contains("the other end"));
    assert!(refusal("protocol=unix").contains("local socket"));
    assert!(refusal("port=5\nlisten\nrw=randread").contains("in sequence"));
    assert!(refusal("port=5\nlisten\nrw=rw").contains("in sequence"));
}

#[test]
fn a_recorded_list_is_not_replayed_over_a_connection() {
    let error = refusal("hostname=localhost\nport=1\nrw=write\nread_iolog=/var/list");
    assert!(error.contains("read_iolog"), "{error}");
    assert!(
        error.contains("cannot be replayed over a connection"),
        "{error}"
    );
}
