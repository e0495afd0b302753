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
        ("secret_access_key: abc", "secret_access_key: ***"),
        ("my_secret_access_key=abc", "my_secret_access_key=***"),
        ("access_key: abc", "access_key: ***"),
        ("private_key: abc", "private_key: ***"),
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
fn files_that_are_called_like_secrets_may_be_spoken_of() {
    for text in [
        "fathom: /etc/passwd: this is not a recording",
        "fathom: '/etc/passwd': permission denied",
        "./token: no such file, ../keys/secret: empty, ~/.aws/access_key: unreadable",
    ] {
        assert_eq!(masked(text), text);
    }
    for (text, wanted) in [
        ("login/password: abc", "login/password: ***"),
        ("a login/password: abc", "a login/password: ***"),
        ("passwd: abc", "passwd: ***"),
        ("/run/password=abc", "/run/password=***"),
        ("/run/password:abc", "/run/password:***"),
        ("/run/my password: abc", "/run/my password: ***"),
        ("/x/\"password\": \"abc\"", "/x/\"password\": \"***\""),
        ("a=/x password: abc", "a=/x password: ***"),
    ] {
        assert_eq!(masked(text), wanted);
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

#[test]
fn commands_in_one_word_lose_every_secret() {
    for (command, wanted) in [
        (
            "true postgres://u:PW@h/db AWS_SECRET_ACCESS_KEY=PW x",
            "true postgres://***@h/db AWS_SECRET_ACCESS_KEY=*** x",
        ),
        (
            "postgres://u:PW@h/db?a=b PASSWORD=PW",
            "postgres://***@h/db?*** PASSWORD=***",
        ),
        ("curl -u admin:PW -o x", "curl -u *** -o x"),
        ("curl -uadmin:PW --user=a:PW", "curl -u*** --user=***"),
        ("curl --user 'admin:P W' h", "curl --user *** h"),
        (
            "sh -c 'curl -u a:PW h; sync'",
            "sh -c 'curl -u *** h; sync'",
        ),
        (
            "a --password PW; b --password 'P W'",
            "a --password ***; b --password ***",
        ),
        ("PGPASSWORD='P W' psql", "PGPASSWORD=*** psql"),
        (
            "curl -H 'Authorization: Bearer PW' h",
            "curl -H 'Authorization: Bearer ***' h",
        ),
        ("sudo -u me id && sync", "sudo -u me id && sync"),
        ("curl -sSu a:PW h", "curl -sSu *** h"),
        ("mysql -uroot -pPW db", "mysql -uroot -p*** db"),
        (
            "/usr/bin/mysqldump -p'P W' db",
            "/usr/bin/mysqldump -p*** db",
        ),
        ("mysql -p db -P 3306", "mysql -p db -P 3306"),
        (
            "sshpass -p PW ssh -p 22 h; sshpass -pPW ssh h",
            "sshpass -p *** ssh -p 22 h; sshpass -p*** ssh h",
        ),
        ("sshpass -p 'P W' ssh h", "sshpass -p *** ssh h"),
        (
            "redis-cli -a PW ping | grep -a PONG",
            "redis-cli -a *** ping | grep -a PONG",
        ),
        ("redis-cli --pass PW ping", "redis-cli --pass *** ping"),
        ("smbclient -U me%PW //h/s", "smbclient -U *** //h/s"),
        ("sh -c \"mysql -pPW\"", "sh -c \"mysql -p***\""),
        (
            "docker login -u me -p PW h; docker run -p 80:80 x",
            "docker login -u me -p *** h; docker run -p 80:80 x",
        ),
        (
            "/usr/bin/helm registry login h -pPW",
            "/usr/bin/helm registry login h -p***",
        ),
        ("mkdir -p mysql/data -m 700", "mkdir -p mysql/data -m 700"),
        (
            "echo none > /sys/block/sda/queue/scheduler",
            "echo none > /sys/block/sda/queue/scheduler",
        ),
    ] {
        assert_eq!(masked_command(command), wanted);
        let arguments = [
            "ab".to_owned(),
            format!("--before-a={command}"),
            command.to_owned(),
        ];
        let shown = masked_arguments(arguments);
        assert_eq!(shown[2], wanted);
        assert!(
            !shown[1].contains("PW") || wanted.contains("PW"),
            "{}",
            shown[1]
        );
    }
    let shown = masked_arguments([
        "--http-pass=P W".to_owned(),
        "http://u:PW@h/?password=x".to_owned(),
    ]);
    assert_eq!(shown, ["--http-pass=***", "http://***@h/?***"]);
    assert_eq!(
        masked_arguments(["--http-pass".to_owned(), "P W".to_owned()])[1],
        MASK
    );
}

#[test]
fn commands_in_words_of_their_own_lose_secrets_as_well() {
    let shown = |line: &str| {
        let words = line.split(' ').map(str::to_owned);
        masked_arguments(words).join(" ")
    };
    for (line, wanted) in [
        ("record -- mysql -pPW db", "record -- mysql -p*** db"),
        (
            "causal -- sshpass -p PW ssh h",
            "causal -- sshpass -p *** ssh h",
        ),
        (
            "record -- redis-cli -a PW ping",
            "record -- redis-cli -a *** ping",
        ),
        ("record -- curl -u me:PW h", "record -- curl -u *** h"),
    ] {
        assert_eq!(shown(line), wanted);
    }
}

#[test]
fn the_form_of_a_value_is_shown_whole() {
    let help = "keys are named: profile:NAME, profile:NAME@FILE, file:FILE";
    assert_eq!(masked(help), help);
    assert_eq!(masked("profile:word@host"), "***@host");
}
