//! Measuring: warm-up, samples by events, the median with its extremes.
//!
//! A launch that wants a time has run once when it gets here, and its results are what the caller will read. The kernel is
//! then launched again and again with the same arguments, so all memory of the context is kept aside first and put back at the
//! end. Before each sample on a GPU a buffer larger than L2 is overwritten: a sample finds nothing of its data in the cache,
//! whatever ran before it. A launch that asks for a warm L2 runs once more instead: a sample finds what that run left there.

use cust::sys;
use warpwise_simt::isa::Isa;

use super::clocks::ClockWatch;
use super::error::{DriverResult, failed, result};
use super::handles::{Event, Scratch};
use super::library::Driver;
use super::{Cuda, DeviceFacts, GpuError, Launched, State};
use crate::backend::LaunchRequest;
use crate::numbers::{Clocks, Time};

/// Launches before the first sample: clocks rise, code is loaded.
const WARM_UP: u32 = 3;
/// Samples of a launch on a GPU.
const SAMPLES: u32 = 30;
/// Rounds from one reading of the clocks to the next.
const CLOCKS_EVERY: u32 = 5;
/// Size of the buffer that is overwritten between samples, as a multiple of L2.
const FLUSH_L2_MULTIPLE: u64 = 2;

impl Cuda {
    /// The times of launches that have run, in their order.
    pub(super) fn times(&self, state: &mut State, launched: &[&Launched]) -> Result<Vec<Time>, GpuError> {
        match self.driver {
            Driver::Nvidia if launched.is_empty() => Ok(Vec::new()),
            Driver::Nvidia => {
                let requests: Vec<&LaunchRequest> = launched.iter().map(|launched| &launched.request).collect();
                self.sampled(state, &requests)
            }
            Driver::Warpwise => {
                let clocks = launched.iter().filter_map(|launched| launched.clock.as_ref());
                clocks.map(|clock| Ok(time(self.driver, &self.facts, self.clock_mhz, &mut [clock.us()?]))).collect()
            }
        }
    }

    /// On Warpwise's own driver the time of the launch itself is what counts: it is modelled, the same each time, and what lies
    /// in the caches then is what lies there on the machine.
    pub(super) fn start_clock(&self, state: &mut State, request: &LaunchRequest) -> Result<Option<Clock>, GpuError> {
        if self.driver == Driver::Nvidia || !request.timed {
            return Ok(None);
        }
        let stream = Self::stream(state, request.stream)?;
        let clock = Clock::new().and_then(|clock| clock.start.record(stream).map(|()| clock));
        self.settle(state, "recording an event", clock).map(Some)
    }

    pub(super) fn stop_clock(
        &self,
        state: &mut State,
        request: &LaunchRequest,
        clock: Option<&Clock>,
    ) -> Result<(), GpuError> {
        let stream = Self::stream(state, request.stream)?;
        let stopped = clock.map_or(Ok(()), |clock| clock.end.record(stream));
        self.settle(state, "recording an event", stopped)
    }

    /// The times of launches that have run once each, in their order. In every round each of them is sampled once: what drifts
    /// from one round to the next is in all of them alike, so their medians can be compared.
    fn sampled(&self, state: &mut State, requests: &[&LaunchRequest]) -> Result<Vec<Time>, GpuError> {
        let kept = Kept::take(state)?;
        let flush = Scratch::new(FLUSH_L2_MULTIPLE * self.l2_bytes)?;
        let clock = Clock::new().map_err(|error| failed("creating an event", error))?;
        let mut samples_us = vec![Vec::new(); requests.len()];
        let mut clocks: Vec<Option<Clocks>> = vec![None; requests.len()];
        for round in 0..WARM_UP + SAMPLES {
            for (index, request) in requests.iter().enumerate() {
                let watched = round >= WARM_UP && round % CLOCKS_EVERY == 0;
                let (us, read) = self.sample(state, request, &flush, &clock, watched)?;
                if round >= WARM_UP {
                    samples_us[index].push(us);
                }
                clocks[index] = [clocks[index].take(), read].into_iter().flatten().reduce(Clocks::and);
            }
        }
        self.settle(state, "putting memory back", kept.put_back())?;
        self.wait(state)?;
        let time = |(samples, clocks): (&mut Vec<f64>, Option<Clocks>)| {
            time(self.driver, &self.facts, self.clock_mhz, samples).with_clocks(clocks)
        };
        Ok(samples_us.iter_mut().zip(clocks).map(time).collect())
    }

