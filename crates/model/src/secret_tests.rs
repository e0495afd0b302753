use super::*;

#[test]
fn secrets_are_masked_where_their_names_or_places_tell() {
    let cases = [
        ("http_s3_key=abc", "http_s3_key=***"),
        (
            "bad value in http_s3_key=a+b/c= (line 3)",
            "bad value in http_s3_key=*** (line 3)",
        ),
        ("secret_key: 'abc def", "secret_key: '*** def"),
        (
            "\"aws_secret_access_key\": \"abc\",",
            "\"aws_secret_access_key\": \"***\",",
        ),
        ("MINIO_SECRET_KEY=x y", "MINIO_SECRET_KEY=*** y"),
        ("http://me:pw@host:90/a", "http://***@host:90/a"),
        (
            "http://me@host/a and s3://k:s@b",
            "http://***@host/a and s3://***@b",
        ),
        ("'http://me:p/w@host/a'", "'http://***@host/a'"),
        ("http_host=me:pw@host", "http_host=***@host"),
        ("'me:pw@host' cannot be found", "'***@host' cannot be found"),
        ("s3:/me:pw@b does not exist", "s3:/***@b does not exist"),
        ("s3//me:pw@b, a:b@c:22", "s3//***@b, ***@c:22"),
        (
            "join fathom-join-1a2b3c4d-00ff00ff now",
            "join fathom-join-1a2b3c4d-*** now",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(masked(text), wanted);
        // What is masked stays as it is.
        assert_eq!(masked(wanted), wanted);
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "s3://bucket/a@b",
        "http://[::1]:9000/x@y",
        "http://host:9000/x@y",
        "mail me@host: it works",
        "10.0.0.1@tcp:10.0.0.2@tcp:/fs on /mnt",
        "admin@fsid.cephfs=/ and at 12:30 @home",
        "profile:one@/home/me/keys",
        "--endpoint http://a:1=profile:two@/k/f,https://b",
        "http_s3_keyid=AKID",
        "the secret key: see the page",
        "fathom-join-… and come from: fathom fleet token",
        "a = b: c, ü=ß: 'ö'",
        "",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn arguments_lose_values_behind_their_names() {
    let line = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let masked = |text: &str| masked_arguments(line(text)).join(" ");
    assert_eq!(
        masked("fio --http_s3_key=abc --http_pass --x --http_s3_keyid=id j.fio"),
        "fio --http_s3_key=*** --http_pass *** --http_s3_keyid=id j.fio"
    );
    assert_eq!(
        masked("s3 put --endpoint k:s@host:9 --endpoint=k:s@host --metrics-push http://u:p@h"),
        "s3 put --endpoint ***@host:9 --endpoint=***@host --metrics-push http://***@h"
    );
    assert_eq!(
        masked("s3 get --endpoint a:1,k:s@b,http://k:s@c"),
        "s3 get --endpoint a:1,***@b,http://***@c"
    );
    assert_eq!(
        masked("s3 get --endpoint http://a:1=profile:two@/k/f"),
        "s3 get --endpoint http://a:1=profile:two@/k/f"
    );
    assert_eq!(
        masked("agent --join fathom-join-1a2b3c4d-abcdef01"),
        "agent --join fathom-join-1a2b3c4d-***"
    );
}

#[test]
fn what_was_remembered_is_found_everywhere() {
    remember("short");
    remember("a-secret-of-this-test");
    remember("a-secret-of-this-test-that-is-longer");
    let text = "short: said a-secret-of-this-test-that-is-longer, and xa-secret-of-this-testx";
    assert_eq!(masked(text), "short: said ***, and x***x");
}

#[test]
fn addresses_lose_what_stands_behind_the_question_mark() {
    assert_eq!(
        masked("push to http://h:1/w?token=abcdefgh&x=1 failed"),
        "push to http://h:1/w?*** failed"
    );
    assert_eq!(
        masked("\"https://h/b?X-Amz-Signature=1\", sim:hdd?size=1GiB"),
        "\"https://h/b?***\", sim:hdd?size=1GiB"
    );
}
