//! How one kernel row is put into words; the same in the terminal and in HTML.

use crate::claim::format::{integer, microseconds, percent};
use crate::lab::KernelRow;
use crate::numbers::{Time, isa_name};

/// Columns of the table of kernels.
pub const KERNEL_COLUMNS: [&str; 6] = ["kernel", "registers", "spills", "occupancy", "limiter", "time"];

/// The cells of a row, as [`KERNEL_COLUMNS`] names them.
pub fn kernel_cells(row: &KernelRow) -> [String; 6] {
    let name = match row.variant.as_str() {
        "" => row.kernel.clone(),
        variant => format!("{}, {variant}", row.kernel),
    };
    let registers = format!("{} ({})", row.registers.value(), row.registers.source());
    [name, registers, spills(row), occupancy(row), row.occupancy.limiters.join(", "), times(row)]
}

fn spills(row: &KernelRow) -> String {
    match row.spill_store_bytes + row.spill_load_bytes {
        0 => "–".to_owned(),
        _ => format!("{} B out, {} B in", row.spill_store_bytes, row.spill_load_bytes),
    }
}

fn occupancy(row: &KernelRow) -> String {
    match row.occupancy.achieved {
        Some(achieved) => format!("{} ({} seen)", percent(row.occupancy.theoretical), percent(achieved)),
        None => percent(row.occupancy.theoretical),
    }
}

fn times(row: &KernelRow) -> String {
    if row.times.is_empty() {
        return row.no_time.clone().unwrap_or_else(|| "–".to_owned());
    }
    row.times.iter().map(time).collect::<Vec<_>>().join("; ")
}

/// A time with how it was got: `16.3 µs modelled (41,000 cycles, ptx)`.
pub fn time(time: &Time) -> String {
    match time {
        Time::Modelled { cycles, us, isa, .. } => {
            let (us, cycles) = (microseconds(*us), integer((*cycles).into()));
            format!("{us} modelled ({cycles} cycles, {})", isa_name(*isa))
        }
        Time::Measured { us, us_min, us_max, samples, .. } => {
            let [us, min, max] = [us, us_min, us_max].map(|us| microseconds(*us));
            format!("{us} measured ({min} to {max}, {samples} samples)")
        }
    }
}

/// What is to be said once about the devices whose times a report shows: those whose model was never held against hardware.
pub fn unvalidated_devices<'a>(rows: impl IntoIterator<Item = &'a KernelRow>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for time in rows.into_iter().flat_map(|row| &row.times) {
        if let Time::Modelled { device, validated: false, .. } = time
            && !names.contains(&device.as_str())
        {
            names.push(device.as_str());
        }
    }
    names
}
