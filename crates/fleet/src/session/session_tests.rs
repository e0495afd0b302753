//! What an agent does with a coordinator that is not what it should be.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use proptest::prelude::*;

use super::*;

/// An agent at the other end of a pair of sockets.
fn agent() -> (UnixStream, JoinHandle<Result<(), SessionError>>) {
    let (here, there) = UnixStream::pair().unwrap();
    let (output, closing) = (there.try_clone().unwrap(), there.try_clone().unwrap());
    let transport = Transport {
        input: Box::new(there),
        output: Box::new(output),
        close: Arc::new(move || drop(closing.shutdown(Shutdown::Both))),
        complaint: Arc::new(|| None),
    };
    let serve = || serve(transport, &AgentOptions::default());
    (here, std::thread::spawn(serve))
}

fn speak(stream: &UnixStream) -> FrameWriter {
    FrameWriter::new(Box::new(stream.try_clone().unwrap()))
}

fn settings() -> RemoteSettings {
    RemoteSettings {
        run: "run".to_owned(),
        place: 0,
        file_prefix: "fathom-test".to_owned(),
        destructive: false,
        keep_files: false,
        ceiling_ns: 0,
    }
}

#[test]
fn another_version_is_refused_by_name() {
    let (stream, agent) = agent();
    let greeting = Greeting {
        protocol: 99,
        version: "7.7.7".to_owned(),
        ..Greeting::coordinator()
    };
    speak(&stream).send(&greeting).unwrap();
    let error = agent.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("protocol 99 (fathom 7.7.7)"), "{error}");
}

#[test]
fn a_stranger_gets_no_memory() {
    use std::io::Write;
    let (mut stream, agent) = agent();
    stream.write_all(&(100u32 << 20).to_be_bytes()).unwrap();
    let error = agent.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("the limit is"), "{error}");
}

#[test]
fn commands_out_of_order_end_the_session() {
    for (messages, expected) in [
        (vec![ToAgent::Command(Command::Finish)], "before a run"),
        (
            vec![ToAgent::Begin(settings()), ToAgent::Begin(settings())],
            "a second run",
        ),
    ] {
        let (stream, agent) = agent();
        let writer = speak(&stream);
        writer.send(&Greeting::coordinator()).unwrap();
        for message in &messages {
            writer.send(message).unwrap();
        }
        let error = agent.join().unwrap().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_coordinator_that_leaves_between_runs_is_no_error() {
    let (stream, agent) = agent();
    speak(&stream).send(&Greeting::coordinator()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    agent.join().unwrap().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn rubbish_after_the_greeting_ends_the_session(
        body in prop::collection::vec(any::<u8>(), 1..200),
    ) {
        use std::io::Write;
        let (mut stream, agent) = agent();
        speak(&stream).send(&Greeting::coordinator()).unwrap();
        let mut frame = (body.len() as u32).to_be_bytes().to_vec();
        frame.extend_from_slice(&body);
        // The agent may have hung up already.
        let _ = stream.write_all(&frame);
        let _ = stream.shutdown(Shutdown::Write);
        prop_assert!(agent.join().unwrap().is_err());
    }
}
