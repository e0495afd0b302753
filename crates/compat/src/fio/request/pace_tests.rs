//! What becomes of options that say where a job goes next, how it keeps pace,
//! how it checks what it wrote, and when it has settled.

use fathom_model::settled::Figure;
use fathom_model::workload::{
    Content, Distribution, Flow, Part, Pattern, RateUnit, ReadBack, SteadyFill, Until, ZoneWalk,
};
use fathom_model::{ScheduledTrial, Workload};

use super::{FioMapped, FixedSurroundings, OptionOutcome, map_fio, read_fio};

fn line(text: &str) -> Result<FioMapped, String> {
    let mut machine = FixedSurroundings::default();
    machine.files.insert("job.fio".to_owned(), text.to_owned());
    machine.files.insert("p.bin".to_owned(), "abc".to_owned());
    let request = read_fio(&["job.fio".to_owned()], &machine).map_err(|p| p.to_string())?;
    map_fio(&request, &machine, 7).1.map_err(|p| p.to_string())
}

fn trials(text: &str) -> Vec<ScheduledTrial> {
    let mapped = line(text).unwrap_or_else(|problems| panic!("{problems}"));
    mapped.schedule.trials
}

fn one(options: &str) -> Workload {
    let mut trials = trials(&format!("[a]\nsize=1m\n{options}"));
    assert_eq!(trials.len(), 1);
    trials.remove(0).workload
}

#[test]
fn zones_are_gone_through() {
    let w = one("zonemode=strided\nzonesize=64k\nzoneskip=128k");
    let zones = ZoneWalk {
        zone_bytes: 64 << 10,
        stay_bytes: 64 << 10,
        skip_bytes: 128 << 10,
    };
    assert_eq!(w.zone_walk, Some(zones));
    let w = one("zonemode=strided\nzonesize=64k\nzonerange=16k");
    assert_eq!(w.zone_walk.unwrap().zone_bytes, 16 << 10);
    assert!(line("[a]\nsize=1m\nzonemode=strided").is_err());
    assert!(line("[a]\nsize=1m\nzonemode=zbd").is_err());
}

#[test]
fn a_step_over_the_end_ends_a_job() {
    let w = one("rw=read:512k\nbs=1m\nsize=128m");
    assert_eq!(w.each_worker.bytes, Some(85 << 20));
    let back = one("rw=read:-8k\nbs=4k");
    assert_eq!(back.each_worker.bytes, Some(1 << 20));
}

#[test]
fn what_is_written_is_read_back() {
    let back = |options: &str| {
        let verify = one(&format!("rw=write\nverify=md5\n{options}"))
            .verify
            .unwrap();
        (verify.read_back, verify.after)
    };
    let rule = |every_writes, at_once| {
        Some(ReadBack {
            every_writes,
            at_once,
        })
    };
    assert_eq!(back(""), (rule(u32::MAX, u32::MAX), false));
    assert_eq!(back("verify_backlog=32"), (rule(32, 32), false));
    assert_eq!(
        back("verify_backlog=32\nverify_backlog_batch=8\nruntime=5"),
        (rule(32, 8), true)
    );
    assert_eq!(back("runtime=5"), (None, true), "time may come first");
    assert_eq!(back("do_verify=0"), (None, false));
    let shared = one("rw=randwrite\nverify=crc64\nverify_write_sequence=0")
        .verify
        .unwrap();
    assert!(shared.by_anybody && shared.after && shared.read_back.is_none());
    assert_eq!(one("ioengine=null\nrw=write\nverify=md5").verify, None);
    let only = one("rw=write\nverify=md5\nverify_only=1\nio_size=4m");
    assert_eq!(
        (only.each_worker.bytes, only.each_worker.passes),
        (None, Some(1))
    );
}

#[test]
fn patterns_have_parts_and_come_from_files() {
    let content = |text: &str| {
        one(&format!("rw=write\nbuffer_pattern={text}"))
            .payload
            .content
    };
    assert_eq!(content("'p.bin'"), Content::Bytes(b"abc".to_vec()));
    let parts = vec![Part::Bytes(vec![0xff]), Part::Offset];
    assert_eq!(content("0xff%o"), Content::Parts(parts));
    assert_eq!(
        content("\"abcd\"-120xdeadface"),
        Content::Bytes(vec![b'a', b'b', b'c', b'd', 0xf4, 0xde, 0xad, 0xfa, 0xce])
    );
    assert!(line("[a]\nsize=1m\nrw=write\nbuffer_pattern='none'").is_err());
}

