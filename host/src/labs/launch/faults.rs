//! Faults inside a kernel: where they surface, what they name, and what is left of the context.

use std::sync::Arc;

use warpwise_kernels::vecadd::vecadd_unguarded;

use super::planted::{Planted, plant_apart};
use super::{BLOCK, N};
use crate::backend::{GpuError, KernelFault};
use crate::claim::{Claim, between, equal, holds};
use crate::lab::{LabContext, LabError};

/// The only block that has threads past the end, and the first of these threads.
const LAST_BLOCK: u32 = N / BLOCK;
const FIRST_PAST_END: u32 = N % BLOCK;

pub fn claims() -> Vec<Claim> {
    let machine = |id, statement, relation| Claim::new(id, "ch1 §1", statement, relation).on_machine();
    vec![
        machine(
            "fault_at_synchronise",
            "without its guard vecadd is accepted at the launch and faults at the synchronise",
            holds("the launch succeeds and the synchronise fails"),
        ),
        machine("fault_at_copy", "or at a blocking copy back", holds("the copy fails")),
        machine("fault_block", "the fault names the one block with threads past the end", equal(LAST_BLOCK)),
        machine("fault_thread", "and one of those threads", between(FIRST_PAST_END.into(), (BLOCK - 1).into())),
        machine("fault_place", "and address, allocation and a line of vecadd.rs", holds("all three are named")),
        Claim::new(
            "fault_on_gpu",
            "ch1 §1",
            "on hardware 756 bytes past the end may go unnoticed; a far address gives an error code",
            holds("the synchronise fails"),
        )
        .on_gpu(),
        Claim::new("host_pointer", "ch1 §1", "a host pointer passed as a device pointer faults", holds("it does")),
        Claim::new("poisoned", "ch1 §1", "after a fault the context refuses all work", holds("launch and copy fail")),
    ]
}

pub fn run(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    // On hardware it may go unnoticed, or end the process's use of the GPU.
    if !cx.bench().measures() {
        past_the_end(cx)?;
    }
    far_address(cx)?;
    host_pointer(cx)
}

/// 189 threads past the end of each array.
fn past_the_end(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let gpu = cx.gpu()?;
    let [a, b, c] = [gpu.zeros::<f32>(N as usize)?, gpu.zeros::<f32>(N as usize)?, gpu.zeros::<f32>(N as usize)?];
    let launched = gpu.launch(&vecadd_unguarded, N.div_ceil(BLOCK), BLOCK, (a.ptr(), b.ptr(), c.ptr()));
    let synchronised = gpu.synchronize();
    let seen = format!("launch: {}; synchronise: {}", outcome(&launched), outcome(&synchronised));
    cx.holds("fault_at_synchronise", launched.is_ok() && fault(&synchronised).is_some(), seen);
    if let Some(fault) = fault(&synchronised) {
        name_fault(cx, &fault);
    }

    let gpu = cx.gpu()?;
    let [a, b, c] = [gpu.zeros::<f32>(N as usize)?, gpu.zeros::<f32>(N as usize)?, gpu.zeros::<f32>(N as usize)?];
    gpu.launch(&vecadd_unguarded, N.div_ceil(BLOCK), BLOCK, (a.ptr(), b.ptr(), c.ptr()))?;
    let copied = c.download();
    cx.holds("fault_at_copy", fault(&copied).is_some(), outcome(&copied));
    Ok(())
}

fn name_fault(cx: &mut LabContext<'_>, fault: &KernelFault) {
    cx.note(format!("fault: {fault}"));
    if let Some(block) = fault.block {
        cx.found("fault_block", block[0]);
    }
    if let Some(thread) = fault.thread {
        cx.found("fault_thread", thread[0]);
    }
    let in_source = fault.line.is_some() && fault.file.as_deref().is_some_and(|file| file.ends_with("vecadd.rs"));
    let named = fault.address.is_some() && fault.allocation.is_some() && in_source;
    cx.holds("fault_place", named, fault.to_string());
}

/// An address that is no one's on hardware either; then the context is tried again.
fn far_address(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let seen = plant_apart(cx, Planted::FarAddress)?;
    cx.holds("fault_on_gpu", seen.synchronise.is_some(), words(&seen.synchronise));
    let refuses = seen.later_launch.is_some() && seen.later_copy.is_some();
    let found = format!("launch: {}; copy: {}", words(&seen.later_launch), words(&seen.later_copy));
    cx.holds("poisoned", refuses, found);
    Ok(())
}

fn host_pointer(cx: &mut LabContext<'_>) -> Result<(), LabError> {
    let seen = plant_apart(cx, Planted::HostPointer)?;
    cx.holds("host_pointer", seen.synchronise.is_some(), words(&seen.synchronise));
    Ok(())
}

fn words(error: &Option<String>) -> String {
    error.clone().unwrap_or_else(|| "succeeded".to_owned())
}

fn fault<T>(result: &Result<T, GpuError>) -> Option<Arc<KernelFault>> {
    match result {
        Err(GpuError::Fault(fault)) => Some(Arc::clone(fault)),
        _ => None,
    }
}

fn outcome<T>(result: &Result<T, GpuError>) -> String {
    match result {
        Ok(_) => "succeeded".to_owned(),
        Err(error) => error.to_string(),
    }
}
