//! Special registers.

use crate::isa::{Constant, Special};

/// What reading a special register means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SpecialRegister {
    /// Differs within a launch; the number of 32-bit words.
    Varying(Special, u16),
    /// The same for the whole launch.
    Launch(Constant),
    /// The same always: 64 bits of it.
    Always(u64),
    /// A predicate that is the same always.
    AlwaysPredicate(bool),
}

/// The special register of that name; `lane` is the component selected (`.x` is 0).
///
/// Clusters are not modelled: every block is a cluster of its own. Environment registers, performance counters and the
/// graph's handle are 0.
pub(super) fn special_register(name: &str, lane: Option<u8>) -> Option<SpecialRegister> {
    use SpecialRegister::{Always, AlwaysPredicate, Launch, Varying};
    let axis = lane.unwrap_or(0);
    // The fourth component of these vectors is 0, as PTX says.
    let vector = |register: SpecialRegister| if axis == 3 { Always(0) } else { register };
    Some(match name {
        "%tid" => vector(Varying(Special::ThreadIdx(axis), 1)),
        "%ctaid" | "%clusterid" => vector(Varying(Special::BlockIdx(axis), 1)),
        "%ntid" => vector(Launch(Constant::BlockDim(axis))),
        "%nctaid" | "%nclusterid" => vector(Launch(Constant::GridDim(axis))),
        "%cluster_ctaid" => Always(0),
        "%cluster_nctaid" => Always(u64::from(axis < 3)),
        _ if lane.is_some() => return None,
        "%laneid" => Varying(Special::LaneId, 1),
        "%warpid" => Varying(Special::WarpId, 1),
        "%smid" => Varying(Special::SmId, 1),
        "%lanemask_eq" => Varying(Special::LaneMaskEq, 1),
        "%lanemask_le" => Varying(Special::LaneMaskLe, 1),
        "%lanemask_lt" => Varying(Special::LaneMaskLt, 1),
        "%lanemask_ge" => Varying(Special::LaneMaskGe, 1),
        "%lanemask_gt" => Varying(Special::LaneMaskGt, 1),
        "%clock" => Varying(Special::Clock, 1),
        "%clock_hi" => Varying(Special::ClockHi, 1),
        "%clock64" => Varying(Special::Clock64, 2),
        "%globaltimer" => Varying(Special::GlobalTimer, 2),
        "%globaltimer_lo" => Varying(Special::GlobalTimerLo, 1),
        "%globaltimer_hi" => Varying(Special::GlobalTimerHi, 1),
        "%nsmid" => Launch(Constant::SmCount),
        "%nwarpid" => Launch(Constant::WarpsPerSm),
        "%dynamic_smem_size" => Launch(Constant::SharedDynamicBytes),
        "%total_smem_size" | "%aggr_smem_size" => Launch(Constant::SharedTotalBytes),
        "%gridid" => Launch(Constant::GridId),
        "%cluster_ctarank" => Always(0),
        "%cluster_nctarank" => Always(1),
        "%is_explicit_cluster" => AlwaysPredicate(false),
        "%current_graph_exec" => Always(0),
        _ if numbered(name, "%envreg", 32) || numbered(name, "%pm", 8) => Always(0),
        _ => return None,
    })
}

fn numbered(name: &str, prefix: &str, count: u32) -> bool {
    name.strip_prefix(prefix).and_then(|digits| digits.parse().ok()).is_some_and(|number: u32| number < count)
}
