//! When, in modelled time, the work of each stream is done.
//!
//! The machine runs one launch after the other. CUDA would overlap those of different streams; so each stream has a clock of its
//! own, the default stream waits for all and all wait for it. An event is the stream's clock when the event was recorded.
//! A launch that ran without the cycle model took no known time; the clocks count such launches, so that no time is
//! told across one.

use std::collections::HashMap;

use crate::backend::StreamId;

/// A point in a stream's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stamp {
    pub us: f64,
    /// Launches without a time that came before.
    pub untimed: u64,
}

impl Stamp {
    /// The later of two, part by part.
    fn later(self, other: Self) -> Self {
        Self { us: self.us.max(other.us), untimed: self.untimed.max(other.untimed) }
    }
}

/// The clocks of a context.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// What the default stream's last work made everything wait for.
    floor: Stamp,
    streams: HashMap<StreamId, Stamp>,
}

impl Timeline {
    /// The time at which all work given to `stream` so far is done.
    pub fn now(&self, stream: StreamId) -> Stamp {
        match stream {
            StreamId::DEFAULT => self.streams.values().copied().fold(self.floor, Stamp::later),
            other => self.streams.get(&other).copied().unwrap_or_default().later(self.floor),
        }
    }

    /// Work of `us` on `stream`; `None`: of unknown length.
    pub fn advance(&mut self, stream: StreamId, us: Option<f64>) {
        let now = self.now(stream);
        let done = match us {
            Some(us) => Stamp { us: now.us + us, ..now },
            None => Stamp { untimed: now.untimed + 1, ..now },
        };
        self.set(stream, done);
    }

    /// `stream` waits for `stamp`.
    pub fn wait(&mut self, stream: StreamId, stamp: Stamp) {
        self.set(stream, self.now(stream).later(stamp));
    }

    fn set(&mut self, stream: StreamId, stamp: Stamp) {
        match stream {
            StreamId::DEFAULT => self.floor = stamp,
            other => {
                self.streams.insert(other, stamp);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: StreamId = StreamId(1);
    const B: StreamId = StreamId(2);

    #[test]
    fn two_streams_overlap_and_the_default_stream_waits_for_both() {
        let mut line = Timeline::default();
        line.advance(A, Some(5.0));
        line.advance(B, Some(7.0));
        assert_eq!((line.now(A).us, line.now(B).us, line.now(StreamId::DEFAULT).us), (5.0, 7.0, 7.0));
        line.advance(StreamId::DEFAULT, Some(1.0));
        line.advance(A, Some(2.0));
        assert_eq!((line.now(A).us, line.now(B).us), (10.0, 8.0));
    }

    #[test]
    fn a_stream_that_waits_for_an_event_starts_when_the_event_is_done() {
        let mut line = Timeline::default();
        line.advance(A, Some(5.0));
        line.wait(B, line.now(A));
        line.advance(B, Some(1.0));
        assert_eq!(line.now(B).us, 6.0);
    }

    #[test]
    fn a_launch_without_a_time_is_counted_and_moves_no_clock() {
        let mut line = Timeline::default();
        let before = line.now(A);
        line.advance(A, None);
        assert_eq!(line.now(A), Stamp { us: 0.0, untimed: before.untimed + 1 });
    }
}
