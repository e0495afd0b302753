//! Threads that must not be late.

use std::num::NonZeroU64;

/// Real-time priorities: before every ordinary thread. Who sends goes before
/// who takes in, or a large block that comes would delay a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    Intake = 1,
    Delivery = 2,
}

/// Asks the kernel to wake this thread without slack, and before ordinary
/// threads where that is allowed (root). Refusals only show in the lateness.
pub(crate) fn be_punctual(priority: Priority) {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // The kernel's `struct sched_param` has this one field; that of musl more.
    let parameter = priority as libc::c_int;
    // SAFETY: 0 is the calling thread, and the parameter is read only. The
    // system call itself, because musl's function of that name only refuses.
    let refused = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_FIFO,
            &raw const parameter,
        )
    };
    if refused != 0 {
        let _ = rustix::process::setpriority_process(None, -15);
    }
}
