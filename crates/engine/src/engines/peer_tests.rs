//! Two ends of a connection: what one writes the other reads, block by block.

use fathom_model::workload::PeerProtocol;

use super::*;
use crate::arena::Buffers;

const BLOCK: u32 = 4096;

fn op(kind: OpKind) -> Op {
    Op {
        slot: 0,
        kind,
        file: 0,
        offset: 0,
        len: BLOCK,
    }
}

fn peer(protocol: PeerProtocol, listen: bool, host: &str, port: u16) -> Peer {
    Peer {
        protocol,
        listen,
        host: host.to_owned(),
        port,
        nodelay: true,
        ping_pong: false,
        buffer_bytes: 0,
        mss_bytes: 0,
        interface: String::new(),
        ttl: 1,
    }
}

/// Carries out operations of a kind until one does not do all of its block.
fn drive(engine: &mut PeerEngine, kind: OpKind, most: usize) -> Vec<i32> {
    let mut results = Vec::new();
    let mut ended = Vec::new();
    while results.len() < most && results.last().is_none_or(|last| *last == BLOCK as i32) {
        assert_eq!(engine.queue(&op(kind), 0), Queued::Yes);
        while ended.is_empty() {
            engine.reap(1, None, &mut ended).unwrap();
        }
        results.extend(ended.drain(..).map(|completion| completion.result));
    }
    results
}

/// What a writer of `blocks` blocks and a reader until the end got.
fn exchange(writer: Peer, reader: Peer, blocks: usize) -> (Vec<i32>, Vec<i32>) {
    let (read_buffers, _) = Buffers::new(1, BLOCK.into(), false).unwrap();
    let mut reading = PeerEngine::new(&reader, 0, true, read_buffers.view()).unwrap();
    let writing = std::thread::spawn(move || {
        let (buffers, _) = Buffers::new(1, BLOCK.into(), false).unwrap();
        let mut engine = PeerEngine::new(&writer, 0, false, buffers.view()).unwrap();
        let results = drive(&mut engine, OpKind::Write, blocks);
        engine.close();
        results
    });
    let read = drive(&mut reading, OpKind::Read, usize::MAX);
    reading.close();
    (writing.join().unwrap(), read)
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.local_addr().unwrap().port()
}

fn whole_blocks_then_the_end((written, read): (Vec<i32>, Vec<i32>), blocks: usize) {
    assert_eq!(written, vec![BLOCK as i32; blocks]);
    let (last, whole) = read.split_last().unwrap();
    assert_eq!(whole, vec![BLOCK as i32; blocks]);
    assert_eq!(*last, ENDED, "the writer's end is not a failure");
}

#[test]
fn a_reader_gets_every_block_and_then_the_end() {
    let port = free_port();
    let tcp = |listen| peer(PeerProtocol::Tcp, listen, "127.0.0.1", port);
    whole_blocks_then_the_end(exchange(tcp(false), tcp(true), 50), 50);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s").display().to_string();
    let unix = |listen| peer(PeerProtocol::Unix, listen, &path, 0);
    whole_blocks_then_the_end(exchange(unix(false), unix(true), 50), 50);
    assert!(
        !Path::new(&path).exists(),
        "the socket is removed by who made it"
    );
}

#[test]
fn a_block_that_comes_back_is_one_operation() {
    let port = free_port();
    let end = |listen| Peer {
        ping_pong: true,
        ..peer(PeerProtocol::Tcp, listen, "127.0.0.1", port)
    };
    whole_blocks_then_the_end(exchange(end(false), end(true), 20), 20);
}

#[test]
fn datagrams_end_with_an_empty_one() {
    let port = free_port();
    let end = |listen| peer(PeerProtocol::Udp, listen, "127.0.0.1", port);
    let (written, read) = exchange(end(false), end(true), 5);
    assert_eq!(written, [BLOCK as i32; 5]);
    assert_eq!(read.last(), Some(&ENDED));
}

#[test]
fn who_waits_in_vain_can_be_given_up_and_no_file_is_removed() {
    let (buffers, _) = Buffers::new(1, BLOCK.into(), false).unwrap();
    let end = peer(PeerProtocol::Udp, true, "", free_port());
    let mut engine = PeerEngine::new(&end, 0, true, buffers.view()).unwrap();
    assert_eq!(engine.queue(&op(OpKind::Read), 0), Queued::Yes);
    assert_eq!(engine.queue(&op(OpKind::Read), 0), Queued::Busy);
    let mut ended = Vec::new();
    engine.reap(1, None, &mut ended).unwrap();
    assert!(ended.is_empty());
    engine.abandon(&mut ended);
    assert_eq!(ended.pop().map(|completion| completion.result), Some(ENDED));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("precious");
    std::fs::write(&path, "data").unwrap();
    let unix = peer(PeerProtocol::Unix, true, &path.display().to_string(), 0);
    let told = PeerEngine::new(&unix, 0, true, buffers.view())
        .unwrap_err()
        .to_string();
    assert!(told.contains("is not a socket"), "{told}");
    assert!(path.exists());
}
