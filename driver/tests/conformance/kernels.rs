//! The kernels of these tests, in PTX that any GPU since Volta takes.

/// What every module starts with.
const HEADER: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

/// `c[i] = a[i] + b[i]` for `i < n`, with the lines of a source.
pub fn vecadd() -> String {
    format!(
        r#"{HEADER}
.file 1 "vecadd.rs"
.visible .entry vecadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {{
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
    .loc 1 7 0
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p bra DONE;
    .loc 1 8 0
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2;
    .loc 1 9 0
    st.global.f32 [%rd7], %f3;
DONE:
    ret;
}}
"#
    )
}

/// Kernels that do one thing each.
pub fn small() -> String {
    format!(
        r#"{HEADER}
.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .f32 factor[2] = {{0f40000000, 0f40400000}};

.visible .entry nothing() {{ ret; }}

// *p = v
.visible .entry store(.param .u64 p, .param .u32 v) {{
    .reg .b64 %rd; .reg .b32 %r;
    ld.param.u64 %rd, [p]; ld.param.u32 %r, [v];
    st.global.u32 [%rd], %r;
    ret;
}}

// atomicAdd(p, 1) by a generic address
.visible .entry count(.param .u64 p) {{
    .reg .b64 %rd; .reg .b32 %r;
    ld.param.u64 %rd, [p];
    atom.add.u32 %r, [%rd], 1;
    ret;
}}

.visible .entry trap() {{ trap; }}

// *p = a + 10 b + 100 c + 1000 d, parameters of all widths with gaps between them
.visible .entry mixed(.param .u8 a, .param .u16 b, .param .u64 p, .param .u32 c, .param .align 8 .b8 d[8]) {{
    .reg .b64 %rd<2>; .reg .b32 %r<8>; .reg .b16 %h<3>;
    ld.param.u8 %h1, [a]; ld.param.u16 %h2, [b]; ld.param.u64 %rd1, [p]; ld.param.u32 %r3, [c]; ld.param.u32 %r4, [d+4];
    cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r2, %h2;
    mad.lo.u32 %r5, %r2, 10, %r1; mad.lo.u32 %r6, %r3, 100, %r5; mad.lo.u32 %r7, %r4, 1000, %r6;
    st.global.u32 [%rd1], %r7;
    ret;
}}

.visible .entry bounded(.param .u64 p) .maxntid 64, 1, 1 {{ ret; }}

.visible .entry exact() .reqntid 32, 2, 1 {{ ret; }}

// *p = counter++ and factor[1]
.visible .entry globals(.param .u64 p) {{
    .reg .b64 %rd; .reg .b32 %r<3>; .reg .f32 %f;
    ld.param.u64 %rd, [p];
    ld.global.u32 %r1, [counter]; add.u32 %r2, %r1, 1; st.global.u32 [counter], %r2;
    ld.const.f32 %f, [factor+4];
    st.global.u32 [%rd], %r1; st.global.f32 [%rd+4], %f;
    ret;
}}
"#
    )
}

/// The block's dynamic shared memory, written from one end and read from the other: `out[t] = shared[n - 1 - t]`.
pub fn reverse() -> String {
    format!(
        r#"{HEADER}
.extern .shared .align 4 .b8 buffer[];
.visible .entry reverse(.param .u64 out, .param .u32 words) {{
    .reg .b64 %rd<4>; .reg .b32 %r<9>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [words];
    mov.u32 %r2, %tid.x; mov.u32 %r3, buffer;
    shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4;
    st.shared.u32 [%r5], %r2;
    bar.sync 0;
    sub.u32 %r6, %r1, 1; sub.u32 %r6, %r6, %r2; shl.b32 %r6, %r6, 2; add.u32 %r7, %r3, %r6;
    ld.shared.u32 %r8, [%r7];
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
}}
"#
    )
}

/// Another target in place of the header's.
pub fn nothing_for(version: &str, target: &str) -> String {
    format!(".version {version}\n.target {target}\n.address_size 64\n.visible .entry nothing() {{ ret; }}\n")
}
