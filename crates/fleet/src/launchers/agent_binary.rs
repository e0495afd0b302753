//! The program that is to run on the hosts, known by the hash of its contents.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use fathom_deadline::paths;
use fathom_model::shell;
use ring::digest;

/// Said by a host that wants the binary; the system follows.
pub(crate) const NEED: &str = "fathom-need ";

/// Said by a host that could not keep it.
pub(crate) const FAILED: &str = "fathom-failed";

/// Why there is no binary for the agents.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What happened.
        cause: io::Error,
    },
    /// A path that no shell can be told.
    #[error("{} is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// A host that cannot run it.
    #[error("it is '{system}', this binary is for {ours}; give one for it with --agent-binary")]
    OtherSystem {
        /// The host, as `uname -sm` names it.
        system: String,
        /// What the binary is for.
        ours: String,
    },
    /// The file, when it is to be copied.
    #[error("{0}")]
    Unopened(io::Error),
    /// The way to the host.
    #[error("the binary could not be copied: {0}")]
    Copy(io::Error),
    /// The program that copies, in its words.
    #[error("the binary could not be copied: {0}")]
    CopyProgram(String),
    /// The host has no room, or no place for it.
    #[error("the binary could not be stored in the cache of the host")]
    NotStored,
}

/// This program, or one for the hosts' architecture.
#[derive(Debug, Clone)]
pub(crate) struct AgentBinary {
    path: PathBuf,
    bytes: u64,
    hash: String,
    whole_hash: String,
}

impl AgentBinary {
    /// Reads the binary once, for its hash.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(path: &Path) -> Result<AgentBinary, BinaryError> {
        let cannot = |cause: io::Error| BinaryError::Unreadable {
            path: path.to_owned(),
            cause,
        };
        let mut file = paths::open(path).map_err(cannot)?;
        let mut context = digest::Context::new(&digest::SHA256);
        let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0u64);
        loop {
            match file.read(&mut buffer).map_err(cannot)? {
                0 => break,
                n => {
                    context.update(&buffer[..n]);
                    bytes += n as u64;
                }
            }
        }
        let whole_hash = hex::encode(context.finish().as_ref());
        Ok(AgentBinary {
            path: path.to_owned(),
            bytes,
            hash: whole_hash[..32].to_owned(),
            whole_hash,
        })
    }

    /// Where it is on this host.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lines of `sh` that leave an executable copy of the binary in the user's
    /// cache, named `$f`: from standard input, when there is none yet. What
    /// they say about it begins with [`NEED`] or is [`FAILED`].
    pub(crate) fn kept_copy(&self) -> String {
        let (hash, bytes) = (&self.hash, self.bytes);
        format!(
            "d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/fathom\"; f=\"$d/fathom-{hash}\"; \
             if [ ! -x \"$f\" ]; then \
             echo \"{NEED}$(uname -sm)\"; umask 077; t=\"$f.$(uname -n).$$\"; \
             mkdir -p \"$d\" && head -c {bytes} > \"$t\" && \
             [ \"$(wc -c < \"$t\")\" -eq {bytes} ] && chmod 700 \"$t\" && mv -f \"$t\" \"$f\" || \
             {{ rm -f \"$t\"; echo {FAILED}; exit 97; }}; \
             find \"$d\" -name \"fathom-*\" -mtime +30 -exec rm -f \"{{}}\" + ; fi; "
        )
    }

    /// Lines of `sh` that find the binary, named `$f`: the very file at the same
    /// path, as on hosts that share a file system, or the copy in the cache. A
    /// host that has neither says [`NEED`], its system and the words of `who`,
    /// and waits for somebody to bring the copy.
    pub(crate) fn awaited_copy(&self, who: &str) -> Result<String, BinaryError> {
        let path = self.path.to_str();
        let path = path.ok_or_else(|| BinaryError::NotUtf8(self.path.clone()))?;
        let (whole, path, hash) = (&self.whole_hash, shell::word(path), &self.hash);
        Ok(format!(
            "f={path}; s=\"$(sha256sum < \"$f\" 2>/dev/null)\"; \
             if [ ! -x \"$f\" ] || [ \"${{s%% *}}\" != {whole} ]; then \
             f=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/fathom/fathom-{hash}\"; \
             [ -x \"$f\" ] || echo \"{NEED}$(uname -sm) {who}\"; n=0; \
             while [ ! -x \"$f\" ] && [ $n -lt 100 ]; do sleep 1; n=$((n+1)); done; fi; "
        ))
    }

    /// Whether the binary runs on a system, as `uname -sm` names it.
    ///
    /// # Errors
    /// When it does not.
    pub(crate) fn check(&self, system: &str) -> Result<(), BinaryError> {
        let ours = format!("Linux {}", std::env::consts::ARCH);
        if system == ours {
            return Ok(());
        }
        Err(BinaryError::OtherSystem {
            system: system.to_owned(),
            ours,
        })
    }

    /// Gives the binary to a host that wants it.
    ///
    /// # Errors
    /// When the host is another kind of system, or the copy breaks.
    pub(crate) fn copy_to(&self, system: &str, host: &mut dyn Write) -> Result<(), BinaryError> {
        self.check(system)?;
        paths::open(&self.path)
            .and_then(|mut file| io::copy(&mut file, host))
            .and_then(|_| host.flush())
            .map_err(BinaryError::Copy)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::{Command, Stdio};

    use super::*;

    /// Runs the lines of `script` with the binary on standard input, and says
    /// what came out and the file that was found.
    fn found(script: &str, cache: &Path, binary: &Path) -> (String, String) {
        let child = Command::new("sh")
            .args(["-c", &format!("{script} echo \"found $f\"")])
            .env("XDG_CACHE_HOME", cache)
            .stdin(Stdio::from(File::open(binary).unwrap()))
            .output()
            .unwrap();
        let text = String::from_utf8(child.stdout).unwrap();
        let (before, found) = text.split_once("found ").unwrap();
        (before.to_owned(), found.trim().to_owned())
    }

    #[test]
    fn a_copy_is_made_once_and_only_where_the_file_is_not_there() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("it's a binary");
        std::fs::write(&path, "contents").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let binary = AgentBinary::read(&path).unwrap();
        let (cache, kept) = (directory.path().join("cache"), binary.kept_copy());
        let (said, copy) = found(&kept, &cache, &path);
        assert!(said.starts_with(NEED), "{said}");
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), "contents");
        assert_eq!(found(&kept, &cache, &path), (String::new(), copy.clone()));
        // The same file at the same place needs no copy, another one does.
        let shared = binary.awaited_copy("h1").unwrap();
        let same = path.to_str().unwrap().to_owned();
        assert_eq!(found(&shared, &cache, &path), (String::new(), same));
        std::fs::write(&path, "contexts").unwrap();
        assert_eq!(found(&shared, &cache, &path), (String::new(), copy.clone()));
        // Without either it asks, and goes on when somebody has brought it.
        std::fs::remove_file(&copy).unwrap();
        let kept = kept.clone();
        let (bringing, from) = (cache.clone(), path.clone());
        let bring = std::thread::spawn(move || {
            std::fs::write(&from, "contents").unwrap();
            found(&kept, &bringing, &from)
        });
        let (said, awaited) = found(&shared, &cache, &path);
        bring.join().unwrap();
        assert!(awaited == copy || said.is_empty(), "{said} {awaited}");
    }
}
