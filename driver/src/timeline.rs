//! Modelled time: when, on the device's clock, the work of each stream is done.
//!
//! The machine runs one piece of work after the other; a GPU would overlap those of different streams. So each stream has a clock
//! of its own; the legacy stream waits for all blocking ones and they for it. An event is the clock of its stream. Only
//! work takes time here: the time between two events with no work between them is none.

use std::collections::HashMap;

use warpwise_simt::device::Device;

/// A stream, as clocks see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The default stream that synchronises with all blocking ones.
    Legacy,
    /// The default stream of one thread.
    Thread(u64),
    /// A stream that was created.
    Own { number: usize, blocking: bool },
}

impl Lane {
    fn blocks(self) -> bool {
        !matches!(self, Self::Own { blocking: false, .. })
    }
}

/// The clocks of a context, microseconds.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Where the legacy stream's last work made the blocking streams wait.
    floor_us: f64,
    lanes: HashMap<Lane, f64>,
}

impl Timeline {
    /// The time at which all work given to the stream so far is done.
    pub fn now_us(&self, lane: Lane) -> f64 {
        match lane {
            Lane::Legacy => {
                let blocking = self.lanes.iter().filter(|(lane, _)| lane.blocks());
                blocking.fold(self.floor_us, |latest, (_, us)| latest.max(*us))
            }
            lane => {
                let own = self.lanes.get(&lane).copied().unwrap_or_default();
                if lane.blocks() { own.max(self.floor_us) } else { own }
            }
        }
    }

    /// The stream works for so long.
    pub fn advance(&mut self, lane: Lane, us: f64) {
        self.set(lane, self.now_us(lane) + us);
    }

    /// The stream waits for a point in time.
    pub fn wait_until(&mut self, lane: Lane, us: f64) {
        self.set(lane, self.now_us(lane).max(us));
    }

    /// Forgets a stream's clock. A blocking stream's work still counts for the legacy stream.
    pub fn forget(&mut self, lane: Lane) {
        if let Some(us) = self.lanes.remove(&lane)
            && lane.blocks()
        {
            self.floor_us = self.floor_us.max(us);
        }
    }

    fn set(&mut self, lane: Lane, us: f64) {
        match lane {
            Lane::Legacy => self.floor_us = us,
            lane => {
                self.lanes.insert(lane, us);
            }
        }
    }
}

/// What moves bytes, for how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Read and written on the device.
    Device,
    /// Written on the device.
    Fill,
    /// Over the link to the host.
    Link,
    /// Between two places of the host; the device does nothing.
    Host,
}

/// Time of a transfer by bandwidth alone, after the device's launch overhead.
pub fn transfer_us(device: &Device, transfer: Transfer, bytes: u64) -> f64 {
    let (bytes, gbs) = match transfer {
        Transfer::Device => (2.0 * bytes as f64, device.memory_bandwidth_gbs),
        Transfer::Fill => (bytes as f64, device.memory_bandwidth_gbs),
        Transfer::Link => (bytes as f64, link_gbs(device)),
        Transfer::Host => return 0.0,
    };
    device.parameters.launch_overhead_ns / 1e3 + bytes / (gbs * 1e3)
}

/// Bandwidth of the link to the host, 10⁹ bytes a second. Estimated: four fifths of PCI Express ×16 of the generation that
/// products of the compute capability have (3.0: 15.8, 4.0: 31.5, 5.0: 63.0, PCI-SIG).
fn link_gbs(device: &Device) -> f64 {
    match device.compute_capability.major {
        ..=7 => 12.6,
        8 => 25.2,
        _ => 50.4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Lane = Lane::Own { number: 1, blocking: true };
    const B: Lane = Lane::Own { number: 2, blocking: true };
    const FREE: Lane = Lane::Own { number: 3, blocking: false };

    #[test]
    fn two_streams_overlap_and_the_legacy_stream_waits_for_both() {
        let mut line = Timeline::default();
        line.advance(A, 5.0);
        line.advance(B, 7.0);
        assert_eq!((line.now_us(A), line.now_us(B), line.now_us(Lane::Legacy)), (5.0, 7.0, 7.0));
        line.advance(Lane::Legacy, 1.0);
        line.advance(A, 2.0);
        assert_eq!((line.now_us(A), line.now_us(B), line.now_us(Lane::Thread(0))), (10.0, 8.0, 8.0));
    }

    #[test]
    fn a_stream_that_does_not_block_neither_waits_for_the_legacy_stream_nor_holds_it() {
        let mut line = Timeline::default();
        line.advance(Lane::Legacy, 4.0);
        line.advance(FREE, 1.0);
        assert_eq!(line.now_us(FREE), 1.0);
        line.advance(FREE, 9.0);
        assert_eq!(line.now_us(Lane::Legacy), 4.0);
        line.wait_until(A, line.now_us(FREE));
        assert_eq!(line.now_us(A), 10.0);
    }

    #[test]
    fn work_of_a_destroyed_stream_still_counts() {
        let mut line = Timeline::default();
        line.advance(A, 5.0);
        line.forget(A);
        assert_eq!(line.now_us(Lane::Legacy), 5.0);
    }

    #[test]
    fn a_copy_on_the_device_moves_each_byte_twice() {
        let device = Device::default_device();
        let overhead = transfer_us(device, Transfer::Device, 0);
        let copy = transfer_us(device, Transfer::Device, 1 << 30) - overhead;
        let fill = transfer_us(device, Transfer::Fill, 1 << 30) - overhead;
        assert!((copy / fill - 2.0).abs() < 1e-9, "{copy} {fill}");
        assert!((fill - (1u64 << 30) as f64 / 672e3).abs() < 1e-6, "{fill}");
    }
}
