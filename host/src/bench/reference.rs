//! The yardstick: the simplest interpreter that could work, timed in the same run as the machine.
//!
//! An enum of instructions over 32-lane registers, a `match` in a loop, AVX2 and FMA chosen at run time. It has no memory, no
//! divergence, no checks and no counters; a machine that has them all is compared with it so that the comparison means
//! the same on every computer.

use std::hint::black_box;

use warpwise_simt::isa::WARP_SIZE;

type Register = [f32; WARP_SIZE];

#[derive(Clone, Copy)]
enum Instruction {
    Fma {
        dst: u8,
        a: u8,
        b: u8,
        c: u8,
    },
    AddOne {
        dst: u8,
    },
    /// Back to the start while lane 0's `counter` is below `bound`.
    Loop {
        counter: u8,
        bound: u8,
    },
}

/// The registers of the program below: value, factor, summand, counter, bound.
const REGISTERS: usize = 5;

/// The loop of `fma_loop.ptx`: eight multiply-adds, a count, a comparison with its branch.
const PROGRAM: [Instruction; 10] = [
    FMA,
    FMA,
    FMA,
    FMA,
    FMA,
    FMA,
    FMA,
    FMA,
    Instruction::AddOne { dst: 3 },
    Instruction::Loop { counter: 3, bound: 4 },
];
const FMA: Instruction = Instruction::Fma { dst: 0, a: 0, b: 1, c: 2 };

/// Runs `turns` turns of the loop for one warp; the number of instructions executed.
pub fn run(turns: u32) -> u64 {
    let mut registers = [[0.0; WARP_SIZE]; REGISTERS];
    registers[0] = std::array::from_fn(|lane| lane as f32);
    registers[1] = [0.999; WARP_SIZE];
    registers[2] = [0.001; WARP_SIZE];
    registers[4] = [turns as f32; WARP_SIZE];
    let executed = interpret(black_box(&PROGRAM), &mut registers);
    black_box(registers);
    executed
}

fn interpret(program: &[Instruction], registers: &mut [Register; REGISTERS]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both features, as was just asked.
        return unsafe { interpret_avx2(program, registers) };
    }
    interpret_portable(program, registers)
}

/// # Safety
/// The processor must have AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn interpret_avx2(program: &[Instruction], registers: &mut [Register; REGISTERS]) -> u64 {
    interpret_portable(program, registers)
}

#[inline(always)]
fn interpret_portable(program: &[Instruction], registers: &mut [Register; REGISTERS]) -> u64 {
    let mut executed = 0;
    let mut pc = 0;
    while let Some(instruction) = program.get(pc) {
        executed += 1;
        pc += 1;
        match *instruction {
            Instruction::Fma { dst, a, b, c } => {
                let [a, b, c] = [a, b, c].map(|register| registers[usize::from(register)]);
                let result = &mut registers[usize::from(dst)];
                for lane in 0..WARP_SIZE {
                    result[lane] = a[lane].mul_add(b[lane], c[lane]);
                }
            }
            Instruction::AddOne { dst } => {
                for lane in &mut registers[usize::from(dst)] {
                    *lane += 1.0;
                }
            }
            Instruction::Loop { counter, bound } => {
                if registers[usize::from(counter)][0] < registers[usize::from(bound)][0] {
                    pc = 0;
                }
            }
        }
    }
    executed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_instructions_a_turn_are_executed() {
        assert_eq!(run(1), 10);
        assert_eq!(run(1_000), 10_000);
    }
}
