//! The GPU's clocks while it is measured, by NVIDIA's management library (NVML).
//!
//! The library comes with the driver and is looked for when a context is opened; where it is missing, or does not know the GPU
//! (a slice of one, a driver that is not NVIDIA's), there are no clocks, which is no error.

use cust::device::Device;
use cust::sys;
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::Clock;

use super::error::result;
use crate::numbers::Clocks;

/// The file that every driver installs; without its number it is in developers' packages only.
const LIBRARY: &str = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };

/// What holds clocks down. Idling, clocks that someone set and displays are no trouble of the measurement's and left out.
const REASONS: [(ThrottleReasons, &str); 6] = [
    (ThrottleReasons::SW_POWER_CAP, "power cap"),
    (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
    (ThrottleReasons::SYNC_BOOST, "sync boost"),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, "heat"),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, "heat (hardware)"),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
];

/// One GPU as NVML knows it.
pub struct ClockWatch {
    nvml: Nvml,
    uuid: String,
}

impl ClockWatch {
    /// `None` where there is no NVML or it does not know the device.
    pub fn open(device: Device) -> Option<Self> {
        let nvml = Nvml::builder().lib_path(LIBRARY.as_ref()).init().ok()?;
        let mut uuid = sys::CUuuid_st { bytes: [0; 16] };
        // SAFETY: `uuid` is a place for one identity, and the device is one that the driver listed.
        result(unsafe { sys::cuDeviceGetUuid(&raw mut uuid, device.as_raw()) }).ok()?;
        let uuid = uuid_text(uuid.bytes.map(|byte| byte as u8));
        nvml.device_by_uuid(uuid.as_str()).ok()?;
        Some(Self { nvml, uuid })
    }

    /// The clocks now.
    pub fn read(&self) -> Option<Clocks> {
        let device = self.nvml.device_by_uuid(self.uuid.as_str()).ok()?;
        let sm_mhz = device.clock_info(Clock::SM).ok()?;
        let memory_mhz = device.clock_info(Clock::Memory).ok()?;
        let reasons = device.current_throttle_reasons().unwrap_or(ThrottleReasons::NONE);
        Some(Clocks { sm_mhz_min: sm_mhz, sm_mhz_max: sm_mhz, memory_mhz, throttled: throttled(reasons) })
    }
}

fn throttled(reasons: ThrottleReasons) -> Vec<&'static str> {
    REASONS.iter().filter(|(bit, _)| reasons.contains(*bit)).map(|(_, name)| *name).collect()
}

/// As NVML and nvidia-smi write it: `GPU-00112233-4455-6677-8899-aabbccddeeff`.
fn uuid_text(bytes: [u8; 16]) -> String {
    let mut text = "GPU-".to_owned();
    for (index, byte) in bytes.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_as_nvidia_smi_writes_it() {
        let bytes = std::array::from_fn(|index| 0x11 * index as u8);
        assert_eq!(uuid_text(bytes), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn power_and_heat_throttle_and_an_idle_gpu_or_a_set_clock_does_not() {
        let held = ThrottleReasons::SW_POWER_CAP | ThrottleReasons::SW_THERMAL_SLOWDOWN | ThrottleReasons::GPU_IDLE;
        assert_eq!(throttled(held), ["power cap", "heat"]);
        assert!(throttled(ThrottleReasons::GPU_IDLE | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING).is_empty());
    }
}