#[test]
fn rates_flows_and_latencies_are_kept() {
    let w = one("rw=randrw\nrate_iops=100,50");
    let rate = |rate: Option<fathom_model::workload::Rate>| rate.map(|r| (r.per_second, r.unit));
    assert_eq!(rate(w.rate_by_kind.read), Some((100.0, RateUnit::Ops)));
    assert_eq!(rate(w.rate_by_kind.write), Some((50.0, RateUnit::Ops)));
    assert_eq!(w.rate, None);
    let half = one("rw=randrw\nrate=,1m");
    assert!(half.rate_by_kind.is_empty() && half.rate.is_some());
    let flow = one("flow=8\nflow_id=3\nflow_sleep=100").flow;
    let wanted = Flow {
        id: 3,
        weight: 8,
        pause_ns: 100_000,
    };
    assert_eq!(flow, Some(wanted));
    let w = one("latency_target=2ms\nlatency_window=1s\nlatency_percentile=99.9\nlatency_run=1");
    let target = w.latency_target.unwrap();
    assert_eq!(
        (target.latency_ns, target.window_ns),
        (2_000_000, 1_000_000_000)
    );
    assert!(target.goes_on && target.percentile == 99.9);
}

#[test]
fn a_steady_state_is_fios_own() {
    let until = |options: &str| one(&format!("runtime=60\ntime_based\n{options}")).until;
    assert_eq!(
        until("ss=iops:10%"),
        None,
        "without a duration fio looks at nothing"
    );
    let Some(Until::Settled(rule)) =
        until("ss=bw_slope:0.3%\nss_dur=30s\nss_ramp=5\nss_interval=2s")
    else {
        panic!("no rule");
    };
    assert_eq!(
        (rule.figure, rule.slope, rule.percent),
        (Figure::Throughput, true, true)
    );
    assert_eq!((rule.limit, rule.intervals()), (0.3, 15));
    assert_eq!(
        (rule.ramp_ns, rule.interval_ns),
        (5_000_000_000, 2_000_000_000)
    );
}

#[test]
fn a_disk_is_filled_and_read_by_a_later_job() {
    let trials = trials(
        "[fill]\nfilename=f\nrw=write\nfill_device=1\nverify=meta\ndo_verify=0\n\
         [check]\nstonewall\nfilename=f\nrw=read\nverify=meta\n",
    );
    let [fill, check] = [&trials[0].workload, &trials[1].workload];
    assert!(fill.data_set.ends_when_full && fill.data_set.size_bytes > Some(1 << 30));
    assert_eq!(
        (check.data_set.size_bytes, check.each_worker.passes),
        (None, Some(1))
    );
    assert!(
        check
            .data_set
            .named
            .as_ref()
            .is_some_and(|named| !named.create)
    );
}

#[test]
fn jobs_spare_one_another_unless_told_otherwise() {
    let of = |text: &str| {
        trials(text)
            .iter()
            .map(|t| t.spares_others)
            .collect::<Vec<bool>>()
    };
    assert_eq!(
        of("[global]\nsize=1m\n[a]\n[b]\nexitall_on_error=1\n"),
        [true, false]
    );
}

#[test]
fn orders_of_blocks_and_lists_are_followed() {
    let w = one("rw=randread\nrandom_distribution=sequence:2,0,1\nrandom_sequence_stride=1");
    let wanted = Distribution::Sequence {
        blocks: vec![2, 0, 1],
        advances: true,
    };
    assert_eq!(w.pattern, Pattern::Random(wanted));
    assert_eq!(
        one("rw=randread\nnorandommap\nrandom_generator=lfsr").pattern,
        Pattern::Random(Distribution::EachOnce)
    );
    let filling = one("rw=randwrite\nsprandom=1\nspr_op=0.25\nspr_cs=1k");
    let wanted = Distribution::SteadyFill(SteadyFill {
        over_provisioning_percent: 25.0,
        regions: 100,
        later: true,
    });
    assert_eq!(filling.pattern, Pattern::Random(wanted));
    assert_eq!(filling.each_worker.passes, Some(1), "the physical capacity");
    for wrong in [
        "spr_op=1",
        "norandommap=0",
        "random_generator=tausworthe",
        "rw=randread",
        "spr_cs=64k",
        "spr_num_regions=0",
    ] {
        let job = format!("[a]\nsize=1m\nrw=randwrite\nsprandom=1\n{wrong}");
        assert!(line(&job).is_err(), "{wrong}");
    }
    let written = one("write_iolog=ops.log");
    assert!(written.recording.op_log > 0);
    let pairs = one("rw=trimwrite");
    assert_eq!(pairs.each_worker.passes, Some(2), "a pair counts once");
    let account = line("[a]\nsize=1m\nwrite_iolog=x\nflow=2").unwrap().account;
    assert!(
        account
            .entries
            .iter()
            .all(|entry| entry.outcome == OptionOutcome::Run)
    );
}
