//! The device's memory: channels that work side by side, each busy for a while with every access.

use super::ALL_SECTORS;

/// The channels. Times are in cycles of the SM clock.
#[derive(Clone, Debug)]
pub struct Dram {
    /// When each channel will have done all that was given to it.
    free_at: Vec<f64>,
    access_cycles: f64,
    /// Sectors of one access.
    access_sectors: u32,
    pub sectors_read: u64,
    pub sectors_written: u64,
    load: Load,
}

/// How much of the bandwidth is in use, by windows of time: what was served in the last whole one.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    window: u64,
    accesses: u64,
    accesses_before: u64,
}

/// Cycles of a window: about one latency.
const WINDOW_CYCLES: u64 = 1024;

impl Load {
    fn note(&mut self, arrival: f64, accesses: u64) {
        let window = arrival as u64 / WINDOW_CYCLES;
        if window > self.window {
            self.accesses_before = if window == self.window + 1 { self.accesses } else { 0 };
            (self.window, self.accesses) = (window, 0);
        }
        self.accesses += accesses;
    }
}

impl Dram {
    /// `bytes_per_cycle` is what all channels together sustain; an access moves `access_bytes` (32, 64 or 128).
    pub fn new(channels: u32, bytes_per_cycle: f64, access_bytes: u32) -> Self {
        let channels = channels.max(1);
        Self {
            free_at: vec![0.0; channels as usize],
            access_cycles: f64::from(access_bytes) * f64::from(channels) / bytes_per_cycle,
            access_sectors: (access_bytes / super::SECTOR_BYTES).clamp(1, 4),
            sectors_read: 0,
            sectors_written: 0,
            load: Load::default(),
        }
    }

    /// Starts a launch: nothing queued, nothing counted.
    pub fn reset(&mut self) {
        self.free_at.fill(0.0);
        self.sectors_read = 0;
        self.sectors_written = 0;
        self.load = Load::default();
    }

    /// Share of the bandwidth in use a short while ago, 0 to 1.
    pub fn load(&self) -> f64 {
        let most = WINDOW_CYCLES as f64 * self.free_at.len() as f64 / self.access_cycles;
        (self.load.accesses_before as f64 / most).min(1.0)
    }

    /// The sectors that come along when some of a line are fetched.
    pub fn fetched(&self, sectors: u8) -> u8 {
        match self.access_sectors {
            1 => sectors,
            2 => {
                let pairs = (sectors | sectors >> 1) & 0b0101;
                pairs | pairs << 1
            }
            _ => ALL_SECTORS,
        }
    }

    /// Reads sectors of a line; says how long the request waited for its channel beyond `arrival`.
    pub fn read(&mut self, line: u64, sectors: u8, arrival: f64) -> f64 {
        self.sectors_read += u64::from(self.fetched(sectors).count_ones());
        self.serve(line, sectors, arrival)
    }

    /// Writes sectors of a line.
    pub fn write(&mut self, line: u64, sectors: u8, arrival: f64) {
        self.sectors_written += u64::from(sectors.count_ones());
        self.serve(line, sectors, arrival);
    }

    /// When the channel of a line will have done all that it was given.
    pub fn free_at(&self, line: u64) -> f64 {
        self.free_at[self.channel(line)]
    }

    fn serve(&mut self, line: u64, sectors: u8, arrival: f64) -> f64 {
        let accesses = self.fetched(sectors).count_ones() / self.access_sectors;
        self.load.note(arrival, accesses.into());
        let channel = self.channel(line);
        let start = self.free_at[channel].max(arrival);
        self.free_at[channel] = start + f64::from(accesses) * self.access_cycles;
        start - arrival
    }

    /// Two lines in a row share a channel; higher bits are folded in, so that arrays a power of two apart do not march in step.
    fn channel(&self, line: u64) -> usize {
        let chunk = line >> 1;
        let folded = chunk ^ (chunk >> 5) ^ (chunk >> 11) ^ (chunk >> 17);
        (folded % self.free_at.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_takes_as_long_as_the_bandwidth_says() {
        let mut dram = Dram::new(48, 2000.0, 64);
        let lines = 100_000;
        (0..lines).for_each(|line| _ = dram.read(line, ALL_SECTORS, 0.0));
        let end = (0..lines).map(|line| dram.free_at(line)).fold(0.0, f64::max);
        let ideal = lines as f64 * 128.0 / 2000.0;
        assert!(end >= ideal, "faster than the bandwidth: {end} < {ideal}");
        assert!(end < 1.05 * ideal, "channels are used unevenly: {end} against {ideal}");
        assert_eq!(dram.sectors_read, 4 * lines);
    }

    #[test]
    fn sectors_come_in_the_access_size() {
        let fetched = |bytes, sectors| Dram::new(1, 1.0, bytes).fetched(sectors);
        assert_eq!((fetched(32, 0b0100), fetched(64, 0b0100), fetched(128, 0b0100)), (0b0100, 0b1100, 0b1111));
        assert_eq!((fetched(64, 0b1001), fetched(64, 0b0011), fetched(64, 0)), (0b1111, 0b0011, 0));
    }

    #[test]
    fn an_idle_channel_does_not_make_wait_and_a_busy_one_does() {
        let mut dram = Dram::new(1, 64.0, 64);
        assert_eq!(dram.read(0, 0b0001, 10.0), 0.0);
        assert_eq!(dram.read(0, 0b1111, 10.5), 0.5);
        assert_eq!(dram.read(0, 0b0001, 20.0), 0.0);
        dram.write(0, 0b0011, 20.0);
        assert_eq!((dram.free_at(0), dram.sectors_written), (22.0, 2));
    }
}