    /// Microseconds of one launch, by events around it; with the clocks, read while it runs, if they are watched.
    fn sample(
        &self,
        state: &mut State,
        request: &LaunchRequest,
        flush: &Scratch,
        clock: &Clock,
        watched: bool,
    ) -> Result<(f64, Option<Clocks>), GpuError> {
        let stream = Self::stream(state, request.stream)?;
        if request.from_warm_l2 {
            let submitted = self.submit(state, request)?;
            self.settle(state, "launching", submitted)?;
        } else {
            self.settle(state, "overwriting L2", fill(flush, stream))?;
        }
        self.settle(state, "recording an event", clock.start.record(stream))?;
        let submitted = self.submit(state, request)?;
        self.settle(state, "launching", submitted)?;
        self.settle(state, "recording an event", clock.end.record(stream))?;
        let clocks = self.clocks.as_ref().filter(|_| watched).and_then(ClockWatch::read);
        self.wait(state)?;
        Ok((clock.us()?, clocks))
    }
}

/// The events before and behind a launch.
pub struct Clock {
    start: Event,
    end: Event,
}

impl Clock {
    fn new() -> DriverResult<Self> {
        Ok(Self { start: Event::new()?, end: Event::new()? })
    }

    /// Microseconds between them, when both have happened.
    fn us(&self) -> Result<f64, GpuError> {
        self.end.us_since(&self.start).map_err(|error| failed("reading a time", error))
    }
}

/// The time that samples make; by our own driver it is modelled, whatever events say.
pub fn time(driver: Driver, facts: &DeviceFacts, clock_mhz: u32, samples_us: &mut [f64]) -> Time {
    let measured = Time::measured(samples_us, facts.name.clone());
    match driver {
        Driver::Nvidia => measured,
        Driver::Warpwise => Time::Modelled {
            cycles: (measured.us() * f64::from(clock_mhz)).round() as u64,
            us: measured.us(),
            isa: Isa::Ptx,
            device: facts.name.clone(),
            validated: false,
            sampled: None,
        },
    }
}

fn fill(scratch: &Scratch, stream: sys::CUstream) -> DriverResult<()> {
    let length = usize::try_from(scratch.bytes).unwrap_or(usize::MAX);
    // SAFETY: the scratch memory is alive and that long.
    result(unsafe { sys::cuMemsetD8Async(scratch.address, 0, length, stream) })
}

/// Copies of all allocations of a context, on the device.
struct Kept(Vec<(u64, Scratch)>);

impl Kept {
    fn take(state: &State) -> Result<Self, GpuError> {
        let mut copies = Vec::with_capacity(state.allocations.len());
        for (&address, &bytes) in &state.allocations {
            let copy = Scratch::new(bytes)?;
            copy_on_device(address, copy.address, bytes).map_err(|error| failed("keeping memory aside", error))?;
            copies.push((address, copy));
        }
        Ok(Self(copies))
    }

    fn put_back(&self) -> DriverResult<()> {
        self.0.iter().try_for_each(|(address, copy)| copy_on_device(copy.address, *address, copy.bytes))
    }
}

fn copy_on_device(from: u64, to: u64, bytes: u64) -> DriverResult<()> {
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    // SAFETY: both are allocations of this context, at least that long.
    result(unsafe { sys::cuMemcpyDtoD_v2(to, from, length) })
}
