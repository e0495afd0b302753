//! How large a recording becomes: a host with 24 busy drives and 32 CPUs, a
//! frame a second, must stay below 10 MiB per hour.

// A test panics where it must.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use fathom_observe::Sysroot;
use fathom_recorder::format::Header;
use fathom_recorder::kind::Kind;
use fathom_recorder::{Instant, RecordingReader, RecordingWriter, Sampler};

const DRIVES: usize = 24;
const CPUS: usize = 32;
const SECONDS: u64 = 120;

/// A generator of even numbers below a limit (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Counters of the host, all of them busy.
struct Host {
    dice: Dice,
    drives: Vec<[u64; 17]>,
    cpus: Vec<[u64; 8]>,
    links: Vec<[u64; 16]>,
    processes: Vec<[u64; 3]>,
    stalled_us: u64,
}

impl Host {
    fn new() -> Host {
        Host {
            dice: Dice(0x9E37_79B9_7F4A_7C15),
            drives: vec![[1 << 30; 17]; DRIVES],
            cpus: vec![[1 << 24; 8]; CPUS],
            links: vec![[1 << 33; 16]; 4],
            processes: vec![[1 << 20; 3]; 12],
            stalled_us: 1 << 40,
        }
    }

    fn go_on(&mut self) {
        // Reads, merges, sectors, ms; writes, …; in flight, busy, queue; discards, flushes.
        let most = [
            2000, 50, 64_000, 4000, 3000, 200, 96_000, 6000, 1, 1000, 10_000, 1, 1, 1, 1, 60, 90,
        ];
        for drive in &mut self.drives {
            for (value, most) in drive.iter_mut().zip(most) {
                *value += most / 2 + self.dice.below(most / 2 + 1);
            }
            drive[8] = self.dice.below(64);
        }
        for cpu in &mut self.cpus {
            for (value, most) in cpu.iter_mut().zip([40, 1, 20, 60, 20, 1, 5, 2]) {
                *value += self.dice.below(most + 1);
            }
        }
        for link in &mut self.links {
            for value in link.iter_mut() {
                *value += self.dice.below(100_000_000);
            }
        }
        for process in &mut self.processes {
            for (value, most) in process.iter_mut().zip([50_000_000, 50_000_000, 80]) {
                *value += self.dice.below(most);
            }
        }
        self.stalled_us += self.dice.below(1_000_000);
    }

    fn write(&mut self, root: &Path) {
        let join = |values: &[u64]| {
            let words: Vec<String> = values.iter().map(u64::to_string).collect();
            words.join(" ")
        };
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let mut text = String::new();
        for (number, drive) in self.drives.iter().enumerate() {
            writeln!(text, "   8 {number} sd{number} {}", join(drive)).unwrap();
        }
        put("proc/diskstats", &text);
        let mut text = format!("cpu  {}\n", join(&self.cpus[0]));
        for (number, cpu) in self.cpus.iter().enumerate() {
            writeln!(text, "cpu{number} {}", join(cpu)).unwrap();
        }
        writeln!(
            text,
            "ctxt {}\nprocs_running {}",
            self.stalled_us,
            self.dice.below(64)
        )
        .unwrap();
        put("proc/stat", &text);
        let mut text = String::new();
        for (number, link) in self.links.iter().enumerate() {
            writeln!(text, "eth{number}: {}", join(link)).unwrap();
        }
        put("proc/net/dev", &text);
        for of in ["cpu", "io", "memory"] {
            let total = self.stalled_us;
            let text = format!(
                "some avg10=0.00 total={total}\nfull avg10=0.00 total={}\n",
                total / 2
            );
            put(&format!("proc/pressure/{of}"), &text);
        }
        let dirty = self.dice.below(1 << 22);
        put(
            "proc/meminfo",
            &format!("MemTotal: 65536000 kB\nMemAvailable: {dirty} kB\nDirty: {dirty} kB\n"),
        );
        for (number, [read, written, ticks]) in self.processes.iter().enumerate() {
            let pid = 1000 + number;
            let rest = "0 ".repeat(30);
            put(
                &format!("proc/{pid}/stat"),
                &format!("{pid} (postgres) S 1 1 1 0 0 0 0 0 0 0 {ticks} 0 0 0 0 0 1 0 77 {rest}"),
            );
            put(&format!("proc/{pid}/comm"), "postgres");
            put(
                &format!("proc/{pid}/io"),
                &format!("read_bytes: {read}\nwrite_bytes: {written}\n"),
            );
        }
    }
}

#[test]
fn a_recording_of_24_busy_drives_stays_below_10_mib_per_hour() {
    let root = tempfile::tempdir().unwrap();
    let mut host = Host::new();
    host.write(root.path());
    let mut sampler = Sampler::new(&Sysroot::at(root.path()));
    let path = root.path().join("a.frec");
    let header = Header::new(sampler.host(), 1_000_000_000);
    let mut writer = RecordingWriter::create(&path, &header).unwrap();
    let mut frames = Vec::new();
    for second in 0..SECONDS {
        host.go_on();
        host.write(root.path());
        let at = Instant {
            unix_ms: 1_700_000_000_000 + second as i64 * 1000,
            monotonic_ns: second * 1_000_000_000 + host.dice.below(1_000_000),
        };
        let frame = sampler.sample(at);
        writer.append(&frame).unwrap();
        frames.push(frame);
    }
    let bytes_per_hour = writer.bytes() * 3600 / SECONDS;
    println!("{bytes_per_hour} bytes per hour");
    assert!(bytes_per_hour < 10 << 20, "{bytes_per_hour} bytes per hour");
    // All of it is there.
    let last = frames.last().unwrap();
    assert_eq!(last.of(Kind::Disk).count(), DRIVES);
    assert_eq!(last.of(Kind::Cpu).count(), CPUS + 1);
    assert_eq!(last.of(Kind::Link).count(), 4);
    assert!(last.of(Kind::Process).count() >= 10);
    let read: Vec<_> = RecordingReader::open(&path).unwrap().collect();
    assert_eq!(read, frames);
}
