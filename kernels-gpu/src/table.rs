//! All kernels, in the order in which the laboratories meet them.

use crate::{blur, ceilings, divergence, mix, occupancy, predication, primitives, slow, vecadd, whoami};
use cuda_std::host::Descriptor;

/// Every entry of the PTX module.
pub static KERNELS: &[&Descriptor] = &[
    vecadd::vecadd.descriptor(),
    vecadd::vecadd_unguarded.descriptor(),
    vecadd::vecadd4.descriptor(),
    vecadd::vecadd4_unguarded.descriptor(),
    slow::slow.descriptor(),
    whoami::whoami.descriptor(),
    blur::blur.descriptor(),
    divergence::branch_paths.descriptor(),
    divergence::path_a.descriptor(),
    divergence::path_b.descriptor(),
    divergence::by_lane.descriptor(),
    divergence::by_warp.descriptor(),
    divergence::split.descriptor(),
    predication::leaky_relu.descriptor(),
    predication::leaky_relu_long.descriptor(),
    predication::scale.descriptor(),
    occupancy::light.descriptor(),
    occupancy::heavy.descriptor(),
    occupancy::heavy_capped.descriptor(),
    occupancy::ilp4.descriptor(),
    mix::mix.descriptor(),
    ceilings::fma_chains.descriptor(),
    ceilings::copy_stream.descriptor(),
    ceilings::read_stream.descriptor(),
    ceilings::write_stream.descriptor(),
    primitives::block_reverse.descriptor(),
    primitives::barrier_between_ifs.descriptor(),
    primitives::shuffles.descriptor(),
    primitives::shuffle_f64.descriptor(),
    primitives::votes.descriptor(),
    primitives::barrier_reductions.descriptor(),
];

/// The kernel with this entry name.
pub fn find(name: &str) -> Option<&'static Descriptor> {
    KERNELS.iter().copied().find(|kernel| kernel.name == name)
}
