//! PTX of the kernels that several tests run.

use crate::bench::entry;

pub const REGISTERS: &str = ".reg .u32 %r<16>; .reg .u64 %rd<16>; .reg .f32 %f<16>; .reg .pred %p<4>;";

/// `c[i] = a[i] + b[i]` for i < n: parameters a, b, c, n.
pub fn vecadd() -> String {
    entry(
        4,
        REGISTERS,
        "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2]; ld.param.u32 %r5, [p3];
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
         mad.lo.u32 %r4, %r1, %r2, %r3;
         setp.ge.u32 %p1, %r4, %r5;
         @%p1 ret;
         mul.wide.u32 %rd4, %r4, 4;
         add.u64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];
         add.u64 %rd6, %rd2, %rd4; ld.global.f32 %f2, [%rd6];
         add.f32 %f3, %f1, %f2;
         add.u64 %rd7, %rd3, %rd4; st.global.f32 [%rd7], %f3;",
    )
}

/// Every thread adds 1 to `counters[thread % p1]` and writes what it found to `found[thread]`: parameters counters, modulus, found.
pub fn tickets() -> String {
    entry(
        3,
        REGISTERS,
        "ld.param.u64 %rd1, [p0]; ld.param.u32 %r5, [p1]; ld.param.u64 %rd3, [p2];
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
         mad.lo.u32 %r4, %r1, %r2, %r3;
         rem.u32 %r6, %r4, %r5;
         mul.wide.u32 %rd4, %r6, 4; add.u64 %rd5, %rd1, %rd4;
         atom.global.add.u32 %r7, [%rd5], 1;
         mul.wide.u32 %rd6, %r4, 4; add.u64 %rd7, %rd3, %rd6;
         st.global.u32 [%rd7], %r7;",
    )
}

/// Block sums through shared memory: parameters in, out.
pub fn block_sum() -> String {
    entry(
        2,
        &format!("{REGISTERS} .shared .align 4 .b8 s[1024];"),
        "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
         mad.lo.u32 %r4, %r1, %r2, %r3;
         mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
         shl.b32 %r6, %r3, 2; mov.u32 %r7, s; add.u32 %r8, %r7, %r6;
         st.shared.u32 [%r8], %r5;
         bar.sync 0;
         shr.u32 %r9, %r2, 1;
LOOP:
         setp.ge.u32 %p1, %r3, %r9;
         @%p1 bra SKIP;
         shl.b32 %r10, %r9, 2; add.u32 %r11, %r8, %r10;
         ld.shared.u32 %r12, [%r11]; ld.shared.u32 %r13, [%r8];
         add.u32 %r13, %r13, %r12; st.shared.u32 [%r8], %r13;
SKIP:
         bar.sync 0;
         shr.u32 %r9, %r9, 1;
         setp.ne.u32 %p2, %r9, 0;
         @%p2 bra LOOP;
         setp.ne.u32 %p3, %r3, 0;
         @%p3 ret;
         ld.shared.u32 %r14, [%r7];
         mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], %r14;",
    )
}
