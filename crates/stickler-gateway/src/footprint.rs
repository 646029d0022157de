//! Memory that only starting up needed.
//!
//! Reading options, compiling schemas and learning tools run through two thirds of the code that a
//! gateway ever uses, once. The pages of it count as the process's own for as long as it runs,
//! though it may wait for days. When the first tools are known, and when the first of them has been
//! called, they are given back; what is used again comes back from the page cache by itself.

use std::sync::Once;
use std::time::Duration;

use stickler_protocol::{Event, Side};

/// What a first message sets off is over by then.
const PAUSE: Duration = Duration::from_millis(200);

/// What is done once by much code that nothing else needs: tools are learnt from the first list, the
/// shapes of calls and their results are compiled for the first call.
#[derive(Debug, Clone, Copy)]
enum First {
    List,
    Call,
}

/// Takes note of an event; what the start needed is given back after the first list and call.
pub(crate) fn observe(event: &Event) {
    static SEEN: [Once; 2] = [const { Once::new() }; 2];
    let Some(once) = first(event).and_then(|first| SEEN.get(first as usize)) else { return };
    if !once.is_completed() {
        once.call_once(|| {
            // Apart, so that no message waits for it; where no thread can be had it is left alone.
            let _ = std::thread::Builder::new().spawn(|| {
                std::thread::sleep(PAUSE);
                give_back_code();
            });
        });
    }
}

fn first(event: &Event) -> Option<First> {
    match event {
        Event::Learnt { .. } => Some(First::List),
        Event::Judged { sender: Side::Server, verdict } => {
            match verdict.subject.method.as_deref()? {
                "tools/list" => Some(First::List),
                "tools/call" => Some(First::Call),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Lets the system forget which pages of the program have been run so far.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "measured: an idle gateway has half the resident memory")]
fn give_back_code() {
    use rustix::mm::{Advice, madvise};

    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    let here = observe as fn(&Event) as usize;
    let Some(code) = maps.lines().filter_map(code_range).find(|range| range.contains(&here)) else {
        return;
    };
    let start = std::ptr::with_exposed_provenance_mut(code.start);
    // SAFETY: the range is a private mapping of the program's file that can be read and run and not
    // be written. Nothing in the program writes there, so its pages hold what the file holds, and
    // the system gets them from there again whenever they are touched. (Breakpoints that a debugger
    // has put there are lost.) Where it cannot be done, nothing has changed.
    let _ = unsafe { madvise(start, code.len(), Advice::LinuxDontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn give_back_code() {}

/// The range of a line of `maps` that is about code of a file, which cannot be written to.
#[cfg(any(target_os = "linux", test))]
fn code_range(line: &str) -> Option<std::ops::Range<usize>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let is_code = fields.next()? == "r-xp";
    let has_file = fields.nth(3).is_some_and(|path| path.starts_with('/'));
    let address = |hex| usize::from_str_radix(hex, 16).ok();
    (is_code && has_file).then_some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::code_range;

    #[test]
    fn only_code_of_a_file_is_given_back() {
        let code = "5559f9e51000-5559faed6000 r-xp 0046a000 fe:00 5384080    /usr/bin/stickler";
        assert_eq!(code_range(code), Some(0x5559_f9e5_1000..0x5559_faed_6000));
        for other in [
            "5559f99e6000-5559f9e51000 r--p 00000000 fe:00 5384080    /usr/bin/stickler",
            "5559f99e6000-5559f9e51000 rwxp 00000000 fe:00 5384080    /usr/bin/stickler",
            "7ffd5b7f3000-7ffd5b7f5000 r-xp 00000000 00:00 0    [vdso]",
            "7f496c000000-7f496c06e000 r-xp 00000000 00:00 0",
            "",
        ] {
            assert_eq!(code_range(other), None, "{other}");
        }
    }
}
