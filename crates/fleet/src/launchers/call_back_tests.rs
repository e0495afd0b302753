use std::net::TcpListener;

use proptest::prelude::*;

use super::*;

fn secret(byte: u8) -> Secret {
    Secret(vec![byte; SECRET_BYTES])
}

/// A coordinator with a secret, called by an agent with another: what each
/// of them says.
fn meet(
    ours: Secret,
    theirs: &Secret,
    admit: Result<(), CallBackError>,
) -> (Result<String, CallBackError>, Result<(), CallBackError>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answering = std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        answer(socket, &ours, |_| admit).map(|(host, _)| host)
    });
    let socket = TcpStream::connect(address).unwrap();
    let called = call(socket, &address.to_string(), "h1", theirs).map(drop);
    (answering.join().unwrap(), called)
}

#[test]
fn both_sides_prove_that_they_know_the_secret() {
    let (host, called) = meet(secret(1), &secret(1), Ok(()));
    called.unwrap();
    assert_eq!(host.unwrap(), "h1");
    let (host, called) = meet(secret(1), &secret(2), Ok(()));
    let (host, called) = (
        host.unwrap_err().to_string(),
        called.unwrap_err().to_string(),
    );
    assert!(host.contains("does not know the secret"), "{host}");
    assert!(called.contains("does not know the secret"), "{called}");
    let second = CallBackError::SecondCall {
        host: "h1".to_owned(),
    };
    let (host, called) = meet(secret(1), &secret(1), Err(second));
    assert_eq!(host.unwrap_err().to_string(), "h1 is in this run already");
    assert_eq!(called.unwrap_err().to_string(), "h1 is in this run already");
}

#[test]
fn a_proof_is_good_for_one_side_one_connection_and_one_host() {
    let (secret, one, two) = (secret(7), [1; 32], [2; 32]);
    let proof = secret.prove("agent", &one, "h1");
    assert!(secret.proves(&proof, "agent", &one, "h1"));
    assert!(!secret.proves(&proof, "coordinator", &one, "h1"));
    assert!(!secret.proves(&proof, "agent", &two, "h1"));
    assert!(!secret.proves(&proof, "agent", &one, "h2"));
    assert!(!secret.proves("zz", "agent", &one, "h1"));
}

#[test]
fn an_invitation_survives_the_environment_and_never_shows_in_a_log() {
    let invitation = Invitation {
        addresses: vec!["10.0.0.1:4000".to_owned(), "[fe80::1]:4000".to_owned()],
        secret: Secret::fresh().unwrap(),
    };
    let text = invitation.reveal();
    assert_eq!(text.parse::<Invitation>().unwrap(), invitation);
    assert_eq!(
        format!("{invitation:?}"),
        "Invitation(10.0.0.1:4000,[fe80::1]:4000)"
    );
    let nobody = format!("127.0.0.1:1;{}", "00".repeat(32));
    let nobody: Invitation = nobody.parse().unwrap();
    let missing = serve_call_back("h1", &nobody, &AgentOptions::default());
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .contains("no coordinator answers at 127.0.0.1:1")
    );
}

#[test]
fn an_agent_on_the_host_of_its_coordinator_takes_the_loopback() {
    let link = |address: &str| Interface {
        name: "bridge0".to_owned(),
        address: address.parse().unwrap(),
        prefix_bits: 24,
    };
    let addresses: Vec<String> = ["10.9.0.1:4000", "coordinator:4000", "127.0.0.1:4000"]
        .map(str::to_owned)
        .to_vec();
    let here = [link("127.0.0.1"), link("10.9.0.1")];
    assert_eq!(
        on_this_host(&addresses, &here),
        ["127.0.0.1:4000".parse().unwrap()]
    );
    let elsewhere = [link("127.0.0.1"), link("10.9.0.2")];
    assert_eq!(on_this_host(&addresses, &elsewhere), []);
    // Only where the coordinator waits on it.
    assert_eq!(on_this_host(&addresses[..2], &here), []);
}

proptest! {
    #[test]
    fn odd_invitations_are_refused_in_words(text in "[0-9a-f:;,.]{0,90}") {
        if let Err(why) = text.parse::<Invitation>() {
            prop_assert!(why.to_string().contains(CALL_BACK_VARIABLE));
        }
    }
}
