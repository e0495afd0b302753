//! The page of documentation about an exam: `docs/evidence/diagnosis-exam.md`.

use super::paper::DiagnosisPaper;

/// What stands above the tables.
const BEFORE: &str = "\
# The exam of the diagnosis

How often does `fathom diagnose` name what holds a host back? This page is written by
`scripts/diagnosis-exam`; no figure in it was typed.";

const ABOUT: &str = "\
**How the truth is known.** Each case sets up a real mechanism on a real host, and what is short is known
by construction: the cap of a volume is a parameter of the simulated drive behind it (`fathom-lab drive`,
FUSE and a loop device), or a limit of a control group; CPUs are short because more threads compute than
there are CPUs; memory goes to a small swap file and back because the kernel is told to page it out; a
network mount (nbdkit in a network namespace, nbdfuse here) is slow because the link between is
(`fathom-lab link`). Seven families have programs that others wrote: SQLite, compilers, tar, dd, a mail
spool. The figures of each case are drawn by a seed. `fathom diagnose --for 9s` watches
meanwhile, in a process of its own, as a user would call it; it is told nothing, except for the limit of
the volume in the one family where a user would know it.

**What is right.** The answer and the name of the limiter must be those of the truth; where a neighbour is
the cause, the evidence must name its process as well. A YES for a host whose storage does not hold it back
is counted apart, and must never be, even where the case was disturbed; save one about a device that is not of the
laboratory while others used it, of which nobody knows the truth.

**What does not count.** The exam needs the machine for itself. It measures what the hypervisor and processes
that are not of the exam take while a case runs, apart from the diagnosis. From 8 % of the CPUs stolen, 20 % used
by others, or 0.15 operations of theirs in flight on, the case was another one than it says: it is sat once more,
and does not count where that was disturbed too. A drive that gave less than 85 % of its cap was not the drive of
the case either. All of them stand in the table.

**What is not covered.** Drives that one can hold, hosts with many CPUs, kernel network file systems (this
kernel has none). A volume whose cap nobody knows under a load that is always the same is not in the exam: from
the host it cannot be told from a slow device with room, and the answer is NOT PROVEN, with what would settle it.
Threads that wait for a lock in memory cannot be told from threads that have nothing to do: there NO with no
name is right. Who wrote the families wrote the rules; seeds that were used to mend rules are not those of the
published score.";

impl DiagnosisPaper {
    /// The page. `made` says when, with what and where.
    pub fn to_page(&self, made: &str) -> String {
        let cases = self.results.len();
        let seed = self.seed;
        format!(
            "{BEFORE}\nIt is of {made}; {cases} cases, seed {seed}.\n\n{}\n\n{ABOUT}\n\n{}",
            format_args!("**{}.**", self.score()),
            self.to_markdown()
        )
    }
}
