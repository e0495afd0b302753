//! The keys of a workload. The names are fio's where fio has one.

use fathom_model::workload::EngineKind;

use crate::keys::groups::*;
use crate::keys::payload::PayloadKeys;
use crate::keys::plan::Matrix;
use crate::section::section;
use crate::value::*;

section! {
    /// What one workload does, as written.
    WorkloadKeys, "workload" {
        /// Name in tables and reports. A workload without one is named after what it does,
        /// for example `randread-4k q32 j4`.
        [WHAT; default "after what it does"; example "commits"]
        name: Name,
        /// What is done: read, write, trim, rw (both, mixed) in sequence; randread, randwrite,
        /// randtrim, randrw at random. trimwrite and randtrimwrite trim each block and then
        /// write it, one block at a time per worker.
        [WHAT; default "randread"; example "randread"; alias "readwrite"; only BLOCKS, OBJECTS]
        rw: Rw,
        /// Block size: one (4k), a range (4k-64k), or drawn by weight, in a plan
        /// {4k: 70, 64k: 30}, as a flag 4k/70:64k/30. Reads, writes and trims may have sizes of
        /// their own: in a plan {read: 4k, write: 64k}, as a flag 4k,64k.
        [WHAT; default "4k"; example "4k"; alias "blocksize", "bsrange", "blocksize_range", "bssplit";
            only BLOCKS, OBJECTS]
        bs: Blocks,
        /// Share of reads in percent, where rw is rw or randrw. The rest are writes.
        [WHAT; default "50"; example "70"; only BLOCKS, OBJECTS]
        rwmixread: Percent,
        /// Share of writes in percent; says the same as rwmixread from the other side.
        [WHAT; default "50"; example "30"; only BLOCKS, OBJECTS]
        rwmixwrite: Percent,
        /// Shares of reads, writes and trims in percent, 100 together; in a plan
        /// {read: 70, write: 25, trim: 5}, as a flag 70/25/5. Combine it with rw: rw or randrw,
        /// or with pattern.
        [WHAT; default "from rw"; example "{read: 70, write: 30}"; only BLOCKS, OBJECTS]
        mix: Mix,
        /// Order of offsets: sequential, backwards, strided:64k (one block every 64 KiB),
        /// skipping:4k (4 KiB left out after each block; skipping:-8k goes back 8 KiB from the
        /// end of each block) or random.
        [WHAT; default "from rw"; example "backwards"; only BLOCKS, OBJECTS]
        pattern: PatternValue,
        /// Spread of random offsets: each_once (every block once per pass), uniform, zipf:1.2,
        /// pareto:0.2, normal:10 (deviation in percent of the size; normal:10:25 has its middle
        /// at 25 %), hot:80/20 (80 % of accesses to the first 20 %), or zones side by side:
        /// zoned:60/10:30/20:10/70 (60 % of accesses to the first 10 %, and so on), with sizes
        /// zoned_abs:60/10g:40/90g; or a given order of blocks: sequence:2,0,1 (sequence_on:2,0,1
        /// goes on with the blocks behind them each time). steady_fill:15 writes the physical
        /// capacity of an SSD with 15 % of over-provisioning once, in the order after which it is
        /// as long random writing leaves it (steady_fill:15/400 in 400 regions;
        /// steady_fill:15/400/later for a drive with a large cache).
        [WHAT; default "each_once"; example "zipf:1.2"; alias "random_distribution";
            only BLOCKS, OBJECTS]
        distribution: DistributionValue,
        /// Random offsets may repeat before every block was visited; the same as
        /// distribution: uniform.
        [WHAT; default "false"; example "true"; only BLOCKS, OBJECTS]
        norandommap: Switch,
        /// Draw a random offset only every this many operations.
        [WHAT; default "1"; example "8"; only BLOCKS]
        draw_every: Count,
        /// Where operations between two random draws go: onward (each starts where the one
        /// before ended) or again (the same offset).
        [WHAT; default "onward"; example "again"; alias "rw_sequencer"; only BLOCKS]
        between_draws: BetweenChoice,
        /// Share of operations at random offsets, percent; the rest go on where the one before
        /// of the same kind ended. Reads, writes and trims may have shares of their own: 50,80.
        [WHAT; default "100"; example "80"; alias "percentage_random"; only BLOCKS]
        random_share: Shares,
        /// Reads, writes and trims each go through offsets of their own, as separate streams,
        /// instead of sharing one sequence.
        [WHAT; default "false"; example "true"; only BLOCKS]
        stream_per_kind: Switch,
        /// Stay in one zone of each worker's part until so much has been moved there, then go on
        /// to the next; the pattern holds within the zone. 256m is one zone after the other,
        /// 16m/64m moves 64 MiB in each zone of 16 MiB, 256m+2g leaves 2 GiB out between two.
        [WHAT; default "the whole part is one zone"; example "256m+2g"; only BLOCKS]
        zones: ZoneWalkValue,
        /// Take the operations from a recorded list (fio's I/O log, version 2 or 3) instead of
        /// drawing them. All of them go to the target. Each starts when it was due in the
        /// record, and latency counts from there; passes repeats the list.
        [WHAT; default "operations are drawn"; example "/var/log/app.iolog"; alias "read_iolog";
            only RECORDED]
        replay: Name,
        /// How fast a recorded list is replayed: a percentage of its own speed, or max (as fast
        /// as the depth allows, in the recorded order).
        [WHAT; default "100"; example "200"; alias "replay_time_scale"; only RECORDED]
        replay_speed: SpeedValue,
        /// Recorded offsets are divided by this.
        [WHAT; default "1"; example "4"; alias "replay_scale"; only RECORDED]
        replay_shrink: Count,
        /// Recorded offsets are rounded down to multiples of this.
        [WHAT; default "1"; example "4k"; only RECORDED]
        replay_align: Size,
        /// Kinds of recorded operations that are left out, joined by commas: read, write, trim,
        /// sync.
        [WHAT; default "none"; example "write,trim"; only RECORDED]
        replay_skip: KindsValue,
        /// Offsets are multiples of this.
        [WHAT; default "the smallest block"; example "4k"; alias "blockalign", "ba";
            only BLOCKS, RECORDED]
        align: Size,
        /// Shift of every offset, to measure what misaligned access costs.
        [WHAT; default "0"; example "512"; only BLOCKS, RECORDED]
        misalign: Size,

        /// How operations reach the target: uring (io_uring), libaio, psync (pread and pwrite),
        /// mmap, null (nothing is done; measures fathom itself), sim, meta (operations on many
        /// files, see operation), s3 (requests to an object store, see request), falloc (fallocate
        /// in place of each block) or ftruncate (to the offset of each write).
        [LOAD; default "uring"; example "psync"; alias "ioengine"]
        engine: EngineKind,
        /// Operations in flight per worker, 1 to 4096.
        [LOAD; default "1"; example "32"; alias "queue_depth", "qd"; only BLOCKS, OBJECTS, RECORDED]
        iodepth: Count,
        /// Workers (threads), 1 to 4096. The size is shared among them.
        [LOAD; default "1"; example "4"; alias "workers", "jobs", "threads"]
        numjobs: Count,
        /// Operations submitted in one system call at most; 0 lets the engine choose.
        [LOAD; default "0"; example "8"; alias "iodepth_batch", "iodepth_batch_submit";
            only BLOCKS, OBJECTS, RECORDED]
        batch: Count,
        /// Pause of each worker after each operation. Not together with a rate.
        [LOAD; default "0"; example "500us"; alias "thinktime"; only BLOCKS, FILES, OBJECTS]
        think_time: Time,
        /// The whole worker pauses after this many operations, once those in flight have ended,
        /// instead of each operation in flight by itself.
        [LOAD; default "each operation by itself"; example "8"; alias "thinktime_blocks";
            only BLOCKS]
        think_every: Count,
        /// The first part of each pause is spent computing instead of asleep. Needs think_every.
        [LOAD; default "0"; example "100us"; alias "thinktime_spin"; only BLOCKS]
        think_spin: Time,

        /// Request rate of all workers together, in operations (1000/s) or bytes (50MiB/s).
        /// Latency then counts from when each operation was due, so that a stall is not hidden.
        [RATE; default "as fast as possible"; example "1000/s"; only BLOCKS, FILES, OBJECTS]
        rate: RateValue,
        /// The same in operations per second, as a bare number, over all workers together.
        [RATE; default "as fast as possible"; example "1000"; only BLOCKS, FILES, OBJECTS]
        rate_iops: Count,
        /// Rates of reads, writes and trims of their own, all workers together, instead of one
        /// rate and the shares of the mix: 50MiB/s,1000/s. Each kind has its own due times.
        [RATE; default "none"; example "50MiB/s,1000/s"; only BLOCKS]
        rate_by_kind: RatesValue,
        /// Members of a set that give a share keep step: each worker does its share of all their
        /// operations, in proportion to these numbers.
        [RATE; default "as fast as possible"; example "8"; alias "flow"; only BLOCKS, RECORDED]
        share: Count,
        /// The depth adapts, from 1 up to iodepth, to the deepest at which this share of
        /// operations keeps within a latency: p99<2ms over 5s tries each depth for 5 s.
        [RATE; default "the depth stays"; example "p99<2ms over 5s"; only BLOCKS, RECORDED]
        latency_target: LatencyTargetValue,
        /// How due times are spaced: constant, or poisson (as independent users arrive).
        [RATE; default "constant"; example "poisson"; alias "rate_process";
            only BLOCKS, FILES, OBJECTS]
        arrival: ArrivalChoice,

        /// Bytes of the data set, all files and workers together. Take more than the memory
        /// when going through the page cache. On a device or an existing file the default is
        /// all of it.
        [DATA; default "1g"; example "16g"; only BLOCKS, OBJECTS, RECORDED]
        size: Size,
        /// Only this much of the data set is accessed.
        [DATA; default "all of it"; example "4g"; only BLOCKS, RECORDED]
        working_set: Size,
        /// Where the accessed range starts within the target.
        [DATA; default "0"; example "1g"; only BLOCKS, RECORDED]
        offset: Size,
        /// Files per worker, or files in all with shared_files.
        [DATA; default "1"; example "8"; alias "files", "nr_files"; only BLOCKS, FILES, RECORDED]
        nrfiles: Count,
        /// All workers use the same files instead of files of their own.
        [DATA; default "false"; example "true"; only BLOCKS, RECORDED]
        shared_files: Switch,
        /// Which part of a shared file, existing file or device a worker uses: split (workers
        /// divide it) or whole (each uses all of it, as if it were alone).
        [DATA; default "split"; example "whole"; only BLOCKS, RECORDED]
        region: RegionChoice,
        /// Worker n, counted from 0, starts n times this after the offset.
        [DATA; default "0"; example "1g"; only BLOCKS, RECORDED]
        offset_increment: Size,
        /// Length of each worker's part, with offset_increment.
        [DATA; default "to the end"; example "1g"; only BLOCKS, RECORDED]
        region_size: Size,
        /// What is written before the trial: none (only what will be read), written (what was
        /// never written, also when nothing is read), fill (the whole size once) or random_fill (fill, then once more at random). A new SSD is fast until
        /// it was written; fill brings it to where it will live.
        [DATA; default "none"; example "fill"; only BLOCKS, RECORDED]
        precondition: PreconditionChoice,
        /// How the space of new test files is allocated before anything is written: auto (by
        /// the file system's own means), none (writes make the file grow), posix, keep_size
        /// (behind the end of the file) or truncate (a hole). Files that are read are fully
        /// written besides.
        [DATA; default "auto"; example "none"; alias "fallocate"; only BLOCKS, RECORDED]
        allocation: AllocationChoice,

        /// What is done to many files: (OPERATIONS). lookup goes by the whole path, readdir_stat
        /// is ls -l, truncate_overwrite cuts to nothing and writes again, swift_put writes as
        /// object servers do (under another name, flushed, renamed), and await_create waits, on
        /// several hosts, until the others see what the first creates. One is a phase, which
        /// visits every file once; several by weight are a mix: in a plan {stat: 60, create: 20,
        /// unlink: 20}, as a flag stat:60,create:20,unlink:20. nrfiles says how many files each
        /// worker has. What an operation needs is made before; phases that follow one another
        /// use the same files.
        [FILES; default "none"; example "create"; alias "operations"; only FILES]
        operation: OperationsValue,
        /// Bytes of each file: a size, or exp:64k (exponential, with this mean and eight times
        /// it as the limit) or exp:64k:1m (with this limit).
        [FILES; default "4k"; example "64k"; only FILES]
        file_size: FileSizesValue,
        /// Bytes that one call reads or writes, and that append adds.
        [FILES; default "the file's size, at most 1m"; example "4k"; only FILES]
        record_size: Size,
        /// Files in each directory of the last level.
        [FILES; default "all of a worker's files, spread over the directories there are"; example "100";
            only FILES]
        files_per_dir: Count,
        /// Directories in each directory above the last level.
        [FILES; default "10"; example "16"; alias "dirs_per_dir"; only FILES]
        fan_out: Count,
        /// Levels of directories below the top of a worker's tree.
        [FILES; default "as many as files_per_dir and fan_out need"; example "4"; only FILES]
        tree_depth: Count,
        /// All workers work in the same directories instead of a tree of their own.
        [FILES; default "false"; example "true"; alias "same_dir"; only FILES]
        shared_dirs: Switch,
        /// Spread neighbouring files over the directories like a hash.
        [FILES; default "false"; example "true"; alias "hash_into_dirs"; only FILES]
        hashed_dirs: Switch,
        /// In which order a phase visits the files: as_made or random.
        [FILES; default "as_made"; example "random"; only FILES]
        visit: VisitChoice,
        /// How names are told to the system: near (relative to the file's directory, which is
        /// held open) or whole (the path from the top of the tree, every component looked up).
        [FILES; default "near"; example "whole"; only FILES]
        paths: PathsChoice,
        /// Worker n works on the files of worker n + shift, so that nobody visits what it has
        /// just made itself.
        [FILES; default "0"; example "1"; only FILES, OBJECTS]
        shift: Count,
        /// Repeat phases that consume nothing when all files were visited, until the
        /// runtime is over.
        [FILES; default "true with a runtime or a rate"; example "false"; only FILES, OBJECTS]
        repeat: Switch,
        /// The phase ends as soon as the first worker has visited all its files.
        [FILES; default "false"; example "true"; only FILES]
        first_ends: Switch,
        /// Bytes of the extended attribute that setxattr sets.
        [FILES; default "32"; example "256"; only FILES]
        xattr_size: Size,
        /// Extended attributes of each file; setxattr and getxattr go through all of them.
        [FILES; default "1"; example "4"; only FILES]
        xattr_count: Count,
        /// Bytes that append adds, record by record.
        [FILES; default "one record"; example "64k"; only FILES]
        append_size: Size,
        /// How records get from the program to the file: direct (each by a system call of its
        /// own), buffered (gathered in memory, 4,096 bytes a call, as most languages print) or
        /// stream (through a pipe to another thread that writes what comes, as `| cat > file`
        /// does). With record_size: 50 this is the case of programs that write millions of
        /// short lines.
        [FILES; default "direct"; example "buffered"; only FILES]
        handover: HandoverChoice,

        /// Requests to an object store: (REQUESTS).
        /// One is a phase, which visits every object once (with a runtime again and again);
        /// several by weight are a mix: in a plan {get: 45, head: 30, put: 15, delete: 10}, as a
        /// flag get:45,head:30,put:15,delete:10. What a request needs is made before. Without it
        /// reads are GETs, writes PUTs and trims DELETEs, of objects of one block each.
        [OBJECTS; default "from rw"; example "get"; alias "requests"; only OBJECTS]
        request: RequestsValue,
        /// Objects of each worker.
        [OBJECTS; default "1000, or as many as size holds"; example "10k"; only OBJECTS]
        objects: Count,
        /// Bytes of each object: a size, a range (4k-1m), log2:1m (each of eight halvings of it
        /// as often), or sizes with weights (4k/70,1m/30).
        [OBJECTS; default "bs"; example "1m"; alias "obj_size"; only OBJECTS]
        object_size: ObjectSizesValue,
        /// How keys are laid out: flat, hashed (neighbours lie apart), or tree:3x16 (3 levels of
        /// prefixes, 16 in each).
        [OBJECTS; default "flat"; example "tree:3x16"; only OBJECTS]
        key_layout: KeyLayoutValue,
        /// Bytes of a ranged GET.
        [OBJECTS; default "a quarter of the object"; example "64k"; only OBJECTS]
        range_size: Size,
        /// Bytes of a part of a multipart upload or of a parallel download.
        [OBJECTS; default "5m"; example "16m"; only OBJECTS]
        part_size: Size,
        /// Parts of one object in flight.
        [OBJECTS; default "4"; example "8"; only OBJECTS]
        parts_at_once: Count,
        /// Keys of one page of a listing, 1 to 1000.
        [OBJECTS; default "1000"; example "100"; alias "max_keys"; only OBJECTS]
        page_keys: Count,
        /// Listings stop at the delimiter /.
        [OBJECTS; default "false"; example "true"; only OBJECTS]
        list_delimiter: Switch,
        /// Objects that one delete_many names, 1 to 1000.
        [OBJECTS; default "100"; example "1000"; only OBJECTS]
        delete_batch: Count,
        /// Versions of each object that are made before get_version and its neighbours need them.
        [OBJECTS; default "1"; example "5"; only OBJECTS]
        versions: Count,
        /// Read the objects that are there already below the target's prefix.
        [OBJECTS; default "false"; example "true"; alias "list_existing"; only OBJECTS]
        existing: Switch,
        /// Retries of a request that fails with a transient error (503, 5xx, timeout,
        /// reset). Its time goes on meanwhile.
        [OBJECTS; default "0"; example "3"; only OBJECTS]
        retries: Count,
        /// Pause before a request is sent again the first time; doubled each time.
        [OBJECTS; default "100ms"; example "50ms"; only OBJECTS]
        backoff: Time,
        /// A request that takes longer has failed.
        [OBJECTS; default "30s"; example "5s"; only OBJECTS]
        request_timeout: Time,
        /// Where the store is: http://host:port or https://host, several joined by commas. The
        /// environment's AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL otherwise. Keys of its own follow
        /// an address: http://a:9000=profile:one (profile:NAME, profile:NAME@FILE, file:FILE,
        /// env:PREFIX for PREFIX_ACCESS_KEY_ID and so on, or anonymous); in a plan also a map.
        [OBJECTS; default "Amazon's, of the region"; example "http://127.0.0.1:9000"; alias "endpoints";
            only OBJECTS]
        endpoint: EndpointsValue,
        /// Region of the signature.
        [OBJECTS; default "AWS_REGION, else us-east-1"; example "eu-central-1"; only OBJECTS]
        s3_region: Name,
        /// The bucket is part of the host's name instead of the path.
        [OBJECTS; default "false"; example "true"; only OBJECTS]
        virtual_host: Switch,
        /// The file with the keys, as the AWS tools write it. Keys are never part of a plan or a
        /// command line; without a file the environment (AWS_ACCESS_KEY_ID and so on) and then
        /// ~/.aws/credentials are asked.
        [OBJECTS; default "the usual places"; example "/etc/fathom/keys"; only OBJECTS]
        credentials_file: Name,
        /// Profile within the file with the keys.
        [OBJECTS; default "AWS_PROFILE, else default"; example "bench"; only OBJECTS]
        profile: Name,
        /// Send unsigned requests.
        [OBJECTS; default "false"; example "true"; only OBJECTS]
        anonymous: Switch,
        /// Certificates of the authorities that vouch for the store (PEM).
        [OBJECTS; default "those of the system"; example "/etc/ssl/own-ca.pem"; only OBJECTS]
        ca_file: Name,
        /// Skip TLS verification.
        [OBJECTS; default "false"; example "true"; only OBJECTS]
        unverified_tls: Switch,
        /// The payload is part of the signature. Costs a SHA-256 of every byte that is put.
        [OBJECTS; default "false"; example "true"; only OBJECTS]
        sign_payload: Switch,
        /// Checksum of objects and parts that the store compares; no part of the measured time.
        [OBJECTS; default "none"; example "crc32c"; only OBJECTS]
        checksum: ChecksumChoice,
        /// The checksum follows the payload (aws-chunked), as newer SDKs send it.
        [OBJECTS; default "false"; example "true"; only OBJECTS]
        checksum_trailing: Switch,
        /// Storage class of what is put.
        [OBJECTS; default "the bucket's"; example "STANDARD_IA"; only OBJECTS]
        storage_class: Name,
        /// Connections stay open from one request to the next.
        [OBJECTS; default "true"; example "false"; only OBJECTS]
        keep_alive: Switch,

        /// Bypass the page cache (O_DIRECT).
        [DURABILITY; default "true, except for engine mmap"; example "true"]
        direct: Switch,
        /// The opposite of direct.
        [DURABILITY; default "false, except for engine mmap"; example "false"]
        buffered: Switch,
        /// Drop the target from the page cache before each trial.
        [DURABILITY; default "false"; example "true"; alias "invalidate"]
        drop_cache: Switch,
        /// Call fdatasync after this many writes of a worker; 1 is after each write, as a
        /// write-ahead log does.
        [DURABILITY; default "0"; example "1"; only BLOCKS, RECORDED]
        fdatasync: Count,
        /// Call fsync after this many writes of a worker; 32 resembles a database that commits.
        /// Together with fdatasync each keeps its own count.
        [DURABILITY; default "0"; example "32"; only BLOCKS, FILES, RECORDED]
        fsync: Count,
        /// Let the writes in flight end before a flush, so that it makes all of its batch durable
        /// and the commit is timed. With false a flush covers what has ended, as in fio.
        [DURABILITY; default "true, in fio's job files false"; example "false";
            only BLOCKS, RECORDED]
        sync_drain: Switch,
        /// Call sync_file_range after every N writes of a worker, on the range that they have
        /// filled: wait_before, write and wait_after joined by commas, a colon and the number.
        /// It waits for no write in flight and makes nothing durable; fsync and fdatasync do not
        /// go with it.
        [DURABILITY; default "never"; example "write:8"; only BLOCKS, RECORDED]
        sync_file_range: RangeSyncValue,
        /// Open with O_DSYNC (dsync) or O_SYNC (sync).
        [DURABILITY; default "no"; example "dsync"; only BLOCKS, RECORDED]
        sync: SyncChoice,
        /// Flush at the end of the trial and count its time in the write rate.
        [DURABILITY; default "false"; example "true"; alias "final_flush";
            only BLOCKS, FILES, RECORDED]
        end_fsync: Switch,

        /// How long to measure; a bare number is seconds. The trial ends at the first of
        /// runtime, io_size and number_ios that is reached; at least one is needed.
        [BOUNDS; default "no bound in a plan; 30s for flags without any bound"; example "30s"; alias "timeout"]
        runtime: Seconds,
        /// Bytes to move, all workers together.
        [BOUNDS; default "no bound"; example "64g"; alias "io_limit"; only BLOCKS, RECORDED]
        io_size: Size,
        /// Operations to do, all workers together.
        [BOUNDS; default "no bound"; example "100k"; alias "ops"]
        number_ios: Count,
        /// End of each worker after this many passes: when it has moved so many times the bytes
        /// of its part of the target. The trial ends with the last worker, or at the runtime.
        [BOUNDS; default "no bound"; example "1"; alias "loops"; only BLOCKS, RECORDED]
        passes: Count,
        /// size, io_size, number_ios, rate and rate_iops count for each worker instead of for
        /// all together. Each worker ends at its own bound, the trial with the last.
        [BOUNDS; default "false"; example "true"; only BLOCKS, RECORDED]
        per_worker: Switch,
        /// End before the bounds, once the result is good enough: steady (one level without
        /// drift, five rounds of a minute within SNIA's limits, and for writes twice the size
        /// written), precision 2% (half the 95 % interval of the rate is at most that), or a figure
        /// that stays within a limit over a window, as iops 10% over 30s or throughput slope
        /// 0.3% over 1m after 10s. The runtime is the upper bound; when it comes first, the
        /// result says so.
        [BOUNDS; default "the bounds alone; runtime is then 1h for steady, 10m otherwise"; example "precision 2%"]
        until: UntilValue,
        /// Load before the measurement starts; stored, but not judged. A bare number is seconds.
        [BOUNDS; default "0"; example "5s"; alias "ramp_time"]
        warmup: Seconds,
        /// Workloads that follow one another and name the same set here run at the same time:
        /// all are prepared, then start at one moment. The matrix and the iterations of the plan
        /// repeat the set as a whole. In a directory each has test files of its own; on a file
        /// or device they share it.
        [BOUNDS; default "alone"; example "mixed"]
        together: Name,
        /// The load begins this long after the others of its set.
        [BOUNDS; default "0"; example "5s"; alias "startdelay"]
        start_delay: Seconds,
        /// After a failed operation: stop the trial, or count the failure and continue.
        [BOUNDS; default "stop"; example "continue"; alias "continue_on_error"]
        on_error: OnErrorChoice,
        /// End the trial as failed: iops<1000 or throughput<50MiB/s (in any whole second, all
        /// workers together), latency>20ms (any operation); several are joined by commas.
        [BOUNDS; default "nothing"; example "iops<1000"]
        fail_if: FailIfValue,
        /// An operation that takes longer ends the trial as interrupted.
        [BOUNDS; default "1m"; example "10s"; alias "io_deadline"]
        deadline: Time,

        /// What is written: {content, compress, duplicates}.
        [CONTENT; default "random"; example "{content: random, compress: 50}";
            only BLOCKS, FILES, RECORDED]
        payload: PayloadKeys,
        /// Check what is read: no, on_read (every read while measuring), after (all that was
        /// written, read back at the end) or both; stamp marks what is written for a later
        /// trial to check. Checking is outside the timed window.
        [CONTENT; default "no"; example "after"; only BLOCKS, FILES, OBJECTS]
        verify: VerifyChoice,
        /// Within the load, read again and check what was written, after this many writes of each
        /// worker. These reads count as reads, and towards no bound.
        [CONTENT; default "not within the load"; example "1024"; alias "verify_backlog";
            only BLOCKS]
        verify_every: Count,
        /// What is read was written by an earlier trial, of this run or of one that kept its
        /// files: nothing is prepared, and every block must be one that was written to this
        /// very place. Needs verify: on_read.
        [CONTENT; default "false"; example "true"; only BLOCKS]
        verify_earlier: Switch,
        /// By what contents are checked: stamps (a mark in every sector finds wrong, stale,
        /// torn and misplaced data) or content (byte by byte; for contents that repeat, and for
        /// what another tool wrote).
        [CONTENT; default "stamps"; example "content"; only BLOCKS]
        verify_by: VerifyByChoice,

        /// Pin workers to these CPUs in turn.
        [MACHINE; default "not pinned"; example "0-3"; alias "cpus_allowed"]
        cpus: CpuList,
        /// Poll for completions instead of sleeping (uring with direct on devices that can).
        [MACHINE; default "false"; example "true"; alias "hipri"; only BLOCKS, RECORDED]
        poll: Switch,
        /// Put I/O buffers on huge pages where the system grants them.
        [MACHINE; default "false"; example "true"; alias "hugepages"; only BLOCKS, RECORDED]
        huge_pages: Switch,

        /// What is good enough: conditions that must hold, joined by `and` or commas. Latency:
        /// p50, p90, p95, p99, p99.9, p99.99, mean, max; rates: iops, throughput. A prefix
        /// (read., write., commit.) limits one to a kind of operation.
        [FITNESS; default "no target is set"; example "p99<2ms"]
        slo: SloValue,

        /// Lists of values per key; the workload runs once for each combination. Added to the
        /// matrix of the plan.
        ["Matrix"; default "none"; example "{numjobs: [1, 4, 16]}"]
        matrix: Matrix,
    }
}
