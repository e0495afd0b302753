//! The server of a network mount, from its source and options
//! (nfs(5), mount.cifs(8), mount.ceph(8), Documentation/filesystems/9p.rst).

use fathom_model::fingerprint::FilesystemFacts;
use fathom_model::stack::MountServer;

/// `None` for file systems that have no server.
pub(super) fn server(filesystem: &FilesystemFacts) -> Option<MountServer> {
    let kind = filesystem.kind.as_str();
    let protocol = match kind {
        "nfs" | "nfs4" => "nfs",
        "cifs" | "smb3" => "smb",
        "ceph" | "fuse.ceph" | "fuse.ceph-fuse" => "ceph",
        "glusterfs" | "fuse.glusterfs" => "glusterfs",
        "9p" => "9p",
        "virtiofs" => "virtiofs",
        "lustre" => "lustre",
        "fuse.sshfs" => "sftp",
        _ => return None,
    };
    let option = |name: &str| {
        let options = filesystem.options.iter();
        let mut values = options.filter_map(|option| option.strip_prefix(name)?.strip_prefix('='));
        values.next().map(str::to_owned)
    };
    let number = |name: &str| option(name)?.parse().ok();
    let (server, export) = parted(&filesystem.source, protocol);
    Some(MountServer {
        protocol: protocol.to_owned(),
        version: option("vers").or_else(|| option("version")),
        server,
        export,
        address: option("addr").or_else(|| option("mountaddr")),
        transport: option("proto").or_else(|| option("trans")).or_else(|| {
            let rdma = filesystem.options.iter().any(|option| option == "rdma");
            rdma.then(|| "rdma".to_owned())
        }),
        port: number("port"),
        read_bytes: number("rsize").or_else(|| number("msize")),
        write_bytes: number("wsize").or_else(|| number("msize")),
        connections: number("nconnect"),
    })
}

/// `host:/export`, `[fe80::1]:/export`, `//host/share`, `user@host:/x`.
fn parted(source: &str, protocol: &str) -> (String, String) {
    let whole = || (source.to_owned(), String::new());
    if protocol == "smb" {
        let rest = source.trim_start_matches('/');
        let (server, share) = rest.split_once('/').unwrap_or((rest, ""));
        return (server.to_owned(), share.to_owned());
    }
    if let Some((server, rest)) = source.strip_prefix('[').and_then(|s| s.split_once(']')) {
        let export = rest.trim_start_matches(':');
        return (server.to_owned(), export.to_owned());
    }
    match source.split_once(":/").or_else(|| source.rsplit_once(':')) {
        Some((server, export)) if !server.is_empty() => {
            let slash = if source.contains(":/") { "/" } else { "" };
            (server.to_owned(), format!("{slash}{export}"))
        }
        _ => whole(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_parted() {
        let of = |source: &str, protocol: &str| parted(source, protocol);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(of("nas:/vol/a", "nfs"), pair("nas", "/vol/a"));
        assert_eq!(of("[fe80::1]:/vol", "nfs"), pair("fe80::1", "/vol"));
        assert_eq!(of("//nas/share/x", "smb"), pair("nas", "share/x"));
        assert_eq!(of("node1:gv0", "glusterfs"), pair("node1", "gv0"));
        assert_eq!(of("hostshare", "9p"), pair("hostshare", ""));
        assert_eq!(of("", "nfs"), pair("", ""));
    }

    #[test]
    fn options_of_nfs_are_read() {
        let words = "rw,vers=4.2,rsize=1048576,wsize=65536,proto=tcp,nconnect=8,addr=10.0.0.9";
        let mount = FilesystemFacts {
            kind: "nfs4".to_owned(),
            source: "nas:/vol".to_owned(),
            options: words.split(',').map(str::to_owned).collect(),
            ..FilesystemFacts::default()
        };
        let server = server(&mount).unwrap();
        assert_eq!(server.version.as_deref(), Some("4.2"));
        assert_eq!(server.transport.as_deref(), Some("tcp"));
        assert_eq!(
            (server.read_bytes, server.write_bytes, server.connections),
            (Some(1 << 20), Some(65_536), Some(8))
        );
    }
}
